"""The base of the pages: widgets in the middle of the desk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical

from tabwb.workbench.engine.view_models import Scores

if TYPE_CHECKING:
    from tabwb.workbench.shell.commands import Command, Situation
    from tabwb.workbench.shell.desk import Desk
    from tabwb.workbench.shell.frame import Hint
    from tabwb.workbench.shell.score_panel import ScorePanel

WIDE = 100
"""From so many columns up docks stand beside the page."""
MIDDLE = 46
"""The least columns of a page between docks."""


class Page(Vertical):
    """A page. The desk mounts it when it is opened first, and hides it afterwards.

    Args:
        desk: the screen it stands on.
        page: its id, as in its :class:`tabwb.workbench.shell.subject.PageSpec`.
    """

    WIDE_FROM: ClassVar[int] = WIDE
    LEAST_WIDTH: ClassVar[int] = MIDDLE
    SCORES_DOCK: ClassVar[bool] = True
    """Whether the score panel stands beside it."""
    KEYS_IN_TURN: ClassVar[bool] = False
    """Whether each key waits until everything is done that the key before it asked for."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(id=f"{page}-page", classes="page")
        self.desk = desk
        desk.table.bind(self, page)

    def update_page(self) -> None:
        """Show what the desk knows now."""

    def focus_inside(self) -> None:
        """Take the focus."""
        self.focus()

    def open_title(self) -> str | None:
        """Return what the title bar says is open; None for the open administration."""
        return None

    def administration(self) -> int | None:
        """Return the number of the administration that the page shows."""
        return None if self.desk.work is None else self.desk.work.administration.id

    def state_words(self) -> str:
        """Return what the title bar shows as state, for example a recording; may be empty."""
        return ""

    def show_scores(self, panel: ScorePanel) -> None:
        """Fill the score panel."""
        work = self.desk.work
        panel.show(Scores() if work is None else work.scores)

    def situation(self, situation: Situation) -> Situation:
        """Return the situation with what only the page knows."""
        return situation

    def hints(self) -> Sequence[Hint] | None:
        """Return the footer's hints; None for those of the commands."""
        return None

    def foot_word(self, command: Command) -> str:
        """Return the word of a command in the footer."""
        return command.foot

    def foot_rank(self, command: Command) -> int:
        """Return the place of a command in the footer."""
        return command.rank

    def show_message(self, words: str) -> None:
        """Show a short message, such as the reason why a command cannot be used."""
        self.desk.notify(words, timeout=4, markup=False)

    def pausing(self) -> None:
        """Show that a pause follows what is under way."""

    def failed(self) -> None:
        """Get ready again after a command has failed."""

    def escape(self) -> bool:
        """Leave a special view; return whether there was one."""
        return False

    def toggle_side(self) -> bool:
        """Show or hide the page's own side panel; return False where it has none."""
        return False

    def keys_done(self) -> bool:
        """Return whether the page has done what the last key asked for."""
        return True

    def refuses_keys(self) -> bool:
        """Return whether keys are ignored now; the page has told the user why."""
        return False
