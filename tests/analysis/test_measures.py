"""Each measure is declared once; documents follow the declarations."""

from __future__ import annotations

from tabwb.analysis.measures import MEASURES, SUBTEST_MEASURES, measure_of
from tabwb.media.documents.summary_json import summary_json
from tabwb.scoring.choice import POLICIES
from tests.analysis.given import ANSWERS, BATTERY, SAMPLED, summarise, trials


def test_no_two_measures_have_one_id() -> None:
    ids = [measure.id for measure in MEASURES]
    assert len(ids) == len(set(ids))
    assert all(measure_of(name).column.title for name in (*ids, "insertion"))


def test_the_measures_of_a_subtest_are_in_json() -> None:
    subtests = summary_json(summarise(BATTERY, trials(ANSWERS), SAMPLED))["subtests"]
    (json,) = (found for found in subtests if found["id"] == "sentences")
    corrected, *by_policy = (measure.id for measure in SUBTEST_MEASURES)
    assert corrected in json
    for measure in by_policy:
        for policy in POLICIES:
            assert (measure if policy == "exact" else f"{measure}_{policy}") in json
