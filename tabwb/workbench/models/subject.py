"""The subject *models*: the models that can be examined, profiles, a first try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.workbench.shell.commands import ON_HOME, Command
from tabwb.workbench.shell.page import Subject

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk


def _models(desk: Desk) -> None:
    """Open the dialog."""
    if desk.catalogue is not None:
        from tabwb.workbench.models.dialog import ModelsScreen

        desk.app.push_screen(ModelsScreen(desk, desk.catalogue))


COMMANDS = (
    Command("file.models", "Models…", "Models", "L", 7,
            "Models that can be examined: write profiles, try one.", where=ON_HOME, run=_models),
)  # fmt: skip
SUBJECT = Subject(__name__, COMMANDS)
