"""The application: themes, the screens, and what Textual does otherwise here."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path, PurePath
from types import FrameType
from typing import Any, ClassVar, Literal

from rich.segment import Segment
from rich.style import Style
from textual import messages
from textual._styles_cache import StylesCache
from textual.app import App, ScreenStackError, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.command import CommandPalette, Provider
from textual.css.model import RuleSet
from textual.css.query import QueryError
from textual.events import Click, Event, InputEvent, Key, Resize
from textual.filter import LineFilter
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import MountError, Widget
from textual.widgets import OptionList

from tabwb.records.errors import UsageError
from tabwb.records.words import without_controls
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ChoiceScreen, Dialog
from tabwb.workbench.shell.frame import MenuScreen
from tabwb.workbench.shell.own import own_themes
from tabwb.workbench.shell.page import Page, Subject

_INNER_OUTER = StylesCache.get_inner_outer.__wrapped__
_DISMISS, _DISPATCH = Screen.dismiss, Widget._dispatch_message
_DISPATCH_APP = App._dispatch_message
_MOVE_PAGE, _CLICK = OptionList._move_page, OptionList._on_click
_RENDER_LINE = OptionList.render_line


def prepare() -> None:
    """Change what the functions below say, once for all programs that show screens."""
    _read_every_byte()
    Screen.dismiss = _close_once  # type: ignore[assignment, method-assign]
    Widget._dispatch_message = _dispatch_while_open  # type: ignore[assignment, method-assign]
    App._dispatch_message = _dispatch_while_running  # type: ignore[method-assign, assignment]
    OptionList._move_page = _move_page_if_drawn  # type: ignore[assignment, method-assign]
    OptionList._on_click = _click_what_is_there  # type: ignore[assignment, method-assign]
    OptionList.render_line = _with_bar  # type: ignore[assignment, method-assign]
    App._fatal_error = _end_without_values  # type: ignore[assignment, method-assign]
    # For each widget whose style is looked up Textual hashes every rule; the method it has in
    # Python for that does what object's does, and takes a third of the time of the look-up.
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
    _let_go_of_lines()


def _is_open(screen: Screen[Any]) -> bool:
    return screen.is_attached and screen in screen.app.screen_stack


def _close_once(screen: Screen[Any], result: object = None) -> AwaitComplete:
    """Close a screen that is open, wherever in the stack it is; otherwise do nothing.

    Textual tells the result again and then closes whatever is on top.
    """
    if not _is_open(screen):
        return AwaitComplete()
    stack = screen.app._screen_stack
    stack.remove(screen)
    stack.append(screen)
    return _DISMISS(screen, result)


async def _dispatch_while_open(widget: Widget, message: Message) -> None:
    """Ignore what reaches a screen or one of its widgets after the screen was closed.

    These are keys and clicks, messages of widgets to their screen, and what fails in a widget
    because the others of its screen are gone. Also ignored is a size that the program no longer has
    (a screen that is busy while its window changes twice lays out each size in turn and posts
    itself the other, without end).
    """
    if (
        isinstance(message, Resize)
        and isinstance(widget, Screen)
        and message.size != widget.app.size
    ):
        return
    if isinstance(message, InputEvent):
        if not widget.is_attached or not _is_open(widget.screen):
            return
    elif (
        isinstance(widget, Screen)
        and not isinstance(message, Event)
        and type(message).__module__ != messages.__name__
        and not _is_open(widget)
    ):
        return
    try:
        await _DISPATCH(widget, message)
    except (QueryError, MountError):
        if widget.is_attached and _is_open(widget.screen):
            raise


async def _dispatch_while_running(app: App[Any], message: Message) -> None:
    """Ignore keys and clicks that reach a program that ends, and what fails without a screen.

    So too where a key does something on a screen whose widgets are not made yet, or are gone.
    """
    given = isinstance(message, InputEvent)
    if given and (app._exit or not app._screen_stack):
        return
    screen = app.screen if given else None
    try:
        await _DISPATCH_APP(app, message)
    except ScreenStackError:
        if app._screen_stack:
            raise
    except QueryError:
        if screen is None or (screen.is_mounted and _is_open(screen)):
            raise


def _move_page_if_drawn(options: OptionList, direction: Literal[-1, 1]) -> None:
    """Move by a page where the lines have places; before a list is drawn Textual fails."""
    if options._index_to_line:
        _MOVE_PAGE(options, direction)


async def _click_what_is_there(options: OptionList, event: Click) -> None:
    """Ignore a click on a line that was drawn before the list became shorter."""
    option = event.style.meta.get("option")
    if option is None or option < options.option_count:
        await _CLICK(options, event)


def _with_bar(options: OptionList, y: int) -> Strip:
    """Draw a bar before the highlighted option, as in all other lists."""
    strip, line = _RENDER_LINE(options, y), options.scroll_offset.y + y
    if line >= len(options._lines) or options._lines[line][0] != options.highlighted:
        return strip
    accent = Style(color=options.app.theme_variables["accent"])
    first = next((segment.style or Style.null() for segment in strip), Style.null())
    return Strip([Segment("▌", first + accent), *strip.crop(1)])


def _end_without_values(app: App[Any]) -> None:
    """End the program and show where it failed, but no values of variables: they are data."""
    from rich.segment import Segments
    from rich.traceback import Traceback

    traceback = Traceback(show_locals=False, width=None)
    app._exit_renderables.append(Segments(app.console.render(traceback, app.console.options)))
    app._close_messages_no_wait()


def _read_every_byte() -> None:
    """Read bytes that are not UTF-8 as U+FFFD.

    Textual decodes strictly, so one such byte, pasted or typed, would end its input thread and
    with it the workbench. Windows has another driver, which reads characters.
    """
    try:
        from textual.drivers import linux_driver
    except ImportError:
        return
    linux_driver.getincrementaldecoder = (  # type: ignore[attr-defined]
        lambda encoding: partial(codecs.getincrementaldecoder(encoding), "replace")
    )


def _let_go_of_lines() -> None:
    """Cache two styles by their colours alone.

    Textual has the widget's cache of lines in the key, and so keeps all lines that the last 1,024
    widgets have drawn, also of closed dialogs: about 1 MB for each table of keys.
    """
    by_colours = lru_cache(1024)(partial(_INNER_OUTER, None))
    StylesCache.get_inner_outer = staticmethod(by_colours)  # type: ignore[assignment]


MIN_SIZE = (80, 24)
TOO_SMALL = "too-small"
"""Name of the notice that the terminal is too small: one may still be closing as the next opens."""
AT_ONCE = {"ctrl+q", "ctrl+c"}
"""Keys that are never queued."""
TERMINAL_S = 1.0
"""Seconds between two checks whether the terminal still exists."""
AGAIN_S = 2.0
"""A second ctrl+c within so many seconds quits."""
LAPS = 3
"""A key may make a message that makes another one, each behind what follows the key: so often a
message follows through all queues before the key is taken as acted on."""
LOOK_S = 0.02
"""Seconds between two checks whether a command is done."""
LOST_S = 0.5
"""A key that has gone with its dialog is taken as done after so long; and so long is waited at most
for a new dialog to take the focus."""


def _palette() -> type[Provider]:
    from tabwb.workbench.shell.palette import Palette  # not before the first frame

    return Palette


class Workbench(App[int]):
    """The program in a terminal.

    Attributes:
        pressed_at: when a key was pressed last, by the monotonic clock; at first, the start.
    """

    TITLE = "tabwb"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]  # noqa: RUF012 - as Textual has it
    CSS_PATH: ClassVar[list[str | PurePath]] = ["app.tcss", "desk.tcss"]
    COMMANDS: ClassVar = {_palette}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", "Quit", show=False, priority=True),
        Binding("ctrl+c", "interrupt", "Quit", show=False),
        Binding("f1", "help_for_focus", "Help", show=False, priority=True),
    ]

    def __init__(
        self,
        subjects: Sequence[Subject],
        *,
        location: str | None = None,
        offline: bool = False,
        at_start: Callable[[Desk], None] | None = None,
        memory: Path | None = None,
        when_ready: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self.when_ready = when_ready
        self._controls = ControlFilter()
        self._memory = memory
        self.wrong: list[UsageError] = []
        """What is wrong with the user's files of keys and themes."""
        themes = [*settings.THEMES, *own_themes(self.wrong)]
        self.theme_names = [theme.name for theme in themes]
        self.remembered = settings.load(memory, self.theme_names)
        self.desk = Desk(self, subjects, location=location, offline=offline)
        self.keys = KeyQueue(self)
        self._at_start = at_start
        self._held_back: list[tuple[str, dict[str, Any]]] = []
        self._interrupted_at = 0.0
        self.pressed_at = time.monotonic()
        self._leaving = self._asked = False
        self._handlers: dict[int, Any] = {}
        for theme in themes:
            self.register_theme(theme)
        wanted = os.environ.get("TABWB_THEME", "")
        if wanted not in self.theme_names:
            wanted = self.remembered.theme or self.theme_names[0]
        self.theme = wanted

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters and ours, through which every cell goes to the terminal."""
        return [*super().get_line_filters(), self._controls]

    def get_default_screen(self) -> Desk:
        """Return the desk, the only permanent screen."""
        return self.desk

    async def on_event(self, event: Event) -> None:
        """Queue keys on pages where each key waits for the one before it, and in dialogs.

        One may close the dialog: the next is for what is behind it.
        """
        if isinstance(event, Key):
            self.pressed_at = time.monotonic()
        if not isinstance(event, Key) or event.is_forwarded or event.key in AT_ONCE:
            await super().on_event(event)
        elif not (self.keys.continues or isinstance(self.screen, Dialog)):
            self.keys.drop()
            await super().on_event(event)
        elif self.desk.current.refuses_keys():
            self.keys.waiting.clear()
        elif self.keys.admits(event):
            await super().on_event(event)
            self.keys.follow(self.focused or self.screen)

    def on_passed(self, message: Passed) -> None:
        """Pass the message that follows a key to the queue."""
        self.keys.lapped(message, self.focused or self.screen)

    def on_mount(self) -> None:
        """Quit in order when the terminal is closed or the process is asked to end."""
        for error in self.wrong:
            self.notify(str(error), severity="error", timeout=30, markup=False)
        try:
            loop = asyncio.get_running_loop()

            def leave(number: int, frame: FrameType | None) -> None:
                loop.call_soon_threadsafe(lambda: self.run_worker(self.leave(), exclusive=True))

            # Not through the loop, which would take the wake-up descriptor from the watchdog.
            handlers = {"SIGTERM": leave, "SIGINT": leave, "SIGHUP": self._hung_up}
            for name, handler in handlers.items():
                number = getattr(signal, name)
                self._handlers[number] = signal.signal(number, handler)
        except (NotImplementedError, RuntimeError, ValueError, AttributeError):
            return  # not this platform, or not the main thread
        if self._has_terminal():
            self._watch = self.set_interval(TERMINAL_S, self._look_for_terminal)

    def _has_terminal(self) -> bool:
        try:
            os.get_terminal_size(sys.__stdin__.fileno() if sys.__stdin__ is not None else -1)
        except (OSError, ValueError):
            return False
        return not self.is_headless

    def _look_for_terminal(self) -> None:
        # Only the first program in a terminal is told that it was closed: make, in 'make demo'.
        if not self._has_terminal():
            self._watch.stop()
            self._hung_up(signal.SIGHUP, None)

    def on_unmount(self) -> None:
        """Restore the signal handlers."""
        for number, earlier in self._handlers.items():
            signal.signal(number, earlier)

    def _hung_up(self, number: int, frame: FrameType | None) -> None:
        # The terminal was closed: writing to it may block for ever, also in this thread.
        def leave() -> None:
            self.desk.close_worker()
            os._exit(128 + number)

        threading.Thread(target=leave, name="hung up").start()

    def on_resize(self, event: Resize) -> None:
        """Show a notice while the terminal is too small."""
        small = event.size.width < MIN_SIZE[0] or event.size.height < MIN_SIZE[1]
        if small and not any(screen.name == TOO_SMALL for screen in self.screen_stack):
            from tabwb.workbench.shell.help import TooSmall

            self.push_screen(TooSmall(name=TOO_SMALL))
        elif not small and self.screen.name == TOO_SMALL:
            self.pop_screen()  # one under an error's dialog ends when that is closed

    def greet(self) -> None:
        """Call ``at_start``, once, when the store is open and the first notice was read."""
        if self.desk.catalogue is not None and self.remembered.notice_seen:
            at_start, self._at_start = self._at_start, None
            if at_start is not None and self.desk.saved:
                at_start(self.desk)

    # ---------------------------------------------------------------- memory

    def remember(self, **changes: object) -> None:
        """Change settings and write them."""
        self.remembered = replace(self.remembered, **changes)  # type: ignore[arg-type]
        settings.save(self.remembered, self._memory)

    def take_theme(self, name: str) -> None:
        """Use a theme and remember it."""
        self.theme = name
        self.remember(theme=name)

    # ---------------------------------------------------------------- leaving, help

    async def action_leave(self) -> None:
        """Quit; ask first if a job works in the background."""
        if not self.desk.jobs or self._asked:
            await self.leave()
            return
        self._asked = True
        choices = (("stay", "Stay"), ("quit", "Stop it and quit"))
        text = "\n\n".join(one.until_quitting for one in self.desk.jobs)
        self.push_screen(ChoiceScreen("Quit?", text, choices), self._answered)

    async def _answered(self, choice: str | None) -> None:
        self._asked = False
        if choice == "quit":
            await self.leave()

    async def leave(self) -> None:
        """Stop what is running, pause the open administration, end."""
        if not self._leaving:
            self._leaving = True
            await asyncio.to_thread(self.desk.close_worker)
            self.exit(0)

    async def action_interrupt(self) -> None:
        """Quit when pressed twice in two seconds; copy selected text instead."""
        now = time.monotonic()
        if selected := self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
            self.notify("Copied.")
        elif now - self._interrupted_at < AGAIN_S:
            await self.action_leave()
        else:
            self._interrupted_at = now
            self.notify("Press ctrl+c again to quit; everything is stored.", timeout=AGAIN_S)

    def action_help_for_focus(self) -> None:
        """Show help for what is focused, or close it."""
        from tabwb.workbench.shell.help import HelpScreen, help_for

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        elif self.screen.name != TOO_SMALL:
            self.push_screen(HelpScreen(help_for(self.screen)))

    @property
    def blind(self) -> bool:
        """Whether somebody rates who must not know the source: nothing else is shown."""
        return any(getattr(screen, "BLIND", False) for screen in self.screen_stack)

    def notify(self, message: str, **options: Any) -> None:
        """Show a toast; while somebody rates blind, afterwards."""
        if self.blind:
            self._held_back.append((message, options))
        else:
            super().notify(message, **options)

    def show_held_back(self) -> None:
        """Show the toasts that were held back while somebody rated."""
        held, self._held_back = self._held_back, []
        for message, options in held:
            self.notify(message, **options)

    def action_command_palette(self) -> None:
        """Open the palette, unless it is open, somebody rates, or the terminal is too small."""
        is_open = any(isinstance(screen, CommandPalette) for screen in self.screen_stack)
        if not is_open and not self.blind and self.screen.name != TOO_SMALL:
            if isinstance(self.screen, MenuScreen):
                self.screen.dismiss(None)
            # Without Textual's id: one may still be closing as the next opens.
            self.push_screen(CommandPalette())

    def action_jump(self) -> None:
        """Draw a letter over each part that takes the focus, and focus the one that is chosen."""
        from tabwb.workbench.shell.help import JumpScreen

        def chosen(widget: Widget | None) -> None:
            if widget is not None and widget.is_attached:
                (widget.focus_inside if isinstance(widget, Page) else widget.focus)()

        if not self.blind and isinstance(self.screen, Desk | Dialog):
            self.push_screen(JumpScreen(self.screen), chosen)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return no commands of Textual: the palette lists our own."""
        return ()


