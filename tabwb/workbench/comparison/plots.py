"""The plots of the results by model, and the page of reports on judges and pairs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from tabwb.analysis.grouping import Grouped
from tabwb.analysis.measures import BASELINES
from tabwb.media.wording import figure as number_of
from tabwb.records.words import plural
from tabwb.scoring.estimate import Interval
from tabwb.workbench.comparison.table import Basis
from tabwb.workbench.shell.columns import shortened, shortened_apart
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.drawn import interval_bar, round_ticks
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Line, Pane, ReportView, WrappedText, content_of
from tabwb.workbench.shell.wording import ACCENT, LINE, QUIET

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Pair
    from tabwb.analysis.judges import JudgeReport


@dataclass(frozen=True, slots=True)
class Point:
    """One line of a plot.

    Attributes:
        value: the place of the mark; None: nothing can be drawn.
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

    @property
    def drawn(self) -> bool:
        """Whether any line has a value."""
        return any(point.value is not None for point in self.points)


def figure_of(kind: str, rows: Sequence[Grouped], basis: Basis) -> Figure:
    """One of the plots, of rows of one battery in their order."""
    title, make = PLOTS[kind]
    points = tuple(make(rows, basis))
    ends = [end for point in points for end in (point.value, point.high) if end is not None]
    most = 1.0 if kind == "accuracies" else max(ends, default=1.0) or 1.0
    step = round_ticks(0.0, most)[1]
    return Figure(title, points, ceil(most / step - 1e-9) * step)  # the axis ends at a tick


