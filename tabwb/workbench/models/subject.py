"""The subject *models*: the models that can be examined, profiles, a first try."""

from __future__ import annotations

from tabwb.workbench.shell.commands import ON_HOME, Command
from tabwb.workbench.shell.page import Subject

COMMANDS = (
    Command("file.models", "Models…", "Models", "l", 7,
            "Models that can be examined: write profiles, try one.", where=ON_HOME),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    actions="actions:ModelsActions",
)
