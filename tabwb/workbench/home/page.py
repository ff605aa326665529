"""The first page: begin, continue, recent administrations with scores, participants."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, Resize
from textual.style import Style
from textual.timer import Timer
from textual.widgets import Static

from tabwb.records.series import Series
from tabwb.records.trials import Administration
from tabwb.records.words import RESEARCH_ONLY, plural
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.view_models import Catalogue, ScoredAdministration
from tabwb.workbench.shell.commands import Command, key_label
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane, WidthAwareWidget, WrappedText
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded

if TYPE_CHECKING:
    from tabwb.administer.participants import Participant
    from tabwb.workbench.engine.engine import Engine
    from tabwb.workbench.home.lines import Recent, Row
    from tabwb.workbench.shell.desk import Desk


FIRST = ("new", "demonstration", "naming-demonstration", "open-import")
"""Commands that begin something, as their ids end."""
PLACES = (
    "open", "by-model", "participants", "rating-sets", "laboratory", "dial", "sweep-page",
    "models", "jobs",
)  # fmt: skip
"""Commands that open a place, likewise."""
GAP = 3


@dataclass(frozen=True, slots=True)
class StartHint:
    """One command; ``usable`` says whether it can be used now."""

    command: Command
    usable: bool

    @property
    def title(self) -> str:
        """The name of the command."""
        return self.command.title.rstrip("…")

    def shown(self, width: int = 0) -> Content:
        """Return key and title, ``width`` columns wide; without a width key and short word."""
        key = key_label(self.command.key)
        words = (width and self.title) or self.command.foot or self.title
        words = f"{words:<{max(width - len(key) - 1, 0)}}"
        styles = (f"bold {ACCENT}", "$foreground") if self.usable else (QUIET, QUIET)
        text = Content.assemble((key, styles[0]), " ", (words, styles[1]))
        if not self.usable:
            return text
        return text.stylize(Style.from_meta({"command": self.command.id}))


class Start(WidthAwareWidget):
    """The commands; in a tall window each has a line with what it does."""

    def __init__(self, desk: Desk, *, id: str) -> None:
        super().__init__(id=id)
        self.desk = desk
        self._hints: tuple[tuple[StartHint, ...], ...] = ((), ())
        self._tall = self._new = False

    def show(
        self, first: Sequence[StartHint], places: Sequence[StartHint], *, tall: bool, new: bool
    ) -> None:
        """Show commands."""
        state = (tuple(first), tuple(places))
        if (state, tall, new) != (self._hints, self._tall, self._new):
            self._hints, self._tall, self._new = state, tall, new
            self.refresh(layout=True)

    def on_click(self, event: Click) -> None:
        """Run the command that was clicked."""
        if name := event.style.meta.get("command"):
            self.desk.perform(name)

    def paint(self, width: int) -> Content:
        """Return the commands."""
        if self._new:
            shown = self._hints if self._tall else self._hints[:1]
            column = _widest([hint for row in shown for hint in row])
            blocks = (Content("\n").join(self._in_full(row, width, column)) for row in shown)
            return Content("\n\n").join(blocks)
        if self._tall:
            return Content("\n").join(self._side_by_side(width))
        return Content("\n").join(line for row in self._hints for line in _flow(row, width))

    def _explained(self, hints: Sequence[StartHint], width: int, column: int) -> Iterator[Content]:
        """Yield a line for each command, with what it does after a column where all of it fits."""
        longest = max((len(hint.command.help) for hint in hints), default=0)
        for hint in hints:
            line = hint.shown(column)
            if column + GAP + longest <= width:
                line = Content.assemble(line, " " * GAP, (hint.command.help, QUIET))
            yield line

    def _in_full(self, hints: Sequence[StartHint], width: int, column: int) -> Iterator[Content]:
        """Yield what each command does too, below it where there is no room beside it."""
        for hint, line in zip(hints, self._explained(hints, width, column), strict=True):
            yield line
            if hint.command.help not in line.plain:
                yield from folded(hint.command.help, width, QUIET, indent=2)

    def _side_by_side(self, width: int) -> Iterator[Content]:
        every = [hint for row in self._hints for hint in row]
        half = (len(every) + 1) // 2
        room = (width - GAP) // 2
        left = list(self._explained(every[:half], room, _widest(every[:half])))
        right = list(self._explained(every[half:], room, _widest(every[half:])))
        for one, other in zip_longest(left, right, fillvalue=Content("")):
            yield Content.assemble(one, " " * (room + GAP - one.cell_length), other)


def _widest(hints: Sequence[StartHint]) -> int:
    return max((hint.shown(1).cell_length for hint in hints), default=0)


def _flow(hints: Sequence[StartHint], width: int) -> Iterator[Content]:
    line: list[Content] = []
    used = 0
    for hint in hints:
        shown = hint.shown()
        if line and used + GAP + shown.cell_length > width:
            yield Content(" " * GAP).join(line)
            line, used = [], 0
        used += shown.cell_length + (GAP if line else 0)
        line.append(shown)
    yield Content(" " * GAP).join(line)


MOST_RECENT = 60
"""The number of rows listed; *Open* finds all administrations."""
MOST_SEARCHED = 5000
"""So many latest administrations are put together in sweeps and series."""
MOST_DRAWN = 400
"""The line of a larger sweep is not drawn: its scores would take too long to read."""
BESIDE = 112
"""From so many columns details and participants are at the right."""
MOST_PEOPLE = 30
"""The number of participants listed, those of the latest sessions first."""
RENEW_S = 5.0
"""Seconds between two readings of the store while something works in the background."""
REFILL_S = 0.1
"""Seconds between two showings of scores that were read."""
FIRST_S = 0.15
"""Seconds before the first reading, so that the first page is drawn before."""
REST_S = 0.01
"""Seconds between two administrations, so that the screen has the interpreter."""
AT_ONCE = 20
"""The number of latest administrations whose scores are read at once, about as many as are seen."""
IDLE_S = 1.0
"""Seconds without a key before scores are read that take long, or are not seen."""
LOOK_S = 0.1
"""Seconds between two looks whether so long no key was pressed."""
TALL = 40
"""From so many rows commands have a line each."""
WELCOME = (
    "No administration is stored yet. Begin with the demonstration: tabwb gives a "
    "battery to the bundled language model and scores its answers. It takes a minute and needs no "
    "network."
)
HELP = """\
# Home

