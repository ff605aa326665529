"""The page of participants: who there is, and record, consents, sessions and uses of one."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input

from tabwb.administer import participants
from tabwb.administer.participants import Participant
from tabwb.records.errors import UsageError
from tabwb.records.speakers import LogEntry, Study, Tombstone
from tabwb.records.words import plural
from tabwb.workbench.engine.engine import Engine
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.engine.messages import Ready
from tabwb.workbench.engine.presenters import scored_or_problem
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.view_models import ScoredAdministration
from tabwb.workbench.participants import lines
from tabwb.workbench.participants.dialogs import (
    ConsentForm,
    DeletionForm,
    PrintedForm,
    RecordForm,
)
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane, WrappedText
from tabwb.workbench.shell.wording import QUIET

WORDS = "words, or filters: AQ<50 site=York"
BESIDE = 112
"""From so many columns one participant is shown beside the list."""
BEGUN = (
    ("a", "add a participant with a code, such as S-014, and a record: age, AQ, severity"),
    ("n", "begin an administration: a participant code in its dialog adds the participant too"),
    ("f", "show a consent form to print, with a question for each scope"),
)
"""What can be done while there is no participant, with the key."""
NO_MATCH = "No participant matches: esc in the field shows all."
OF_ONE = {
    "file.sessions-dial",
    "file.consent",
    "file.edit-record",
    "file.delete-participant",
    "file.find-participant",
}
"""Commands on the highlighted participant, or on the list."""
MOST_USES = 200
"""The number of latest log entries shown."""
HELP = """\
# Participants

People, by the study's codes and never by name. **Up** and **down** choose one; tab goes to the
sessions, where **enter** opens the results.

