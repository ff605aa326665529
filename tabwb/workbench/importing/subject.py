"""The subject *importing*: what was given elsewhere; its dialog, then the results."""

from __future__ import annotations

from tabwb.records.words import plural
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.shell.commands import ON_HOME, Command
from tabwb.workbench.shell.page import Actions, Subject

COMMANDS = (
    Command("file.open-import", "Import…", "Import", "i", 8,
            "Answers of a table, inspect_ai or lm_eval; spoken naming; recordings; ratings. "
            "Estimate first.",
            where=ON_HOME),
)  # fmt: skip
SUBJECT = Subject(__name__, commands=COMMANDS, actions="subject:ImportingActions")


class ImportingActions(Actions):
    """Runs the command *Import*."""

    def open_import(self) -> None:
        """Open the dialog."""
        from tabwb.operations.importing import ImportFile
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        screen = OperationScreen(self.desk, ImportFile, "Import", then=self._imported)
        self.desk.app.push_screen(screen)

    def _imported(self, state: JobState) -> None:
        """Show the results of what was imported."""
        made = (state.document or {}).get("administrations", ())
        words = f"Imported: {plural(len(made), 'administration')}" if made else state.words
        self.desk.notify(words, timeout=8, markup=False)
        if made:
            self.desk.request("results", "show", made[0]["id"])
