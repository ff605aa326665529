"""What a subject of the workbench declares: its pages, commands, actions and controller.

A subject is a folder beside this one. Its ``subject.py`` holds ``SUBJECT``, which the list in
:mod:`tabwb.workbench.subjects` names. Classes are named by path (``module:Class``), because they
are imported only when they are needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.workbench.shell.commands import Command

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk


@dataclass(frozen=True, slots=True)
class PageSpec:
    """A page that a subject brings.

    Attributes:
        id: its name; the widget's id is ``ID-page``.
        path: of its class, a :class:`tabwb.workbench.shell.page.Page`.
        commands: commands which the page runs; they can be used on this page only.
    """

    id: str
    path: str
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """One subject of the workbench.

    Attributes:
        id: the name of its folder.
        pages: its pages.
        commands: commands which its actions run.
        actions: path of its :class:`Actions`, or empty.
        controller: path of its :class:`tabwb.workbench.engine.engine.Controller`, or empty; it is
            called with the engine and the session controller.
        styles: paths of style sheets that its pages need.
        prefetch: modules to import after the start, so that they open at once.
    """

    id: str
    pages: tuple[PageSpec, ...] = ()
    commands: tuple[Command, ...] = ()
    actions: str = ""
    controller: str = ""
    styles: tuple[Path, ...] = ()
    prefetch: tuple[str, ...] = ()

    @property
    def all_commands(self) -> tuple[Command, ...]:
        """The commands of the pages, then those of the actions."""
        of_pages = (
            replace(command, pages=(page.id,), owner=f"{page.id}-page")
            for page in self.pages
            for command in page.commands
        )
        return (*of_pages, *(replace(command, owner=self.id) for command in self.commands))


class Actions:
    """Base of a subject's actions: they run its commands and handle its messages.

    Methods that commands name take no argument and may be coroutines.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