**C** records consents and withdrawals, each scope by itself; the last one recorded counts, and
earlier ones are kept. **f** shows a consent form to print. **E** changes the record. **x** shows
what a deletion would remove and leave, and deletes once you have typed the code again.
"""


class Known(NamedTuple):
    """What is stored of one participant: number of rows by kind, log from the latest, scores."""

    code: str
    counts: Mapping[str, int]
    uses: tuple[LogEntry, ...]
    scored: Mapping[int, ScoredAdministration]


def read_all(engine: Engine) -> tuple[tuple[Participant, ...], Study]:
    """Return all participants, and what the study says of them."""
    return participants.participants(engine.store), engine.plugins.study


def read_one(engine: Engine, code: str) -> Known:
    """Return what is stored of one participant."""
    store, primary = engine.store, engine.plugins.configuration.study.primary_rater
    scored = {
        one.id: scored_or_problem(store, one, primary)
        for one in store.administrations()
        if one.conditions.guarded and one.conditions.person == code
    }
    uses = reversed(store.people.log_entries(code)[-MOST_USES:])
    return Known(code, store.people.data_of(code), tuple(uses), scored)


class ParticipantsPage(Page):
    """The page."""

    HELP = HELP

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._all: tuple[Participant, ...] = ()
        self._listed = False
        """Whether the store was read."""
        self._study = Study()
        self._read: Known | None = None
        self._wanted = ""
        """The participant to be shown first."""
        desk.listen(Ready, self._changed)

    def compose(self) -> ComposeResult:
        """Yield the panes."""
        with Pane(title="Participants", id="people"):
            yield Input(
                placeholder="words, or filters: AQ<50 site=York", id="people-filter", compact=True
            )
            yield RowList(id="people-list")
            yield WrappedText(self._below, id="people-note")
        with Vertical(id="person"):
            with Pane(title="Record", id="person-record"):
                yield WrappedText(self._of_one(lines.record), id="record-lines")
            with Pane(title="Consent", id="person-consent"):
                yield WrappedText(self._of_one(lines.consents), id="consent-lines")
            with Pane(title="Sessions", id="person-sessions"):
                yield RowList(id="sessions-list")
            with Pane(title="Uses of the data", id="person-uses"), VerticalScroll():
                yield WrappedText(self._of_one(lines.uses), id="use-lines")

    def on_mount(self) -> None:
        """Hide the filter; explain the signs."""
        self.query_one("#people-filter").display = False
        for name in ("consent-lines", "people-list"):
            self.query_one(f"#{name}").tooltip = lines.SIGNS
        self._lay_out()

    def on_resize(self, event: Resize) -> None:
        """Place the panes for the new size."""
        self._lay_out()

    def _lay_out(self) -> None:
        self.set_class(self.size.width >= BESIDE, "-beside")

    # ---------------------------------------------------------------- what is known

    def want(self, *wanted: Any) -> None:
        """Show this participant first."""
        (self._wanted,) = wanted

    def update_page(self) -> None:
        """Read the participants: another program may have changed or deleted them."""
        self.desk.start(self._list, group="participants")

    def _changed(self, message: Ready) -> None:
        if self.display:
            self.update_page()

    async def _list(self) -> None:
        self._all, self._study = await self.desk.ask(read_all, self.desk.engine)
        self._listed = True
        wanted, self._wanted = self._wanted, ""
        self._show_list()
        if wanted:
            self.query_one("#people-list", RowList).choose(wanted)
        self._show_one()

    def _shown(self) -> list[Participant]:
        text = self.query_one("#people-filter", Input).value
        with suppress(UsageError):  # a filter that is being typed chooses nobody
            return lines.chosen(self._all, self._study, text)
        return []

    def _show_list(self) -> None:
        shown = self._shown()
        self.query_one("#people-list", RowList).show(
            lines.columns_of(self._all, self._study), shown, ids=lambda one: one.id
        )
        pane = self.query_one("#people", Pane)
        pane.border_title = (
            f"Participants ({len(shown)} of {len(self._all)})"
            if len(shown) < len(self._all)
            else "Participants"
        )
        self.query_one("#people-note").display = not shown
        self.set_class(not self._all, "-nobody")
        self.desk.show_foot()
        self.query_one("#person").display = bool(shown)

    @property
    def present(self) -> Participant | None:
        """The highlighted participant."""
        chosen = self.query_one("#people-list", RowList).chosen
        return next((one for one in self._all if one.id == chosen), None)

    def _show_one(self) -> None:
        """Show the highlighted participant, and read the rest."""
        person = self.present
        if person is None:
            return
        if self._read is None or self._read.code != person.id:
            self._read = None
        self._draw(person)
        self.desk.start(self._read_one, person, group="participant")

    async def _read_one(self, person: Participant) -> None:
        self._read = await self.desk.ask(read_one, self.desk.engine, person.id)
        self._draw(person)

    def _draw(self, person: Participant) -> None:
        self.query_one("#person-record", Pane).border_title = person.id
        scored = dict(self._read.scored) if self._read else {}
        self.query_one("#sessions-list", RowList).show(
            lines.session_columns(scored), person.sessions[::-1], ids=lambda one: str(one.id)
        )
        sessions = self.query_one("#person-sessions", Pane)
        sessions.border_title = plural(len(person.sessions), "session")
        for name in ("record-lines", "consent-lines", "use-lines"):
            self.query_one(f"#{name}").refresh(layout=True)

    def _below(self, width: int) -> list[Content]:
        if self._all or not self._listed:
            return [Content.styled(NO_MATCH if self._all else "… reading", QUIET)]
        return [*lines.nobody(BEGUN, width)]

    def _of_one(
        self, made: Callable[[Participant, Study, Known | None, int], Iterator[Content]]
    ) -> Callable[[int], list[Content]]:
        def text(width: int) -> list[Content]:
            person = self.present
            return [] if person is None else [*made(person, self._study, self._read, width)]

        return text

    # ---------------------------------------------------------------- frame, focus

    def command(self) -> str:
        """Return the command line that lists the participants."""
        place = ["--store", self.desk.location] if self.desk.location else []
        return shlex.join(["tabwb", "speaker", "list", *place])

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "participants"

    def administration(self) -> int | None:
        """Return no administration: the page shows a person."""
        return None

    def foot_rank(self, command: Command) -> int:
        """Return the place in the footer; 0 keeps out what needs a participant where none is."""
        return 0 if command.id in OF_ONE and self.present is None else super().foot_rank(command)

    def focus_inside(self) -> None:
        """Take the focus."""
        self.query_one("#people-list", RowList).focus()

    @on(RowList.Highlighted, "#people-list")
    def _highlighted(self) -> None:
        self._show_one()

    @on(RowList.Selected, "#people-list")
    def _to_sessions(self) -> None:
        sessions = self.query_one("#sessions-list", RowList)
        if sessions.rows:
            sessions.focus()

    @on(RowList.Selected, "#sessions-list")
    def _open_session(self, event: RowList.Selected) -> None:
        self.desk.return_to = "participants"
        self.desk.request("trial", "offer", event.list.chosen)

    def on_row_list_left(self, message: RowList.Left) -> None:
        """Go from the list to the sessions, or back."""
        people, sessions = self.query(RowList)
        if message.list is people and message.step > 0 and sessions.rows:
            sessions.focus()
            sessions.action_edge(0)
        elif message.list is sessions and message.step < 0:
            people.focus()

    # ---------------------------------------------------------------- commands

    def _chosen(self) -> Participant | None:
        if self.present is None:
            self.show_message("choose a participant first; a adds one")
        return self.present

    def consent(self) -> None:
        """Record consents or withdrawals of the highlighted participant."""
        if person := self._chosen():
            self.desk.start(self._consent, person)

    async def _consent(self, person: Participant) -> None:
        given = await self.app.push_screen_wait(ConsentForm(person))
        if given is not None:
            desk = self.desk
            await desk.ask(_keep_consents, desk.engine, desk.sessions, person.id, given)
            word = "Consent of" if given["given"] else "Withdrawal of consent of"
            scopes = ", ".join(given["scopes"])
            await self._kept(f"{word} {person.id} to {scopes} is recorded.")

    def edit_record(self) -> None:
        """Change the record of the highlighted participant."""
        if person := self._chosen():
            self.desk.start(self._record, person)

    def add_participant(self) -> None:
        """Register a participant."""
        self.desk.start(self._record, None)

    def import_participants(self) -> None:
        """Fill records from a table."""
        from tabwb.operations.speaker import ImportSpeakers
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        def told(state: JobState) -> None:
            self.desk.start(self._kept, state.words, 12)

        screen = OperationScreen(self.desk, ImportSpeakers, "Import participants", then=told)
        self.desk.app.push_screen(screen)

    async def _record(self, person: Participant | None) -> None:
        texts = await self.app.push_screen_wait(RecordForm(self._study, person))
        if texts is None:
            return
        code = texts["code"] if person is None else person.id
        await self.desk.ask(_keep_record, self.desk.engine, code, texts, person is None)
        if person is None:
            self._wanted = code
            await self._kept(f"{code} is registered.")
        else:
            await self._kept(f"The record of {code} is saved.")

    async def _kept(self, words: str, timeout: float = 4) -> None:
        self.desk.notify(words, timeout=timeout, markup=False)
        await self.desk.ask(self.desk.engine.refresh)

    def consent_form(self) -> None:
        """Show the consent form as text."""
        self.app.push_screen(PrintedForm(self.present.id if self.present else ""))

    def new_session(self) -> None:
        """Open the dialog of a new administration for the highlighted participant, or a new one."""
        self.desk.request("trial", "new", examinee=self.present.id if self.present else "")

    def sessions_dial(self) -> None:
        """Show the sessions with the battery of the marked session on the dial."""
        person, marked = self._chosen(), self.query_one("#sessions-list", RowList).chosen
        given = [one for one in person.sessions if str(one.id) == marked] if person else []
        if person is not None and given:
            self.desk.request("results", "sessions_dial", person.id, given[0].battery)
        elif person is not None:
            self.show_message("there is no session of this participant")

    def delete_participant(self) -> None:
        """Show what a deletion would remove and leave, then delete."""
        if person := self._chosen():
            self.desk.start(self._delete, person.id)

    async def _delete(self, code: str) -> None:
        desk = self.desk
        preview = participants.deletion_preview
        found = await desk.ask(lambda: preview(desk.engine.store, code))
        texts = await self.app.push_screen_wait(DeletionForm(found))
        if texts is None:
            return
        stone = await desk.ask(_delete, desk.engine, desk.sessions, code, texts["reason"])
        words = f"{stone.speaker} was deleted."
        if not stone.finished:
            words += (
                " Another program has the store open; remaining traces are removed when the "
                "store is opened next."
            )
        await self._kept(words, timeout=8)

    # ---------------------------------------------------------------- filter, leaving

    def find_participant(self) -> None:
        """Show the filter."""
        field = self.query_one("#people-filter", Input)
        field.display = True
        field.focus()

    @on(Input.Changed)
    def _filtered(self) -> None:
        self._show_list()
        self._show_one()

    @on(Input.Submitted)
    def _found(self) -> None:
        self.focus_inside()

    def escape(self) -> bool:
        """Close the filter; return whether there was one."""
        field = self.query_one("#people-filter", Input)
        if not field.display:
            return False
        field.value, field.display = "", False
        self.focus_inside()
        return True

    async def leave_participants(self) -> None:
        """Return to the page before."""
        if not self.escape():
            await self.desk.back()


def _keep_record(engine: Engine, code: str, texts: Mapping[str, str], new: bool) -> None:
    prefix, study = "column-", engine.plugins.study
    values = {
        name.removeprefix(prefix): text for name, text in texts.items() if name.startswith(prefix)
    }
    participants.keep_record(engine.store, study, code, values, new=new)


def _keep_consents(
    engine: Engine, sessions: SessionController, code: str, given: Mapping[str, Any]
) -> None:
    rest = {name: given[name] for name in ("given", "day", "document", "note")}
    participants.keep_consents(engine.store, code, given["scopes"], **rest)
    if sessions.session is not None:
        sessions.reload_notices()


def _delete(engine: Engine, sessions: SessionController, code: str, reason: str) -> Tombstone:
    session = sessions.session
    if session is not None and session.administration.conditions.person == code:
        raise UsageError(
            f"administration {session.administration.id} of {code} is open",
            hint="leave it (F8), then delete",
        )
    return engine.store.people.delete_speaker(code, reason)
