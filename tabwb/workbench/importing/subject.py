"""The subject *importing*: answers and spoken naming that were given elsewhere."""

from __future__ import annotations

from tabwb.workbench.shell.commands import ON_HOME, Command
from tabwb.workbench.shell.page import Subject

COMMANDS = (
    Command("file.open-import", "Import…", "Import", "i", 8,
            "Answers of a table, inspect_ai or lm_eval; spoken naming; recordings. Dry run first.",
            where=ON_HOME),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    actions="actions:ImportingActions",
    controller="controller:ImportingController",
)
