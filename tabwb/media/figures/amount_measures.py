"""The measures that a figure can draw over amounts: accuracy, burden, or the rate of a feature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tabwb.media.figures.estimates import (
    Record,
    all_terms,
    feature_titles,
    interval_cells,
    term_titles,
    value_cells,
)
from tabwb.media.figures.kind import Options
from tabwb.records.errors import UsageError
from tabwb.report.measures import ACCURACY, BURDEN, FEATURE_RATE
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import Terms
from tabwb.scoring.estimate import Estimate

NOT_JUDGED = Estimate(None, "not judged under these terms")


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure.

    Attributes:
        place: its cells in the table: measure, panel, part, rater, feature.
        of: takes the value with its intervals from a group.
    """

    place: Record
    of: Callable[[Grouped], Record]


def measures(groups: Sequence[Grouped], options: Options) -> Iterator[Measured]:
    """Yield the measures that a figure has panels for.

    Args:
        groups: all that are drawn.
        options: with ``measure`` and ``feature``.

    Raises:
        UsageError: the groups have no such measure, or there is no such feature.
    """
    chosen, feature = options["measure"], options["feature"]
    if not chosen:
        chosen = BURDEN.id if all_terms(groups) else ACCURACY.id
    if chosen == ACCURACY.id:
        parts = {
            subtest.id: subtest.title
            for group in groups
            for subtest in group.summary.subtests
            if subtest.share.scored
        }
        for part, title in parts.items():
            yield Measured(_place(ACCURACY.id, title, part=part), _accuracy(part))
        if not parts:
            raise UsageError(
                "nothing was scored right or wrong in these administrations",
                hint="--option measure=burden, where a judge has judged",
            )
        return
    titles = term_titles(groups)
    if not titles:
        raise UsageError("no judge has judged these administrations",
                         hint="--option measure=accuracy")  # fmt: skip
    names = feature_titles(groups)
    if chosen == FEATURE_RATE.id and feature not in names:
        raise UsageError(
            f"no feature '{feature}'" if feature else "which feature?",
            allowed=", ".join(names),
            hint="--option feature=ID",
        )
    for terms, title in titles.items():
        if chosen == BURDEN.id:
            yield Measured(_place(BURDEN.id, title, rater=terms.rater), _burden(terms))
        elif feature in terms.features:
            panel = f"{names[feature]}, {title}"
            place = _place(FEATURE_RATE.id, panel, rater=terms.rater, feature=feature)
            yield Measured(place, _rate(terms, feature))


def _place(measure: str, panel: str, **cells: str) -> Record:
    return {"measure": measure, "panel": panel, **cells}


def _accuracy(part: str) -> Callable[[Grouped], Record]:
    def value(group: Grouped) -> Record:
        subtest = group.part(part)
        assert subtest is not None
        share = subtest.share
        return {
            **value_cells(share.accuracy()), **interval_cells(share.intervals()), "n": share.scored
        }  # fmt: skip

    return value


def _burden(terms: Terms) -> Callable[[Grouped], Record]:
    def value(group: Grouped) -> Record:
        judge = group.judge(terms)
        if judge is None:
            return value_cells(NOT_JUDGED)
        burden = judge.burden
        return {
            **value_cells(burden.symptom_burden),
            **interval_cells(burden.intervals),
            "n": burden.n_burden,
            "n_features": len(burden.features),
            "few_usable": burden.usable.few,
        }

    return value


def _rate(terms: Terms, feature: str) -> Callable[[Grouped], Record]:
    def value(group: Grouped) -> Record:
        judge = group.judge(terms)
        if judge is None or not judge.burden.n_burden:
            return value_cells(NOT_JUDGED)
        burden = judge.burden
        return {
            **value_cells(burden.rate(feature)),
            **interval_cells(burden.rate_intervals(feature)),
            "n": burden.n_burden,
            "few_usable": burden.usable.few,
        }

    return value
