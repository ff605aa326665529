"""Plots of the results by model: what they show, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tabwb.plugin_api.registry.index import EXTRAS
from tabwb.records.errors import MissingExtra
from tabwb.report.measures import BASELINES
from tabwb.report.summaries.groups import Grouped
from tabwb.scoring.estimate import Interval
from tabwb.workbench.comparison.table import Basis
from tabwb.workbench.shell.wording import AMBER, QUIET, shortened, shortened_apart

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot


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


def figure_of(kind: str, rows: Sequence[Grouped], basis: Basis) -> Figure:
    """One of the plots, of rows of one battery in their order."""
    title, make = PLOTS[kind]
    points = tuple(make(rows, basis))
    ends = [end for point in points for end in (point.value, point.high) if end is not None]
    most = 1.0 if kind == "accuracies" else max(ends, default=1.0) * 1.05 or 1.0
    return Figure(title, points, most)


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
    for place in range(len(rows[0].summary.subtests) if rows else 0):
        subtests = [(row.label, row.summary.subtests[place]) for row in rows]
        if not any(subtest.share.scored for _, subtest in subtests):
            continue
        yield Point(subtests[0][1].title, heading=True)
        for label, subtest in subtests:
            interval = subtest.share.interval() if subtest.share.scored else None
            yield Point(label, subtest.share.accuracy().value, *_ends(interval))
        for baseline in BASELINES:
            own = (subtest.baselines.get(baseline.id) for _, subtest in subtests)
            values = [known.value for known in own if known and known.value is not None]
            if values:
                low, high = min(values), max(values)
                yield Point(baseline.title, high, low, high, baseline=True)


PLOTS: Mapping[str, tuple[str, Callable[[Sequence[Grouped], Basis], Iterator[Point]]]] = {
    "burden": ("symptom burden with its 95 % interval (prompts like these)", _burdens),
    "categories": ("mean features per answer, by category", _categories),
    "accuracies": ("share right with its 95 % interval (prompts like these)", _accuracies),
}
"""The title of each plot and what makes its lines, in the order in which they change."""
KINDS = tuple(PLOTS)
LABEL = 34
"""The most columns of a label."""
FIGURE = 4
"""The least columns of the figure in it."""
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
        self.kind = KINDS[0]
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
                error = MissingExtra("a plot", "plots", package=EXTRAS["plots"][0])
                self._title(Content.assemble((error.message, AMBER), f"\n{error.hint}"))
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
        title = Content.assemble((figure.title, "bold"), (f"   {place}", QUIET))
        drawn = any(point.value is not None for point in figure.points)
        plot.display = drawn
        self._title(title if drawn else Content.assemble(title, "\n\nThere is nothing to draw."))
        if drawn:
            room = max(self.size.height - 4, 1)
            step = 2 if 2 * len(figure.points) <= room else 1
            plot.styles.height = max(step * len(figure.points), 2) + 1
            draw(plot, figure, step, min(LABEL, max(self.size.width // 3, 12)))
            plot.refresh()

    def _title(self, content: Content) -> None:
        self.query_one("#plot-title", Static).update(content)


def draw(plot: PlotextPlot, figure: Figure, step: int, room: int) -> None:
    """Draw a figure, a point every ``step`` lines, from top to bottom; all in one colour."""
    plt = plot.plt
    plt.clear_figure()
    plt.frame(False)
    lines = max(step * len(figure.points), 2)
    plt.xlim(0, figure.most)
    plt.ylim(0, lines - 1)
    places = [float(lines - 1 - step * at) for at in range(len(figure.points))]
    for place, point in zip(places, figure.points, strict=True):
        if point.value is None:
            continue
        if point.low is not None and point.high is not None and not point.baseline:
            plt.plot([point.low, point.high], [place, place], marker="─", color="default")
            plt.scatter([point.low], [place], marker="├", color="default")
            plt.scatter([point.high], [place], marker="┤", color="default")
        mark = "◆" if point.baseline else "○" if point.few else "●"
        ends = (
            [point.low, point.value] if point.baseline and point.low is not None else [point.value]
        )
        plt.scatter(ends, [place] * len(ends), marker=mark, color="default")
    plt.yticks(places, labels(figure.points, room))


def labels(points: Sequence[Point], room: int) -> list[str]:
    """Return the label of each line with its figure; headings at the left.

    >>> labels([Point("Fluency, of 2", heading=True), Point("bundled", 0.9)], 16)
    ['Fluency, of 2    ', '    bundled 0.90 ']
    >>> labels([Point("first", 1.0, 0.17, 1.0, baseline=True)], 20)
    ['     first 0.17-1.00 ']
    """
    own = [point for point in points if not (point.heading or point.baseline)]
    names = shortened_apart([point.label for point in own], room - FIGURE - 1)
    apart = dict(zip((point.label for point in own), names, strict=True))
    return [
        point.label[:room].ljust(room + 1) if point.heading else _label(point, apart, room)
        for point in points
    ]


def _label(point: Point, names: Mapping[str, str], room: int) -> str:
    figure = "-" if point.value is None else f"{point.value:.2f}"
    if point.baseline and point.low is not None:
        figure = "-".join(dict.fromkeys((f"{point.low:.2f}", figure)))
    name = shortened(names.get(point.label, point.label), room - max(len(figure), FIGURE) - 1)
    return f"{name} {figure:>{FIGURE}} ".rjust(room + 1)
