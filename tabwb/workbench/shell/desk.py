"""The desk: the screen with title bar, docks, the page in the middle, footer. It runs commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.events import DescendantBlur, DescendantFocus, Key, Resize
from textual.message import Message
from textual.screen import Screen
from textual.signal import Signal
from textual.widgets import Input

from tabwb.records.errors import TabwbError, error_text
from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.engine import messages, threads
from tabwb.workbench.engine.view_models import Catalogue, ErrorReport, Work
from tabwb.workbench.shell.commands import CommandTable, Situation, situation_of
from tabwb.workbench.shell.dialogs import (
    AskWords,
    ChoiceScreen,
    prepare_styles,
    read_styles,
    report_text,
)
from tabwb.workbench.shell.explorer import Explorer, ExplorerFilter, Finder
from tabwb.workbench.shell.frame import (
    Dock,
    DockLayout,
    Foot,
    MenuScreen,
    ScorePanel,
    ScoreSheet,
    TitleBar,
    foot_hints,
    title_state,
)
from tabwb.workbench.shell.own import own_keys
from tabwb.workbench.shell.page import Actions, Page, Subject
from tabwb.workbench.shell.row_list import RowList

if TYPE_CHECKING:
    from tabwb.workbench.engine.engine import Controller, Engine, Worker
    from tabwb.workbench.engine.jobs import JobState
    from tabwb.workbench.engine.session_controller import SessionController
    from tabwb.workbench.shell.app import Workbench


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
        if catalogue.theme in desk.workbench.theme_names and not desk.workbench.remembered.theme:
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


A = TypeVar("A", bound=Actions)
C = TypeVar("C", bound="Controller")
M = TypeVar("M")
T = TypeVar("T")
Handler = Callable[[Any], Awaitable[None] | None]


class Desk(Screen[None]):
    """The main screen; the pages, commands and handlers on it belong to the subjects.

    Attributes:
        current: the page in the middle; ``page`` is its id.
        return_to: id of the page to which *Back* returns, or empty.
        saved: whether everything is on disk; None before the store is open.
        finder: finds administrations by words.
        marks: what the title bar shows on every page, by the subject that set it.
        news: publishes the messages of the worker; dialogs subscribe to it.
        engine: plugins and store, for what :meth:`ask` runs in the worker's thread.
        sessions: the controller of the open session; its commands go through ``do``.
        do: queues a command of a controller; does nothing before the worker is started.
    """

    AUTO_FOCUS = "#home-page"

    current: Page
    engine: Engine
    sessions: SessionController

    def __init__(
        self,
        workbench: Workbench,
        subjects: Sequence[Subject],
        *,
        location: str | None,
        offline: bool,
    ) -> None:
        super().__init__(id="desk")
        self.workbench = workbench
        self.subjects = tuple(subjects)
        self.location, self._offline = location, offline
        commands = [command for subject in self.subjects for command in subject.all_commands]
        self.table = CommandTable(own_keys(commands, workbench.wrong))
        self.table.bind(self, "everywhere")
        self.docks = DockLayout(self)
        self.finder = Finder()
        self.page = "home"
        self.return_to = ""
        self.catalogue: Catalogue | None = None
        self.work: Work | None = None
        self.saved: bool | None = None
        self.marks: dict[str, str] = {}
        self.news: Signal[object] = Signal(self, "news")
        self.do: Callable[[Callable[[], object]], None] = lambda job: None
        self._worker: Worker | None = None
        self._done = 0
        self._actions: dict[str, Actions] = {}
        self._controllers: list[Controller] = []
        self._handlers: dict[type, list[Handler]] = {}
        DeskMessages(self)

    def compose(self) -> ComposeResult:
        """Title bar, docks, the home page, footer."""
        prepare_styles(self)
        folded = self.workbench.remembered.folded.split()
        explorer, scores = Explorer(self.finder, folded), ScorePanel()
        self.table.bind(explorer, "explorer")
        self.table.bind(scores, "scores")
        self.current = self._new_page("home")
        yield TitleBar(self.open_menu)
        with Horizontal(id="middle"):
            yield Dock(explorer, "left", "Explorer", ExplorerFilter())
            with Container(id="pages"):
                yield self.current
            yield Dock(scores, "right", "Live scores")
        yield Foot()

    def on_mount(self) -> None:
        """Paint first, then open plugins and store in the worker."""
        self.docks.apply()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self._actions = {
            subject.id: subject.load(subject.actions)(self)
            for subject in self.subjects
            if subject.actions
        }
        self._start_worker()
        if not self.workbench.remembered.notice_seen:
            choices = (("read", "I have read this"),)
            dialog = ChoiceScreen("Before you begin", RESEARCH_ONLY, choices, alone=True)
            self.app.push_screen(dialog, self._notice_read)

    def _notice_read(self, choice: str | None) -> None:
        if choice:
            self.workbench.remember(notice_seen=True)
        self.workbench.greet()

    # ---------------------------------------------------------------- parts

    def actions(self, kind: type[A]) -> A:
        """Return the actions of this class."""
        return next(actions for actions in self._actions.values() if isinstance(actions, kind))

    def controller(self, kind: type[C]) -> C:
        """Return the controller of this class; its commands go through ``do``."""
        return next(controller for controller in self._controllers if isinstance(controller, kind))

    # ---------------------------------------------------------------- asking

    def start(
        self,
        work: Callable[..., Coroutine[Any, Any, object]],
        *values: Any,
        group: str = "",
        failing: str = "",
    ) -> None:
        """Begin what asks and shows, beside everything else; one of a group ends the one before.

        ``failing`` is the title of the dialog that shows why something cannot be read.
        """

        async def shown() -> None:
            try:
                await work(*values)
            except Exception as error:  # noqa: BLE001 - the edge of what asks: shown, never the end
                from tabwb.workbench.engine.engine import report_of

                report = report_of(error, failing)
                unsaved = report.unsaved and not failing
                self.tell(messages.Failed(replace(report, unsaved=unsaved)))

        begun: Any = shown  # Textual's types do without functions that return nothing
        self.run_worker(begun, group=group or "default", exclusive=bool(group))

    async def ask(self, work: Callable[..., T], *values: Any, aside: bool = False) -> T:
        """Return what work returns, or raise what it raises.

        It runs in the worker's thread after what is queued, or ``aside`` in a thread of its own.
        """
        answer, job = _answered(partial(work, *values))
        if aside:
            threads.aside("aside", job)
        else:
            self.do(job)
        return await answer

    async def each(self, work: Callable[..., Iterator[T]], *values: Any) -> AsyncIterator[T]:
        """Yield what work yields, in a thread of its own; a step is taken when it is asked for."""
        wanted: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        end = object()

        def take() -> None:
            while (job := wanted.get()) is not None:
                job()

        threads.aside("aside", take)
        steps = work(*values)
        try:
            while True:
                answer, job = _answered(lambda: next(steps, end))
                wanted.put(job)
                found = await answer
                if found is end:
                    break
                yield cast("T", found)
        finally:
            wanted.put(getattr(steps, "close", None))  # where it was made: a store is the thread's
            wanted.put(None)

    # ---------------------------------------------------------------- the worker

    def _start_worker(self) -> None:
        from tabwb.workbench.engine.engine import Engine, Worker
        from tabwb.workbench.engine.session_controller import SessionController

        self.engine = engine = Engine(self.tell, location=self.location, offline=self._offline)
        self.do = engine.later
        self.sessions = SessionController(engine)
        self._controllers = [
            subject.load(subject.controller)(engine, self.sessions)
            for subject in self.subjects
            if subject.controller
        ]
        prefetch = [
            f"{subject.folder}.{module}" for subject in self.subjects for module in subject.prefetch
        ]
        self._worker = Worker(engine, self.sessions, prefetch, self._controllers)
        self._worker.start()

    def close_worker(self) -> None:
        """Stop the worker; an open session is paused."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    @property
    def jobs(self) -> list[JobState]:
        """What works in the background and would be stopped by quitting."""
        states = self.sessions.jobs.states if self.started else []
        return [one for one in states if one.active and not one.is_dry]

    @property
    def started(self) -> bool:
        """Whether the worker runs."""
        return self._worker is not None

    def request(self, subject: str, what: str, /, *values: Any, **named: Any) -> None:
        """Let the actions of another subject do something."""
        self.tell(messages.Requested(subject, what, values, named))

    def requested(self, message: messages.Requested) -> None:
        """Do what was requested of a subject, if it is installed."""
        if message.subject not in self._actions:
            return
        do = getattr(self._actions[message.subject], message.what)
        if iscoroutinefunction(do):
            self.start(partial(do, *message.values, **message.named))
        else:
            do(*message.values, **message.named)

    def settle(self) -> None:
        """Count one more command that the worker has done, and that is shown."""
        self._done += 1

    @property
    def settled(self) -> bool:
        """Whether the worker has done everything that was queued, and it is shown."""
        return self._worker is None or self._done >= self._worker.engine.accepted

    def tell(self, message: object) -> None:
        """Send a message to all that listen; may be called from any thread."""
        self.post_message(FromWorker(message))

    def listen(self, kind: type[M], handler: Callable[[M], Awaitable[None] | None]) -> None:
        """Call a handler with every message of one class."""
        self._handlers.setdefault(kind, []).append(handler)

    async def on_from_worker(self, message: FromWorker) -> None:
        """Pass a message of the worker on to the handlers, then to open dialogs."""
        for handler in self._handlers.get(type(message.content), ()):
            result = handler(message.content)
            if isawaitable(result):
                await result
        self.news.publish(message.content)

    def show_score(self, administration: int, right: int, scored: int) -> None:
        """Show in the explorer how much of an administration is right."""
        self.query_one(Explorer).show_score(administration, right, scored)

    def show_error(self, report: ErrorReport) -> None:
        """Show what is wrong and what to do."""
        commands = {command.replace(".", "-"): command for command, _ in report.asks}

        def chosen(button: str | None) -> None:
            if button in commands:
                self.perform(commands[button])

        choices = [
            *zip(commands, (words for _, words in report.asks), strict=True),
            ("close", "Close"),
        ]
        self.app.push_screen(ChoiceScreen(report.title, report_text(report), choices), chosen)

    # ---------------------------------------------------------------- pages

    async def go(self, page: str, *wanted: Any, keep_return: bool = False) -> None:
        """Put a page into the middle, at what is wanted on it, and focus it.

        :attr:`return_to` stays if ``keep_return``.
        """
        if not keep_return:
            self.return_to = ""
        pages = self.query_one("#pages")
        if not self.query(f"#{page}-page"):
            new = self._new_page(page)
            new.display = False  # nothing is laid out before all of it is mounted
            await pages.mount(new)
        self.minimize()
        self.page, self.current = page, self.query_one(f"#{page}-page", Page)
        for child in pages.children:
            child.display = child is self.current
        self.docks.close_drawer()
        self.docks.apply()
        if wanted:
            self.current.want(*wanted)
        self.current.update_page()
        self.current.focus_inside()

    def open(self, page: str, *wanted: Any) -> None:
        """Open a page soon, at what is wanted on it."""
        self.start(self.go, page, *wanted)

    async def back(self) -> None:
        """Leave a page for the one it was opened from, the open administration or the first."""
        work = self.work
        await self.go(self.return_to or ("home" if work is None else work.page))

    def _new_page(self, page: str) -> Page:
        subject, spec = next(
            (subject, one) for subject in self.subjects for one in subject.pages if one.id == page
        )
        read_styles(self.workbench, subject.styles)
        made: Page = subject.load(spec.path)(self, page)
        return made

    def on_resize(self, event: Resize) -> None:
        """Lay out docks and page for the new size."""
        if self.is_attached:
            self.docks.apply()
            self.current.update_page()

    # ---------------------------------------------------------------- what is shown around

    @on(DescendantFocus)
    @on(DescendantBlur)
    def _focus_moved(self) -> None:
        self.call_after_refresh(self.show_foot)

    def show_frame(self) -> None:
        """Show the present state in title bar, explorer, score panel and footer."""
        if not self.is_attached:
            return
        self.query_one(TitleBar).state = title_state(self)
        if self.catalogue is not None:
            opened = None if self.work is None else self.work.administration
            self.query_one(Explorer).show_catalogue(self.catalogue, opened)
        self.query_one(ScoreSheet).shown = self.current.shown_scores()
        self.show_foot()

    def show_foot(self) -> None:
        """Show in the footer what can be done now."""
        if self.query(Foot):  # the program is not being left
            self.query_one(Foot).show(foot_hints(self))

    # ---------------------------------------------------------------- commands

    def situation(self) -> Situation:
        """Return what decides which commands can be used now."""
        stored = bool(self.catalogue and self.catalogue.administrations)
        situation = situation_of(self.page, self.work, stored=stored)
        return self.current.situation(situation)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a key pass where its command is unavailable and there is no reason to show."""
        if action != "command":
            return True
        command = self.table.find(str(parameters[0]), self.page)
        return command is not None and command.reason(self.situation()) != ""

    async def action_command(self, name: str) -> None:
        """Run a command, or show why it cannot be used now."""
        command = self.table.find(name, self.page)
        if command is None or not self._actions:  # the first frame is being drawn
            return
        reason = command.reason(self.situation())
        if reason:
            self.current.show_message(reason)
        if reason is not None:
            return
        if command.run is not None:
            result = command.run(self)
        else:
            owner = self._actions.get(command.owner) or self.query_one(f"#{command.owner}")
            result = getattr(owner, command.method)()
        if isawaitable(result):
            await result

    def perform(self, name: str) -> None:
        """Run a command soon; for menus, palette, footer and dialogs that close."""
        self.call_later(self.action_command, name)

    def ask_words(
        self,
        title: str,
        label: str,
        job: Callable[[str], None],
        text: str = "",
        *,
        words: str = "",
        optional: bool = False,
    ) -> None:
        """Ask for a line of text and queue a command with it, unless the dialog is closed."""

        def given(answer: str | None) -> None:
            if answer is not None:
                self.do(partial(job, answer))

        dialog = AskWords(title, label, text, words=words, optional=optional)
        self.app.push_screen(dialog, given)

    def open_menu(self, group: str) -> None:
        """Open one menu."""

        def chosen(name: str | None) -> None:
            if name:
                self.perform(name)

        self.app.push_screen(MenuScreen(group, self.table, self.situation()), chosen)

    @on(RowList.Selected, "#explorer")
    def _chosen(self) -> None:
        """Open what was chosen in the explorer."""
        if (entry := self.query_one(Explorer).chosen_entry) is not None:
            self.request("trial", "entry_chosen", entry)

    @on(Input.Changed, "#explorer-filter")
    def _filter(self, event: Input.Changed) -> None:
        self.query_one(Explorer).filter(event.value)

    @on(Explorer.Folded)
    def _remember_folds(self, message: Explorer.Folded) -> None:
        self.workbench.remember(folded=" ".join(message.titles))

    def on_dock_resized(self, message: Dock.Resized) -> None:
        """Keep the width to which a border was dragged."""
        self.docks.set_width(message.name, message.width)

    def key_escape(self, event: Key) -> None:
        """From a special view, dock or drawer back to the page."""
        docked = isinstance(self.focused, Explorer | ScorePanel)
        if self.current.escape():
            event.stop().prevent_default()
        elif self.docks.leave_drawer() or docked:
            event.stop().prevent_default()
            self.current.focus_inside()


def _answered(work: Callable[[], T]) -> tuple[asyncio.Future[T], Callable[[], None]]:
    """Return the answer of work, and the job for another thread that gives it."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def give(found: T | None, error: Exception | None) -> None:
        if answer.done():  # who asked is gone
            return
        if error is None:
            answer.set_result(cast("T", found))
        else:
            answer.set_exception(error)

    def job() -> None:
        found: T | None = None
        raised: Exception | None = None
        try:
            found = work()
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            raised = error
        except BaseException as error:  # noqa: BLE001 - a plugin that exits does not end the screen
            raised = TabwbError(error_text(error))
        with suppress(RuntimeError):  # the program has ended
            loop.call_soon_threadsafe(give, found, raised)

    return answer, job
