"""The subject *models*: the models that can be examined, profiles, a first try."""

from __future__ import annotations

from tabwb.workbench.shell.commands import Command, Subject

COMMANDS = (
    Command("file.models", "Models…", "Models", "l", ("home", "explorer"), 7,
            "Models that can be examined: write profiles, try one."),
)  # fmt: skip
SUBJECT = Subject(
    "models",
    commands=COMMANDS,
    actions="tabwb.workbench.models.actions:ModelsActions",
    controller="tabwb.workbench.models.controller:ModelsController",
)
