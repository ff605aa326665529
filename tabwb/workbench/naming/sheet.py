"""Spoken naming in the results: right answers by rule, codes, cues; sessions over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tabwb.report.render.naming import BASES, facts_of
from tabwb.report.render.wording import NONE, between
from tabwb.report.summaries.naming import NamedSubtest
from tabwb.workbench.naming.results import NamingResults, Session, places
from tabwb.workbench.shell.width_aware import Painted
from tabwb.workbench.shell.wording import QUIET, bar, seconds

if TYPE_CHECKING:
    from textual_plotext import PlotextPlot

SIZES = (7, 5, 12, 6)
HEADS = ("right", "of", "95 % exact", "open")
SHORT = {
    "outcome": "as counted",
    "person": "by a person",
    "correct-any": "correct-any",
    "correct-first": "correct-first",
}
"""What a basis is called where there is little room."""
BAR = 16
"""The longest bar of a code."""
PLOT_ROWS = 11
GAP = 4


class NamingSheet(Painted):
    """Each naming subtest: accuracy by rule, codes by a person and as proposed, cues, latency."""

    def __init__(self) -> None:
        super().__init__(id="naming-sheet")
        self._named: tuple[NamedSubtest, ...] = ()

    def show(self, named: Sequence[NamedSubtest]) -> None:
        """Show these."""
        self._named = tuple(named)
        self.display = bool(named)
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """All lines."""
        lines = [line for one in self._named for line in subtest_lines(one, width)]
        return Content("\n").join(lines)


def subtest_lines(one: NamedSubtest, width: int) -> Iterator[Content]:
    """One subtest."""
    room = max(width - sum(SIZES), 12)
    titles = BASES if room > max(map(len, BASES.values())) else SHORT
    rule = f"rule {one.rules.rule}"
    beside = len(one.title) + GAP + len(rule) < room
    title = f"{one.title}{' ' * GAP}{rule}" if beside else one.title
    yield Content.assemble((_left(title, room), "bold"), (_cells(HEADS), QUIET))
    yield Content.styled("─" * width, "$line")
    for found in one.summary.accuracy:
        interval = between(found.interval) if found.interval is not None else NONE
        right = str(found.correct) if found.n else NONE
        cells = _cells((right, str(found.n), interval, str(found.open)))
        line = Content(_left(titles[found.basis], room) + cells)
        yield line.stylize("bold", room, room + SIZES[0]).stylize(QUIET, room + SIZES[0])
    yield Content("")
    facts = facts_of(one).split("\n")
    for fact in facts if beside else [rule, *facts]:
        yield from Content.styled(fact, QUIET).wrap(max(width, 20))
    yield Content("")
    yield from code_lines(one.summary.codes, one.summary.proposed, width)


def code_lines(
    said: Mapping[str, int], proposed: Mapping[str, int], width: int
) -> Iterator[Content]:
    """Both code profiles as bars, beside each other where there is room."""
    blocks = [
        list(_profile(title, codes))
        for title, codes in (("CODES (LISTENER)", said), ("PROPOSED CODES (DRAFT)", proposed))
        if codes
    ]
    own = max((line.cell_length for block in blocks for line in block), default=0)
    if len(blocks) == 2 and 2 * own + GAP <= width:
        for left, right in zip_longest(*blocks, fillvalue=Content("")):
            yield Content.assemble(left, " " * (own + GAP - left.cell_length), right)
        yield Content("")
        return
    for block in blocks:
        yield from (*block, Content(""))


def _profile(title: str, codes: Mapping[str, int]) -> Iterator[Content]:
    yield Content.styled(title, f"bold {QUIET}")
    most, name = max(codes.values()), max(map(len, codes))
    for code, count in codes.items():
        yield Content.assemble(
            f"{code:<{name}}  ", bar(count / most, BAR), (f"  {count:>3}", "bold")
        )


def _left(text: str, room: int) -> str:
    return (text if len(text) < room else text[: room - 2] + "…").ljust(room)


def _cells(cells: Sequence[str]) -> str:
    return "".join(cell.rjust(size) for cell, size in zip(cells, SIZES, strict=True))


class SessionsSheet(Vertical):
    """The sessions of one speaker over time: a plot where the extra is installed, and figures."""

    def __init__(self) -> None:
        super().__init__(id="sessions-sheet")
        self._results: NamingResults | None = None
        self._plots: list[PlotextPlot] = []

    def compose(self) -> ComposeResult:
        """A title, the figures; plots are mounted between them when there is something to draw."""
        yield Static(id="sessions-title", markup=False)
        yield Static(id="sessions-figures", markup=False)

    def show(self, results: NamingResults | None) -> None:
        """Show these; of one session there is nothing to compare."""
        self._results = results
        self.display = results is not None and len(results.sessions) > 1
        if results is None or not self.display:
            return
        lines = [line for place in range(len(results.named)) for line in figures(results, place)]
        self.query_one("#sessions-figures", Static).update(Content("\n").join(lines))
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


def figures(results: NamingResults, place: int) -> Iterator[Content]:
    """One line for each session; the one that is shown is marked."""
    if len(results.named) > 1:
        yield Content.styled(results.named[place].title, "bold")
    for session in results.sessions:
        words = session_words(session, place)
        own = session.number == results.number
        yield Content.styled(f"{'▸' if own else ' '} {words}", "bold" if own else "")


def session_words(session: Session, place: int) -> str:
    """``#3  2026-11-21    2 of 4   0.07-0.93   0.61 s``."""
    summary = session.named[place].summary
    found = summary.accuracy[0]
    right = f"{found.correct} of {found.n}" if found.n else NONE
    interval = between(found.interval) if found.interval is not None else NONE
    latency = NONE if summary.latency_median_s is None else seconds(summary.latency_median_s)
    return f"#{session.number:<5}{session.day}{right:>12}{interval:>14}{latency:>10}"


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
