"""Agreement from Python: the command line's numbers as tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import tabwb
from tests.analysis.rating_parts import verdict_rows, written
from tests.analysis.test_agreement import people_and_judge


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
