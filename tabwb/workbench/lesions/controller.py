"""The laboratory's commands: a model is loaded, lesioned and asked, in the worker's thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from tabwb.administer.session import setup
from tabwb.lesion.declared import Part
from tabwb.records.errors import Interrupted, TabwbError
from tabwb.records.trials import PlannedTrial
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.messages import Changed
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.threads import FRAME_S
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions
from tabwb.workbench.shell.wording import LESIONED

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.workbench.lesions.dial import Dialled, Facts
    from tabwb.workbench.lesions.laboratory import Laboratory, Pair

DEMONSTRATION = "demonstration"
"""The sweep of the demonstration: the tag of what it gives."""


@dataclass(frozen=True, slots=True)
class LaboratoryState:
    """The model of the laboratory.

    Attributes:
        phase: ``loading``, ``ready``, ``asking``, ``closed`` or ``refused``.
        words: what is done, or why it was refused.
        lesion: under which the model answers now; empty: intact.
        parts: what can be lesioned; empty: no model is loaded.
        parameters: how many the model has.
    """

    phase: str
    model: str = ""
    words: str = ""
    lesion: str = ""
    parts: Sequence[Part] = ()
    parameters: int = 0


@dataclass(frozen=True, slots=True)
class PairsGiven:
    """Answers of the intact and the lesioned model, as they come."""

    pairs: Sequence[Pair]

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        return isinstance(later, PairsGiven)


@dataclass(frozen=True, slots=True)
class CurvesWanted:
    """Curves and maps of lesions are to be shown.

    Attributes:
        numbers: of the administrations; empty: all.
        where: filters that they must match, as ``tabwb results --where`` takes them.
        judge: whose verdicts are shown; empty: every judge's.
        words: what is shown, in words.
        back: id of the page to which *Back* returns.
    """

    numbers: tuple[int, ...] = ()
    where: tuple[str, ...] = ()
    judge: str = ""
    words: str = ""
    back: str = "home"


class LesionsController(Controller):
    """One model at a time."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions
        self._laboratory: Laboratory | None = None
        self._dials: WeakSet[Dialled] = WeakSet()

    # ---------------------------------------------------------------- the model

    def load(self, model: str) -> bool:
        """Load a model in place of the earlier one; return whether it is loaded."""
        from tabwb.workbench.lesions.laboratory import Laboratory

        self.engine.cancel.clear()
        self._end_model()
        self.say(LaboratoryState("loading", model, f"loading {model}"))
        try:
            laboratory = self._laboratory = Laboratory(self.plugins, model, self.engine.cancel)
            laboratory.open()
        except TabwbError as error:
            self._end_model()
            stopped = self.engine.cancel.is_set()
            words = f"{model} is not loaded: stopped" if stopped else str(error)
            self.say(LaboratoryState("refused", model, words))
            return False
        self._ready()
        return True

    def items(self, battery: str) -> Sequence[PlannedTrial] | None:
        """Return the items of a battery; None while no model is loaded."""
        laboratory = self._laboratory
        return None if laboratory is None else laboratory.trials(self._battery(battery))

    def apply(self, lesion: str) -> None:
        """Answer under a lesion from now on; empty: intact."""
        self._guarded(lambda laboratory: laboratory.apply(lesion))

    def give(self, battery: str, numbers: Sequence[int], lesion: str) -> None:
        """Give items to the intact model and under a lesion; nothing is stored."""

        def given(laboratory: Laboratory) -> None:
            found = self._battery(battery)
            plans = [plan for plan in laboratory.trials(found) if plan.number in numbers]
            pairs: tuple[Pair, ...] = ()
            shown_at = 0.0
            for pairs in laboratory.give(found, plans, lesion):
                if time.monotonic() - shown_at > FRAME_S:
                    shown_at = time.monotonic()
                    self._asking(laboratory)
                    self.say(PairsGiven(pairs))
            self.say(PairsGiven(pairs))
            if not self.engine.cancel.is_set():
                laboratory.apply(lesion)  # also where all answers were known

        self.engine.cancel.clear()
        self._guarded(given)

    def close_model(self) -> None:
        """End the model's process; from any thread."""
        if self._laboratory is not None:
            self._end_model()
            self.say(LaboratoryState("closed"))

    def open_dial(self, model: str, battery: str, cancel: threading.Event) -> tuple[Dialled, Facts]:
        """Return a loaded model for the dial, in a thread of its own; ``cancel`` ends it."""
        from tabwb.workbench.lesions.dial import Dialled

        engine = self.engine
        dialled = Dialled(engine.plugins.configuration, engine.store_place, cancel)
        self._dials.add(dialled)
        try:
            facts = dialled.load(model, battery)
            if cancel.is_set():
                raise Interrupted("stopped")
            return dialled, facts
        except BaseException:
            dialled.close()
            raise

    def keep_dial(self, file: Path) -> int:
        """Store the answers of a dial; return the number of administrations."""
        merged = self.store.merge(file)
        self.engine.refresh()
        return merged.added.get("administrations", 0)

    def stop(self) -> None:
        """Stop the current loading or answer; from any thread."""
        self.engine.cancel.set()

    def _battery(self, name: str) -> Battery:
        return setup.find_battery(self.plugins, name)

    def _guarded(self, work: Callable[[Laboratory], None]) -> None:
        laboratory = self._laboratory
        if laboratory is None:
            return
        self._asking(laboratory)
        try:
            work(laboratory)
        except TabwbError as error:
            self._ready(str(error), "refused")
        except BaseException:
            self._ready()
            raise
        else:
            self._ready()

    def _asking(self, laboratory: Laboratory) -> None:
        self._say("asking", laboratory, "asking the model")

    def _ready(self, words: str = "", phase: str = "ready") -> None:
        laboratory = self._laboratory
        if laboratory is not None:
            self._say(phase, laboratory, words)

    def _say(self, phase: str, model: Laboratory, words: str) -> None:
        self.say(
            LaboratoryState(phase, model.spec, words, model.lesion, model.parts, model.parameters)
        )

    def _end_model(self) -> None:
        laboratory, self._laboratory = self._laboratory, None
        if laboratory is not None:
            laboratory.close()

    def interrupt(self) -> None:
        """Stop the model, because the program ends."""
        self.stop()
        for dialled in list(self._dials):
            dialled.close()

    def close(self) -> None:
        """End the model's process."""
        self._end_model()


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

    async def dial(self, **wanted: Any) -> None:
        """Open the dial: of which model, battery, item, target, layers and seed."""
        if self.desk.catalogue is not None:
            await self.desk.go("dial", wanted)

    async def dial_sessions(self, speaker: str, battery: str = "", item: str = "") -> None:
        """Open the dial of the sessions of a person."""
        page = self.desk.page
        await self.desk.go("dial", {"speaker": speaker, "battery": battery, "item": item})
        self.desk.return_to = page

    async def demonstrate(self, battery: str, model: str) -> None:
        """Open the dial; then give a battery to the intact and a lesioned model, aside."""
        from tabwb.operations.lesion import SweepLesions

        row = {"targets": ["mlp"], "amounts": [0.05]}
        grid = {"format": 1, "name": DEMONSTRATION, "lesions": [row]}
        wanted = SweepLesions(battery=battery, model=model, grid=grid)
        begin = partial(self.desk.do, partial(self.desk.sessions.jobs.begin, wanted))
        await self.desk.go("dial", {"model": model, "battery": battery}, begin)

    async def sweep_page(self) -> None:
        """Open the page of sweeps."""
        if self.desk.catalogue is not None:
            await self.desk.go("sweep")

    async def curves(self, **wanted: Any) -> None:
        """Show curves and maps of lesions: fields of :class:`CurvesWanted`."""
        from tabwb.workbench.lesions.curves import CurvesPage

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
