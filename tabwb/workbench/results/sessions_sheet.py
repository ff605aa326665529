"""The sessions of one speaker over time, in the results of spoken naming."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tabwb.report.render.naming import sessions_table
from tabwb.workbench.results.presenter import Results
from tabwb.workbench.shell.width_aware import ReportView
from tabwb.workbench.shell.wording import QUIET

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot

PLOT_ROWS = 11
CLOSE = 0.04
"""Sessions nearer together than this share of the whole time would be in one column."""


class SessionsSheet(Vertical):
    """The sessions of one speaker over time: a plot where the extra is installed, and figures."""

    def __init__(self) -> None:
        super().__init__(id="sessions-sheet")
        self._results: Results | None = None
        self._plots: list[PlotextPlot] = []

    def compose(self) -> ComposeResult:
        """A title, the figures; plots are mounted between them when there is something to draw."""
        yield Static(id="sessions-title", markup=False)
        yield ReportView(id="sessions-figures")

    def show(self, results: Results) -> None:
        """Show these; of one session there is nothing to compare."""
        self._results = results
        self.display = len(results.sessions) > 1
        if not self.display:
            return
        places = range(len(results.summary.named))
        self.query_one(ReportView).show(Group(*(_figures(results, place) for place in places)))
        self._mount_plots(len(places))
        self.call_after_refresh(self._draw)

    def _mount_plots(self, count: int) -> None:
        try:
            from textual_plotext import PlotextPlot
        except ImportError:
            return
        while len(self._plots) < count:
            plot = PlotextPlot(classes="session-plot")
            plot.theme = "clear"
            self._plots.append(plot)
            self.mount(plot, before="#sessions-figures")
        for at, plot in enumerate(self._plots):
            plot.display = at < count

    def on_resize(self) -> None:
        """Draw again."""
        self._draw()

    def _draw(self) -> None:
        results = self._results
        if results is None or not self.display:
            return
        plots = self._plots[: len(results.summary.named)]
        scaled = [_draw_sessions(plot, results, place) for place, plot in enumerate(plots)]
        remark = "" if all(scaled[-1:]) else ", not to scale"
        title = Content.assemble(
            (f"SESSIONS OF {results.administration.conditions.examinee}", f"bold {QUIET}"),
            (f"   counted as right, 95 %{remark}", QUIET),
        )
        self.query_one("#sessions-title", Static).update(title)


def _figures(results: Results, place: int) -> RenderableType:
    """Return a row for each session of a naming subtest, the session that is shown marked."""
    rows = [
        (
            f"{'▸' if session.number == results.administration.id else ' '} #{session.number}",
            session.at[:10],
            session.named[place],
        )
        for session in results.sessions
    ]
    table, named = sessions_table(rows), results.summary.named
    return table if len(named) == 1 else Group(Text(named[place].title, style="bold"), table)


def _draw_sessions(plot: PlotextPlot, results: Results, place: int) -> bool:
    """Draw a subtest's sessions, all in one colour; return whether the time is to scale."""
    points = [
        (session, accuracy)
        for session in results.sessions
        if (accuracy := session.named[place].summary.accuracy[0]).rate is not None
    ]
    at, scaled = places([datetime.fromisoformat(session.at).timestamp() for session, _ in points])
    plt = plot.plt
    plt.clear_figure()
    plt.frame(False)
    plt.xlim(-0.04, 1.04)
    plt.ylim(0, 1)
    plt.yticks([0, 0.5, 1], ["  0 %", " 50 %", "100 %"])
    plt.xticks(list(at), [f"#{session.number} {session.at[5:10]}" for session, _ in points])
    rates = [accuracy.rate for _, accuracy in points]
    plt.plot(list(at), rates, marker="·", color="default")
    for x, (_, accuracy) in zip(at, points, strict=True):
        if accuracy.interval is not None:
            low, high = accuracy.interval.low, accuracy.interval.high
            plt.plot([x, x], [low, high], marker="│", color="default")
            plt.scatter([x], [low], marker="┴", color="default")
            plt.scatter([x], [high], marker="┬", color="default")
    plt.scatter(list(at), rates, marker="●", color="default")
    plot.styles.height = PLOT_ROWS
    plot.refresh()
    return scaled


def places(times_s: Sequence[float]) -> tuple[tuple[float, ...], bool]:
    """Return the places of sessions along the time, 0 to 1, and whether that is to scale.

    Sessions that would be in one column are placed one after the other instead.

    >>> places([0.0, 10.0, 40.0])
    ((0.0, 0.25, 1.0), True)
    >>> places([0.0, 1.0, 1000.0])
    ((0.0, 0.5, 1.0), False)
    """
    if len(times_s) < 2:
        return (0.0,) * len(times_s), False
    span = times_s[-1] - times_s[0]
    if span > 0 and min(b - a for a, b in pairwise(times_s)) >= CLOSE * span:
        return tuple((time - times_s[0]) / span for time in times_s), True
    return tuple(at / (len(times_s) - 1) for at in range(len(times_s))), False
