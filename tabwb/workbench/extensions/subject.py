"""The subject *extensions*: tables of results, and result pages of plugins."""

from __future__ import annotations

from tabwb.workbench.shell.commands import Command, Situation, on_page
from tabwb.workbench.shell.page import PageSpec, Subject


def _choose(now: Situation) -> str | None:
    return None if now.stored else "Nothing is stored yet."


COMMANDS = (
    Command("results.plugin-page", "Tables and pages…", "", "x", 0,
            "Features, items, positions, foils, change over sessions, and pages of plugins: of the "
            "administration or models shown, else of all.",
            _choose, where=("home", "explorer", "results", "models")),
    *on_page(
        "extension",
        Command("results.leave-page", "Back", "Back", "escape", 12,
                "Leave the table or page."),
    ),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(PageSpec("extension", "page:ExtensionPage", "a page of a plugin"),),
    actions="actions:ExtensionActions",
    controller="controller:ExtensionController",
)
