"""Rating sets from Python: ratings given by a program, progress, what is settled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import tabwb
from tabwb.battery.forms import form_from_canonical
from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tests.analysis.rating_parts import verdict_rows, written
from tests.analysis.test_agreement import people_and_judge
from tests.store.parts import FORM, attempt, begin, rated_set

ABSENT = replace(form_from_canonical(FORM), unmarked="absent").canonical


@pytest.fixture
def study(tmp_path: Path) -> Iterator[tabwb.Study]:
    with Store.open(tmp_path / "s.db") as store:
        number = begin(store).id
        store.append(number, [AttemptEntry(trial, attempt()) for trial in (1, 2, 3)])
        rated_set(store, number, form=ABSENT)
    with tabwb.open(tmp_path / "s.db", write=True) as opened:
        yield opened


def test_a_program_rates_and_a_later_rating_replaces_the_first(study: tabwb.Study) -> None:
    pilot = study.rating_set("pilot")
    pilot.rate("R1", 1, {"anomia": 2}, seconds=30, confidence=3, rest_absent=True)
    pilot.rate("R1", 1, {"anomia": 0, "jargon": 1}, seconds=10, note="changed")
    pilot.rate("R2", 3, {"anomia": 4}, rest_absent=True)
    counted = [
        (trial.plan.number, one.rater, one.measure, one.value)
        for trial in study.store.trials(1)
        for one in trial.ratings
    ]
    assert sorted(counted) == [
        (1, "R1", "anomia", 0.0),
        (1, "R1", "jargon", 1.0),
        (3, "R2", "anomia", 1.0),
        (3, "R2", "jargon", 0.0),
    ]
    row = pilot.assignments().to_dicts()[2]
    assert {"rater": "R1", "sample": 3, "purpose": "rate", "complete": False}.items() <= row.items()
    rated = pilot.assignments().where(complete=True)
    assert [row["sample"] for row in rated.to_dicts()] == [1, 3]
    progress = pilot.progress().to_dicts()
    assert [(row["rater"], row["done"], row["assigned"]) for row in progress] == [
        ("R1", 1, 3),
        ("R2", 1, 3),
    ]
    (row,) = study.rating_sets().to_dicts()
    assert (row["rating_set"], row["done"], row["assigned"]) == ("pilot", 2, 6)
    assert repr(pilot) == "<RatingSet pilot: two, R1, R2, open>"


def test_what_is_missing_or_not_planned_is_refused(study: tabwb.Study) -> None:
    pilot = study.rating_set("pilot")
    with pytest.raises(tabwb.UsageError, match="sample 1 is not rated in: anomia"):
        pilot.rate("R1", 1, {"jargon": 1})
    with pytest.raises(tabwb.UsageError, match=r"not rated in: jargon\n.*rest_absent=True"):
        pilot.rate("R1", 1, {"anomia": 1})
    with pytest.raises(tabwb.StoreError, match="sample 9 is not assigned to rater R1"):
        pilot.rate("R1", 9, {"anomia": 1, "jargon": 0})
    pilot.mark("closed", "enough")
    with pytest.raises(tabwb.StoreError, match="is closed"):
        pilot.rate("R1", 1, {"anomia": 1, "jargon": 0})
    with pytest.raises(tabwb.StoreError, match="nobody has rated sample 1"):
        pilot.settle(1, "jargon", 1, "heard twice", "ada")


def test_a_study_that_is_open_for_reading_stores_nothing(
    study: tabwb.Study, tmp_path: Path
) -> None:
    with tabwb.open(tmp_path / "s.db") as reading:
        pilot = reading.rating_set("pilot")
        with pytest.raises(tabwb.UsageError, match="open for reading: ratings are stored"):
            pilot.rate("R1", 1, {"anomia": 1})


def test_what_raters_differ_on_is_a_table_and_is_settled(study: tabwb.Study) -> None:
    pilot = study.rating_set("pilot")
    pilot.rate("R1", 1, {"anomia": 2, "jargon": 1})
    pilot.rate("R2", 1, {"anomia": 3, "jargon": 0})
    (row,) = pilot.disputed().to_dicts()
    assert (row["sample"], row["measure"], row["people_differ"]) == (1, "jargon", 1.0)
    assert (row["people"], row["majority"]) == ("R1 present, R2 absent", None)
    pilot.settle(1, "jargon", 0.0, "names", "A1")
    assert len(pilot.disputed()) == 0
    (settled,) = pilot.disputed("settled").to_dicts()
    assert (settled["settled"], settled["who"], settled["reason"]) == ("absent", "A1", "names")
    with pytest.raises(tabwb.TabwbError, match="needs a reason"):
        pilot.settle(1, "jargon", 1.0)
    pilot.settle(1, "jargon", None)
    assert len(pilot.disputed()) == 1


def test_tables_have_the_numbers_of_the_document(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", verdict_rows(people_and_judge()))
    found = tabwb.rater_agreement(path, draws=50)
    document = found.to_dict()
    summary = found.summary.where(design="main")
    kappas = dict(zip(summary["mean"].to_list(), summary["kappa"].to_list(), strict=True))
    assert kappas["unweighted"] == document["summary"]["unweighted"]["kappa"]
    assert kappas["pooled"] == document["summary"]["pooled_kappa"]["value"]
    people = found.features["kappa"].to_list()[:2]
    assert people == [row["kappa"] for row in document["features"]]
    assert len(found.pairs) == 3 and len(found.error_rates) == 2 * 4
    counts = document["judges"][0]["calibration"][0]
    assert found.calibration["true_positives"].to_list()[0] == counts["true_positives"]


def test_a_table_is_not_looked_for_in_a_store(tmp_path: Path) -> None:
    with pytest.raises(tabwb.UsageError, match="not a table of ratings"):
        tabwb.rater_agreement("pilot")
