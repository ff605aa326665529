"""The application: signals, keys, settings, leaving, help."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from types import FrameType
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.events import Event, Key, Resize
from textual.filter import LineFilter
from textual.screen import Screen

from tabwb.workbench.shell import remembered, themes
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.menu import Commands
from tabwb.workbench.shell.subject import Subject
from tabwb.workbench.shell.terminal import ControlFilter, KeyQueue, Passed

MIN_SIZE = (80, 24)
TOO_SMALL = "too-small"
"""Id of the notice that the terminal is too small."""
AT_ONCE = {"ctrl+q", "ctrl+c"}
"""Keys that are never queued."""
TERMINAL_S = 1.0
"""Seconds between two checks whether the terminal still exists."""
AGAIN_S = 2.0
"""A second ctrl+c within so many seconds quits."""


class Workbench(App[int]):
    """The program in a terminal.

    Args:
        subjects: the subjects of the workbench.
        location: of the store, or None for the configuration's.
        offline: use no network.
        at_start: called once, when the store is open and the first notice was read.
        memory: where layout and theme are remembered; None for the user's configuration folder.
        when_ready: called once, when the first screen stands and the plugins are loaded.
    """

    TITLE = "tabwb"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]  # noqa: RUF012 - as Textual has it
    CSS_PATH: ClassVar[list[str | PurePath]] = [
        "app.tcss",
        "desk.tcss",
    ]
    COMMANDS: ClassVar = {Commands}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    ENABLE_COMMAND_PALETTE = True
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
        styles = [style for subject in subjects for style in subject.styles]
        super().__init__(css_path=[*self.CSS_PATH, *styles])
        self.when_ready = when_ready
        self._controls = ControlFilter()
        self._memory = memory
        self.remembered = remembered.load(memory)
        self.desk = Desk(subjects, location=location, offline=offline)
        self.keys = KeyQueue(self, self._keys_done)
        self._at_start = at_start
        self._greeted = False
        self._interrupted_at = 0.0
        self._leaving = False
        self._before_hangup: Any = None
        for theme in themes.THEMES:
            self.register_theme(theme)
        wanted = os.environ.get("TABWB_THEME", "")
        self.theme = wanted if wanted in themes.NAMES else self.remembered.theme or themes.NAMES[0]

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters and ours, through which every cell goes to the terminal."""
        return [*super().get_line_filters(), self._controls]

    def get_default_screen(self) -> Desk:
        """Return the desk, the only permanent screen."""
        return self.desk

    async def on_event(self, event: Event) -> None:
        """Queue keys on pages where each key waits for the one before it."""
        if not isinstance(event, Key) or event.is_forwarded or event.key in AT_ONCE:
            await super().on_event(event)
        elif not self.desk.current.KEYS_IN_TURN:
            self.keys.drop()
            await super().on_event(event)
        elif self.desk.current.refuses_keys():
            self.keys.drop()
        elif self.keys.admits(event):
            await super().on_event(event)
            self.keys.follow(self.focused or self.screen)

    def _keys_done(self) -> bool:
        return self.desk.settled and self.desk.current.keys_done()

    def on_passed(self, message: Passed) -> None:
        """Pass the message that follows a key to the queue."""
        self.keys.lapped(message, self.focused or self.screen)

    def on_mount(self) -> None:
        """Quit in order when the terminal is closed or the process is asked to end."""
        try:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._asked_to_end)
            self._before_hangup = signal.signal(signal.SIGHUP, self._hung_up)
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
        """Restore the signal handler."""
        if self._before_hangup is not None:
            signal.signal(signal.SIGHUP, self._before_hangup)

    def _asked_to_end(self) -> None:
        self.run_worker(self.action_leave(), exclusive=True)

    def _hung_up(self, number: int, frame: FrameType | None) -> None:
        # The terminal is gone: whatever writes to it may wait for ever, this thread included.
        def leave() -> None:
            self.desk.close_worker()
            os._exit(128 + number)

        threading.Thread(target=leave, name="hung up").start()

    def on_resize(self, event: Resize) -> None:
        """Show a notice while the terminal is too small."""
        small = event.size.width < MIN_SIZE[0] or event.size.height < MIN_SIZE[1]
        # Nothing opens over the notice, so it is always the topmost screen.
        shown = self.screen.id == TOO_SMALL
        if small and not shown:
            from tabwb.workbench.shell.help import TooSmall

            self.push_screen(TooSmall(id=TOO_SMALL))
        elif not small and shown:
            self.pop_screen()

    def greet(self) -> None:
        """Call ``at_start``, once, when the store is open and the first notice was read."""
        desk = self.desk
        if desk.catalogue is None or self._greeted or not self.remembered.notice_seen:
            return
        self._greeted = True
        if self._at_start is not None and desk.saved:
            self._at_start(desk)

    # ---------------------------------------------------------------- memory

    def remember(self, **changes: object) -> None:
        """Change settings and write them."""
        self.remembered = replace(self.remembered, **changes)  # type: ignore[arg-type]
        remembered.save(self.remembered, self._memory)

    def take_theme(self, name: str) -> None:
        """Use a theme and remember it."""
        if name in themes.NAMES:
            self.theme = name
            self.remember(theme=name)

    # ---------------------------------------------------------------- leaving, help

    async def action_leave(self) -> None:
        """Quit: stop what is running, pause the open administration."""
        if self._leaving:
            return
        self._leaving = True
        await asyncio.to_thread(self.desk.close_worker)
        self.exit(0)

    async def action_interrupt(self) -> None:
        """Quit when pressed twice in two seconds; copy selected text instead."""
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.notify("Copied.")
            return
        now = time.monotonic()
        if now - self._interrupted_at < AGAIN_S:
            await self.action_leave()
            return
        self._interrupted_at = now
        self.notify("ctrl+c again quits; everything recorded is safe.", timeout=AGAIN_S)

    def action_help_for_focus(self) -> None:
        """Show help for what is focused, or close it."""
        from tabwb.workbench.shell.help import HelpScreen, help_for

        if self.screen.id == TOO_SMALL:
            return
        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen(help_for(self.screen)))

    def action_command_palette(self) -> None:
        """Open the palette, unless it is open or the terminal is too small."""
        is_open = any(isinstance(screen, CommandPalette) for screen in self.screen_stack)
        if not is_open and self.screen.id != TOO_SMALL:
            super().action_command_palette()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return no commands of Textual: the palette lists our own."""
        return ()
