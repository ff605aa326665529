"""The wide table: one row per counted response, one column per rater and measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tabwb.records.ratings import Once
from tabwb_builtin.columns import Column, Part, answered

Measures = Sequence[tuple[str, str]]
"""Rater and measure."""
CONNECTED = frozenset({"connected-text", "description"})
"""Kinds of response in the scope of every judge."""
BURDEN = "burden"


def measures_in(documents: Iterable[Part]) -> Measures:
    """Return rater and measure of every rating of documents, sorted."""
    found = {
        (rating["rater"], rating["measure"])
        for document in documents
        for trial in answered(document)
        for rating in trial["ratings"]
    }
    return sorted(found)


def wide_columns(measures: Measures, judges: Iterable[str]) -> tuple[Column, ...]:
    """Return a column for the value of each measure, and one for the burden of each judge."""
    valued = Once(_values)

    def value(rater: str, measure: str) -> Callable[[Part], Any]:
        return lambda trial: valued.of(trial["ratings"]).get((rater, measure))

    def burden(rater: str) -> Callable[[Part], Any]:
        return lambda trial: trial[BURDEN].get(rater)

    columns = [
        Column(
            f"{rater} {measure}",
            "number",
            f"value of the measure {measure} by {rater}; empty if undefined or not rated",
            value(rater, measure),
        )
        for rater, measure in measures
    ]
    return (
        *columns,
        *(
            Column(
                f"{rater} {BURDEN}",
                "integer",
                f"features of the set of {rater} that are present; empty if one is undefined, and "
                "for responses that are not usable or outside the judge's scope",
                burden(rater),
                "features",
            )
            for rater in judges
        ),
    )


def _values(ratings: Iterable[Part]) -> Mapping[tuple[str, str], float | None]:
    return {(rating["rater"], rating["measure"]): rating["value"] for rating in ratings}


class Burdens:
    """Counts the features that are present in each response of a document."""

    def __init__(self, document: Part) -> None:
        summary = document["summary"]
        self._kinds = {subtest["id"]: subtest["response"] for subtest in summary["subtests"]}
        self._judges: dict[str, Part] = {}
        for judge in summary["judges"]:
            if judge["features"]:
                self._judges.setdefault(judge["rater"], judge)

    def with_burdens(self, trials: Iterable[Part]) -> Iterator[Part]:
        """Yield trials with the number of features that are present, by rater."""
        for trial in trials:
            yield {**trial, BURDEN: dict(self._of(trial))}

    def _of(self, trial: Part) -> Iterator[tuple[str, int | None]]:
        blank = trial["effective_status"] == "truncated" and not trial["response"].strip()
        if not trial["usable"] or blank or trial["practice"]:
            return
        connected = self._kinds.get(trial["subtest"]) in CONNECTED
        values = _values(trial["ratings"])
        for rater, judge in self._judges.items():
            if connected or judge["scope"] == "all":
                present = [values.get((rater, feature)) for feature in judge["features"]]
                if None not in present:
                    yield rater, sum(1 for value in present if value)
