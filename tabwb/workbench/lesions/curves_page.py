"""Curves and maps of lesions: one measure and one lesion at a time, with the numbers."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tabwb.analysis.measures import Cell
from tabwb.host.index import EXTRAS
from tabwb.host.settings import Configuration
from tabwb.operations.sweep import SweepLesions
from tabwb.records.columns import fixed
from tabwb.records.errors import MissingExtra, TabwbError, error_text
from tabwb.records.words import plural
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.lesions.controller import CurvesWanted
from tabwb.workbench.lesions.curves import (
    Curve,
    HeatMap,
    Read,
    draw,
    legend,
    map_lines,
    numbers,
    read_aside,
)
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import PickScreen
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Line, Pane, WrappedText
from tabwb.workbench.shell.wording import AMBER, QUIET, folded, key_lines, sentence

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot


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


class CurvesPage(Page):
    """The page."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self.wanted = CurvesWanted()
        self.read: Read | None = None
        self.maps = self.values = False
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
                MeasureList(id="curves-measures", compact=True),
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
        if self.measure not in measures:
            self.measure = measures[0]
        several = self._all[self.measure]
        return next((one for one in several if one.series == self.series), several[0])

    def on_curve_pane_turned(self, event: CurvePane.Turned) -> None:
        """Show another measure or lesion."""
        (self.turn_measure if event.what == "measure" else self.turn_series)(event.by)

    def turn_measure(self, by: int) -> None:
        """Show the measure before or after."""
        measures = list(self._all)
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

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Show the measure that was clicked."""
        event.stop()
        self.measure = list(self._all)[int(event.option.id or 0)]
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
        self._show_measures(beside=beside)
        top, below = self.query_one("#curves-measure", Line), self.query_one("#curves-series", Line)
        top.display = below.display = chosen is not None
        if chosen is not None and self.measure is not None and self.read is not None:
            name = self.measure.name(self.read.titles)
            measures, several = list(self._all), self._all[self.measure]
            title = Content.assemble((self.measure.section, "bold"), f"   {name}")
            top.show(title, _place("↑ ↓", measures.index(self.measure), len(measures)))
            names = [one.series for one in several]
            below.show(chosen.series, _place("← →", names.index(chosen.series), len(names)))
        self._show_plot()
        self.query_one("#curves-text", WrappedText).refresh(layout=True)

    def _show_measures(self, *, beside: bool) -> None:
        options = self.query_one(MeasureList)
        shown = beside and bool(self._all)
        self.query_one("#curves-measures-pane").display = shown
        if not shown or self.read is None:
            return
        made: list[Option] = []
        section, highlighted = ("", ""), 0
        for at, measure in enumerate(self._all):
            if (measure.section, measure.rater) != section:
                section = measure.section, measure.rater
                kind = Content.styled(measure.section.upper(), f"bold {QUIET}")
                rater = (f"  {measure.rater}" if measure.rater else "", QUIET)
                made.append(Option(Content.assemble(kind, rater), disabled=True))
            if measure == self.measure:
                highlighted = len(made)
            made.append(
                Option(Content(f"  {measure.name(self.read.titles, rater=False)}"), id=str(at))
            )
        options.set_options(made)
        options.highlighted = highlighted

    def _show_plot(self) -> None:
        """Draw the curve; the extra ``plots`` is loaded when the first one is shown."""
        chosen = self.chosen
        drawn = isinstance(chosen, Curve) and bool(chosen.amounts)
        if drawn and self._plot is None:
            try:
                from textual_plotext import PlotextPlot
            except ImportError:
                drawn = False
            else:
                self._plot = PlotextPlot(id="curves-plot")
                self._plot.theme = "clear"
                self.query_one(CurvePane).mount(self._plot, before="#curves-text")
        if self._plot is None:
            return
        self._plot.display = drawn
        if drawn and isinstance(chosen, Curve) and self.measure is not None:
            draw(self._plot, chosen, self.measure, self.app.theme_variables)
            self._plot.refresh()

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
            yield legend(chosen)
            height = self.query_one(CurvePane).size.height
            if self._plot is None or height >= NUMBERS_FROM:
                yield from numbers(chosen, width, height // 2)

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

    def copy_table_command(self) -> None:
        """Copy the command line that gives the same numbers."""
        self.app.copy_to_clipboard(self.command())
        self.desk.notify(f"Copied: {self.command()}", timeout=4, markup=False)

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
        """Return to the page before."""
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

- **up**, **down** change the measure, **/** lists all; **left**, **right** change the lesion
- **g** changes between curves and maps; **t** between differences and values of a map
- **R** reads again; while a sweep runs, this happens after each condition
- **y** copies the command that gives the same numbers; **e** exports responses and figures

The numbers are those of `tabwb results --table doses` and `--table map`. A value for which fewer
than half of the responses are usable is in no mean. No p value or interval is corrected for the
number of measures and lesions.
"""


class CurvePane(Vertical, can_focus=True):
    """The plot or the map; has the keys."""

    HELP = HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "turn('measure', -1)", show=False),
        Binding("down", "turn('measure', 1)", show=False),
        Binding("left", "turn('series', -1)", show=False),
        Binding("right", "turn('series', 1)", show=False),
    ]

    @dataclass
    class Turned(Message):
        """Another measure or lesion is wanted: ``by`` is 1 or -1."""

        what: str
        by: int

    def action_turn(self, what: str, by: int) -> None:
        """Ask for the measure or lesion before or after."""
        self.post_message(self.Turned(what, by))


class MeasureList(OptionList, can_focus=False):
    """The measures; a click chooses one."""
