"""``tabwb run --subtest --item --limit``: a part of a battery is given, resumed and exported."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_a_part_is_given_stored_and_never_pooled_with_the_whole(run: Run, tmp_path: Path) -> None:
    part = ("--subtest", "repetition,word-comprehension", "--limit", 2)
    made = run("run", "tab", "--model", "echo", *part, "--json").document
    given = made["administration"]
    assert (given["planned"], given["answered"], given["status"]) == (4, 4, "done")
    assert given["part_subtests"] == ["repetition", "word-comprehension"]
    assert (given["part_items"], given["part_limit"]) == ([], 2)
    assert run("resume", 1, "--json").document["administration"]["planned"] == 4
    assert run("run", "tab", "--model", "echo", "--json").status == 0
    assert "part: repetition" in " ".join(run("results").out.split())
    groups = run("results", "--by", "model", "--json").document["groups"]
    assert [one["apart"]["part"] for one in groups] == [
        "part: repetition, word-comprehension, 2 of each subtest",
        "whole battery",
    ]
    (pooled,) = run("results", "--by", "model", "--together", "part", "--json").document["groups"]
    assert (len(pooled["administrations"]), pooled["together"]) == (2, ["part"])
    (whole,) = run("results", "--where", "part=whole", "--json").document["administrations"]
    assert whole["id"] == 2
    out = tmp_path / "ratings.csv"
    assert run("export", 1, "--format", "csv", "--out", out).status == 0
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["part_subtests"] for row in rows} == {'["repetition", "word-comprehension"]'}
    assert {row["part_limit"] for row in rows} == {"2"}
    assert {row["item"] for row in rows} == {"rp1", "rp2", "wc1", "wc2"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--subtest", "repetitio"), "no subtest 'repetitio'; did you mean 'repetition'"),
        (("--item", "rp9"), "no item 'rp9'"),
        (("--item", "wc1", "--subtest", "repetition"), "no item 'wc1' in the chosen subtests"),
    ],
)
def test_what_the_battery_does_not_have_is_refused(
    run: Run, options: tuple[str, ...], message: str
) -> None:
    outcome = run("run", "tab", "--model", "echo", *options)
    assert outcome.status == 2
    assert message in outcome.err
