"""The subject *extensions*: tables of results, and result pages of plugins."""

from __future__ import annotations

from tabwb.workbench.shell.commands import Command, PageSpec, Situation, Subject, on_page


def _choose(now: Situation) -> str | None:
    return None if now.stored else "Nothing is stored yet."


COMMANDS = (
    Command("results.plugin-page", "Tables and pages…", "", "x",
            ("home", "explorer", "results", "models"), 0,
            "Features, items, positions, foils, change over sessions, and pages of plugins: of the "
            "administration or models shown, else of all.",
            _choose),
    *on_page(
        "extension",
        Command("results.leave-page", "Back", "Back", "escape", ("extension",), 12,
                "Leave the table or page."),
    ),
)  # fmt: skip
SUBJECT = Subject(
    "extensions",
    pages=(
        PageSpec(
            "extension", "tabwb.workbench.extensions.page:ExtensionPage", title="a page of a plugin"
        ),
    ),
    commands=COMMANDS,
    actions="tabwb.workbench.extensions.actions:ExtensionActions",
    controller="tabwb.workbench.extensions.controller:ExtensionController",
)
