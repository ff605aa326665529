"""The page of participants: who there is, and record, consents, sessions and uses of one."""

from __future__ import annotations

from functools import partial
from typing import cast

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input

from tabwb.administer.participants import Participant
from tabwb.records.speakers import SCOPES, Scope, Study
from tabwb.records.words import plural
from tabwb.workbench.engine.messages import NewWanted, Ready
from tabwb.workbench.participants import lines
from tabwb.workbench.participants.actions import ParticipantsActions
from tabwb.workbench.participants.controller import ParticipantsController
from tabwb.workbench.participants.dialogs import (
    ConsentForm,
    DeletionForm,
    PrintedForm,
    RecordForm,
)
from tabwb.workbench.participants.view_models import (
    DeletionReady,
    ParticipantDeleted,
    ParticipantRead,
    ParticipantsListed,
)
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.explorer import Entry
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane, WrappedText
from tabwb.workbench.shell.wording import QUIET

BESIDE = 112
"""From so many columns one participant is shown beside the list."""
BEGUN = (
    ("a", "add a participant with a code, such as S-014, and a record: age, AQ, severity"),
    ("n", "begin an administration: a participant code in its dialog adds the participant too"),
    ("f", "show a consent form to print, with a question for each scope"),
)
"""What can be done while there is no participant, with the key."""
NO_MATCH = "No participant matches: esc in the field shows all."
OF_ONE = {"file.consent", "file.edit-record", "file.delete-participant", "file.find-participant"}
"""Commands on the highlighted participant, or on the list."""
HELP = """\
# Participants

People, by the study's codes and never by name. **Up** and **down** choose one; tab goes to the
sessions, where **enter** opens the results.

**c** records consents and withdrawals, each scope by itself; the last one recorded counts, and
earlier ones are kept. **f** shows a consent form to print. **e** changes the record. **x** shows
what a deletion would remove and leave, and deletes once you have typed the code again.
"""


