"""``tabwb tag``, and the title and tags that commands give to new administrations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.administer.naming_parts import naming_battery
from tests.cli.conftest import Run


def marks(run: Run, *options: object) -> list[tuple[int, str, list[str]]]:
    given: Any = run("tag", *options, "--json").document
    return [(one["id"], one["title"], one["tags"]) for one in given["administrations"]]


def give(run: Run, *options: object) -> None:
    outcome = run("run", "tab", "--model", "echo", "--judge", "none", *options, "--json")
    assert outcome.status == 0, outcome.err


def test_marks_are_given_changed_and_taken_back(run: Run) -> None:
    give(run, "--title", "First try", "--tag", "pilot", "--tag", "x")
    give(run)
    assert marks(run, 1, 2) == [(1, "First try", ["pilot", "x"]), (2, "", [])]
    assert marks(run, 1, 2, "--add", "site:A", "--title", "") == [
        (1, "", ["pilot", "x", "site:A"]),
        (2, "", ["site:A"]),
    ]
    assert marks(run, 1, "--remove", "x") == [(1, "", ["pilot", "site:A"])]
    assert marks(run, 1, "--undo") == [(1, "", ["pilot", "x", "site:A"])]
    assert marks(run, 1, "--undo") == [(1, "", ["pilot", "x"])]
    assert "no change of title or tags" not in run("tag", 2, "--undo").err
    assert "no change of title or tags" in run("tag", 2, "--undo").err
    # What was recorded of the trials is as it was.
    listed = run("results", "--json").document["administrations"]
    assert [(one["answered"], one["status"], one["tags"]) for one in listed] == [
        (20, "done", ["pilot", "x"]),
        (20, "done", []),
    ]


def test_nothing_is_changed_where_one_of_several_cannot_be(run: Run) -> None:
    give(run, "--tag", "x")
    give(run)
    assert run("tag", 1, 2, "--remove", "x").status == 2
    assert marks(run, 1, 2) == [(1, "", ["x"]), (2, "", [])]


def test_results_are_listed_grouped_and_chosen_by_tags(run: Run) -> None:
    give(run, "--title", "First try", "--tag", "pilot")
    give(run, "--tag", "pilot", "--tag", "late", "--temperature", "0.7")
    give(run)
    out = run("results").out
    assert "First try" in out and "tags: pilot, late" in out and "temperature 0.7" in out
    groups = run("results", "--by", "tag", "--json").document["groups"]
    assert [
        (one["by"]["tag"], [each["id"] for each in one["administrations"]]) for one in groups
    ] == [("pilot", [1]), ("pilot", [2]), ("late", [2]), ("no tag", [3])]
    late = run("results", "--where", "tag=late", "--json").document["administrations"]
    assert [one["id"] for one in late] == [2]
    exported: Any = run("results", 1, "--json").document["administration"]
    assert (exported["title"], exported["tags"]) == ("First try", ["pilot"])


def test_what_is_imported_gets_a_title_and_tags(run: Run, tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("item,response\nrp1,house.\n", encoding="utf-8")
    psst = tmp_path / "psst"
    psst.mkdir()
    (psst / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\nS-014-1\tdog\tD AO G\n", encoding="utf-8"
    )
    marked = ("--title", "Elsewhere", "--tag", "pilot", "--tag", "late")
    battery = naming_battery(tmp_path)
    for words in (
        ("import", answers, "--battery", "tab", "--model", "m", "--judge", "none"),
        ("import", psst, "--battery", battery, "--origin", "human"),
    ):
        assert run(*words, "--tag", "a, b").status == 2
        assert run("results", "--json").document["administrations"][1:] == []
        outcome = run(*words, *marked)
        assert outcome.status == 0, outcome.err
    assert marks(run, 1, 2) == [(n, "Elsewhere", ["pilot", "late"]) for n in (1, 2)]


def test_a_recording_that_is_resumed_gets_no_new_title(run: Run, tmp_path: Path) -> None:
    words = ("name", naming_battery(tmp_path), "--speaker", "S-014", "--input", tmp_path)
    refused = run(*words, "--resume", 7, "--tag", "x")
    assert refused.status == 2
    assert "tabwb tag 7" in refused.err
