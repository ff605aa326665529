"""What the desk does with the messages of the worker that concern all subjects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tabwb.workbench.engine import messages
from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.page import Page

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk


@dataclass
class FromWorker(Message, bubble=False):
    """Brings a message of the worker's thread to the desk."""

    content: object

    def can_replace(self, message: Message) -> bool:
        """Return whether a later message makes this one superfluous."""
        superseded_by = getattr(self.content, "superseded_by", None)
        if superseded_by is None or not isinstance(message, FromWorker):
            return False
        return bool(superseded_by(message.content))


class DeskMessages:
    """Keeps a desk up to date with the catalogue and the open administration."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        desk.listen(messages.Ready, self._ready)
        desk.listen(messages.Changed, self._changed)
        desk.listen(messages.Settled, self._settle)
        desk.listen(messages.Failed, self._failed)
        desk.listen(messages.Told, self._told)
        desk.listen(messages.Requested, desk.requested)
        desk.listen(messages.Stored, self._stored)

    def _ready(self, message: messages.Ready) -> None:
        desk = self._desk
        if desk.catalogue is None:
            self._welcome(message.catalogue)
        desk.catalogue = message.catalogue
        desk.saved = bool(message.catalogue.store) or None
        desk.show_frame()
        desk.workbench.greet()

    def _welcome(self, catalogue: Catalogue) -> None:
        desk = self._desk
        if catalogue.theme in settings.THEME_NAMES and not desk.workbench.remembered.theme:
            desk.app.theme = catalogue.theme
        if catalogue.problems:
            count = len(catalogue.problems)
            problems = "A plugin has a problem" if count == 1 else f"{count} problems with plugins"
            desk.notify(f"{problems}; F9 shows it.", severity="warning")
        if desk.workbench.when_ready is not None:
            desk.call_after_refresh(desk.workbench.when_ready)

    async def _changed(self, message: messages.Changed) -> None:
        desk = self._desk
        before = desk.work.page if desk.work is not None else ""
        desk.work = message.work
        if not desk.started:
            return  # a message sent before the program began to end
        if message.work is None:
            await desk.go("home")
            return
        desk.saved = True
        page = message.work.page
        if message.opened or (desk.page == before and page != before):
            await desk.go(page)
        elif desk.page == page:
            desk.current.update_page()
        desk.show_frame()

    def _settle(self, message: messages.Settled) -> None:
        self._desk.settle()

    def _stored(self, message: messages.Stored) -> None:
        if message.score is not None:
            self._desk.show_score(message.number, *message.score)

    def _told(self, message: messages.Told) -> None:
        self._desk.notify(message.text, timeout=4, markup=False)

    def _failed(self, message: messages.Failed) -> None:
        desk = self._desk
        desk.workbench.keys.waiting.clear()
        if message.report.unsaved:
            desk.saved = False
        for page in desk.query(Page):
            page.failed()
        desk.show_frame()
        desk.show_error(message.report)
