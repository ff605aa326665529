"""Curves and maps of lesions, by measure: read from the store, and drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from textual.color import Color
from textual.content import Content

from tabwb.analysis.measures import Cell
from tabwb.lesion.declared import CONTROL_ROLES
from tabwb.lesion.spec import row_of
from tabwb.records.columns import fixed
from tabwb.records.errors import TabwbError
from tabwb.records.words import plural
from tabwb.store.store import Store
from tabwb.workbench.engine.threads import resting
from tabwb.workbench.lesions.controller import CurvesWanted
from tabwb.workbench.shell.drawn import STEPS, heat_style, round_ticks, step
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, folded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual_plotext import PlotextPlot

    from tabwb.analysis.doses import MapCell, Row
    from tabwb.battery.model import Battery
    from tabwb.scoring.dose import SeedTest


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


MARKS = {"mean": "●", "control": "○", "seed": "·", "intact": "╌"}
"""Glyphs, so that lines can be told apart without colours."""
CELL, WIDEST = 9, 14
"""Columns of a cell, at least and at most."""
TALL = 3
"""Lines of a cell where there is room."""
ROWS = (
    "mean",
    "less intact",
    *(row for role in CONTROL_ROLES for row in (role, f"less {role}")),
)
"""Rows of the numbers below a curve."""


def draw(plot: PlotextPlot, curve: Curve, measure: Cell, colours: Mapping[str, str]) -> None:
    """Draw a line for each seed, the mean with its intervals, controls, and the intact model."""
    accent, amber, quiet, ink = (
        Color.parse(colours[name]).rgb for name in ("accent", "warning", "quiet", "foreground")
    )
    plt = plot.plt
    plt.clear_figure()
    plt.frame(False)
    amounts = curve.amounts
    step = (amounts[-1] - amounts[0]) / max(len(amounts) - 1, 1) or 1.0
    left, right = amounts[0] - step / 2, amounts[-1] + step / 2
    low, high = limits(curve, measure)
    plt.xlim(left, right)
    plt.ylim(low, high)
    if curve.intact is not None:
        plt.plot([left, right], [curve.intact] * 2, marker=MARKS["intact"], color=ink)
    marks: list[tuple[list[float], list[float], str, tuple[int, int, int]]] = []
    for kind, colour in (("seed", quiet), ("control", amber), ("mean", accent)):
        for row in curve.of(kind):
            points = sorted(row.at.items())
            places, values = [x for x, _ in points], [at.value or 0.0 for _, at in points]
            if not places:
                continue
            line = MARKS["seed"] if kind == "control" else "braille"
            plt.plot(places, values, marker=line, color=colour)
            for x, at in points if kind == "mean" else ():
                if at.interval is not None:
                    ends = [max(at.interval.low, low), min(at.interval.high, high)]
                    plt.plot([x, x], ends, marker="│", color=colour)
            marks.append((places, values, MARKS[kind], colour))
    for places, values, mark, colour in marks:  # over lines and intervals
        plt.scatter(places, values, marker=mark, color=colour)
    ticks = round_ticks(low, high)
    plt.xticks(list(amounts), [f"{amount:g}" for amount in amounts])
    plt.yticks(ticks, [f"{tick:g} " for tick in ticks])
    plt.xlabel("amount")


def limits(curve: Curve, measure: Cell) -> tuple[float, float]:
    """Return the ends of the vertical axis: shares go from 0 to 1, others from 0 or near it."""
    if measure.is_share:
        return 0.0, 1.0
    values = [
        end
        for kind in ("seed", "mean", "control")
        for row in curve.of(kind)
        for at in row.at.values()
        for end in (at.value, *_ends(at))
        if end is not None
    ]
    values += [] if curve.intact is None else [curve.intact]
    low, high = min(values), max(values)
    if low > 0.5 * high:  # values far from 0 need the room for their differences
        low -= 0.1 * ((high - low) or high)
    else:
        low = 0.0
    return low, high + 0.05 * ((high - low) or 1.0)


def legend(curve: Curve) -> Content:
    """Return what the glyphs of a curve mean, with the number of seeds."""
    seeds = len(curve.of("seed"))
    parts: list[tuple[str, str]] = [("● ", ACCENT), (f"mean of {plural(seeds, 'seed')}", "")]
    if any(at.interval for row in curve.of("mean") for at in row.at.values()):
        parts += [("  │ ", ACCENT), ("its 95 % interval", "")]
    parts += [("   · ", QUIET), ("one seed", "")]
    if curve.of("control"):
        parts += [("   ○ ", AMBER), ("controls", "")]
    if curve.intact is not None:
        parts += [("   ╌ ", "$foreground"), (f"intact {fixed(curve.intact, 2)}", "")]
    return Content.assemble(*parts)


def numbers(curve: Curve, width: int, lines: int) -> Iterator[Content]:
    """Yield the values of a curve: means, controls, the differences; then why some are missing."""
    rows = [row for kind in ROWS for row in curve.of(kind)]
    head = max([14, *(len(row.row) + 1 for row in rows)])
    for ends in (True, False):
        cells = [_cell(at, ends=ends) for row in rows for at in row.at.values()]
        wide = max(map(len, cells), default=0) + 3
        each = max((width - head) // wide, 1)
        blocks = range(0, len(curve.amounts), each)
        if len(blocks) * (len(rows) + 2) <= lines:
            break
    for first in blocks:
        amounts = curve.amounts[first : first + each]
        yield _line("amount", [f"{amount:g}" for amount in amounts], wide, head, QUIET)
        for row in rows:
            own = [row.at.get(amount) for amount in amounts]
            yield _line(row.row, [_cell(at, ends=ends) for at in own], wide, head)
            if row.row == "mean":
                yield _line("seeds", [_seeds(at) for at in own], wide, head, QUIET)
    reasons = dict.fromkeys(part for row in rows for part in row.reason.split("; ") if part)
    if reasons:
        yield from folded(f"no interval, or no value: {'; '.join(reasons)}", width, QUIET)


def _line(title: str, cells: Sequence[str], wide: int, head: int, style: str = "") -> Content:
    words = "".join(f"{cell:>{wide}}" for cell in cells)
    return Content.assemble((f"{title:<{head}}", QUIET), (words, style))


def _seeds(at: SeedTest | None) -> str:
    from tabwb.analysis.doses import sample  # loads numpy, which the reader has loaded by now

    return "-" if at is None else str(sample(at))


def _ends(at: SeedTest) -> tuple[float, ...]:
    return () if at.interval is None else (at.interval.low, at.interval.high)


def _cell(at: SeedTest | None, *, ends: bool) -> str:
    if at is None or at.value is None:
        return "-"
    between = ", ".join(fixed(end, 2) for end in _ends(at) if ends)
    return fixed(at.value, 2) + (f" [{between}]" if between else "")


def map_lines(shown: HeatMap, width: int, height: int, *, difference: bool) -> Iterator[Content]:
    """Yield a map: targets by layers, each cell with its number and its size as a shade.

    Layers that do not fit are below the first ones.
    """
    name = max(map(len, shown.targets)) + 2
    layers = shown.layers
    each = max((width - name) // CELL, 1)
    wide = min(max((width - name) // len(layers), CELL), WIDEST)
    found = [_chosen(cell, difference=difference) for cell in shown.cells.values()]
    largest = max((abs(value) for value in found if value is not None), default=0.0)
    blocks = -(-len(layers) // each)
    tall = blocks * (TALL * len(shown.targets) + 2) <= height
    for first in range(0, len(layers), each):
        some = layers[first : first + each]
        heads = "".join(f"{f'layer {layer}':^{wide}}" for layer in some)
        yield Content.styled(" " * name + heads, QUIET)
        for target in shown.targets:
            cells = [shown.cells.get((target, layer)) for layer in some]
            values = [_chosen(cell, difference=difference) for cell in cells]
            row = list(_map_row(values, wide, largest, sign=difference))
            edge = Content.assemble(" " * name, *((" " * wide, style) for _, style in row))
            yield from [edge] if tall else []
            yield Content.assemble(f"{target:<{name}}", *row)
            yield from [edge] if tall else []
        yield Content("")
    what = "size of the difference to the intact model" if difference else "value"
    bars = [(f" {bar} ", heat_style(at / (len(STEPS) - 1))) for at, bar in enumerate(STEPS)]
    yield Content.assemble(("0 ", QUIET), *bars, (f" {fixed(largest, 2)}   {what}", QUIET))


def _map_row(
    values: Sequence[float | None], wide: int, largest: float, *, sign: bool
) -> Iterator[tuple[str, str]]:
    for value in values:
        if value is None:
            yield f"{'-':^{wide}}", QUIET
            continue
        size = abs(value) / largest if largest else 0.0
        words = fixed(value, 2, "+" if sign else "")
        yield f"{f'{words} {step(size)}':^{wide}}", heat_style(size)


def _chosen(cell: MapCell | None, *, difference: bool) -> float | None:
    return None if cell is None else (cell.difference if difference else cell.mean).value
