"""Reads what the first page shows, and begins the demonstration.

Scores are read in a separate thread with a separate store, one administration after the other: an
administration can be begun meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from tabwb.administer.participants import participants
from tabwb.administer.session import setup
from tabwb.records.conditions import conditions_of
from tabwb.records.errors import TabwbError, error_text
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
AT_ONCE = 20
"""The number of latest administrations whose scores are read at once, about as many as are seen."""
IDLE_S = 1.0
"""Seconds without a key before scores are read that take long, or are not seen."""
LOOK_S = 0.1
"""Seconds between two looks whether so long no key was pressed."""


class HomeController(Controller):
    """Reads participants and scores; the last request counts."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions
        self._turn = 0

    def read(self, wanted: Sequence[Administration], pressed_at: Callable[[], float]) -> None:
        """Read the participants, then scores: first those that take little time."""
        self.say(ParticipantsRead(participants(self.store, self.engine.catalogue.administrations)))
        self._turn += 1
        if wanted:
            work = (self._turn, tuple(wanted), self.engine.store_place, pressed_at)
            threading.Thread(target=self._read, args=work, name="home", daemon=True).start()

    def interrupt(self) -> None:
        """Stop reading."""
        self._turn += 1

    def demonstrate(self) -> None:
        """Begin the demonstration: TAB is given to the bundled model."""
        battery = setup.find_battery(self.plugins, DEMONSTRATION[0])
        asked = conditions_of(DEMONSTRATION[1], "model", {})
        self._sessions.begin(battery, setup.resolve(self.plugins, battery, asked))

    def _read(
        self,
        turn: int,
        wanted: Sequence[Administration],
        location: str | None,
        pressed_at: Callable[[], float],
    ) -> None:
        from tabwb.workbench.engine.gc_tuning import resting

        seen = {one.id for one in wanted[:AT_ONCE] if not takes_long(one)}
        later = [one for one in wanted if one.id not in seen]
        asked_at = time.monotonic()
        try:
            if turn == 1:
                time.sleep(FIRST_S)
            with Store.open(location, create=False) as store:
                with resting():
                    for administration in wanted:
                        if administration.id in seen and turn == self._turn:
                            self._score(store, administration)
                for administration in later:
                    while turn == self._turn and not _idle(max(asked_at, pressed_at())):
                        time.sleep(LOOK_S)
                    if turn == self._turn:
                        with resting():
                            self._score(store, administration)
        except TabwbError as error:
            if turn == self._turn:
                self.say(Failed(ErrorReport.of("The scores could not be read", error)))
        except Exception as error:  # noqa: BLE001 - the thread's edge: shown, never the end
            reason = error_text(error)
            self.say(Failed(ErrorReport("Something unexpected happened", reason)))

    def _score(self, store: Store, administration: Administration) -> None:
        from tabwb.workbench.engine.scored import scored_or_problem

        primary = self.plugins.configuration.study.primary_rater
        made = scored_or_problem(store, administration, primary)
        self.say(ScoresRead(made))
        self.say(ScoreCounted(administration.id, made.right, made.scored))
        time.sleep(REST_S)


def _idle(since: float) -> bool:
    return time.monotonic() - since > IDLE_S


def takes_long(administration: Administration) -> bool:
    """Return whether scores take long: repeated items need numpy, naming a dictionary."""
    conditions = administration.conditions
    return conditions.replicates > 1 or conditions.kind == "speaker"
