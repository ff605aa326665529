"""Plots of the results by model: what they show, and how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tabwb.plugin_api.registry.index import EXTRAS
from tabwb.records.errors import MissingExtra
from tabwb.report.measures import BASELINES
from tabwb.report.summaries.groups import Grouped
from tabwb.workbench.comparison.table import Basis, baseline_values, judge_of
from tabwb.workbench.shell.wording import AMBER, QUIET, shortened

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot

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


LABEL = 34
"""The most columns of a label."""
HELP = """\
# Plots

One line for each model, in the order of the table: ● is the figure (○: few responses are
usable), ├─┤ its 95 % interval, ◆ what guessing or always one answer would give (both ends where the
models differ in it).

**right** and **left** change between burdens, mean features per answer and accuracies; **s** and
**r** change the order; arrows scroll; **g** goes back to the table.
"""


class PlotPane(VerticalScroll, can_focus=True):
    """One of the plots; the extra ``plots`` is loaded when it is first shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "turn(1)", show=False),
        Binding("left", "turn(-1)", show=False),
    ]
    HELP = HELP

    def __init__(self) -> None:
        super().__init__(id="models-plot")
        self.kind: Kind = "burden"
        self._rows: tuple[Grouped, ...] = ()
        self._basis: Basis | None = None
        self._plot: PlotextPlot | None = None

    def compose(self) -> ComposeResult:
        """A title; the plot is mounted when there is something to draw."""
        yield Static(id="plot-title")

    def show(self, rows: Sequence[Grouped], basis: Basis | None) -> None:
        """Draw these, if the extra is installed."""
        self._rows, self._basis = tuple(rows), basis
        if self._plot is None:
            try:
                from textual_plotext import PlotextPlot
            except ImportError:
                self._title(missing())
                return
            self._plot = PlotextPlot(id="plot")
            self._plot.theme = "clear"
            self.mount(self._plot)
        self.call_after_refresh(self._draw)

    def action_turn(self, step: int) -> None:
        """The plot beside this one."""
        self.kind = KINDS[(KINDS.index(self.kind) + step) % len(KINDS)]
        self._draw()

    def on_resize(self) -> None:
        """Lay out again."""
        self._draw()

    def _draw(self) -> None:
        plot, basis = self._plot, self._basis
        if plot is None or basis is None:
            return
        figure = figure_of(self.kind, self._rows, basis)
        place = f"← → {KINDS.index(self.kind) + 1} of {len(KINDS)}"
        said = Content.assemble((figure.title, "bold"), (f"   {place}", QUIET))
        drawn = any(one.value is not None for one in figure.points)
        plot.display = drawn
        self._title(said if drawn else Content.assemble(said, "\n\nThere is nothing to draw."))
        if drawn:
            room = max(self.size.height - 4, 1)
            step = 2 if 2 * len(figure.points) <= room else 1
            plot.styles.height = max(step * len(figure.points), 2) + 1
            draw(plot, figure, step, min(LABEL, max(self.size.width // 3, 12)))
            plot.refresh()

    def _title(self, content: Content) -> None:
        self.query_one("#plot-title", Static).update(content)


def missing() -> Content:
    """Which extra is needed, and the command that installs it."""
    error = MissingExtra("a plot", "plots", package=EXTRAS["plots"][0])
    return Content.assemble((error.message, AMBER), f"\n{error.hint}")


def draw(plot: PlotextPlot, figure: Figure, step: int, room: int) -> None:
    """Draw a figure, a point every ``step`` lines, from top to bottom; all in one colour."""
    plt = plot.plt
    plt.clear_figure()
    plt.frame(False)
    lines = max(step * len(figure.points), 2)
    plt.xlim(0, figure.most)
    plt.ylim(0, lines - 1)
    places = [float(lines - 1 - step * at) for at in range(len(figure.points))]
    for place, one in zip(places, figure.points, strict=True):
        if one.value is None:
            continue
        if one.low is not None and one.high is not None and not one.baseline:
            plt.plot([one.low, one.high], [place, place], marker="─", color="default")
            plt.scatter([one.low], [place], marker="├", color="default")
            plt.scatter([one.high], [place], marker="┤", color="default")
        mark = "◆" if one.baseline else "○" if one.few else "●"
        ends = [one.value] if one.low is None or not one.baseline else [one.low, one.value]
        plt.scatter(ends, [place] * len(ends), marker=mark, color="default")
    plt.yticks(places, [label(one, room) for one in figure.points])


def label(one: Point, room: int) -> str:
    """A line's label with its figure; headings at the left.

    >>> label(Point("bundled", 0.9), 16), label(Point("Fluency, of 2", heading=True), 16)
    ('    bundled 0.90 ', 'Fluency, of 2    ')
    >>> label(Point("first", 1.0, 0.17, 1.0, baseline=True), 20)
    '     first 0.17-1.00 '
    """
    if one.heading:
        return one.label[:room].ljust(room + 1)
    figure = "-" if one.value is None else f"{one.value:.2f}"
    if one.baseline and one.low is not None:
        figure = "-".join(dict.fromkeys((f"{one.low:.2f}", figure)))
    room_name = room - max(len(figure), 4) - 1
    name = shortened(one.label, room_name)
    return f"{name} {figure:>4} ".rjust(room + 1)
