"""Subjects, of which the workbench is made: each brings commands, pages and what runs them.

A subject is a folder beside this one. Its ``subject.py`` holds ``SUBJECT``, a :class:`Subject` in
the one shape ::

    SUBJECT = Subject(
        __name__,
        commands=(...),  # on any page; its actions run them
        pages=(PageSpec("jobs", "page:JobsPage", "the background jobs", commands=(...)),),
        actions="actions:JobsActions",
        controller="controller:ImportController",
    )

and :mod:`tabwb.workbench.subjects` lists it. Modules are named as they are in the folder; they are
imported when they are needed, not before the first frame. ``page.tcss`` has the styles of pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from tabwb.workbench.shell.commands import Command, on_page

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk


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
