"""Norms are made, added and listed; results show where people stand."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

import tabwb
from tabwb.battery.norms import NormProblems, load_norms
from tabwb.scoring.norms import standing
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture

EXPECTED = {"wc1": "lion", "wc2": "violin", "wc3": "boot", "wc4": "knife", "wc5": "giraffe"}
RIGHT = {"S1": 4, "S2": 3, "S3": 2, "S4": 5, "S5": 4, "S6": 3}
"""Right answers of each person."""


@pytest.fixture
def study(run: Run, tmp_path: Path) -> Path:  # noqa: F811
    """A folder with answers of six people and a model, in the store of the test."""
    for speaker, right in RIGHT.items():
        path = tmp_path / f"{speaker}.csv"
        with path.open("w", newline="") as file:
            rows = [
                (item, answer if at < right else "drum")
                for at, (item, answer) in enumerate(EXPECTED.items())
            ]
            csv.writer(file).writerows([("item", "response"), *rows])
        who = ("--speaker", speaker, "--origin", "human", "--research-protocol", "P1")
        run("import", path, "--battery", "tab", *who)
        run("speaker", "add", speaker, "group=controls")
    run("run", "tab", "--model", "echo")
    return tmp_path


def accuracy(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = [one for one in rows if one["measure"] == "accuracy"]
    return row


def test_norms_are_made_and_shown_beside_scores(run: Run, study: Path) -> None:  # noqa: F811
    out = study / "made.toml"
    words = ("--source", "us", "--license", "CC0", "--measure", "accuracy", "--json")
    made = run("norms", "make", out, *words).document
    assert (made["norms"], made["people"]) == (1, 6)
    values = [right / 5 for right in RIGHT.values()]
    assert run("results", "3", "--json").document.get("norms") is None
    run("norms", "add", out)
    again = out.rename(study / "again.toml")  # the same in two files counts once
    run("norms", "add", again)
    listed = run("norms", "list", "--json").document
    (norm,) = listed["tables"][0]["rows"]
    assert (norm["n"], norm["mean"], norm["sd"]) == pytest.approx((6, mean(values), stdev(values)))
    wanted = standing(RIGHT["S3"] / 5, mean(values), stdev(values), 6)
    row = accuracy(run("results", "3", "--json").document["norms"])
    assert row["t"] == pytest.approx(wanted.t)
    table = run("results", "--table", "norms", "--json").document["tables"][0]["rows"]
    assert len(table) == len(RIGHT)  # and none of the model
    assert [one["percentile"] for one in table if "S3" in one["group"]] == [row["percentile"]]
    printed = run("results", "--table", "norms", "--format", "csv").out.splitlines()
    assert len(list(csv.DictReader(printed))) == len(RIGHT)
    assert "norms" not in run("results", "7", "--json").document
    with tabwb.open() as opened:
        of_python = opened.results(table="norms").to_dicts()
    assert [one["percentile"] for one in of_python] == [one["percentile"] for one in table]
    run("report", "3", "--out", study / "report.html", "--within-study")
    assert "controls" in (study / "report.html").read_text(encoding="utf-8")


def test_small_groups_are_left_out(run: Run, study: Path) -> None:  # noqa: F811
    words = ("norms", "make", study / "few.toml", "--source", "us", "--license", "CC0")
    run(*words, "--least", "7", status=1)
    run(*words, "--measure", "accuracy,nothing", status=2, err="accuracy")
    assert not (study / "few.toml").exists()


def test_a_norm_that_no_value_has_is_named_with_the_known_parts(run: Run, study: Path) -> None:  # noqa: F811
    path = study / "wrong.toml"
    path.write_text(
        '[[norm]]\ngroup = "nobody"\nbattery = "tab"\nmeasure = "accuracy"\npart = "WC"\n'
        'n = 9\nmean = 0.9\nsd = 0.1\nsource = "us"\nlicense = "CC0"\n'
    )
    run("norms", "add", path)
    (table,) = run("results", "--table", "norms", "--json").document["tables"]
    assert table["rows"] == []
    (told,) = [note for note in table["notes"] if "'nobody'" in note]
    assert "'WC'" in told and "word-comprehension" in told


def test_problems_are_located(run: Run, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "bad.toml"
    path.write_text(
        '[[norm]]\ngroup = "a"\nbattery = "tab"\nmeasure = "accuracy"\nn = 1\nmean = 0.5\n'
        'source = "us"\nlicense = "CC0"\n',
        encoding="utf-8",
    )
    with pytest.raises(tabwb.TabwbError, match=r"bad\.toml:5: norm\[1\]\.n"):
        tabwb.add_norms(path)
    path.write_text(path.read_text().replace("n = 1", "n = 9"), encoding="utf-8")
    with pytest.raises(tabwb.TabwbError, match=r"bad\.toml:1: norm\[1\]: a norm has mean and sd"):
        tabwb.add_norms(path)
    run("norms", "add", path, status=1)
    assert tabwb.norms()["norms"] == 0


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ("mean = 0.5\nsd = 0", r"sd\b.*out of range.*above 0"),
        ("percentiles = { 5 = 0.1, 50 = nan }", r"percentiles\.50\b.*out of range"),
        ("percentiles = { 5 = 0.1, 95 = inf }", r"percentiles\.95\b.*out of range"),
        ("percentiles = { 5 = 0.1, '5.0' = 0.2 }", r"percentiles\b.*twice"),
        ("mean = 0.5\nsd = 0.1\n{norm}mean = 0.6\nsd = 0.1", r":10: norm\[2\]"),
    ],
)
def test_values_that_no_group_has_are_refused(tmp_path: Path, lines: str, place: str) -> None:
    norm = (
        '[[norm]]\ngroup = "a"\nbattery = "tab"\nmeasure = "accuracy"\nn = 9\nsource = "us"\n'
        'license = "CC0"\n'
    )
    path = tmp_path / "bad.toml"
    path.write_text(norm + lines.replace("{norm}", norm), encoding="utf-8")
    with pytest.raises(NormProblems) as error:
        load_norms(path)
    (problem,) = error.value.problems
    assert re.search(place, str(problem))
