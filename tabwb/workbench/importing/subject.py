"""The subject *importing*: answers and spoken naming that were given elsewhere."""

from __future__ import annotations

from tabwb.workbench.shell.commands import Command, Subject

COMMANDS = (
    Command("file.open-import", "Import…", "Import", "i", ("home", "explorer"), 8,
            "Answers from a table, inspect_ai or lm_eval, or spoken naming: a dry run first."),
)  # fmt: skip
SUBJECT = Subject(
    "importing",
    commands=COMMANDS,
    actions="tabwb.workbench.importing.actions:ImportingActions",
    controller="tabwb.workbench.importing.controller:ImportingController",
)