**n** begins a new administration; enter in its dialog accepts what is filled in. **d** opens the
dial and gives the Text Aphasia Battery to the bundled model, intact and lesioned; **D** begins the
naming demonstration.

At the right of the title bar *offline* means that no other machine is contacted; *network
allowed* that a model or judge which needs a network may use it (`tabwb --offline` forbids it).
*Saved* means that everything so far is on disk.

*Continue* lists unfinished work: administrations that are running or paused, interrupted
recordings, responses that a judge has not judged yet. *Recent* has the latest administrations with
the number of right responses, the burden and, where there is room, a mark for each item. A sweep,
or a series of runs or sessions, is one row with small lines along its amounts; **enter** shows its
administrations below it, named by what differs between them, and hides them again.
*Participants* lists people by their study IDs.

**Up** and **down** move, **enter** opens; tab goes to the next list. A click highlights a line, a
second click opens it.
"""


class HomePage(Page, can_focus=True):
    """The first page."""

    HELP = HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
    ]

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self.add_class("-new")
        self._catalogue: Catalogue | None = None
        self._known: dict[int, ScoredAdministration] = {}
        self._rescored: set[int] = set()
        """Numbers of administrations whose scores have changed since they were read."""
        self._participants: tuple[Participant, ...] = ()
        self._stale = False
        """Whether something has changed since the store was read."""
        self._busy = False
        """Whether something has worked in the background since the store was read."""
        self._placed: tuple[RowList, str | None, str | None] | None = None
        """The list at which the page was entered, its row and its first row, while the store is
        being read."""
        self._series: tuple[Sequence[Administration], list[Row]] | None = None
        """Administrations with the rows that they are."""
        self._opened: set[object] = set()
        """The keys of sweeps and series whose members are shown."""
        self._shown: Recent
        self._profiles = False
        """Whether recent administrations have a mark for each item."""
        self._listed = False
        """Whether the lists are on the page."""
        self._refill: Timer | None = None
        """Shows scores that were read, many at once."""
        desk.listen(messages.Ready, self.show)
        desk.listen(messages.Stored, self._stored)
        desk.listen(messages.Settled, self._settled)

    def compose(self) -> ComposeResult:
        """Yield the first pane; the lists follow when there is something to list."""
        with Vertical(id="home-main"), Pane(title="Start", id="home-start", main=True):
            yield Static(Content.styled("… opening the store", QUIET), id="home-welcome")
            yield Start(self.desk, id="home-begin")
            yield Static(Content.styled(RESEARCH_ONLY, QUIET), id="home-notice")
            yield WrappedText(self._installed, id="home-installed")

    async def _add_lists(self) -> None:
        from tabwb.workbench.home import lines  # not before the first frame

        if self._listed:
            return
        unfinished, latest, people = (
            RowList(id=f"home-{name}") for name in ("open", "latest", "participants")
        )
        unfinished.tooltip = latest.tooltip = lines.STATE_SIGNS
        people.tooltip = lines.CONSENT_SIGNS
        details = VerticalScroll(WrappedText(lambda width: (), id="home-detail"), can_focus=False)
        side = Vertical(
            Pane(details, title="Details", id="home-details"),
            Pane(people, title="Participants", id="home-people"),
            id="home-side",
        )
        await self.query_one("#home-main").mount(
            Pane(unfinished, title="Continue", id="home-continue"),
            Pane(latest, title="Recent", id="home-recent"),
        )
        await self.mount(side)
        self._listed = True

    def on_mount(self) -> None:
        """Show what can be begun."""
        self.set_interval(RENEW_S, self._renew)
        self._lay_out()

    def on_resize(self, event: Resize) -> None:
        """Place the panes for the new size, and again once they have their width."""
        self._lay_out()
        self.call_after_refresh(self.query_one(Start).refresh, layout=True)

    # ---------------------------------------------------------------- what is known

    async def show(self, message: messages.Ready) -> None:
        """Show what can be done with a catalogue."""
        catalogue = message.catalogue
        if catalogue.administrations:
            await self._add_lists()
        self._catalogue, self._stale = catalogue, bool(catalogue.store)
        if self.display:
            self.update_page()

    def _renew(self) -> None:
        """Read the store again while something works in the background, and once after it."""
        self._busy = self._busy or bool(self.desk.jobs)
        if self.display and self._busy and self._catalogue and self.desk.settled:
            self._busy = bool(self.desk.jobs)
            self.desk.do(self.desk.sessions.engine.refresh)

    def update_page(self) -> None:
        """Show what is known, and read what has changed."""
        catalogue = self._catalogue
        if catalogue is None:
            return
        self._lay_out()
        if self._stale:
            self._stale = False
            wanted = [one for one in self._recent if not self._is_read(one)]
            failing = "The scores could not be read"
            self.desk.start(self._read, wanted, group="home", failing=failing)

    async def _read(self, wanted: Sequence[Administration]) -> None:
        """Read the participants, then scores: first those that are seen and take little time."""
        desk = self.desk
        self._participants = await desk.ask(_participants, desk.engine)
        if self._participants:
            await self._add_lists()
        if self.display:
            self._lay_out()
        seen = {one.id for one in wanted[:AT_ONCE] if not takes_long(one)}
        now = [one for one in wanted if one.id in seen]
        later = [one for one in wanted if one.id not in seen]
        if now and not self._known:
            await asyncio.sleep(FIRST_S)
        if now:
            async for scored in desk.each(_scores, desk.engine, now):
                self._scored(scored)
                await asyncio.sleep(REST_S)
        if later:
            await self._idle(asked_at := time.monotonic())
            async for scored in desk.each(_scores, desk.engine, later):
                self._scored(scored)
                await asyncio.sleep(REST_S)
                await self._idle(asked_at)

    async def _idle(self, asked_at: float) -> None:
        while time.monotonic() - max(asked_at, self.desk.workbench.pressed_at) <= IDLE_S:
            await asyncio.sleep(LOOK_S)

    def _is_read(self, administration: Administration) -> bool:
        known = self._known.get(administration.id)
        as_now = known is not None and known.administration == administration
        return as_now and administration.id not in self._rescored

    @property
    def _found(self) -> list[Row]:
        """The latest rows: administrations, sweeps and series."""
        from tabwb.analysis.differing import in_series  # not before the first frame

        given = self._catalogue.administrations if self._catalogue else ()
        if self._series is None or self._series[0] is not given:
            found = in_series(given[: -MOST_SEARCHED - 1 : -1], lambda one: one)
            self._series = given, found
        return self._series[1][:MOST_RECENT]

    @property
    def _recent(self) -> list[Administration]:
        """The administrations of these rows, those outside of sweeps and series first."""
        singles = [one for one in self._found if isinstance(one, Administration)]
        several = [one.members for one in self._found if not isinstance(one, Administration)]
        return [*singles, *(one for own in several if len(own) <= MOST_DRAWN for one in own)]

    def _stored(self, message: messages.Stored) -> None:
        self._rescored.add(message.number)
        self._stale = True
        if self.display:
            self.update_page()

    def _scored(self, scored: ScoredAdministration) -> None:
        number = scored.administration.id
        self._known[number] = scored
        self._rescored.discard(number)
        self.desk.show_score(number, scored.right, scored.scored)
        if self._refill is None:
            self._refill = self.set_timer(REFILL_S, self._fill)

    # ---------------------------------------------------------------- layout

    def _lay_out(self) -> None:
        """Place the panes for the present size and what there is."""
        catalogue = self._catalogue
        stored = bool(catalogue and catalogue.administrations)
        tall = self.desk.size.height >= TALL
        if self.size.width:  # none while another page is shown
            self.set_class(self.size.width >= BESIDE, "-beside")
        beside = self.has_class("-beside")
        self.set_class(not stored, "-new")
        if self._listed:
            self.query_one("#home-details").display = stored and (beside or tall)
            self.query_one("#home-recent").display = stored
            self.query_one("#home-people").display = bool(self._participants)
            self.query_one("#home-side").display = stored or bool(self._participants)
        self.query_one("#home-notice").display = not stored or tall
        installed = self.query_one("#home-installed", WrappedText)
        installed.display = tall and not stored and catalogue is not None
        if installed.display:
            installed.refresh(layout=True)
        welcome = self.query_one("#home-welcome", Static)
        welcome.display = not stored
        if catalogue is not None and not stored:
            welcome.update(Content(WELCOME))
        if catalogue is not None:
            first, places = ([*self._hints(names)] for names in (FIRST, PLACES))
            self.query_one(Start).show(first, places, tall=tall and beside, new=not stored)
        self._fill()

    def _installed(self, width: int) -> Iterator[Content]:
        from tabwb.workbench.home import lines  # not before the first frame

        return lines.installed_lines(self._catalogue or Catalogue(), width)

    def _hints(self, names: tuple[str, ...]) -> list[StartHint]:
        here = [command for command in self.desk.table.commands if "home" in command.where]
        by_name = {command.id.partition(".")[2]: command for command in here}
        now = self.desk.situation()
        found = [by_name[name] for name in names if name in by_name]
        return [StartHint(command, command.reason(now) is None) for command in found]

    def _fill(self) -> None:
        """Show the lists."""
        self._refill = None
        catalogue = self._catalogue
        if catalogue is None:
            return
        if self._listed:
            self._fill_lists(catalogue)

    def _fill_lists(self, catalogue: Catalogue) -> None:
        from tabwb.workbench.home import lines  # not before the first frame

        found = self._found
        recent = self._shown = lines.Recent.of(found, self._opened, self._known)
        shown = {one.id for one in recent.rows if isinstance(one, Administration)}
        seen = {number: one for number, one in self._known.items() if number in shown}
        rows = lines.unfinished(catalogue.open, catalogue.interrupted, seen)
        self.query_one("#home-continue").display = bool(rows)
        self.query_one("#home-open", RowList).show(
            lines.unfinished_columns(rows), rows, ids=lambda row: row.id
        )
        latest = self.query_one("#home-latest", RowList)
        if latest.size.height:  # none while another page is shown
            self._profiles = latest.size.height > 2 * len(recent.rows)
        known = dict(self._known)
        latest.show(
            lines.recent_columns(known, recent, profiles=self._profiles),
            recent.rows,
            ids=lines.row_id,
            below=partial(lines.profile_line, known, recent) if self._profiles else None,
        )
        listed = sum(1 if isinstance(one, Administration) else len(one.members) for one in found)
        older = len(catalogue.administrations) - listed
        pane = self.query_one("#home-recent", Pane)
        pane.border_title = "Recent"
        pane.border_subtitle = f"{plural(older, 'older one')}: o finds all" if older else ""
        people = sorted(self._participants, key=lambda one: one.last_day, reverse=True)
        people = people[:MOST_PEOPLE]
        more = len(self._participants) - len(people)
        pane = self.query_one("#home-people", Pane)
        pane.border_subtitle = f"{plural(more, 'other')}: p lists all" if more else ""
        self.query_one("#home-participants", RowList).show(
            lines.participant_columns(known), people, ids=lambda one: one.id
        )
        self._show_details()
        self._follow()

    # ---------------------------------------------------------------- details

    @on(RowList.Highlighted)
    @on(RowList.Left)
    def _moved(self) -> None:
        self._show_details()
        self._follow()  # a list that was hidden has its rows now

    def on_descendant_focus(self) -> None:
        """Show the details of the list that has the focus."""
        if self._listed:
            self._show_details()

    @property
    def _lists(self) -> list[RowList]:
        """The lists that are shown and have rows; what was just shown has no place yet."""
        return [
            rows
            for rows in self.query(RowList)
            if rows.rows and rows.parent is not None and rows.parent.display
        ]

    def _show_details(self) -> None:
        from tabwb.workbench.home import lines  # not before the first frame

        pane = self.query_one("#home-details", Pane)
        text = self.query_one("#home-detail", WrappedText)
        focused = next((one for one in self.query(RowList) if one.has_focus), None)
        chosen = (focused or self.query_one("#home-latest", RowList)).chosen
        if chosen is None or not pane.display:
            return
        if focused is not None and focused.id == "home-participants":
            person = next(one for one in self._participants if one.id == chosen)
            pane.border_title = person.id
            text.show(lambda width: lines.participant_details(person, self._known, width))
            return
        if isinstance(chosen, tuple):
            several = (one for one in self._found if isinstance(one, Series))
            series = next(one for one in several if one.key == chosen)
            pane.border_title, shown = series.name, self._shown
            text.show(lambda width: lines.series_details(series, shown, width))
            return
        number = int(chosen.removeprefix("judge:"))
        given = self._catalogue.administrations if self._catalogue else ()
        one = next((one for one in given if one.id == number), None)
        if one is not None:
            pane.border_title = f"#{number}"
            scored = self._known.get(number)
            text.show(lambda width: lines.administration_details(one, scored, width))

    # ---------------------------------------------------------------- focus, choice

    def on_focus(self) -> None:
        """Focus the first list."""
        self.focus_inside()

    def focus_inside(self) -> None:
        """Focus the first list."""
        lists = self._lists
        (lists[0] if lists else self).focus()
        self._placed = (lists[0], lists[0].chosen, lists[0].first) if lists else None

    def _follow(self) -> None:
        """Focus what came first since the page was entered, unless something was chosen since."""
        if self.display and self.has_focus:
            self.focus_inside()
        if not self.display or self._placed is None:
            return
        entered, chosen, first = self._placed
        now = self._lists[0] if self._lists else entered
        unmoved = entered.has_focus and entered.chosen == chosen
        if unmoved and (now is not entered or now.first != first):
            now.go(0)
            self.focus_inside()

    def _settled(self, message: messages.Settled) -> None:
        """Leave the focus to the person once everything is read and shown."""
        if self._placed is not None and self.desk.settled:
            self.set_timer(REFILL_S, self._stay)

    def _stay(self) -> None:
        if self.desk.settled:
            self._placed = None

    def on_row_list_left(self, message: RowList.Left) -> None:
        """Go to the list before or after."""
        lists = self._lists
        at = lists.index(message.list) + message.step
        if 0 <= at < len(lists):
            lists[at].focus()
            lists[at].action_edge(0 if message.step > 0 else -1)

    def listen(self) -> None:
        """Play the first recording of the administration that is marked, or stop."""
        marked = next((one.chosen for one in self._lists if one.has_focus), None)
        if isinstance(marked, str) and marked.isdigit():
            self.desk.request("naming", "playback", int(marked))

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Open what was chosen."""
        event.stop()
        chosen = event.list.chosen
        if isinstance(chosen, tuple):
            self._opened ^= {chosen}
            self._fill()
            return
        kind, _, number = chosen.rpartition(":")
        if event.list.id == "home-participants":
            self.desk.open("participants", chosen)
        elif kind == "judge":
            judges = tuple(judge for judge, _ in self._known[int(number)].unjudged)
            self.desk.request("results", "judge", int(number), judges)
        else:
            self.desk.request("trial", "offer", int(chosen))

    def foot_rank(self, command: Command) -> int:
        """Return the place of a command in the footer: *Start* has the keys of the page."""
        return 0 if "home" in command.where else super().foot_rank(command)


def _participants(engine: Engine) -> tuple[Participant, ...]:
    """Return the participants of the store."""
    from tabwb.administer.participants import participants

    return participants(engine.store, engine.catalogue.administrations)


def _scores(engine: Engine, wanted: Sequence[Administration]) -> Iterator[ScoredAdministration]:
    """Yield scores of administrations, read from a separate store: one can be begun meanwhile."""
    from tabwb.store.store import Store
    from tabwb.workbench.engine.presenters import scored_or_problem
    from tabwb.workbench.engine.threads import resting

    primary = engine.plugins.configuration.study.primary_rater
    with Store.open(engine.store_place, create=False) as store:
        for administration in wanted:
            with resting():
                scored = scored_or_problem(store, administration, primary)
            yield scored


def takes_long(administration: Administration) -> bool:
    """Return whether scores take long: repeated items need numpy, naming a dictionary."""
    conditions = administration.conditions
    return conditions.replicates > 1 or conditions.kind == "speaker"
