"""The results of a group are found by what was measured."""

from __future__ import annotations

from tabwb.analysis.grouping import grouped, summarised
from tests.analysis.given import CONDITIONS
from tests.analysis.test_grouping import given


def test_values_and_counts_are_found_by_what_was_measured() -> None:
    (row,) = summarised(grouped([given(1, CONDITIONS)], "model"))
    results = row.results
    (judge,) = results.judges
    right = results.find("accuracy", "words")
    assert right is not None and (right.total, right.n) == (1, 3)
    assert right.interval == results.interval("accuracy", "words") == right.intervals[0].interval
    assert results.value("burden", rater=judge.terms) == results.value("burden", rater=judge.rater)
    present = [one.total for one in results.of("rate", rater=judge.rater).values()]
    found = results.find("burden", rater=judge.rater)
    assert found is not None and sum(filter(None, present)) == found.total
    statuses = results.of("status").values()
    assert sum(one.value.value or 0 for one in statuses) == results.value("responses")
    assert results.find("accuracy", "nowhere") is None and results.n("accuracy", "nowhere") == 0
