"""Curves and maps of lesions as plain values, taken from the tables of doses and of the map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tabwb.lesion.values import row_of
from tabwb.report.measures import (
    ACCURACY,
    BURDEN,
    CATEGORY_COUNT,
    CATEGORY_RATE,
    FEATURE_RATE,
    WORDS_MEAN,
)

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.tables.table import Table

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


class At(NamedTuple):
    """A value with the ends of its interval and the seeds behind it; None: there is none."""

    value: float
    low: float | None = None
    high: float | None = None
    seeds: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table of doses: values by amount.

    Attributes:
        kind: ``seed``, ``mean``, ``less intact``, ``control`` or ``less control``.
        reason: why values are missing or in no mean.
    """

    kind: str
    seed: str
    at: Mapping[float, At]
    reason: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A measure by the amount of one lesion.

    Attributes:
        intact: of the model without a lesion; None where it was not given.
    """

    series: str
    intact: float | None
    rows: tuple[Row, ...]

    def of(self, kind: str) -> tuple[Row, ...]:
        """Return the rows of a kind."""
        return tuple(row for row in self.rows if row.kind == kind)

    @property
    def amounts(self) -> tuple[float, ...]:
        """The amounts, ascending."""
        return tuple(sorted({amount for row in self.rows for amount in row.at}))


class MapAt(NamedTuple):
    """A cell of a map: mean over seeds, and its difference to the intact model; None: none."""

    value: float | None
    difference: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A measure under a lesion of one target in one layer each, by target and layer."""

    series: str
    intact: float | None
    cells: Mapping[tuple[str, int], MapAt]

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


def curves_of(table: Table) -> dict[Measure, tuple[Curve, ...]]:
    """Return the curves of a table of doses, by measure."""
    amounts = [
        (column.name, float(column.title))
        for column in table.columns
        if column.name.startswith("at_") and not column.name.endswith(("_low", "_high", "_n"))
    ]
    found: dict[Measure, dict[str, list[Mapping[str, Any]]]] = {}
    for record in table.to_dicts():
        found.setdefault(_measure(record), {}).setdefault(record["series"], []).append(record)
    return {
        measure: tuple(_curve(series, own, amounts) for series, own in several.items())
        for measure, several in found.items()
    }


def _curve(
    series: str, own: Sequence[Mapping[str, Any]], amounts: Sequence[tuple[str, float]]
) -> Curve:
    intact = next((one["intact"] for one in own if one["row"] == "intact"), None)
    rows = tuple(
        Row(
            one["row"],
            one["seed"] or "",
            {
                amount: At(*(one[name + part] for part in ("", "_low", "_high", "_n")))
                for name, amount in amounts
                if one[name] is not None
            },
            one["reason"] or "",
        )
        for one in own
        if one["row"] != "intact"
    )
    return Curve(series, intact, rows)


def maps_of(table: Table) -> dict[Measure, tuple[HeatMap, ...]]:
    """Return the maps of a table, by measure."""
    found: dict[Measure, dict[str, list[Mapping[str, Any]]]] = {}
    for record in table.to_dicts():
        found.setdefault(_measure(record), {}).setdefault(record["series"], []).append(record)
    return {
        measure: tuple(
            HeatMap(
                series,
                own[0]["intact"],
                {
                    (row_of(one["target"], one["unit"]), one["layer"]): MapAt(
                        one["value"], one["difference"], one["reason"] or ""
                    )
                    for one in own
                },
            )
            for series, own in several.items()
        )
        for measure, several in found.items()
    }


def _measure(record: Mapping[str, Any]) -> Measure:
    return Measure(*(record[name] or "" for name in Measure._fields))
