"""Opens the dialog of models and profiles."""

from __future__ import annotations

from tabwb.workbench.shell.page import Actions


class ModelsActions(Actions):
    """Runs the command *Models*."""

    def models(self) -> None:
        """Open the dialog."""
        if self.desk.catalogue is not None:
            from tabwb.workbench.models.dialog import ModelsScreen

            self.desk.app.push_screen(ModelsScreen(self.desk, self.desk.catalogue))
