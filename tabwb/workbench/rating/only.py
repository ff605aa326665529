"""The program that shows the rating screen and nothing else: ``tabwb rate start``, ``tabwb serve``.

:class:`RatingApp` is not a workbench with parts switched off: one screen, no menus, no palette,
no other page, no list of sets or files, and reads no other memory than its own theme. It is made
with a set and a rater; nothing that is typed into it names another one. :func:`run_rating` is the
entry for both commands: ``rate start`` calls it in this terminal, ``serve`` starts a process for
each visitor that calls it after the link was looked up. The process needs no arguments that a
visitor can change.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import ClassVar

from textual.app import App
from textual.events import Resize
from textual.filter import LineFilter

from tabwb.workbench.rating.screen import Connect, RatingScreen
from tabwb.workbench.rating.worker import connection
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.app import MIN_SIZE, TOO_SMALL, ControlFilter, prepare
from tabwb.workbench.shell.help import TooSmall


class RatingApp(App[int]):
    """One rater rates one set."""

    TITLE = "tabwb"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH: ClassVar = ["../shell/app.tcss"]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]  # noqa: RUF012 - as Textual has it

    def __init__(self, connect: Connect, *, theme: str = "") -> None:
        super().__init__()
        self._rating: RatingScreen | None = RatingScreen(connect, only=True)
        self._controls = ControlFilter()
        for one in settings.THEMES:
            self.register_theme(one)
        self.theme = theme if theme in settings.THEME_NAMES else settings.THEME_NAMES[0]

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters and the one that removes control characters."""
        return [*super().get_line_filters(), self._controls]

    def on_mount(self) -> None:
        """Show the rating screen."""
        if self._rating is not None:
            self.push_screen(self._rating)
            self._rating = None

    def action_help_quit(self) -> None:
        """Say which key leaves; ctrl+c does nothing else."""
        for screen in self.screen_stack:
            if isinstance(screen, RatingScreen):
                screen.say("F10 leaves; everything is saved")

    def on_resize(self, event: Resize) -> None:
        """Show a notice while the terminal is too small."""
        small = event.size.width < MIN_SIZE[0] or event.size.height < MIN_SIZE[1]
        shown = self.screen.name == TOO_SMALL
        if small and not shown:
            self.push_screen(TooSmall(name=TOO_SMALL))
        elif not small and shown:
            self.pop_screen()


def run_rating(store_location: str | None, set_ref: int | str, rater: str) -> int:
    """Open the rating screen alone and return the exit status."""
    settings.prepare_pictures()
    prepare()
    theme = os.environ.get("TABWB_THEME", "") or settings.load().theme
    app = RatingApp(connection(store_location, set_ref, rater), theme=theme)
    app.run()
    return app.return_code or 0
