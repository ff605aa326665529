"""Opens the dialog of models and profiles."""

from __future__ import annotations

from tabwb.workbench.models.controller import ModelOutcome
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.subject import Actions


class ModelsActions(Actions):
    """Runs the command *Models*."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._open = False
        """Whether the dialog is open."""
        desk.listen(ModelOutcome, self.outcome)

    def models(self) -> None:
        """Open the dialog."""
        catalogue = self.desk.catalogue
        if catalogue is None:
            return
        from tabwb.workbench.models.dialog import ModelsScreen

        def closed(_: None) -> None:
            self._open = False

        self._open = True
        self.desk.app.push_screen(ModelsScreen(self.desk, catalogue), closed)

    def outcome(self, message: ModelOutcome) -> None:
        """Tell the outcome of a command when the dialog was closed."""
        if not self._open and message.phase != "trying":
            self.desk.notify(message.words, timeout=8, markup=False)
