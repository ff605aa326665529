"""The sessions of one speaker over time, in the results of spoken naming."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tabwb.report.render.naming import sessions_table
from tabwb.workbench.results.naming_results import NamingResults, places
from tabwb.workbench.shell.report_view import ReportView
from tabwb.workbench.shell.wording import QUIET

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot

PLOT_ROWS = 11


class SessionsSheet(Vertical):
    """The sessions of one speaker over time: a plot where the extra is installed, and figures."""

    def __init__(self) -> None:
        super().__init__(id="sessions-sheet")
        self._results: NamingResults | None = None
        self._plots: list[PlotextPlot] = []

    def compose(self) -> ComposeResult:
        """A title, the figures; plots are mounted between them when there is something to draw."""
        yield Static(id="sessions-title", markup=False)
        yield ReportView(id="sessions-figures")

    def show(self, results: NamingResults | None) -> None:
        """Show these; of one session there is nothing to compare."""
        self._results = results
        self.display = results is not None and len(results.sessions) > 1
        if results is None or not self.display:
            return
        views = (figures(results, place) for place in range(len(results.named)))
        self.query_one(ReportView).show(Group(*views))
        self._mount_plots(len(results.named))
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
        scaled = True
        for place, plot in enumerate(self._plots[: len(results.named)]):
            scaled = draw(plot, results, place)
        said = "" if scaled or not self._plots else ", not to scale"
        title = Content.assemble(
            (f"SESSIONS OF {results.speaker}", f"bold {QUIET}"),
            (f"   right by the battery rule, exact 95 %{said}", QUIET),
        )
        self.query_one("#sessions-title", Static).update(title)


def figures(results: NamingResults, place: int) -> RenderableType:
    """Return one row for each session, the one that is shown marked.

    Args:
        results: with the sessions.
        place: of the naming subtest among those of the battery.
    """
    rows = [
        (
            f"{'▸' if session.number == results.number else ' '} #{session.number}",
            session.day,
            session.named[place],
        )
        for session in results.sessions
    ]
    table = sessions_table(rows)
    if len(results.named) == 1:
        return table
    return Group(Text(results.named[place].title, style="bold"), table)


def draw(plot: PlotextPlot, results: NamingResults, place: int) -> bool:
    """Draw a subtest's sessions, all in one colour; whether the time is to scale."""
    found = [
        (session, one)
        for session in results.sessions
        if (one := session.named[place].summary.accuracy[0]).rate is not None
    ]
    at, scaled = places([datetime.fromisoformat(session.at).timestamp() for session, _ in found])
    plt = plot.plt
    plt.clear_figure()
    plt.frame(False)
    plt.xlim(-0.04, 1.04)
    plt.ylim(0, 1)
    plt.yticks([0, 0.5, 1], ["  0 %", " 50 %", "100 %"])
    plt.xticks(list(at), [f"#{session.number} {session.day[5:]}" for session, _ in found])
    rates = [one.rate for _, one in found]
    plt.plot(list(at), rates, marker="·", color="default")
    for x, (_, one) in zip(at, found, strict=True):
        if one.interval is not None:
            low, high = one.interval.low, one.interval.high
            plt.plot([x, x], [low, high], marker="│", color="default")
            plt.scatter([x], [low], marker="┴", color="default")
            plt.scatter([x], [high], marker="┬", color="default")
    plt.scatter(list(at), rates, marker="●", color="default")
    plot.styles.height = PLOT_ROWS
    plot.refresh()
    return scaled