class ParticipantsPage(Page):
    """The page."""

    HELP = HELP

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._all: tuple[Participant, ...] = ()
        self._study = Study()
        self._read: ParticipantRead | None = None
        self._stale = True
        desk.listen(Ready, self._changed)
        desk.listen(ParticipantsListed, self._listed)
        desk.listen(ParticipantRead, self._one_read)
        desk.listen(DeletionReady, self._ask_deletion)
        desk.listen(ParticipantDeleted, self._deleted)

    def compose(self) -> ComposeResult:
        """Yield the panes."""
        with Pane(title="Participants", id="people"):
            yield Input(placeholder="code or record", id="people-filter", compact=True)
            yield RowList(id="people-list")
            yield WrappedText(self._below, id="people-note")
        with Vertical(id="person"):
            with Pane(title="Record", id="person-record"):
                yield WrappedText(self._record, id="record-lines")
            with Pane(title="Consent", id="person-consent"):
                yield WrappedText(self._consents, id="consent-lines")
            with Pane(title="Sessions", id="person-sessions"):
                yield RowList(id="sessions-list")
            with Pane(title="Uses of the data", id="person-uses"), VerticalScroll():
                yield WrappedText(self._uses, id="use-lines")

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

    def update_page(self) -> None:
        """Read the participants again where something has changed."""
        if self._stale or self.desk.actions(ParticipantsActions).wanted:
            self._stale = False
            self.desk.do(self.desk.controller(ParticipantsController).list_all)

    def _changed(self, message: Ready) -> None:
        self._stale = True
        if self.display:
            self.update_page()

    def _listed(self, message: ParticipantsListed) -> None:
        self._all, self._study = message.participants, message.study
        actions = self.desk.actions(ParticipantsActions)
        wanted, actions.wanted = actions.wanted, ""
        self._show_list()
        if wanted:
            self.query_one("#people-list", RowList).choose(wanted)
        self._ask_one()

    def _shown(self) -> list[Participant]:
        words = self.query_one("#people-filter", Input).value.lower().split()
        return [one for one in self._all if all(word in _text(one) for word in words)]

    def _show_list(self) -> None:
        shown = self._shown()
        self.query_one("#people-list", RowList).show(lines.PEOPLE, shown, ids=lambda one: one.id)
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

    def _ask_one(self) -> None:
        """Show the highlighted participant, and read the rest."""
        person = self.present
        if person is None:
            return
        if self._read is None or self._read.code != person.id:
            self._read = None
        self._show_one()
        controller = self.desk.controller(ParticipantsController)
        controller.latest = person.id
        self.desk.do(partial(controller.read, person.id))

    def _one_read(self, message: ParticipantRead) -> None:
        if self.present is not None and self.present.id == message.code:
            self._read = message
            self._show_one()

    def _show_one(self) -> None:
        person = self.present
        if person is None:
            return
        self.query_one("#person-record", Pane).border_title = person.id
        scored = self._read.scored if self._read else {}
        self.query_one("#sessions-list", RowList).show(
            lines.session_columns(dict(scored)), person.sessions[::-1], ids=lambda one: one.id
        )
        sessions = self.query_one("#person-sessions", Pane)
        sessions.border_title = plural(len(person.sessions), "session")
        for name in ("record-lines", "consent-lines", "use-lines"):
            self.query_one(f"#{name}").refresh(layout=True)

    def _below(self, width: int) -> list[Content]:
        if self._all:
            return [Content.styled(NO_MATCH, QUIET)]
        return [*lines.nobody(BEGUN, width)]

    def _record(self, width: int) -> list[Content]:
        person = self.present
        return [*lines.record(person, self._study, self._read, width)] if person else []

    def _consents(self, width: int) -> list[Content]:
        person = self.present
        if person is None:
            return []
        words = Content.styled(lines.meaning(person), QUIET)
        return [*lines.consents(person, width), *([] if person.last else [words])]

    def _uses(self, width: int) -> list[Content]:
        return [*lines.uses(self._read, width)] if self._read and self._read.uses else []

    # ---------------------------------------------------------------- frame, focus

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

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Show the highlighted participant."""
        event.stop()
        if event.list.id == "people-list":
            self._ask_one()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Go to the sessions of a participant, or open a session."""
        event.stop()
        sessions = self.query_one("#sessions-list", RowList)
        if event.list is sessions:
            self.desk.return_to = "participants"
            self.desk.tell(Entry("administration", str(sessions.chosen)))
        elif sessions.rows:
            sessions.focus()

    def on_row_list_left(self, message: RowList.Left) -> None:
        """Go from the list to the sessions, or back."""
        people, sessions = self.query(RowList)
        if message.list is people and message.step > 0 and sessions.rows:
            sessions.focus()
            sessions.action_edge(0)
        elif message.list is sessions and message.step < 0:
            people.focus()

    # ---------------------------------------------------------------- commands

    def _missing(self) -> bool:
        if self.present is None:
            self.show_message("choose a participant first; a adds one")
        return self.present is None

    def consent(self) -> None:
        """Record consents or withdrawals of the highlighted participant."""
        person = self.present
        if person is None:
            self._missing()
            return
        keep = self.desk.controller(ParticipantsController).keep_consents

        def closed(texts: object) -> None:
            if isinstance(texts, dict):
                scopes = tuple(cast("Scope", one) for one in texts["scopes"].split())
                rest = (bool(texts["given"]), texts["day"], texts["document"], texts["note"])
                self.desk.do(partial(keep, person.id, scopes, *rest))

        self.app.push_screen(ConsentForm(person), closed)

    def edit_record(self) -> None:
        """Change the record of the highlighted participant."""
        if not self._missing():
            self._record_form(self.present)

    def add_participant(self) -> None:
        """Register a participant."""
        self._record_form(None)

    def _record_form(self, person: Participant | None) -> None:
        keep = self.desk.controller(ParticipantsController).keep_record

        def closed(texts: object) -> None:
            if isinstance(texts, dict):
                code = person.id if person else texts["code"]
                values = {
                    name.removeprefix("column-"): text
                    for name, text in texts.items()
                    if name.startswith("column-")
                }
                if person is None:
                    self.desk.actions(ParticipantsActions).wanted = code
                self.desk.do(partial(keep, code, values, person is None))

        self.app.push_screen(RecordForm(self._study, person), closed)

    def consent_form(self) -> None:
        """Show the consent form as text."""
        self.app.push_screen(PrintedForm(self.present.id if self.present else ""))

    def new_session(self) -> None:
        """Open the dialog of a new administration for the highlighted participant."""
        code = self.present.id if self.present else ""
        self.desk.tell(NewWanted("", "", "", participant=code))

    def delete_participant(self) -> None:
        """Show what a deletion would remove and leave."""
        person = self.present
        if person is None:
            self._missing()
            return
        controller = self.desk.controller(ParticipantsController)
        self.desk.do(partial(controller.preview_deletion, person.id))

    def _ask_deletion(self, message: DeletionReady) -> None:
        code = message.preview.speaker
        delete = self.desk.controller(ParticipantsController).delete

        def closed(texts: object) -> None:
            if isinstance(texts, dict):
                self.desk.do(partial(delete, code, texts["reason"]))

        self.app.push_screen(DeletionForm(message.preview), closed)

    def _deleted(self, message: ParticipantDeleted) -> None:
        stone = message.tombstone
        words = f"{stone.speaker} was deleted."
        if not stone.finished:
            words += (
                " Another program has the store open; remaining traces are removed when the "
                "store is opened next."
            )
        self.desk.notify(words, timeout=8, markup=False)

    # ---------------------------------------------------------------- filter, leaving

    def find_participant(self) -> None:
        """Show the filter."""
        field = self.query_one("#people-filter", Input)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show those that match."""
        event.stop()
        self._show_list()
        self._ask_one()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the list."""
        event.stop()
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


def _text(participant: Participant) -> str:
    values = " ".join(f"{name} {value}" for name, value in participant.speaker.values.items())
    scopes = " ".join(scope for scope in SCOPES if scope in participant.may)
    return f"{participant.id} {values} {scopes}".lower()
