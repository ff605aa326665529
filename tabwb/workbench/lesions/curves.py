"""Curves and maps of lesions: drawn, and their page."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.message import Message

from tabwb.analysis.measures import Cell
from tabwb.host.index import EXTRAS
from tabwb.host.settings import Configuration
from tabwb.lesion.declared import CONTROL_ROLES
from tabwb.operations.lesion import SweepLesions
from tabwb.records.columns import fixed
from tabwb.records.errors import MissingExtra, TabwbError, error_text
from tabwb.records.words import plural
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.lesions.controller import CurvesWanted
from tabwb.workbench.lesions.curve_values import (
    SMALL,
    Curve,
    HeatMap,
    Read,
    most_moved,
    moved,
    read_aside,
    small,
)
from tabwb.workbench.shell.columns import GAP, Column, Heading, clipped
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import PickScreen
from tabwb.workbench.shell.drawn import STEPS, ZERO, heat_style, round_ticks, step
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Line, Pane, WrappedText
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, folded, key_lines, sentence

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot

    from tabwb.analysis.doses import MapCell
    from tabwb.scoring.dose import SeedTest


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
    plt.ylabel("share" if measure.is_share else measure.section.lower())
    plt.xlabel("amount")


def _of_what(measure: Cell) -> str:
    """Return which values of a category a measure has: ``features``, or ``responses``."""
    return measure.section.split(" ")[0].lower()


def _drawn(several: Iterable[Curve | HeatMap]) -> list[Curve]:
    """Return the curves that have values."""
    return [one for one in several if isinstance(one, Curve) and one.amounts]


def draw_several(
    plot: PlotextPlot,
    shown: Mapping[Cell, Sequence[Curve]],
    glyphs: Mapping[str, str],
    grid: tuple[int, int],
    named: Callable[[Cell], str],
    colours: Mapping[str, str],
) -> None:
    """Draw measures beside and below each other: of each lesion the mean over seeds, and controls.

    Args:
        plot: what is drawn on.
        shown: the measures, each with its lesions; as many as the grid has room for.
        glyphs: of each lesion, one of :data:`SEVERAL`.
        grid: rows and columns.
        named: returns what stands above a measure.
        colours: of the theme.
    """
    accent, amber, quiet, ink = (
        Color.parse(colours[name]).rgb for name in ("accent", "warning", "quiet", "foreground")
    )
    plot.plt.clear_figure()
    plot.plt.subplots(*grid)
    for at in range(len(shown), grid[0] * grid[1]):  # nothing is drawn there
        plot.plt.subplot(at // grid[1] + 1, at % grid[1] + 1).frame(False)
    for at, (measure, curves) in enumerate(shown.items()):
        plt = plot.plt.subplot(at // grid[1] + 1, at % grid[1] + 1)
        plt.frame(False)
        plt.title(named(measure))
        amounts = sorted({amount for one in curves for amount in one.amounts})
        ends = [limits(one, measure) for one in curves]
        low, high = min(one[0] for one in ends), max(one[1] for one in ends)
        plt.xlim(amounts[0], amounts[-1] + (amounts[-1] - amounts[0]) / 12)
        plt.ylim(low, high)
        ticks = round_ticks(low, high)
        for intact in {one.intact for one in curves} - {None}:  # one of each model
            ends_at = [amounts[0], amounts[-1]]
            plt.plot(ends_at, [intact] * 2, marker=MARKS["intact"], color=quiet)
        for one in curves:
            glyph = glyphs[one.series]
            colour = ink if SEVERAL.index(glyph) % 2 else accent
            lines = [(row, MARKS["control"], amber) for row in one.of("control")]
            lines += [(row, glyph, colour) for row in one.of("mean")]
            for row, mark, colour in lines:
                points = sorted(row.at.items())
                values = [x for x, _ in points], [value.value or 0.0 for _, value in points]
                if mark != MARKS["control"]:
                    plt.plot(*values, marker="braille", color=colour)
                plt.scatter(*values, marker=mark, color=colour)
        plt.xticks([amounts[0], amounts[-1]], [f"{x:g}" for x in (amounts[0], amounts[-1])])
        plt.yticks([ticks[0], ticks[-1]], [f"{y:g} " for y in (ticks[0], ticks[-1])])


SEVERAL = "●■▲◆★▼✚◉"
"""Glyphs of lesions that are drawn together: as many as there can be."""
CURRENT = "▸"
"""Stands before the name of the one that can be enlarged."""
CELL_SIZE = 9, 30
"""Lines and columns of a measure among several at least."""


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
        if not value:
            yield f"{'-' if value is None else ZERO:^{wide}}", QUIET
            continue
        size = abs(value) / largest if largest else 0.0
        words = fixed(value, 2, "+" if sign else "")
        yield f"{f'{words} {step(size)}':^{wide}}", heat_style(size)


def _chosen(cell: MapCell | None, *, difference: bool) -> float | None:
    return None if cell is None else (cell.difference if difference else cell.mean).value


LIST_FROM = 100
"""From so many columns of the page the measures are listed beside the plot."""
RENEW_S = 1.0
"""So often it is checked whether a sweep has given conditions since."""
REST = 3
"""At most one part in this many of the time is spent on reading while a sweep runs."""
CURVE_NEEDS = (
    "A curve needs a lesion that was given with two amounts or more. A sweep gives them; with five "
    "seeds or more its means have intervals."
)
MAP_NEEDS = (
    'A map needs lesions of one target in one layer each: a sweep of a grid with layers = ["each"].'
)
NUMBERS_FROM = 14
"""From so many lines of the pane the numbers are below the plot."""


SMALL_FROM = 120
"""From so many columns each measure has small lines, one for each lesion."""
LIST = 42
"""Columns of the list of measures without them."""


def _heads(series: Iterable[str], width: int = SMALL) -> dict[str, str]:
    """Return a head for each lesion: the shortest that tells all apart and fits, else a number.

    >>> _heads(["bundled + mlp:zero:*", "bundled + attention:zero:*"])
    {'bundled + mlp:zero:*': 'mlp', 'bundled + attention:zero:*': 'attention'}
    >>> _heads(["a + mlp:zero:*", "a + mlp:swap:*"], 10)
    {'a + mlp:zero:*': 'mlp:zero:*', 'a + mlp:swap:*': 'mlp:swap:*'}
    >>> _heads(["a + mlp:zero:*", "a + mlp:swap:*"], 3)
    {'a + mlp:zero:*': '1', 'a + mlp:swap:*': '2'}
    """
    wholes = list(series)
    lesions = [one.rpartition(" + ")[2] for one in wholes]
    targets = [one.partition(":")[0][:width] for one in lesions]
    for names in (targets, lesions, wholes):
        if len({*names}) == len(wholes) and all(len(one) <= width for one in names):
            return dict(zip(wholes, names, strict=True))
    return {one: str(at) for at, one in enumerate(wholes, 1)}


class CurvesPage(Page):
    """The page."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self.wanted = CurvesWanted()
        self.read: Read | None = None
        self.maps = self.values = False
        self.one = False
        """Whether one measure is shown where there is room for several."""
        self.measure: Cell | None = None
        self.series = ""
        self._problem = ""
        self._reading = self._read_more = False
        """Whether the store is read now, and has to be read once more afterwards."""
        self._done = 0
        """Conditions of the sweep that were done when it last told."""
        self._stale = self._working = False
        self._began = self._took = 0.0
        """When the last reading began, and its seconds."""
        self._plot: PlotextPlot | None = None

    def compose(self) -> ComposeResult:
        """Yield head, list of measures, plot, legend, numbers."""
        with Horizontal(id="curves-body"):
            yield Pane(
                MeasureList(id="curves-measures", opens=False),
                title="Measures",
                id="curves-measures-pane",
            )
            with Pane(title="Curves of lesions", id="curves-head"), CurvePane(id="curves-pane"):
                yield Line(id="curves-measure")
                yield Line(id="curves-series")
                yield WrappedText(self._lines, id="curves-text")

    def on_mount(self) -> None:
        """Listen to the reader."""
        self.desk.news.subscribe(self, self._hear)
        self.set_interval(RENEW_S, self._renew)
        self._show()

    def update_page(self) -> None:
        """Lay out for the present width."""
        self._show()

    def on_resize(self, event: Resize) -> None:
        """Lay out again."""
        self.call_after_refresh(self._show)

    def focus_inside(self) -> None:
        """Give the keys to the plot."""
        self.query_one(CurvePane).focus()

    def foot_rank(self, command: Command) -> int:
        """Return a command's place in the footer: differences are those of maps."""
        if command.id == "results.turn-difference" and not self.maps:
            return 0
        return super().foot_rank(command)

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "map of lesions" if self.maps else "curves of lesions"

    # ---------------------------------------------------------------- reading

    def begin(self, wanted: CurvesWanted) -> None:
        """Show other administrations."""
        if wanted != self.wanted:
            self.read, self.measure = None, None
        self.wanted = wanted
        self.read_again()

    def read_again(self) -> None:
        """Read the store again; what is shown stays until then."""
        self._stale, self._began, self._read_more = False, time.monotonic(), True
        if not self._reading:
            self._reading = True
            self.desk.start(self._read)
        self._show()

    async def _read(self) -> None:
        """Read in a thread of its own, one reading after the other."""
        location = Configuration.load().store_at(self.desk.location)
        while self._read_more:
            self._read_more, self._problem = False, ""
            try:
                read = await self.desk.ask(read_aside, location, self.wanted, aside=True)
            except TabwbError as error:
                self._problem = ". ".join(filter(None, (error.message, error.hint)))
            except Exception as error:  # noqa: BLE001 - the edge of what asks: shown, never the end
                self._problem = error_text(error)
            else:
                first, self.read = self.read is None, read
                self.maps = self.maps or (first and not read.curves and bool(read.maps))
            self._took = time.monotonic() - self._began
            self._reading = self._read_more
            self._show()
            self.desk.show_frame()

    def _renew(self) -> None:
        """Read again while a sweep runs; the sweep has most of the processor."""
        rested = time.monotonic() - self._began > REST * self._took
        if self._stale and rested and not self._reading and self.desk.current is self:
            self.read_again()

    def _hear(self, message: object) -> None:
        if isinstance(message, JobState) and message.kind == SweepLesions.DOING:
            self._stale |= message.done != self._done
            self._done, self._working = message.done, message.active

    # ---------------------------------------------------------------- what is chosen

    @property
    def _all(self) -> Mapping[Cell, tuple[Curve, ...] | tuple[HeatMap, ...]]:
        if self.read is None:
            return {}
        return self.read.maps if self.maps else self.read.curves

    @property
    def chosen(self) -> Curve | HeatMap | None:
        """The curve or map that is shown; the first where there is none of the one chosen."""
        measures = list(self._all)
        if not measures:
            return None
        if self.measure not in measures and (most := most_moved(self._all)) is not None:
            self.measure, self.series = most
        assert self.measure is not None
        several = self._all[self.measure]
        return next((one for one in several if one.series == self.series), several[0])

    @property
    def has_room(self) -> bool:
        """Whether there is room for several measures, and there are several."""
        fits = self.size.width >= SMALL_FROM and len(self._series) <= len(SEVERAL)
        return fits and not self.maps and len(self._all) > 1

    @property
    def _series(self) -> list[str]:
        """The lesions of all measures."""
        return [*dict.fromkeys(one.series for own in self._all.values() for one in own)]

    @property
    def several(self) -> bool:
        """Whether several measures are shown."""
        lacks = self.measure is None or not _drawn(self._all.get(self.measure, ()))
        return self.has_room and not (self.one or lacks) and self._plot is not None

    @property
    def _measures(self) -> list[Cell]:
        """The measures in order; of several that are shown the one that moves most is first."""

        def most(cell: Cell) -> float:
            return -max(moved(one, cell) for one in self._all[cell])

        if not self.several:
            return list(self._all)
        return sorted((one for one in self._all if _drawn(self._all[one])), key=most)

    @property
    def _grid(self) -> tuple[int, int]:
        """The rows and columns of measures for which there is room."""
        size = self.query_one(CurvePane).size
        tall, wide = CELL_SIZE
        return max((size.height - 4) // tall, 1), max(size.width // wide, 1)

    def on_curve_pane_turned(self, event: CurvePane.Turned) -> None:
        """Show another measure or lesion; of several measures move to another, or show it alone."""
        if event.what == "one":
            self.one = not self.one
            self._show()
        elif self.several:
            self.turn_measure(event.by * (self._grid[1] if event.what == "measure" else 1))
        else:
            (self.turn_measure if event.what == "measure" else self.turn_series)(event.by)

    def turn_measure(self, by: int) -> None:
        """Show the measure before or after."""
        measures = self._measures
        if measures:
            at = measures.index(self.measure) if self.measure in measures else 0
            self.measure = measures[(at + by) % len(measures)]
            self._show()

    def turn_series(self, by: int) -> None:
        """Show the lesion before or after."""
        chosen = self.chosen
        if chosen is not None and self.measure is not None:
            names = [one.series for one in self._all[self.measure]]
            self.series = names[(names.index(chosen.series) + by) % len(names)]
            self._show()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Show the measure that was clicked."""
        event.stop()
        self.measure = event.value
        self._show()
        self.focus_inside()

    # ---------------------------------------------------------------- what is shown

    def _show(self) -> None:
        if not self.is_mounted:
            return
        kind = "Map of lesions" if self.maps else "Curves of lesions"
        state = "… reading" if self._reading else ""
        if self.read is not None:
            state = f"{state}   {plural(len(self.read.numbers), 'administration')}".strip()
        words = f"   {self.wanted.words}" if self.wanted.words else ""
        title = Content.assemble(kind, (f"{words}   {state}".rstrip(), QUIET))
        self.query_one("#curves-head", Pane).border_title = title
        chosen, beside = self.chosen, self.size.width >= LIST_FROM
        self._prepare_plot()
        self.query_one(CurvePane).has_room = self.has_room
        self._show_measures(beside=beside and not self.several)
        top, below = self.query_one("#curves-measure", Line), self.query_one("#curves-series", Line)
        top.display = chosen is not None
        below.display = top.display and not self.several
        if chosen is not None and self.measure is not None and self.read is not None:
            name = self.measure.name(self.read.titles)
            measures, several = self._measures, self._all[self.measure]
            title = Content.assemble((self.measure.section, "bold"), f"   {name}")
            keys = "↑ ↓ ← →  enter enlarges " if self.several else "↑ ↓"
            top.show(title, _place(keys, measures.index(self.measure), len(measures)))
            names = [one.series for one in several]
            below.show(chosen.series, _place("← →", names.index(chosen.series), len(names)))
        self._show_plot()
        self.query_one("#curves-text", WrappedText).refresh(layout=True)

    def _show_measures(self, *, beside: bool) -> None:
        shown = beside and bool(self._all)
        self.query_one("#curves-measures-pane").display = shown
        if not shown or self.read is None:
            return
        rows: list[Cell | Heading] = []
        section = ("", "")
        for measure in self._all:
            if (measure.section, measure.rater) != section:
                section = measure.section, measure.rater
                kind = Content.styled(measure.section.upper(), f"bold {QUIET}")
                rater = (f"  {measure.rater}" if measure.rater else "", QUIET)
                rows.append(Heading(Content.assemble(kind, rater)))
            rows.append(measure)
        at = rows.index(self.measure) if self.measure in rows else 0
        titles = self.read.titles
        name: Column[Cell] = Column(
            "", lambda one: one.name(titles, rater=False), least=16, end=True
        )
        columns = [name]
        if self.size.width >= SMALL_FROM:
            series = dict.fromkeys(one.series for own in self._all.values() for one in own)
            columns += [
                Column(head, partial(self._small, one), rank=place)
                for place, (one, head) in enumerate(_heads(series).items(), 1)
            ]
        pane = self.query_one("#curves-measures-pane")
        pane.styles.width = LIST if len(columns) == 1 else LIST + (SMALL + GAP) * (len(columns) - 1)
        pane.styles.max_width = "50%"
        self.query_one(MeasureList).show(columns, rows, current=at)

    def _small(self, series: str, measure: Cell) -> Content:
        found = (one for one in self._all[measure] if one.series == series)
        return next((small(one, measure) for one in found), Content(""))

    def _prepare_plot(self) -> None:
        """Make what curves are drawn on; the extra ``plots`` is loaded when one is shown first."""
        chosen = self.chosen
        if self._plot is None and isinstance(chosen, Curve) and chosen.amounts:
            with suppress(ImportError):
                from textual_plotext import PlotextPlot

                self._plot = PlotextPlot(id="curves-plot")
                self._plot.theme = "clear"
                self.query_one(CurvePane).mount(self._plot, before="#curves-text")

    def _show_plot(self) -> None:
        """Draw the curve, or several measures."""
        chosen = self.chosen
        if self._plot is None:
            return
        self._plot.display = isinstance(chosen, Curve) and bool(chosen.amounts)
        if not isinstance(chosen, Curve) or not chosen.amounts or self.measure is None:
            return
        colours = self.app.theme_variables
        if self.several:
            rows, columns = self._grid
            measures = self._measures
            first = measures.index(self.measure) // (rows * columns) * rows * columns
            some = measures[first : first + rows * columns]
            shown = {one: _drawn(self._all[one]) for one in some}
            glyphs = dict(zip(self._series, SEVERAL, strict=False))
            draw_several(self._plot, shown, glyphs, (rows, columns), self._head_of, colours)
        else:
            draw(self._plot, chosen, self.measure, colours)
        self._plot.refresh()

    def _head_of(self, measure: Cell) -> str:
        """Return what stands above a measure among several."""
        titles = self.read.titles if self.read is not None else {}
        names = {
            one: one.name(titles, rater=False) if one.part or one.feature else one.section
            for one in self._all
        }
        for more in (_of_what, attrgetter("rater")):
            n = Counter(names.values())
            names = {
                one: name
                if n[name] == 1 or name.lower().startswith(more(one))
                else f"{name}, {more(one)}"
                for one, name in names.items()
            }
        room = self.query_one(CurvePane).size.width // self._grid[1] - 4
        mark = f"{CURRENT} " if measure == self.measure else ""
        return f"{mark}{clipped(names[measure], room)}"

    def _lines(self, width: int) -> Iterator[Content]:
        chosen = self.chosen
        if self._problem:
            yield from folded(f"! {self._problem}", width, AMBER)
            return
        if chosen is None:
            yield from self._nothing(width)
        elif isinstance(chosen, HeatMap):
            yield Content("")
            height = self.query_one(CurvePane).size.height - 6
            yield from map_lines(chosen, width, height, difference=not self.values)
            intact = "the intact model was not given" if chosen.intact is None else (
                f"intact model: {fixed(chosen.intact, 2)}"
            )  # fmt: skip
            yield Content.styled(intact, QUIET)
            lacking = [cell for cell in chosen.cells.values() if cell.mean.value is None]
            reasons = dict.fromkeys(cell.reason for cell in lacking if cell.reason)
            if reasons:
                words = f"no value: {'; '.join(reasons)}"
                yield from folded(words, width, QUIET)
        else:
            if self._plot is None:
                error = MissingExtra("a plot", "plots", package=EXTRAS["plots"][0])
                yield from folded(f"{error.message}. {error.hint}", width, AMBER)
            yield self._legend() if self.several else legend(chosen)
            height = self.query_one(CurvePane).size.height
            if (self._plot is None or height >= NUMBERS_FROM) and not self.several:
                yield from numbers(chosen, width, height // 2)

    def _legend(self) -> Content:
        """Return what the glyphs of several measures mean."""
        heads = _heads(self._series, max(map(len, self._series)))
        parts = [(f"{SEVERAL[at]} {head}   ", "" if at % 2 else ACCENT)
                 for at, head in enumerate(heads.values())]  # fmt: skip
        return Content.assemble(*parts, ("○ controls   ", AMBER), ("╌ intact   → amount", QUIET))

    def _nothing(self, width: int) -> Iterator[Content]:
        if self.read is None:
            yield Content.styled("… reading the responses", QUIET)
            return
        need = MAP_NEEDS if self.maps else CURVE_NEEDS
        if not self.read.numbers:
            of = f" of {self.wanted.words}" if self.wanted.words else ""
            yield Content.styled(f"No administration{of} is stored yet.", "bold")
        else:
            words = self.read.no_maps if self.maps else self.read.no_curves
            yield from folded(sentence(words), width, "bold")
        yield Content("")
        yield from folded(need, width, QUIET)
        if self._working:
            yield Content.styled("This page is renewed as conditions of the sweep end.", QUIET)
        keys = [("esc", "returns to the page before")]
        if self.read.curves if self.maps else self.read.maps:
            keys.insert(0, ("g", "shows the curves" if self.maps else "shows the map"))
        yield Content("")
        yield from key_lines(keys, width)

    # ---------------------------------------------------------------- commands

    def turn_kind(self) -> None:
        """Change between curves and maps."""
        self.maps = not self.maps
        self._show()
        self.desk.show_frame()

    def turn_difference(self) -> None:
        """Change between differences to the intact model and values."""
        self.values = not self.values
        self._show()

    def pick_measure(self) -> None:
        """Pick one of all measures."""
        measures = list(self._all)
        if not measures or self.read is None:
            return
        titles = self.read.titles

        def picked(at: int | None) -> None:
            if at is not None:
                self.measure = measures[at]
                self._show()

        lines = [
            Content.assemble((one.section, QUIET), f"  {one.name(titles)}") for one in measures
        ]
        at = measures.index(self.measure) if self.measure in measures else 0
        self.app.push_screen(PickScreen("Measure", lines, at), picked)

    def command(self) -> str:
        """Return the command line that gives the same numbers."""
        words = ["tabwb", "results", *map(str, self.wanted.numbers)]
        words += ["--table", "map" if self.maps else "doses"]
        words += [part for one in self.wanted.where for part in ("--where", one)]
        words += ["--judge", self.wanted.judge] if self.wanted.judge else []
        words += ["--store", self.desk.location] if self.desk.location else []
        return shlex.join(words)

    def export_curves(self) -> None:
        """Write responses or figures to a file."""
        if self.read is not None and self.read.numbers:
            chosen = self.read.numbers
            what = plural(len(chosen), "administration")
            figure = ("map", "dose") if self.maps else ("dose", "map")
            self.desk.request(
                "results", "export", chosen, what, "lesions", figures=figure, drawn=chosen,
                judge=self.wanted.judge,
            )  # fmt: skip

    async def leave_curves(self) -> None:
        """Return to several measures, or to the page before."""
        if self.has_room and self.one:
            self.one = False
            self._show()
        else:
            await self.desk.go(self.wanted.back)


def _place(keys: str, at: int, count: int) -> Content:
    return Content.styled(f"{keys} {at + 1} of {count}" if count > 1 else "", QUIET)


HELP = """\
# Curves and maps

A **curve** is a measure by the amount of one lesion: ● the mean over seeds with its 95 % interval,
· one seed, ○ controls (as many parameters anywhere in the model), ╌ the intact model. A seed
decides which units a lesion takes; five seeds or more give intervals.

A **map** has one cell for each target in each layer, lesioned alone: the mean over seeds, or its
difference to the intact model. The shade and the glyph behind the number show its size.

- the page opens on the measure and the lesion that move most from the intact model; from 120
  columns it shows several measures of up to 8 lesions, those that move most first: the arrows move
  between them, **enter** or **+** shows one alone beside the list of all, and again: several
- **up**, **down** change the measure, **/** lists all; **left**, **right** change the lesion
- **g** changes between curves and maps; **t** between differences and values of a map
- **r** reads again; while a sweep runs, this happens after each condition
- **y** copies the command that gives the same numbers; **e** exports responses and figures

The numbers are those of `tabwb results --table doses` and `--table map`. A value for which fewer
than half of the responses are usable is in no mean. No p value or interval is corrected for the
number of measures and lesions.
"""


class CurvePane(Vertical, can_focus=True):
    """The plot or the map; has the keys."""

    HELP = HELP
    has_room = False
    """Whether there is room for several measures."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,plus", "enlarge", show=False),
        Binding("up", "turn('measure', -1)", show=False),
        Binding("down", "turn('measure', 1)", show=False),
        Binding("left", "turn('series', -1)", show=False),
        Binding("right", "turn('series', 1)", show=False),
    ]

    @dataclass
    class Turned(Message):
        """Another measure or lesion is wanted: ``by`` is 1 or -1; or one measure alone."""

        what: str
        by: int

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action can run: without room, + enlarges the pane as elsewhere."""
        return self.has_room if action == "enlarge" else super().check_action(action, parameters)

    def action_enlarge(self) -> None:
        """Ask for one measure alone, or for several."""
        self.post_message(self.Turned("one", 1))

    def action_turn(self, what: str, by: int) -> None:
        """Ask for the measure or lesion before or after."""
        self.post_message(self.Turned(what, by))


class MeasureList(RowList, can_focus=False):
    """The measures; a click chooses one."""

    AT_ONCE = True
