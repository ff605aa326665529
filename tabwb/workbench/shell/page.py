"""Pages, and the subjects that bring them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Vertical

from tabwb.workbench.shell.commands import Command, on_page
from tabwb.workbench.shell.frame import ShownScores

if TYPE_CHECKING:
    from tabwb.workbench.engine.view_models import Item
    from tabwb.workbench.shell.commands import Command, Situation
    from tabwb.workbench.shell.desk import Desk
    from tabwb.workbench.shell.frame import Hint


class Page(Vertical):
    """A page. The desk mounts it when it is opened first, and hides it afterwards."""

    LEAST_WIDTH: ClassVar[int] = 72
    """The least columns of the page between docks."""
    EXPLORER_DOCK: ClassVar[bool] = True
    """Whether the explorer is shown beside the page; else it is a drawer over it."""
    SCORES_DOCK: ClassVar[bool] = False
    """Whether the score panel is shown beside the page."""
    KEYS_IN_TURN: ClassVar[bool] = False
    """Whether each key waits until everything is done that the key before it asked for."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(id=f"{page}-page", classes="page")
        self.desk = desk
        desk.table.bind(self, page)

    def want(self, *wanted: Any) -> None:
        """Take what is to be shown, before the page is updated."""

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

    def shown_item(self) -> Item | None:
        """Return the item that the page shows: commands on one item are on this one."""
        return None if self.desk.work is None else self.desk.work.item

    def administrations(self) -> tuple[int, ...]:
        """Return the numbers of those whose results the page shows; none: it shows no results."""
        return ()

    def command(self) -> str:
        """Return the command line that prints what the page shows."""
        numbers = self.administrations()
        number = self.administration()
        if not numbers and number is not None:
            numbers = (number,)
        place = ["--store", self.desk.location] if self.desk.location else []
        return shlex.join(["tabwb", "results", *map(str, numbers), *place])

    def rating_set(self) -> int | None:
        """Return the id of the rating set that the page shows."""
        return None

    def state_words(self) -> str:
        """Return what the title bar shows as state, for example a recording; may be empty."""
        return ""

    def shown_scores(self) -> ShownScores | None:
        """Return what the score panel shows beside the page."""
        return None

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
        """Return the place of a command in the footer; 0: it is not there."""
        return 0 if command.id == "view.scores" and not self.SCORES_DOCK else command.rank

    def show_message(self, words: str) -> None:
        """Show a short message, such as the reason why a command cannot be used."""
        self.desk.notify(words, timeout=4, markup=False)

    def pausing(self) -> None:
        """Show that a pause follows the running command."""

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


@dataclass(frozen=True, slots=True)
class PageSpec:
    """A page that a subject brings.

    Attributes:
        id: its name; the widget's id is ``ID-page``.
        path: ``module:Class``, a :class:`tabwb.workbench.shell.page.Page`.
        title: what the page shows, in a sentence: ``the results of an administration``.
        commands: commands that the page runs; they can be used on this page only.
    """

    id: str
    path: str
    title: str
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """One subject of the workbench.

    Attributes:
        module: the module that declares it, in the folder of the subject.
        commands: commands that its actions run, or the owner that a command declares;
            :func:`tabwb.workbench.shell.commands.on_page` are those that can be used on one page
            only, which may be another subject's.
        pages: its pages.
        actions: path of its :class:`Actions`, or empty.
        controller: path of its :class:`tabwb.workbench.engine.engine.Controller`, or empty; it is
            called with the engine and the session controller.
        prefetch: modules to import after the start, so that pages and dialogs open at once.
        needs: a package without which the subject is left out, or empty.
    """

    module: str
    commands: tuple[Command, ...] = ()
    pages: tuple[PageSpec, ...] = ()
    actions: str = ""
    controller: str = ""
    prefetch: tuple[str, ...] = ()
    needs: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether the package that it needs is there."""
        try:
            return not self.needs or find_spec(self.needs) is not None
        except ModuleNotFoundError:
            return False

    @property
    def folder(self) -> str:
        """The package."""
        return self.module.rpartition(".")[0]

    @property
    def id(self) -> str:
        """The name of the folder."""
        return self.folder.rpartition(".")[2]

    @property
    def styles(self) -> Iterator[Path]:
        """The style sheet of its pages, if it has one."""
        sheet = Path(import_module(self.module).__file__ or "").with_name("page.tcss")
        return iter([sheet] if sheet.exists() else ())

    @property
    def all_commands(self) -> tuple[Command, ...]:
        """The commands of the pages, then those of the actions."""
        of_pages = (
            replace(command, owner=f"{page.id}-page")
            for page in self.pages
            for command in on_page(page.id, *page.commands)
        )
        own = (
            replace(command, owner=command.owner or self.id, where=command.where or ("everywhere",))
            for command in self.commands
        )
        return (*of_pages, *own)

    def load(self, path: str) -> Any:
        """Return the class with a path ``module:Class``; its module is imported."""
        return resolve_name(f"{self.folder}.{path}")


class Actions:
    """Base of a subject's actions: they run its commands and handle its messages.

    Methods that commands name take no argument and may be coroutines.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
