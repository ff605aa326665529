"""Reads the results of administrations, and changes stored responses."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tabwb.analysis.administrations import load_administrations, load_columns
from tabwb.records.errors import Interrupted, TabwbError
from tabwb.records.ratings import Judged
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.jobs import Ended, Tools
from tabwb.workbench.engine.session_controller import SessionController

if TYPE_CHECKING:
    from tabwb.tasks.spoken_naming.scores import Naming
    from tabwb.workbench.results.naming_sound import Correction, SoundReader
    from tabwb.workbench.results.presenter import Results


FRAME_S = 0.1
"""Seconds between two messages of progress."""
SCORED = "scored again; the earlier ratings stay in the store"


@dataclass(frozen=True, slots=True)
class ResultsReady:
    """The results of one administration.

    Attributes:
        results: of it.
        again: they replace those that are shown.
        took_s: how long reading them took, in seconds.
    """

    results: Results
    again: bool = False
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RepliesRead:
    """The calls of judges that ask a model, for one response."""

    number: int
    trial: int
    judged: tuple[Judged, ...]


def _scored(number: int, tools: Tools) -> Ended:
    """Score and judge the answers of an administration again; nothing is stored before the end."""
    from tabwb.administer.session import setup

    told_at = 0.0
    with setup.resume(tools.store, tools.plugins, number) as session:
        planned = len(session.trials)

        def progress(done: int) -> None:
            nonlocal told_at
            if tools.cancel.is_set():
                raise Interrupted("stopped: the earlier ratings count as before")
            if time.monotonic() - told_at > FRAME_S:
                told_at = time.monotonic()
                tools.tell(done=done, planned=planned)

        session.corrections.rescore(progress)
        tools.tell(done=planned, planned=planned)
    return Ended("done", SCORED)


class ResultsController(Controller):
    """Commands on stored administrations."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions
        self._sounds: SoundReader | None = None

    def show(self, number: int, *, again: bool = False) -> None:
        """Send the results of one administration; ``again``: only update what is shown."""
        from tabwb.workbench.results.presenter import results_of

        started = time.monotonic()
        primary = self.plugins.configuration.study.primary_rater
        (data,) = load_administrations(self.store, (number,), primary=primary)
        given = data.administration
        sessions = [
            other.id
            for other in (self.store.administrations() if data.battery.coded else ())
            if other.conditions.examinee == given.conditions.examinee
            and other.battery_hash == given.battery_hash
        ]
        held = load_columns(self.store, sessions, primary=primary) if len(sessions) > 1 else ()
        results = results_of(data, held)
        self.say(ResultsReady(results, again=again, took_s=time.monotonic() - started))

    def replies(self, number: int, trial: int) -> None:
        """Send the calls of judges that ask a model, for one response."""
        self.say(RepliesRead(number, trial, tuple(self.store.judgements(number, trial))))

    def rescore(self, number: int) -> None:
        """Score and judge every counting answer again: in the background, where it is not open."""
        if self._sessions.holds(number):
            self._sessions.open_session().corrections.rescore()
            self._sessions.publish()
            self._scored_again(Ended("done", SCORED), number)
            return
        background = self.engine.background
        background.check_free(number)
        background.start(
            "Scoring",
            f"every response of #{number} again",
            partial(_scored, number),
            after=partial(self._scored_again, number=number),
            again=partial(self.rescore, number),
            administration=number,
            holds=True,
        )

    def _scored_again(self, ended: Ended, number: int) -> None:
        self.say(messages.Stored(number))
        if ended.phase == "done":
            self.say(messages.Told(f"#{number}: {ended.words}."))
        elif ended.phase == "refused":
            raise TabwbError(f"#{number} could not be scored again: {ended.words}")

    def void_trial(self, number: int, trial: int, reason: str) -> None:
        """Declare one trial of an administration void."""
        with self._sessions.session_of(number) as session:
            session.corrections.void(reason, trial)
        self.show(number, again=True)
        self.engine.refresh()
        self._sessions.count_score(number)

    def note_trial(self, number: int, trial: int, text: str) -> None:
        """Write a note on one trial of an administration."""
        with self._sessions.session_of(number) as session:
            session.corrections.note(text, trial)
        self.show(number, again=True)

    # ---------------------------------------------------------------- spoken responses

    def read_sound(self, number: int, battery: str, naming: Naming, *, hidden: bool) -> None:
        """Send picture and sound of a response that was named aloud."""
        from tabwb.workbench.results.naming_sound import SoundReader

        self._sounds = self._sounds or SoundReader()
        self.say(self._sounds.read(self.store, number, battery, naming, hidden=hidden))

    def correct(self, correction: Correction) -> None:
        """Store a new onset or new limits of a response."""
        with self._sessions.session_of(correction.number) as session:
            correction.apply(session)
        self._sessions.tell_corrected(correction.number)

    def undo_correction(self, number: int, trial: int) -> None:
        """Take back the latest correction of a response."""
        from tabwb.records.events import Undone
        from tabwb.tasks.spoken_naming.strategy import undo_correction

        with self._sessions.session_of(number) as session:
            made = undo_correction(session, trial)
        what = next((event.what for event in made if isinstance(event, Undone)), "")
        self._sessions.tell_corrected(number)
        self.say(messages.Told(f"Taken back: {what}. Its record stays in the store."))
