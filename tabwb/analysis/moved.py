"""Which printed numbers of an older administration are not those that its version printed.

From version 0.2.0 on items have equal weights and features of one response are not taken as
independent; before, responses had equal weights. Other rules that changed are in docs/results.md.
This module goes with version 1.0, and the former rules of :mod:`tabwb.scoring.intervals` with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabwb.analysis.measures import ACCURACY, BURDEN, FEATURE_RATE
from tabwb.records.columns import ends_of, fixed
from tabwb.records.words import plural
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimand, Interval
from tabwb.scoring.intervals import former_burden, former_interval

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.analysis.statistics.results import Results


@dataclass(frozen=True, slots=True)
class Moved:
    """A number of which another last digit is printed now."""

    measure: str
    of: str  # the subtest or the rater
    detail: str  # the policy, feature or estimand; empty for a burden
    was: str
    now: str


def changed(results: Results) -> tuple[Moved, ...]:
    """Return the burdens, intervals, accuracies and rates that older versions printed otherwise."""
    found = [each for judge in results.judges for each in _of_judge(judge)]
    for part in results.parts:
        for policy, row in part.policies(ACCURACY.id).items():
            if row.n and row.total is not None:
                printed = _printed(row.total / row.n, row.value.value)
                found.append(Moved(ACCURACY.id, part.id, policy, *printed))
    return tuple(one for one in found if one.was != one.now)


def _of_judge(judge: Judge) -> Iterator[Moved]:
    burden = judge.burden
    if burden.calibration or not burden.totals or not burden.features:
        return
    now = burden.symptom_burden.value
    yield Moved(BURDEN.id, judge.rater, "", *_printed(former_burden(burden.totals), now))
    for made in burden.intervals:
        if made.interval is not None:
            was = former_interval(burden.totals, len(burden.features), made.estimand)
            ends = (_between(one) for one in (was, made.interval))
            yield Moved("interval", judge.rater, made.estimand.value, *ends)
    for feature in judge.features:
        before = burden.present[feature] / burden.n_burden
        rate = burden.rate(feature).value
        yield Moved(FEATURE_RATE.id, judge.rater, feature, *_printed(before, rate))


def _printed(was: float | None, now: float | None) -> tuple[str, str]:
    first, second = ("" if one is None else fixed(one, 2) for one in (was, now))
    return first, second


def _between(interval: Interval | None) -> str:
    return "" if interval is None else " to ".join(ends_of(interval.low, interval.high, 2))


def moved_words(found: Sequence[Sequence[Moved]]) -> Iterator[str]:
    """Yield one sentence that names what has moved; of several groups only how many numbers."""
    every = [one for own in found for one in own]
    if not every:
        return
    if len(found) > 1:
        groups = f"{sum(map(bool, found))} of {plural(len(found), 'group')}"
        told = f"{plural(len(every), 'number')} of {groups} (moved in --json)"
    else:
        named = [words for one in every if (words := _named(one))]
        others = len(every) - len(named)
        further = "further number" if named else "number"
        told = "; ".join([*named, *([plural(others, further)] if others else [])])
    yield (
        f"Given with a version of tabwb before 0.2.0, which printed other numbers: {told}. Items "
        "now have equal weights, and features of one response are not taken as independent "
        "(docs/results.md, What changed in 0.2.0)."
    )


def _named(one: Moved) -> str:
    words = {
        (BURDEN.id, ""): "burden by",
        ("interval", Estimand.PROMPTS_LIKE_THESE.value): "interval of the burden by",
        (ACCURACY.id, POLICIES[0]): "accuracy of",
    }.get((one.measure, one.detail))
    return f"{words} {one.of} was {one.was}, is {one.now}" if words else ""
