"""Curves and maps of lesions, by measure: the rows of the tables of doses and of the map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tabwb.lesion.spec import row_of
from tabwb.report.measures import (
    ACCURACY,
    BURDEN,
    CATEGORY_COUNT,
    CATEGORY_RATE,
    FEATURE_RATE,
    WORDS_MEAN,
)

if TYPE_CHECKING:
    from tabwb.analysis.doses import MapCell, Row
    from tabwb.battery.model import Battery

SECTIONS = {
    "usable": "Usable responses",
    "surprisal": "Surprisal, bits per token",
    BURDEN.id: "Burden",
    CATEGORY_COUNT.id: "Features of a category",
    CATEGORY_RATE.id: "Responses with a category",
    FEATURE_RATE.id: "Responses with a feature",
    ACCURACY.id: "Accuracy",
    WORDS_MEAN.id: "Words in an answer",
}
"""Measure: its title; the order is that of the tables."""
ALL = "all responses"
SHARES = ("usable", CATEGORY_RATE.id, FEATURE_RATE.id, ACCURACY.id)
"""Measures that are shares of 1."""


class Measure(NamedTuple):
    """What was measured: the columns of both tables that tell measures apart."""

    measure: str
    part: str
    rater: str
    feature: str

    @property
    def section(self) -> str:
        """The title of its kind."""
        return SECTIONS.get(self.measure, self.measure)

    def name(self, titles: Mapping[str, str]) -> str:
        """Return its title among measures of one kind."""
        what = self.of_rater(titles)
        if not self.rater:
            return what
        return self.rater if what == ALL else f"{what}, {self.rater}"

    def of_rater(self, titles: Mapping[str, str]) -> str:
        """Return its title among measures of one kind and rater."""
        return ", ".join(titles.get(one, one) for one in (self.part, self.feature) if one) or ALL

    @property
    def is_share(self) -> bool:
        """Whether its values are shares of 1."""
        return self.measure in SHARES


@dataclass(frozen=True, slots=True)
class Curve:
    """A measure by the amount of one lesion: the rows of the table of doses, with values alone."""

    series: str
    rows: tuple[Row, ...]

    @property
    def intact(self) -> float | None:
        """The value of the model without a lesion; None where it was not given."""
        return next((row.intact for row in self.of("intact")), None)

    def of(self, kind: str) -> tuple[Row, ...]:
        """Return the rows of a kind."""
        return tuple(row for row in self.rows if row.row == kind)

    @property
    def amounts(self) -> tuple[float, ...]:
        """The amounts, ascending."""
        return tuple(sorted({amount for row in self.rows for amount in row.at}))


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A measure under a lesion of one target in one layer each, by target and layer."""

    series: str
    cells: Mapping[tuple[str, int], MapCell]

    @property
    def intact(self) -> float | None:
        """The value of the model without a lesion; None where it was not given."""
        return next(iter(self.cells.values())).intact

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets, in the order of the table."""
        return tuple(dict.fromkeys(target for target, _ in self.cells))

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers; those counted from the end come last."""
        return tuple(
            sorted({layer for _, layer in self.cells}, key=lambda layer: (layer < 0, layer))
        )


@dataclass(frozen=True, slots=True)
class Read:
    """What the administrations of one battery show of lesions.

    Attributes:
        curves, maps: by measure, in the order of the tables.
        no_curves, no_maps: why there are none, or empty.
        titles: of features, categories and subtests, by id.
        numbers: of the administrations.
    """

    curves: Mapping[Measure, tuple[Curve, ...]]
    maps: Mapping[Measure, tuple[HeatMap, ...]]
    no_curves: str
    no_maps: str
    titles: Mapping[str, str]
    numbers: tuple[int, ...]


def titles_of(battery: Battery) -> dict[str, str]:
    """Return the titles of a battery's features, categories and subtests, by id."""
    named: Iterable[Any] = (
        *battery.subtests,
        *battery.features,
        *(one for grouping in battery.groupings for one in grouping.categories),
    )
    return {one.id: one.title for one in named}


def curves_of(rows: Iterable[Row]) -> dict[Measure, tuple[Curve, ...]]:
    """Return the curves of the rows of doses, by measure."""
    known = (
        replace(row, at={x: one for x, one in row.at.items() if one.value is not None})
        for row in rows
    )
    return {
        measure: tuple(Curve(series, tuple(own)) for series, own in several.items())
        for measure, several in _by_measure(known).items()
    }


def maps_of(cells: Iterable[MapCell]) -> dict[Measure, tuple[HeatMap, ...]]:
    """Return the maps of cells, by measure."""
    return {
        measure: tuple(
            HeatMap(series, {(row_of(one.target, one.unit), one.layer): one for one in own})
            for series, own in several.items()
        )
        for measure, several in _by_measure(cells).items()
    }


_Record = TypeVar("_Record", "Row", "MapCell")


def _by_measure(records: Iterable[_Record]) -> dict[Measure, dict[str, list[_Record]]]:
    found: dict[Measure, dict[str, list[_Record]]] = {}
    for one in records:
        found.setdefault(Measure(*one.cell), {}).setdefault(one.series, []).append(one)
    return found
