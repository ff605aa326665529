"""``tabwb results --table`` and ``tabwb change`` on small stores."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tabwb.battery.loader import load_battery
from tabwb.records.states import ResponseKind
from tests.cli.conftest import ANSWERS, TAB, Run, replayed


@pytest.fixture
def two(run: Run, tmp_path: Path) -> None:
    """Two models with recorded answers to all items."""
    for spec in (replayed(tmp_path / "a.jsonl"), replayed(tmp_path / "b.jsonl", wrong="Yes")):
        outcome = run("run", "tab", "--model", spec, "--json")
        assert outcome.status == 0, outcome.err


@pytest.mark.usefixtures("two")
def test_features_have_a_row_for_each_model_and_both_intervals(run: Run) -> None:
    document = run("results", "--table", "features", "--json").document
    (table,) = document["tables"]
    rows = [row for row in table["rows"] if row["feature"] == "retracing"]
    assert [row["group"] for row in rows] == ["replay:a.jsonl", "replay:b.jsonl"]
    assert rows[0]["title"] == "Retracing" and 0 < rows[0]["rate_high"] < 1
    assert rows[0]["rate_these_high"] is None  # a replay draws nothing
    assert rows[0]["rate"] == 0.0 and rows[0]["n"] == 4  # one has an undefined feature


@pytest.mark.usefixtures("two")
def test_items_are_grouped_by_battery_unless_asked_otherwise(run: Run) -> None:
    shown = run("results", "--table", "items", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(shown.out)))
    assert len(rows) == 15 and {row["examinees"] for row in rows} == {"2"}
    shown = run("results", "--table", "items", "--by", "model", "--format", "csv")
    assert len(list(csv.DictReader(io.StringIO(shown.out)))) == 30


@pytest.mark.usefixtures("two")
def test_models_of_items_say_why_they_are_not_fitted(run: Run) -> None:
    out = run("results", "--table", "item-models").out
    assert "fitted from 30 examinees on; there are 2" in " ".join(out.split())


@pytest.mark.usefixtures("two")
def test_differences_need_a_baseline(run: Run) -> None:
    shown = run("results", "--table", "differences", "--baseline", "b.jsonl", "--json").document
    rows = shown["tables"][0]["rows"]
    assert {row["baseline"] for row in rows} == {"replay:b.jsonl"} and {
        row["n_items"] for row in rows
    } >= {15}
    outcome = run("results", "--by", "model", "--table", "differences")
    assert outcome.status == 2 and "the table of differences needs a baseline" in outcome.err
    outcome = run("results", "--by", "model", "--baseline", "b.jsonl")
    assert (
        outcome.status == 2 and "belongs to the tables of differences and profiles" in outcome.err
    )
    outcome = run("results", "--table", "items", "--details")
    assert outcome.status == 2 and "exclude each other" in outcome.err


@pytest.mark.usefixtures("two")
def test_positions_need_options_in_several_orders(run: Run) -> None:
    outcome = run("results", "--table", "positions")
    assert outcome.status == 2 and "--rotate-options" in outcome.err
    assert run("run", "tab", "--model", "echo", "--rotate-options", "--json").status == 0
    shown = run("results", "--table", "positions", "--format", "markdown").out
    assert "| Position |" in shown and "instrument for research" in shown


@pytest.mark.usefixtures("two")
def test_columns_can_be_chosen(run: Run) -> None:
    columns = "kind,foil-chance,errors"
    shown = run("results", "--table", "foils", "--format", "csv", "--columns", columns).out
    assert shown.splitlines()[0] == "kind,foil_chance,errors"


def typed(run: Run, monkeypatch: pytest.MonkeyPatch, right: int) -> None:
    """One session of a person who types, and has so many of the scored items right."""
    texts = iter(ANSWERS)
    lines = []
    for subtest in load_battery(TAB).subtests:
        for item in subtest.items:
            if subtest.response is ResponseKind.CONNECTED_TEXT:
                lines += [next(texts), ""]
            else:
                lines.append(str(item.expected) if right > 0 else f"what {item.id}")
                right -= 1
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    outcome = run("run", "tab", "--speaker", "S-014", "--research-protocol", "P-1", "--json")
    assert outcome.status == 0, outcome.err


def test_change_over_sessions(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for right in (2, 4, 12):
        typed(run, monkeypatch, right)
    tests, sessions, items = run("change", "S-014", "--json").document["tables"]
    last = next(row for row in tests["rows"] if row["sessions"] == "1 to 3")
    assert (last["gained"], last["lost"], last["p"]) == (10, 0, 2 * 0.5**10)
    assert last["value"] == pytest.approx(10 / 15)
    assert [row["correct"] for row in sessions["rows"]] == [2, 4, 12]
    assert [row["session_2"] for row in items["rows"]].count(True) == 4

    sets = tmp_path / "sets.csv"
    sets.write_text("item,set\nwc1,trained\nwc5,trained\nrp4,untrained\nrp5,untrained\n")
    shown = run("change", "S-014", "--sets", sets, "--baselines", "2").out
    words = " ".join(shown.split())
    assert "For research only" in words and "good or a bad day" in words
    assert "trained, untrained" in words

    wrong = run("change", "S-014", "--sets", "treated")
    assert wrong.status == 2 and "no item of the battery has the tag 'treated'" in wrong.err
    wrong = run("change", "S-015")
    assert wrong.status == 2 and "there is no session of 'S-015'" in wrong.err
    wrong = run("change", "S-014", "--sets", tmp_path / "none.csv")
    assert wrong.status == 2 and "cannot be read" in wrong.err


@pytest.mark.usefixtures("two")
def test_measure_leaves_the_rows_of_other_measures_out(run: Run) -> None:
    words = ("results", "--table", "results", "--measure", "burden")
    document = run(*words, "--json").document
    assert {row["measure"] for row in document["tables"][0]["rows"]} == {"burden"}
    outcome = run("results", "--table", "results", "--measure", "burdn")
    assert outcome.status == 2 and "no row is of 'burdn'; did you mean 'burden'?" in outcome.err
    outcome = run("results", "--by", "model", "--measure", "burden")
    assert outcome.status == 2 and "--measure needs a table" in outcome.err
    outcome = run("results", "--table", "foils", "--measure", "burden")
    assert outcome.status == 2 and "has no measures" in outcome.err
