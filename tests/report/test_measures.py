"""Each measure is declared once; documents and tables follow the declarations."""

from __future__ import annotations

from typing import Any

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import grouped, summarised
from tabwb.media.wide import wide_table
from tabwb.report.documents.summary_json import summary_json
from tabwb.report.measures import MEASURES, SUBTEST_MEASURES, Measure, measure_of
from tabwb.report.summaries.summary import pool
from tabwb.scoring.estimate import Estimate
from tests.report.given import ANSWERS, BATTERY, SAMPLED, administration, trials

DATA = AdministrationData(administration(1, SAMPLED), BATTERY, trials(ANSWERS))


def documents() -> tuple[dict[str, Any], list[str]]:
    """The JSON of the yes/no subtest, and the columns of the table."""
    subtests = summary_json(pool([DATA]))["subtests"]
    (json,) = (found for found in subtests if found["id"] == "sentences")
    return json, list(wide_table(summarised(grouped([DATA], "model"))).names)


def test_no_two_measures_have_one_id() -> None:
    ids = [measure.id for measure in MEASURES]
    assert len(ids) == len(set(ids))
    assert all(measure_of(name).title for name in (*ids, "insertion"))


def test_the_measures_of_a_subtest_are_in_json_and_csv() -> None:
    json, columns = documents()
    for measure in SUBTEST_MEASURES:
        for policy in measure.policies:
            assert (measure.id if policy == "exact" else f"{measure.id}_{policy}") in json
        assert f"sentences {measure.id}" in columns


def test_a_new_measure_needs_only_its_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    new = Measure(
        "verdicts",
        "answers with a verdict",
        "number of answers with a verdict",
        "count",
        digits=0,
        compute=lambda answers: Estimate(float(len(answers.pairs))),
    )
    for module in (
        "tabwb.report.summaries.subtests",
        "tabwb.analysis.statistics.made",
    ):
        monkeypatch.setattr(f"{module}.SUBTEST_MEASURES", (*SUBTEST_MEASURES, new))
    json, columns = documents()
    assert json["verdicts"] == json["n_scored"] == 3
    assert "sentences verdicts" in columns
    (summary,) = (found for found in pool([DATA]).subtests if found.id == "sentences")
    assert summary.estimate("verdicts").value == 3.0