def _ends(interval: Interval | None) -> tuple[float, float] | tuple[None, None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _burdens(rows: Sequence[Grouped], basis: Basis) -> Iterator[Point]:
    for row in rows:
        judge = row.judge(basis.terms)
        if judge is None:
            yield Point(row.label)
            continue
        burden = judge.burden
        low, high = _ends(burden.interval)
        yield Point(row.label, burden.symptom_burden.value, low, high, few=burden.usable.few)


def _categories(rows: Sequence[Grouped], basis: Basis) -> Iterator[Point]:
    judged = [(row, judge) for row in rows if (judge := row.judge(basis.terms)) is not None]
    for grouping in rows[0].battery.groupings[:1] if rows else ():
        for category in grouping.categories:
            own = [
                (row.label, burden)
                for row, judge in judged
                if (burden := judge.burden.categories.get(category.id)) is not None and burden.of
            ]
            if own:
                yield Point(f"{category.title}, of {own[0][1].of}", heading=True)
                yield from (Point(label, burden.count.value) for label, burden in own)


def _accuracies(rows: Sequence[Grouped], basis: Basis) -> Iterator[Point]:
    for subtest in rows[0].results.parts if rows else ():
        rights = [(row.label, row.results.find("accuracy", subtest.id)) for row in rows]
        if not any(right is not None and right.n for _, right in rights):
            continue
        yield Point(subtest.title, heading=True)
        for label, right in rights:
            if right is not None:
                yield Point(label, right.value.value, *_ends(right.interval))
        for baseline in BASELINES:
            own = (row.results.value(baseline.id, subtest.id) for row in rows)
            values = [value for value in own if value is not None]
            if values:
                low, high = min(values), max(values)
                yield Point(baseline.title, high, low, high, baseline=True)
    yield from _names_right(rows)


def _names_right(rows: Sequence[Grouped]) -> Iterator[Point]:
    for name, title in {part.id: part.title for row in rows for part in row.results.named}.items():
        yield Point(title, heading=True)
        for row in rows:
            if (part := row.named(name)) is not None:
                share = part.summary.accuracy[0]
                yield Point(row.label, share.rate, *_ends(share.interval))


PLOTS: Mapping[str, tuple[str, Callable[[Sequence[Grouped], Basis], Iterator[Point]]]] = {
    "burden": ("Symptom burden, 95 % interval", _burdens),
    "categories": ("Mean features per answer, by category", _categories),
    "accuracies": ("Share right, 95 % interval", _accuracies),
}
"""The title of each plot and what makes its lines, in the order in which they change."""
KINDS = tuple(PLOTS)
LABEL = 44
"""The most columns of a label."""
NOTHING = "There is nothing to draw."
LEAST_WIDTH = 30
"""No plot is drawn narrower, also before there is any room."""
FIGURE = 4
"""The least columns of the figure beside it."""
HELP = """\
# Plots

One line for each model, in the order of the table: ● is the value (○: few responses are
usable), ├─┤ its 95 % interval for prompts like these, ◆ what guessing or always one answer would
give (both ends where the models differ in it). ◈: that value covers the estimate or an end.

**right** and **left** change between burdens, mean features per answer and right answers; **>** and
**<** change the order; arrows scroll; **g** goes back to the table.
"""


class PlotPane(Vertical):
    """One of the plots, with its axis below."""

    def __init__(self) -> None:
        super().__init__(id="models-plot")
        self.kind = KINDS[-1]
        self._rows: tuple[Grouped, ...] = ()
        self._basis: Basis | None = None
        self._figure: Figure | None = None
        self._drawn_for: Size | None = None

    def compose(self) -> ComposeResult:
        """Yield what scrolls, and the axis, which does not."""
        yield PlotScroll()
        yield WrappedText(self._axis, id="plot-axis")

    @property
    def title(self) -> str:
        """What is drawn, and which of the plots it is."""
        return f"{PLOTS[self.kind][0]} · ← → {KINDS.index(self.kind) + 1} of {len(KINDS)}"

    def show(self, rows: Sequence[Grouped], basis: Basis | None) -> None:
        """Draw these."""
        self._rows, self._basis = tuple(rows), basis
        self._draw()

    def turn(self, step: int) -> None:
        """Draw another plot."""
        self.kind = KINDS[(KINDS.index(self.kind) + step) % len(KINDS)]
        self._draw()

    def _draw(self) -> None:
        basis = self._basis
        figure = None if basis is None else figure_of(self.kind, self._rows, basis)
        if (figure, self.size) == (self._figure, self._drawn_for):
            return
        self._figure, self._drawn_for = figure, self.size
        if isinstance(self.parent, Pane):
            self.parent.border_title = self.title
        scroll = self.query_one(PlotScroll)
        width, room = max(self.size.width - 1, LEAST_WIDTH), max(self.size.height - 2, 1)
        points: Sequence[Point] = ()
        if figure is not None:
            points = figure.points if figure.drawn else (Point(NOTHING, heading=True),)
            scroll.show(points, figure.most, width, apart=2 * len(points) <= room + 1)
        scroll.styles.height = min(scroll.virtual_size.height, room)
        self.query_one("#plot-axis", WrappedText).refresh(layout=True)

    def on_resize(self) -> None:
        """Lay out again."""
        self._draw()

    def _axis(self, width: int) -> Iterator[Content]:
        figure, width = self._figure, max(width - 1, LEAST_WIDTH)
        if figure is not None and figure.drawn:
            yield from axis(figure.most, width, label_room(figure.points, width) + 1)


class PlotScroll(ScrollView, can_focus=True):
    """The lines, drawn as they come into sight; left and right change the plot."""

    HELP = HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "turn(1)", show=False),
        Binding("left", "turn(-1)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="plot-scroll")
        self._points: Sequence[Point] = ()
        self._names: Sequence[str] = ()
        self._most, self._width, self._step, self._room = 1.0, LEAST_WIDTH, 1, 0

    def show(self, points: Sequence[Point], most: float, width: int, *, apart: bool) -> None:
        """Show these points."""
        self._points, self._room = points, label_room(points, width)
        self._names = labels(points, self._room)
        self._most, self._width, self._step = most, width, 1 + apart
        self.virtual_size = Size(width, max(self._step * len(points) - apart, 1))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one line: the label and the figure of a point, and its interval."""
        at, between = divmod(y + self.scroll_offset.y, self._step)
        if between or at >= len(self._points):
            return Strip.blank(self.size.width, self.rich_style)
        point, name = self._points[at], self._names[at]
        line = Content.assemble(
            (name, "bold" if point.heading else ""),
            _bar(point, self._width - self._room - 1, self._most),
        )
        (strip,) = Visual.to_strips(self, line, self.size.width, 1, self.visual_style, pad=True)
        return strip

    def action_turn(self, step: int) -> None:
        """Draw another plot."""
        plot = self.parent
        assert isinstance(plot, PlotPane)
        plot.turn(step)


def label_room(points: Sequence[Point], width: int) -> int:
    """Return the columns of labels: of the longest one, where a plot of this width has room."""
    lines = [point for point in points if not point.heading]
    inset = 2 * (len(lines) < len(points))
    longest = max((len(point.label) + 1 + len(_value(point)) for point in lines), default=0)
    return min(LABEL, max(width * 2 // 5, 12), max(inset + longest, 12))


def _bar(point: Point, width: int, most: float) -> Content:
    if point.heading:
        return Content("")
    if point.baseline:
        ends = [end for end in (point.low, point.value) if end is not None]
        return interval_bar(None, None, None, width=width, highest=most, baseline=ends)
    return interval_bar(
        point.low, point.value, point.high, width=width, highest=most, few=point.few
    )


def axis(most: float, width: int, start: int) -> Iterator[Content]:
    """Yield the two lines of a horizontal axis from 0, with round ticks.

    >>> [line.plain for line in axis(1.0, 23, 2)]
    ['  ├───┬───┬───┬───┬───┤', '  0  0.2 0.4 0.6 0.8  1']
    """
    span = width - start - 1
    rule, words = ["─"] * (span + 1), [" "] * width
    free = 0
    ticks = round_ticks(0.0, most)
    for tick in ticks:
        place = round(tick / most * span)
        rule[place] = "┬"
        name = f"{tick:g}"
        first = min(max(start + place - len(name) // 2, free), width - len(name))
        if first >= free:
            words[first : first + len(name)] = name
            free = first + len(name) + 1
    rule[0], rule[-1] = "├", "┤"
    yield Content.styled(" " * start + "".join(rule), LINE)
    yield Content.styled("".join(words).rstrip(), QUIET)


def labels(points: Sequence[Point], room: int) -> list[str]:
    """Return the label of each line with its figure; names are below their heading.

    >>> labels([Point("Fluency, of 2", heading=True), Point("bundled", 0.9)], 16)
    ['Fluency, of 2    ', '  bundled   0.90 ']
    >>> labels([Point("first", 1.0, 0.17, 1.0, baseline=True)], 20)
    ['first      0.17-1.00 ']
    """
    own = [point for point in points if not (point.heading or point.baseline)]
    inset = 2 if any(point.heading for point in points) else 0
    names = shortened_apart([point.label for point in own], room - FIGURE - 1 - inset)
    apart = dict(zip((point.label for point in own), names, strict=True))
    return [
        point.label.ljust(room + 1)
        if point.heading
        else _label(point, apart, room - inset).rjust(room + 1)
        for point in points
    ]


def _value(point: Point) -> str:
    """Return the figure beside a label; of an estimated baseline its ends."""
    figure = number_of(point.value)
    if point.baseline and point.low is not None:
        figure = "-".join(dict.fromkeys((number_of(point.low), figure)))
    return f"{figure:>{FIGURE}}"


def _label(point: Point, names: Mapping[str, str], room: int) -> str:
    figure = _value(point)
    left = room - len(figure) - 1
    name = shortened(names.get(point.label, point.label), left)
    return f"{name:<{left}} {figure} "


TWO = 208
"""From so many columns on the panes are in two columns, each as wide as a table wants."""
FRAME = 4
"""Columns of a pane's border and padding."""
KEYS = """

**Arrows** scroll, **y** copies the command that prints the same, **e** exports responses, report or
figures, **esc** returns to the models.
"""
PAIRS_HELP = """\
# Base and instruct

Every base model with every instruct model of its family, size, lesion and battery: the means of
both, base - instruct, and its 95 % interval (paired t over items). A
burden is compared only where one judge judged both under the same terms. From three families on
the mean over families follows."""
JUDGES_HELP = """\
# Judges against each other

How much a result depends on the judge: one row for each judge (its prompt and judging model), the
agreement of every two judges, the features on which they differ most, and the majority verdicts."""


@dataclass(frozen=True)
class Report:
    """A report on some models.

    Attributes:
        title: of the page.
        parts: each with its name.
        command: the words of the command that prints the same.
        numbers: of the administrations.
        figure: the figure that shows the same.
        help: explains the report.
    """

    title: str
    parts: Sequence[tuple[str, RenderableType]]
    command: tuple[str, ...]
    numbers: tuple[int, ...]
    figure: str
    help: str

    @cached_property
    def words(self) -> str:
        """The title within a sentence."""
        return f"{self.title[0].lower()}{self.title[1:]}"


def pairs_report(pairs: Sequence[Pair], numbers: Sequence[int]) -> Report:
    """Return the report on base and instruct models."""
    from tabwb.media.views.contrasts import pair_parts  # loads numpy

    title = f"Base and instruct: {plural(len(pairs), 'pair')}"
    batteries = dict.fromkeys(pair.battery for pair in pairs)
    parts = [
        part
        for battery in batteries
        for part in pair_parts([pair for pair in pairs if pair.battery == battery])
    ]
    words = ("results", *map(str, numbers), "--by", "model")
    return Report(title, parts, words, tuple(numbers), "differences", PAIRS_HELP)


def judges_report(compared: JudgeReport, label: str, numbers: Sequence[int]) -> Report:
    """Return the report on the judges of some responses."""
    from tabwb.media.views.judges import judges_parts  # loads numpy

    title = f"Judges against each other: {label}"
    parts = list(judges_parts(compared))
    words = ("judge", "report", *map(str, numbers))
    return Report(title, parts, words, tuple(numbers), "agreement", JUDGES_HELP)


class ReportPage(Page):
    """The page."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._report: Report | None = None
        self._columns = 0

    def compose(self) -> ComposeResult:
        """Yield title and command, then the columns of panes."""
        yield Line(id="report-head")
        with ScrollPane(id="report-scroll", help_text=""), Horizontal(id="report-columns"):
            yield Vertical(classes="report-column")
            yield Vertical(classes="report-column")

    async def show(self, report: Report) -> None:
        """Show a report."""
        self._report, self._columns = report, 0
        scroll = self.query_one(ScrollPane)
        scroll.help_text = report.help + KEYS
        head = Content.assemble((report.title, "bold"), (f"   {self._command(report)}", QUIET))
        copies = Content.assemble(("y", f"bold {ACCENT}"), (" copies", QUIET))
        self.query_one("#report-head", Line).show(head, copies)
        await self._fill()
        scroll.scroll_home(animate=False)

    async def on_resize(self, event: Resize) -> None:
        """Put the panes into as many columns as there is room for."""
        await self._fill()

    async def _fill(self) -> None:
        """Put each pane into the column that is shorter so far."""
        report, width = self._report, self.size.width
        columns = 2 if width >= TWO and report is not None and len(report.parts) > 1 else 1
        if report is None or not width or columns == self._columns:
            return
        self._columns = columns
        places = list(self.query(".report-column").results(Vertical))
        heights = [0] * columns
        places[1].display = columns > 1
        for place in places:
            await place.remove_children()
        for name, view in report.parts:
            at = heights.index(min(heights))
            heights[at] += content_of(view, width // columns - FRAME).plain.count("\n") + FRAME
            await places[at].mount(Pane(ReportView(view), title=name, classes="report-part"))

    def _command(self, report: Report) -> str:
        place = ["--store", self.desk.location] if self.desk.location else []
        return shlex.join(["tabwb", *report.command, *place])

    # ---------------------------------------------------------------- frame, commands

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return None if self._report is None else self._report.words

    def administration(self) -> int | None:
        """Return no administration: several models are shown."""
        return None

    def administrations(self) -> tuple[int, ...]:
        """Return the administrations of the models."""
        return () if self._report is None else self._report.numbers

    def focus_inside(self) -> None:
        """Give the keys to the panes."""
        self.query_one(ScrollPane).focus()

    def command(self) -> str:
        """Return the command that prints the same."""
        return "" if self._report is None else self._command(self._report)

    def export_report(self) -> None:
        """Write responses, a report or figures to a file."""
        if (report := self._report) is not None:
            what = plural(len(report.numbers), "administration")
            self.desk.request(
                "results", "export", report.numbers, what, "report", figures=(report.figure,),
                drawn=report.numbers, by="model",
            )  # fmt: skip

    async def leave_report(self) -> None:
        """Return to the results by model."""
        await self.desk.go("models")
