"""What plots show: rows of points with intervals and marks, apart from how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tabwb.report.measures import BASELINES
from tabwb.report.summaries.groups import Grouped
from tabwb.workbench.comparison.survey import Basis, baseline_values, judge_of

Kind = Literal["burden", "categories", "accuracies"]
KINDS: tuple[Kind, ...] = ("burden", "categories", "accuracies")
TITLES: dict[Kind, str] = {
    "burden": "symptom burden with its 95 % interval (prompts like these)",
    "categories": "mean features per answer, by category",
    "accuracies": "share right with its 95 % interval (prompts like these)",
}


@dataclass(frozen=True, slots=True)
class Point:
    """One line of a plot.

    Attributes:
        label: at the left.
        value: where the mark stands; None: nothing can be drawn.
        low, high: ends of the interval, or None.
        heading: only a title over the lines that follow.
        baseline: what guessing or always one answer would give; another mark, at both ends where
            rows differ in it.
        few: few responses are usable; another mark.
    """

    label: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    heading: bool = False
    baseline: bool = False
    few: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot: its lines from top to bottom, and how far the axis goes."""

    title: str
    points: tuple[Point, ...]
    most: float


def figure_of(kind: Kind, rows: Sequence[Grouped], basis: Basis) -> Figure:
    """One of the plots, of rows of one battery in their order."""
    make = {"burden": _burdens, "categories": _categories, "accuracies": _accuracies}[kind]
    points = make(rows, basis)
    ends = [end for one in points for end in (one.value, one.high) if end is not None]
    most = 1.0 if kind == "accuracies" else max(ends, default=1.0) * 1.05 or 1.0
    return Figure(TITLES[kind], tuple(points), most)


def _burdens(rows: Sequence[Grouped], basis: Basis) -> list[Point]:
    points = []
    for row in rows:
        judge = judge_of(row, basis)
        if judge is None:
            points.append(Point(row.label))
            continue
        burden = judge.burden
        low, high = (burden.interval.low, burden.interval.high) if burden.interval else (None, None)
        few = burden.usable.few
        points.append(Point(row.label, burden.symptom_burden.value, low, high, few=few))
    return points


def _categories(rows: Sequence[Grouped], basis: Basis) -> list[Point]:
    titles = {
        category.id: category.title
        for grouping in (rows[0].battery.groupings[:1] if rows else ())
        for category in grouping.categories
    }
    judged = [(row, judge) for row in rows if (judge := judge_of(row, basis)) is not None]
    points = []
    for name, title in titles.items():
        own = [
            (row, category)
            for row, judge in judged
            if (category := judge.categories.get(name)) is not None and category.of
        ]
        if own:
            points.append(Point(f"{title}, of {own[0][1].of}", heading=True))
            points += [Point(row.label, category.count.value) for row, category in own]
    return points


def _accuracies(rows: Sequence[Grouped], basis: Basis) -> list[Point]:
    points = []
    for place in range(len(rows[0].summary.subtests) if rows else 0):
        subtests = [(row.label, row.summary.subtests[place]) for row in rows]
        if not any(subtest.share.scored for _, subtest in subtests):
            continue
        points.append(Point(subtests[0][1].title, heading=True))
        for label, subtest in subtests:
            interval = subtest.share.interval() if subtest.share.scored else None
            low, high = (interval.low, interval.high) if interval else (None, None)
            points.append(Point(label, subtest.share.accuracy().value, low, high))
        for baseline in BASELINES:
            values = list(baseline_values(rows, place, baseline.id))
            if values:
                low, high = min(values), max(values)
                points.append(Point(baseline.title, high, low, high, baseline=True))
    return points
