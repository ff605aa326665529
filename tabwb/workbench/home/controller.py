"""Reads what the first page shows, and begins the demonstration.

Scores are read in a thread of its own, with a store of its own, one administration after the other:
an administration can be begun meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from tabwb.administer.participants import participants
from tabwb.administer.session import setup
from tabwb.records.condition_table import conditions_of
from tabwb.records.errors import TabwbError
from tabwb.records.trials import Administration
from tabwb.store.store import Store
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.messages import Failed, ScoreCounted
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.view_models import ErrorReport
from tabwb.workbench.home.view_models import ParticipantsRead, ScoresRead

DEMONSTRATION = ("tab", "bundled")
"""Battery and model of the demonstration."""
FIRST_S = 0.15
"""Seconds before the first reading, so that the first page is drawn before."""
REST_S = 0.01
"""After each administration the thread rests, so that the screen has the interpreter."""


class HomeController(Controller):
    """Reads participants and scores; the last request counts."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions
        self._turn = 0

    def read(self, wanted: Sequence[Administration]) -> None:
        """Read the participants, then the scores of administrations in this order."""
        self.say(ParticipantsRead(participants(self.store, self.engine.catalogue.administrations)))
        self._turn += 1
        if wanted:
            work = (self._turn, tuple(wanted), self.engine.store_place)
            threading.Thread(target=self._read, args=work, name="home", daemon=True).start()

    def interrupt(self) -> None:
        """Stop reading."""
        self._turn += 1

    def demonstrate(self) -> None:
        """Begin the demonstration: TAB is given to the bundled model."""
        battery = setup.find_battery(self.plugins, DEMONSTRATION[0])
        asked = conditions_of(DEMONSTRATION[1], "model", {})
        self._sessions.begin(battery, setup.resolve(self.plugins, battery, asked))

    def _read(self, turn: int, wanted: Sequence[Administration], location: str | None) -> None:
        from tabwb.workbench.engine.gc_tuning import resting
        from tabwb.workbench.engine.scored import scored_or_problem

        primary = self.plugins.configuration.study.primary_rater
        try:
            if turn == 1:
                time.sleep(FIRST_S)
            with resting(), Store.open(location, create=False) as store:
                for administration in wanted:
                    if turn != self._turn:
                        return
                    made = scored_or_problem(store, administration, primary)
                    self.say(ScoresRead(made))
                    self.say(ScoreCounted(administration.id, made.right, made.scored))
                    time.sleep(REST_S)
        except TabwbError as error:
            if turn == self._turn:
                self.say(Failed(ErrorReport.of("The scores could not be read", error)))
        except Exception as error:  # noqa: BLE001 - the thread's edge: shown, never the end
            reason = f"{type(error).__name__}: {error}"
            self.say(Failed(ErrorReport("Something unexpected happened", reason)))
