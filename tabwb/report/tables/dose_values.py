"""The values that are compared over doses: of each group of responses, by measure."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, log2
from typing import NamedTuple

from tabwb.report.measures import (
    ACCURACY,
    BURDEN,
    CATEGORY_COUNT,
    CATEGORY_RATE,
    FEATURE_RATE,
    WORDS_MEAN,
)
from tabwb.report.summaries.dose_lines import perplexity_of
from tabwb.report.summaries.groups import Grouped
from tabwb.report.tables.results import Result, results_of
from tabwb.scoring.differences import draw_variance
from tabwb.scoring.estimate import Estimate, ratio

USABLE = "usable"
SURPRISAL = "surprisal"
_ORDER = (
    USABLE, SURPRISAL, BURDEN.id, CATEGORY_COUNT.id, CATEGORY_RATE.id, FEATURE_RATE.id, ACCURACY.id,
    WORDS_MEAN.id,
)  # fmt: skip
KNOWN = (0.0, inf)
"""The error of a value for which nothing was drawn."""
_NO_PERPLEXITY = Estimate(None, "no perplexity was stored: 'tabwb lesion sweep' measures it")


class Cell(NamedTuple):
    """What was measured.

    Attributes:
        measure: :data:`USABLE` (share of usable responses), :data:`SURPRISAL` (of a fixed text:
            log2 of its perplexity), or a measure of the table of results.
        part: the subtest, or empty.
        rater: the judge, or empty.
        feature: feature or category, or empty.
    """

    measure: str
    part: str = ""
    rater: str = ""
    feature: str = ""

    @property
    def order(self) -> int:
        """Its place among the measures: usable responses come first."""
        return _ORDER.index(self.measure)


class Measured(NamedTuple):
    """A value of one condition.

    Attributes:
        value: of the measure.
        few: whether fewer than half of the responses are usable.
        largest: the largest possible value.
        error: the variance of the value on these prompts, and its degrees of freedom: 0 where
            nothing was drawn; None where it is not known.
    """

    value: Estimate
    few: bool = False
    largest: float = inf
    error: tuple[float, float] | None = None

    @property
    def counted(self) -> float | None:
        """The value where it may be averaged, else None."""
        return None if self.few else self.value.value


def values_of(group: Grouped) -> dict[Cell, Measured]:
    """Return the values of a group, by measure."""
    usable = group.summary.answers.usable
    greedy = all(one.administration.conditions.decoding.greedy for one in group.group.members)
    found = {
        Cell(USABLE): Measured(
            ratio(usable.usable, usable.n, "no responses"), largest=1.0, error=KNOWN if greedy
            else None,
        ),
        Cell(SURPRISAL): Measured(_surprisal(group), error=KNOWN),
    }  # fmt: skip
    for judge in group.summary.judges:
        own = judge.burden.usable
        value = ratio(own.usable, own.n, "no responses")
        error = KNOWN if greedy else None
        found[Cell(USABLE, rater=judge.rater)] = Measured(value, largest=1.0, error=error)
    for result in results_of(group):
        if (cell := _cell(result)) is not None:
            few = result.usable is not None and result.usable.few and cell.measure != ACCURACY.id
            error = KNOWN if greedy else draw_error(cell, group)
            found[cell] = Measured(result.value, few, _largest(result, group), error)
    return found


def draw_error(cell: Cell, group: Grouped) -> tuple[float, float] | None:
    """Return the variance of a value that was drawn, and its degrees of freedom; None if unknown.

    Accuracies, burdens and rates of features, from the responses to each item.
    """
    if cell.measure == ACCURACY.id:
        part = group.part(cell.part)
        if part is None or part.share.shared:
            return None
        items = [(1.0,) * right + (0.0,) * (n - right) for right, n in part.share.by_item["exact"]]
        return draw_variance(items, None, deterministic=part.share.fixed)
    if cell.measure not in (BURDEN.id, FEATURE_RATE.id):
        return None
    for judge in group.summary.judges:
        features = judge.burden.features
        if judge.rater != cell.rater or (cell.feature and cell.feature not in features):
            continue
        rows, n = judge.rows, None if cell.feature else len(features)
        side = rows.side([features.index(cell.feature)]) if cell.feature else rows.burdens
        if side.shares_stream:
            return None
        return draw_variance(list(side.values.values()), n, deterministic=side.deterministic)
    return None


def cells_of(groups: Iterable[dict[Cell, Measured]]) -> list[Cell]:
    """Return the measures of groups: usable responses first, then as they come."""
    every = dict.fromkeys(cell for values in groups for cell in values)
    return sorted(every, key=lambda cell: cell.order)


def _cell(result: Result) -> Cell | None:
    if result.measure not in _ORDER:
        return None
    if result.measure == ACCURACY.id and (result.policy != "exact" or result.feature):
        return None
    return Cell(result.measure, result.part, result.rater, result.feature)


def _largest(result: Result, group: Grouped) -> float:
    """Return the largest possible value: of a count the number of features that it is over."""
    if result.measure not in (BURDEN.id, CATEGORY_COUNT.id):
        return inf if result.measure == WORDS_MEAN.id else 1.0
    sizes = [
        of
        for judge in group.summary.judges
        if judge.rater == result.rater
        for of in (
            [len(judge.burden.features)]
            if result.measure == BURDEN.id
            else [own[result.feature].of for own in judge.groupings.values()
                  if result.feature in own]
        )
    ]  # fmt: skip
    return float(max(sizes, default=0)) or inf


def _surprisal(group: Grouped) -> Estimate:
    """Return log2 of the perplexity: bits per token."""
    found = [perplexity_of(one.model_facts) for one in group.group.members]
    known = [value for value in found if value is not None]
    if not known or len(known) < len(found):
        return _NO_PERPLEXITY
    return Estimate(sum(map(log2, known)) / len(known))
