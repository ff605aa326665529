"""``tabwb responses`` prints what was said, and the words on which features were found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

AGAIN = "The dog the dog the dog went home with my sister before the day was over."
PLAIN = "Last spring I travelled to Lisbon with my parents and rode the yellow trams."


@pytest.fixture
def imported(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"item,response\nct1,{AGAIN}\nct2,<think>Hm.</think>{PLAIN}\nwc1,lion\n")
    assert run("import", path, "--battery", "tab", "--model", "m").status == 0


def test_features_quote_the_words(run: Run, imported: None) -> None:
    rows = run("responses", "--json").document["responses"]
    assert [(row["item"], row["response"]) for row in rows] == [
        ("ct1", AGAIN),
        ("ct2", PLAIN),
        ("wc1", "lion"),
    ]
    found = {each["feature"]: each["reason"] for each in rows[0]["features"]}
    assert "the dog the dog the dog" in found["perseverations"].lower()
    assert rows[1]["features"] == []


@pytest.mark.parametrize(
    ("options", "items"),
    [
        (("--feature", "perseverations"), ["ct1"]),
        (("--item", "ct2"), ["ct2"]),
        (("--subtest", "word-comprehension"), ["wc1"]),
        (("--limit", "1"), ["ct1"]),
        (("--where", "model=imported:m", "--item", "ct2"), ["ct2"]),
    ],
)
def test_responses_are_chosen(
    run: Run, imported: None, options: tuple[str, ...], items: list[str]
) -> None:
    rows = run("responses", *options, "--json").document["responses"]
    assert [row["item"] for row in rows] == items


def test_a_feature_that_nobody_rated_is_refused(run: Run, imported: None) -> None:
    done = run("responses", "--feature", "perseveration")
    assert (done.status, "'perseverations'" in done.err) == (2, True)
    assert run("responses", "--feature", "jargon", "--json").document["responses"] == []


def test_thinking_is_shown_apart_where_it_is_asked_for(run: Run, imported: None) -> None:
    (row,) = run("responses", "--item", "ct2", "--reasoning", "--json").document["responses"]
    assert (row["reasoning"], row["response"]) == ("Hm.", PLAIN)
    assert "  thinking: Hm." in run("responses", "1", "--reasoning").out.splitlines()
    assert "Hm." not in run("responses", "1").out
