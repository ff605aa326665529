"""Opens the dialog that imports answers, and shows what was imported."""

from __future__ import annotations

from tabwb.records.words import plural
from tabwb.workbench.engine.messages import ResultsWanted
from tabwb.workbench.importing.controller import ImportOutcome
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.subject import Actions


class ImportingActions(Actions):
    """Runs the command *Import*."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._open = False
        """Whether the dialog is open."""
        desk.listen(ImportOutcome, self.outcome)

    def open_import(self) -> None:
        """Open the dialog."""
        catalogue = self.desk.catalogue
        if catalogue is None:
            return
        from tabwb.workbench.importing.dialog import ImportScreen

        def closed(_: None) -> None:
            self._open = False

        self._open = True
        self.desk.app.push_screen(ImportScreen(self.desk, catalogue), closed)

    def outcome(self, message: ImportOutcome) -> None:
        """Show the results of what was imported; tell of a failure whose dialog was closed."""
        if message.phase == "done":
            made = plural(len(message.numbers), "administration")
            self.desk.notify(f"Imported: {made}", timeout=8, markup=False)
            if self._open:
                self.desk.tell(ResultsWanted(message.numbers[0]))
        elif message.phase == "refused" and not self._open:
            self.desk.notify("\n".join(message.lines), timeout=10, markup=False)
