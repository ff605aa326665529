"""The participant's view in the workbench: it covers everything else while somebody types."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Click, DescendantFocus, Key
from textual.timer import Timer
from textual.widget import Widget

from tabwb.records.states import AdministrationStatus
from tabwb.store import takes
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.wording import AMBER, QUIET
from tabwb.workbench.trial.participant import AnswerField, Card, Link, ParticipantSheet, typing_foot

POLL_S = 0.1
"""Seconds between two looks at what was typed in the second terminal; no latency depends on it."""
NEXT = "space next item   esc commands"
"""The line at the foot between two answers."""
BACK = "enter goes back to the answer   esc commands"
EXAMINER = (
    "examiner:   s Skip   v Void   n Note   p Pause   u Undo   d Discontinue\n"
    "enter Back   esc Console"
)


class ParticipantView(Container):
    """Shows the item alone. After esc the examiner's keys work; a second esc shows the console.

    Attributes:
        person_has_keys: the participant uses the keys: only space and enter do something.
    """

    DEFAULT_CSS = """
    ParticipantView { layer: speaker; dock: top; display: none; width: 100%; height: 100%; }
    """
    HELP = AnswerField.HELP

    def __init__(self, desk: Desk) -> None:
        super().__init__(id="participant-view")
        self.desk = desk
        desk.table.bind(self, "trial")
        self.person_has_keys = False
        self.is_open = False
        self._work: Work | None = None
        self._message = ""
        self._link: Link | None = None
        self._polling: Timer | None = None
        self._asks = False
        """An administration of a person who types is open."""

    def compose(self) -> ComposeResult:
        """Yield the sheet."""
        yield ParticipantSheet(self.take_keys)

    def on_mount(self) -> None:
        """Follow whether nothing was typed, and find the second terminal's folder."""
        self.watch(self.sheet.field, "nothing_typed", self.show_foot, init=False)
        self._polling = self.set_interval(POLL_S, self._poll, pause=True)
        self.desk.start(self._find_folder)

    def on_unmount(self) -> None:
        """Show nothing in the second terminal any more."""
        self.end()

    @property
    def sheet(self) -> ParticipantSheet:
        """The item, or a message."""
        return self.query_one(ParticipantSheet)

    def update_view(self, work: Work) -> bool:
        """Show the open administration of a person; return whether another item is asked now."""
        self._work, self._message, self._asks = work, "", True
        is_new = self.sheet.show(Card.of(work))
        if is_new:
            self.person_has_keys = True
        if self._link is not None:
            self._link.ask(self.sheet.card)
        if self._polling is not None:
            self._polling.resume()
        if self.is_open:
            self._focus()
        self.show_foot()
        return is_new and not self.elsewhere

    @property
    def elsewhere(self) -> bool:
        """Whether a second terminal shows the item."""
        return self._link is not None and self._link.watched

    def end(self) -> None:
        """Close the view, and show nothing in the second terminal any more."""
        self.close_view()
        self._asks = False
        if self._polling is not None:
            self._polling.pause()
        if self._link is not None:
            self._link.end()

    async def _find_folder(self) -> None:
        """Find the folder through which a second terminal shows items and takes what is typed."""
        engine = self.desk.engine
        self._link = Link(await self.desk.ask(lambda: takes.folder_of(engine.store)))
        self._link.end()
        if self._asks:
            self._link.ask(self.sheet.card)

    def _poll(self) -> None:
        """Take what was typed in the second terminal."""
        link, card = self._link, self.sheet.card
        if link is None:
            return
        link.keep()
        typed = link.take()
        if typed is None or typed.key != card.key:
            return
        if typed.text is not None and card.key:
            self.desk.do(partial(self.desk.sessions.answer, typed.text, typed.latency_s))
        elif typed.text is None and card.next:
            self.desk.perform("administer.next")

    def open_view(self) -> None:
        """Cover everything, and give the keys to the participant."""
        self.is_open = self.person_has_keys = True
        self.desk.add_class("-participant")
        self._focus()
        self.show_foot()

    def close_view(self) -> None:
        """Show the console again."""
        if not self.is_open:
            return
        self.is_open = self.person_has_keys = False
        self.desk.remove_class("-participant")
        if self in _above(self.desk.focused):
            self.desk.current.focus_inside()

    def show_message(self, words: str) -> None:
        """Show a message at the foot until a key is pressed."""
        self._message = words
        self.show_foot()

    def escape(self) -> bool:
        """Give the keys to the examiner, then show the console; return whether it was open."""
        if not self.is_open:
            return False
        if self.person_has_keys:
            self.take_keys()
        else:
            self.close_view()
        return True

    def take_keys(self) -> None:
        """Give the keys to the examiner."""
        self.person_has_keys = False
        self.sheet.focus()
        self.show_foot()

    def show_foot(self) -> None:
        """Show what can be done now at the foot."""
        work, sheet = self._work, self.sheet
        if self._message:
            words = Content.styled(self._message, AMBER)
        elif not self.person_has_keys:
            item = None if work is None else work.item
            told = f"{item.administrator}\n" if item is not None and item.administrator else ""
            words = Content.styled(told + EXAMINER, QUIET)
        elif sheet.field.has_focus:
            words = typing_foot(sheet.field)
        elif work is not None and work.status is AdministrationStatus.DONE:
            words = Content.styled("✓ complete   esc commands", QUIET)
        elif sheet.card.key:
            words = Content.styled(BACK, QUIET)
        else:
            given = work is not None and work.item is not None and work.item.attempt is not None
            words = Content.styled(("● recorded   " if given else "") + NEXT, QUIET)
        sheet.show_foot(words)

    def _focus(self) -> None:
        sheet = self.sheet
        if not sheet.card.key:
            sheet.focus()
        elif self.person_has_keys:
            sheet.field.focus()

    # ---------------------------------------------------------------- messages, keys

    def on_participant_sheet_answered(self, event: ParticipantSheet.Answered) -> None:
        """Record the answer."""
        event.stop()
        self.desk.do(partial(self.desk.sessions.answer, event.text, event.latency_s))

    def on_key(self, event: Key) -> None:
        """Ignore most keys of a participant."""
        if self._message:
            self._message = ""
            self.show_foot()
        work = self._work
        if work is None or not self.person_has_keys or event.key == "escape":
            return
        function_key = event.key[:1] == "f" and event.key[1:].isdigit()
        typing = self.sheet.field.has_focus
        if function_key or (not typing and (event.is_printable or event.key in _KEYS)):
            event.stop()
        if typing or work.status is AdministrationStatus.DONE:
            return
        if self.sheet.card.key:
            if event.key == "enter":
                self.sheet.field.focus()
        elif event.key in {"space", "enter"}:
            self.desk.perform("administer.next")

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Give the keys to the participant when the answer field is focused."""
        if isinstance(event.widget, AnswerField):
            self.person_has_keys = True
        self.show_foot()

    def on_click(self, event: Click) -> None:
        """Keep the cursor in the answer field while the participant has the keys."""
        self._focus()


_KEYS = frozenset({"space", "enter", "tab", "shift+tab"})


def _above(focused: Widget | None) -> list[object]:
    return [] if focused is None else list(focused.ancestors_with_self)
