"""Loads a model for the laboratory, lesions it and asks it, in the worker's thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tabwb.administer.session import setup
from tabwb.records.errors import TabwbError
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.threads import FRAME_S
from tabwb.workbench.lesions.messages import (
    ItemsKnown,
    LaboratoryState,
    PairsGiven,
)

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.workbench.lesions.laboratory import Laboratory, Pair


class LesionsController(Controller):
    """One model at a time."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions
        self._laboratory: Laboratory | None = None

    # ---------------------------------------------------------------- the model

    def load(self, model: str, battery: str) -> None:
        """Load a model in place of the earlier one; tell its parts, and the items of a battery."""
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
            return
        self._ready()
        self.items(battery)

    def items(self, battery: str) -> None:
        """Tell the items of a battery."""
        laboratory = self._laboratory
        if laboratory is None:
            return
        try:
            found = ItemsKnown(battery, laboratory.trials(self._battery(battery)))
        except TabwbError as error:
            found = ItemsKnown(battery, problem=str(error))
        self.say(found)

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

    def close(self) -> None:
        """End the model's process."""
        self._end_model()