@dataclass
class Passed(Message):
    """Follows a key through the message queues; when it arrives, the key was handled."""

    number: int
    lap: int = 1


class KeyQueue:
    """Passes one key at a time."""

    def __init__(self, app: Workbench) -> None:
        self._app = app
        self.waiting: deque[Key] = deque()
        self._number = 0
        self._under_way = False
        self._page: Page | None = None
        self._acted_on = True
        self._sent: Key | None = None

    @property
    def continues(self) -> bool:
        """Whether a key on the page waits for the one before it, which may have closed a dialog."""
        page = self._app.desk.current
        return page.KEYS_IN_TURN or (self._under_way and page is self._page)

    def drop(self) -> None:
        """Forget the keys that wait: they were for another page."""
        self.waiting.clear()
        self._under_way, self._sent = False, None

    def admits(self, event: Key) -> bool:
        """Return whether a key is passed on now; otherwise it is queued."""
        if event is self._sent:
            self._sent = None
            return True
        if self._under_way:
            self.waiting.append(event)
            return False
        self._begin()
        return True

    def follow(self, target: MessagePump) -> None:
        """Send a message after a key to the same widget, to learn when it was handled."""
        number = self._number
        target.post_message(Passed(number))
        self._app.set_timer(LOST_S, lambda: self._passed(number))

    def lapped(self, message: Passed, target: MessagePump) -> None:
        """Handle the message that follows a key."""
        if message.lap < LAPS:
            target.post_message(Passed(message.number, message.lap + 1))
        else:
            self._passed(message.number)

    def _passed(self, number: int) -> None:
        """Note that a key was handled; its command may still be running."""
        if number == self._number and not self._acted_on:
            self._acted_on = True
            self._go_on(LOST_S)

    def _begin(self) -> None:
        self._number += 1
        self._under_way, self._acted_on = True, False
        self._page = self._app.desk.current

    def _go_on(self, patience_s: float) -> None:
        app = self._app
        if not app.screen_stack:
            return  # the program ends
        page = app.desk.current
        if page.KEYS_IN_TURN and not (app.desk.settled and page.keys_done()):
            app.set_timer(LOOK_S, lambda: self._go_on(patience_s))
        elif page.KEYS_IN_TURN and app.focused is None and patience_s > 0:
            app.set_timer(LOOK_S, lambda: self._go_on(patience_s - LOOK_S))
        elif self.waiting:
            self._begin()
            self._sent = self.waiting.popleft()
            app.post_message(self._sent)
        else:
            self._under_way = False


class ControlFilter(LineFilter):
    """Removes control characters from every line that Textual is about to draw.

    A reply of a model can hold terminal sequences. The rest of such a sequence stays readable;
    removing characters that take no cell leaves the layout as it is.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without control characters."""
        if all(text.isprintable() for text, _, _ in segments):
            return segments
        return [
            Segment(without_controls(text), style, control) for text, style, control in segments
        ]
