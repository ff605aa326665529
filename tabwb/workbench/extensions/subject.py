"""The subject *extensions*: tables of results, and result pages of plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.workbench.shell.commands import Command, Situation
from tabwb.workbench.shell.page import PageSpec, Subject

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk


def _stored(now: Situation) -> str | None:
    return None if now.stored else "Nothing is stored yet."


def _choose(desk: Desk) -> None:
    from tabwb.workbench.extensions.page import choose

    choose(desk)


COMMANDS = (
    Command("results.plugin-page", "Tables and pages…", "", "X", 0,
            "Features, items, positions, foils, change over sessions, and pages of plugins: of the "
            "administration or models shown, else of all.",
            _stored, where=("home", "explorer", "results", "models"), run=_choose),
)  # fmt: skip
PAGE = (Command("results.leave-page", "Back", "Back", "escape", 12, "Leave the table or page."),)
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(PageSpec("extension", "page:ExtensionPage", "a page of a plugin", PAGE),),
)
