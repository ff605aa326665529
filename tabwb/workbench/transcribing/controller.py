"""Transcribes stored responses in the background."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tabwb.records.errors import TabwbError
from tabwb.records.words import plural
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.jobs import TRANSCRIBING, Ended, Tools
from tabwb.workbench.engine.messages import Stored, Told
from tabwb.workbench.engine.session_controller import SessionController

if TYPE_CHECKING:
    from tabwb.administer.transcription import Job
    from tabwb.records.speech import Transcript

STORED_S = 0.5
"""Transcripts are stored together, after so many seconds at the latest."""


@dataclass(frozen=True, slots=True)
class TranscribingWish:
    """What is to be transcribed.

    Attributes:
        transcriber: a spec.
        again: also responses that another transcriber has heard.
        quiet: nothing is said where no response waits.
    """

    transcriber: str
    again: bool = False
    quiet: bool = False


class TranscribingController(Controller):
    """Transcribes responses of an administration, open or not.

    Only the worker stores: a transcript goes into the session that is open, or into one opened for
    the moment. So the administration is not locked, and can be scored by ear meanwhile.
    """

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions

    def check(self, spec: str) -> None:
        """Check the spec of a transcriber; may be called in any thread."""
        self.plugins.resolve("transcribers", spec)

    def transcribe(self, number: int, wish: TranscribingWish) -> None:
        """Transcribe the responses that wait, in the background."""
        from tabwb.tasks.spoken_naming.giving import notated, permit, waiting

        if self.engine.background.working(TRANSCRIBING, number):
            raise TabwbError(
                f"the responses of administration {number} are being transcribed",
                hint="wait until this has ended, or stop it: J on the first page lists the jobs",
            )
        spec = str(self.plugins.resolve("transcribers", wish.transcriber)[1])
        with self._sessions.session_of(number) as session:
            conditions = session.administration.conditions
            spec = notated(self.store, self.plugins, conditions, spec) or spec
            jobs = waiting(session, spec, by_any=not wish.again)
            if jobs:
                permit(session, spec)
        if not jobs:
            if not wish.quiet:
                self.say(Told(f"No recorded response of #{number} waits for a transcript."))
            return
        self.engine.background.start(
            TRANSCRIBING,
            f"#{number} with {spec}",
            lambda tools: self._transcribed(tools, number, spec, jobs),
            after=lambda _: self.engine.refresh(),
            again=partial(self.transcribe, number, wish),
            administration=number,
        )

    def _transcribed(self, tools: Tools, number: int, spec: str, jobs: tuple[Job, ...]) -> Ended:
        from tabwb.administer.transcription import Transcribing
        from tabwb.store.takes import work_root

        tools.tell(words="opening the transcriber", planned=len(jobs))
        failed, done, stored_at = 0, 0, time.monotonic()
        batch = _Batch(self, tools.cancel, number)
        root = work_root(tools.store)
        with Transcribing(tools.plugins, spec, root, tools.cancel) as transcribing:
            for job, transcript in transcribing.run(jobs, tools.cancel):
                done, failed = done + 1, failed + (transcript.status == "error")
                batch.add(job, transcript)
                if time.monotonic() - stored_at > STORED_S:
                    stored_at = time.monotonic()
                    batch.store()
                tools.tell(done=done, words=transcribing.caution or "")
        batch.store()
        batch.wait()
        if batch.problem:
            return Ended("refused", batch.problem)
        words = f"transcribed {plural(done, 'response')}"
        words += f", of these {failed} without a transcript (error)" if failed else ""
        if done < len(jobs):
            return Ended("stopped", words)
        return Ended("refused" if failed == done else "done", words)

    def keep(self, number: int, heard: list[tuple[Job, Transcript]]) -> None:
        """Store transcripts; called in the worker's thread."""
        from tabwb.tasks.spoken_naming.task import spoken_in

        with self._sessions.session_of(number) as session:
            for job, transcript in heard:
                made = spoken_in(session).transcribed(job.trial, job.attempt, transcript)
                if self._sessions.holds(number):
                    self._sessions.after(made)
        self.say(Stored(number))


class _Batch:
    """Transcripts that wait for the worker, which stores them.

    Attributes:
        problem: why they cannot be stored, or empty; the job is stopped then.
    """

    def __init__(
        self, controller: TranscribingController, cancel: threading.Event, number: int
    ) -> None:
        self._controller, self._cancel, self._number = controller, cancel, number
        self._heard: list[tuple[Job, Transcript]] = []
        self._stored = threading.Event()
        self.problem = ""

    def add(self, job: Job, transcript: Transcript) -> None:
        """Take one transcript."""
        self._heard.append((job, transcript))

    def store(self) -> None:
        """Queue what was taken for the worker."""
        heard, self._heard = self._heard, []
        self._stored = stored = threading.Event()

        def keep() -> None:
            try:
                if heard and not self.problem:
                    self._controller.keep(self._number, heard)
            except TabwbError as error:
                self.problem = str(error)
                self._cancel.set()
            finally:
                stored.set()

        self._controller.engine.later(keep)

    def wait(self) -> None:
        """Wait until everything is stored; not longer than the program lasts."""
        while not self._stored.wait(STORED_S) and not self._controller.engine.background.closing:
            pass
