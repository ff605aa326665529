"""Values of curves and maps of lesions: the rows of the tables of doses and maps, by measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from textual.content import Content

from tabwb.analysis.measures import Cell
from tabwb.lesion.spec import row_of
from tabwb.records.errors import TabwbError
from tabwb.store.store import Store
from tabwb.workbench.engine.threads import resting
from tabwb.workbench.lesions.controller import CurvesWanted
from tabwb.workbench.shell.drawn import spark

if TYPE_CHECKING:
    from tabwb.analysis.doses import MapCell, Row
    from tabwb.battery.model import Battery


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


def moved(shown: Curve | HeatMap, measure: Cell) -> float:
    """Return how far a measure goes from the intact model, from 0 to 1.

    Of a share its own amount, of others in parts of the largest value: these have no common scale.
    """
    if isinstance(shown, Curve):
        values = [at.value for row in shown.of("mean") for at in row.at.values()]
    else:
        values = [cell.mean.value for cell in shown.cells.values()]
    known = [value for value in (*values, shown.intact) if value is not None]
    if not known:
        return 0.0
    base = known[0] if shown.intact is None else shown.intact
    scale = 1.0 if measure.is_share else max(map(abs, known)) or 1.0
    return max(abs(value - base) for value in known) / scale


def most_moved(
    shown: Mapping[Cell, Sequence[Curve | HeatMap]],
) -> tuple[Cell, str] | None:
    """Return the measure that moves most, with the lesion; the first of those that are equal."""
    found = [(moved(one, cell), cell, one.series) for cell, own in shown.items() for one in own]
    return max(found, key=lambda one: one[0])[1:] if found else None


def small(shown: Curve | HeatMap, measure: Cell) -> Content:
    """Return a measure as a small line: along the amounts, or the layers of a map in turn."""
    values: list[float | None]
    if isinstance(shown, Curve):
        means = {x: at.value for row in shown.of("mean") for x, at in row.at.items()}
        values = [means.get(amount) for amount in shown.amounts]
        values = values if shown.intact is None else [shown.intact, *values]
    else:
        values = [cell.mean.value for cell in shown.cells.values()]
    known = [abs(value) for value in values if value is not None]
    highest = 1.0 if measure.is_share else max(known, default=1.0) or 1.0
    return spark(values, SMALL, highest=highest)


SMALL = 9
"""Columns of a small line at most."""


@dataclass(frozen=True, slots=True)
class Read:
    """What administrations of one battery show of lesions, by measure, or why there is nothing."""

    curves: Mapping[Cell, tuple[Curve, ...]]
    maps: Mapping[Cell, tuple[HeatMap, ...]]
    no_curves: str
    no_maps: str
    titles: Mapping[str, str]
    numbers: tuple[int, ...]


def read_aside(location: str | None, wanted: CurvesWanted) -> Read:
    """Return curves and maps, read by a thread of its own: the store is opened once more."""
    with resting(), Store.open(location, create=False) as store:
        return read_curves(store, wanted)


def read_curves(store: Store, wanted: CurvesWanted) -> Read:
    """Return curves and maps: the rows of ``tabwb results --table doses`` and ``--table map``."""
    # What loads numpy is imported in this thread: on the screen's thread it would be seen.
    from tabwb.analysis.doses import dose_rows, map_cells
    from tabwb.analysis.selection import Selection, selected_groups

    selection = Selection.of(where=wanted.where, judge=wanted.judge or None)
    rows = selected_groups(store, wanted.numbers, selection, interval=False)
    members = [one for row in rows for one in row.group.members]
    curves, no_curves = _made(lambda: curves_of(dose_rows(rows)[0]))
    maps, no_maps = _made(lambda: maps_of(map_cells(members)))
    titles = {key: title for row in rows for key, title in titles_of(row.battery).items()}
    numbers = tuple(one.administration.id for one in members)
    return Read(curves, maps, no_curves, no_maps, titles, numbers)


def _made(make: Callable[[], dict[Cell, Any]]) -> tuple[dict[Cell, Any], str]:
    try:
        return make(), ""
    except TabwbError as error:
        return {}, error.message


def titles_of(battery: Battery) -> dict[str, str]:
    """Return the titles of a battery's features, categories and subtests, by id."""
    named: Iterable[Any] = (
        *battery.subtests,
        *battery.features,
        *(one for grouping in battery.groupings for one in grouping.categories),
    )
    return {one.id: one.title for one in named}


def curves_of(rows: Iterable[Row]) -> dict[Cell, tuple[Curve, ...]]:
    """Return the curves of the rows of doses, by measure."""
    known = (
        replace(row, at={x: one for x, one in row.at.items() if one.value is not None})
        for row in rows
    )
    return {
        measure: tuple(Curve(series, tuple(own)) for series, own in several.items())
        for measure, several in _by_measure(known).items()
    }


def maps_of(cells: Iterable[MapCell]) -> dict[Cell, tuple[HeatMap, ...]]:
    """Return the maps of cells, by measure."""
    return {
        measure: tuple(
            HeatMap(series, {(row_of(one.target, one.unit), one.layer): one for one in own})
            for series, own in several.items()
        )
        for measure, several in _by_measure(cells).items()
    }


_Record = TypeVar("_Record", "Row", "MapCell")


def _by_measure(records: Iterable[_Record]) -> dict[Cell, dict[str, list[_Record]]]:
    found: dict[Cell, dict[str, list[_Record]]] = {}
    for one in records:
        found.setdefault(one.cell, {}).setdefault(one.series, []).append(one)
    return found
