"""Opens the dialog of models and profiles."""

from __future__ import annotations

from textual.screen import Screen

from tabwb.workbench.models.controller import ModelOutcome
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions


class ModelsActions(Actions):
    """Runs the command *Models*."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._dialog: Screen[None] | None = None
        desk.listen(ModelOutcome, self.outcome)

    def models(self) -> None:
        """Open the dialog."""
        if self.desk.catalogue is not None:
            from tabwb.workbench.models.dialog import ModelsScreen

            self._dialog = ModelsScreen(self.desk, self.desk.catalogue)
            self.desk.app.push_screen(self._dialog)

    @property
    def _open(self) -> bool:
        """Whether the dialog is open."""
        return self._dialog in self.desk.app.screen_stack

    def outcome(self, message: ModelOutcome) -> None:
        """Tell the outcome of a command when the dialog was closed."""
        if not self._open and message.phase != "trying":
            self.desk.notify(message.words, timeout=8, markup=False)
