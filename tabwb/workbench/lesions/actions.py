"""Opens the laboratory and the page of sweeps; shows on every page that a lesion is on."""

from __future__ import annotations

import asyncio
from typing import Any

from tabwb.workbench.engine.messages import Changed
from tabwb.workbench.lesions.controller import LesionsController
from tabwb.workbench.lesions.messages import CurvesWanted, LaboratoryState
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions
from tabwb.workbench.shell.wording import LESIONED

LESION = "lesion"
"""A mark in the title bar."""


class LesionsActions(Actions):
    """Runs the commands that open the pages."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._phase = ""
        desk.listen(LaboratoryState, self.laboratory_changed)
        desk.listen(Changed, self.administration_changed)

    async def laboratory(self) -> None:
        """Open the laboratory; load its model where none is loaded."""
        if self.desk.catalogue is None:
            return
        from tabwb.workbench.lesions.page import LesionsPage

        await self.desk.go("lesions")
        if self._phase in {"", "closed"}:
            self.desk.query_one(LesionsPage).load()

    async def sweep_page(self) -> None:
        """Open the page of sweeps."""
        if self.desk.catalogue is not None:
            await self.desk.go("sweep")

    async def curves(self, **wanted: Any) -> None:
        """Show curves and maps of lesions: fields of :class:`CurvesWanted`."""
        from tabwb.workbench.lesions.curves_page import CurvesPage

        await self.desk.go("curves")
        self.desk.query_one(CurvesPage).begin(CurvesWanted(**wanted))

    def laboratory_changed(self, message: LaboratoryState) -> None:
        """Mark a lesion that is on."""
        self._phase = message.phase
        mark = f"{LESIONED} laboratory {message.lesion}" if message.lesion else ""
        self._mark(LESION, mark)

    def administration_changed(self, message: Changed) -> None:
        """Make room for the model of an administration that begins."""
        if message.opened and self._phase not in {"", "closed"}:
            close = self.desk.controller(LesionsController).close_model
            work = message.work
            lesion = None if work is None else work.administration.conditions.lesion
            what = f"lesioned, {lesion}" if lesion else "intact"
            words = f"This administration loads its own model ({what})."
            self.desk.notify(f"{words} That of the laboratory is closed.", markup=False)
            self.desk.run_worker(asyncio.to_thread(close))  # the worker's thread loads meanwhile

    def _mark(self, name: str, mark: str) -> None:
        if self.desk.marks.get(name, "") != mark:
            self.desk.marks[name] = mark
            self.desk.show_frame()
