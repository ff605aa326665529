"""Opens the dialog that imports answers, and shows what was imported."""

from __future__ import annotations

from textual.screen import Screen

from tabwb.records.words import plural
from tabwb.workbench.engine.messages import ResultsWanted
from tabwb.workbench.importing.controller import ImportOutcome
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions


class ImportingActions(Actions):
    """Runs the command *Import*."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._dialog: Screen[None] | None = None
        desk.listen(ImportOutcome, self.outcome)

    def open_import(self) -> None:
        """Open the dialog."""
        if self.desk.catalogue is not None:
            from tabwb.workbench.importing.dialog import ImportScreen

            self._dialog = ImportScreen(self.desk, self.desk.catalogue)
            self.desk.app.push_screen(self._dialog)

    @property
    def _open(self) -> bool:
        """Whether the dialog is open."""
        return self._dialog in self.desk.app.screen_stack

    def outcome(self, message: ImportOutcome) -> None:
        """Show the results of what was imported; tell of a failure whose dialog was closed."""
        if message.phase == "done":
            made = plural(len(message.numbers), "administration")
            self.desk.notify(f"Imported: {made}", timeout=8, markup=False)
            if self._open:
                self.desk.tell(ResultsWanted(message.numbers[0]))
        elif message.phase == "refused" and not self._open:
            self.desk.notify("\n".join(message.lines), timeout=10, markup=False)
