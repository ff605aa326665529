"""Has the responses of the open session transcribed while the session continues."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tabwb.records.errors import TabwbError
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.workbench.engine.engine import Engine
from tabwb.workbench.engine.jobs import TRANSCRIBING
from tabwb.workbench.engine.messages import Failed, Requested
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.view_models import ErrorReport
from tabwb.workbench.naming.listener import Listener

if TYPE_CHECKING:
    from pathlib import Path

    from tabwb.administer.session.session import Session
    from tabwb.administer.transcription import Job
    from tabwb.records.speech import Transcript


class Hearing:
    """Gives responses to the transcriber of the session, and stores what it heard.

    Attributes:
        waiting: the responses that are being transcribed: (number of the trial, of the attempt).
        deaf: why nothing is transcribed, or empty.
    """

    def __init__(self, engine: Engine, sessions: SessionController, session: Session) -> None:
        self._engine, self._sessions, self._session = engine, sessions, session
        self._spec = session.administration.conditions.transcriber
        self._listener: Listener | None = None
        self.waiting: set[tuple[int, int]] = set()
        self.deaf = ""

    def catch_up(self) -> None:
        """Have all responses transcribed that have no transcript, unless a job does that."""
        from tabwb.tasks.spoken_naming.giving import waiting

        number = self._session.administration.id
        at_work = self._engine.background.working(TRANSCRIBING, number)
        if self._spec and self._listener is None and not at_work:
            for job in waiting(self._session, self._spec, by_any=True):
                self._put(self._spec, job)

    def hear_last(self) -> None:
        """Have the response transcribed that was just given."""
        from tabwb.tasks.spoken_naming.live import job_of

        view = spoken_in(self._session).view()
        job = None if view is None else job_of(self._session, view)
        if self._spec and job is not None:
            self._put(self._spec, job)

    def _put(self, spec: str, job: Job) -> None:
        if self._listener is None:
            from tabwb.administer.transcription import Transcribing
            from tabwb.store.takes import work_root
            from tabwb.tasks.spoken_naming.giving import permit

            try:
                permit(self._session, spec)
            except TabwbError as error:
                self._fail(error)
                return
            later, root = self._engine.later, work_root(self._session.store)
            self._listener = Listener(
                partial(Transcribing, self._engine.plugins, spec, root),
                lambda job, heard: later(partial(self._keep, job, heard)),
                lambda error: later(partial(self._fail, error)),
            )
            self._listener.start()
        self.waiting.add((job.trial, job.attempt))
        self._listener.put(job)
        self._sessions.publish()

    def _keep(self, job: Job, transcript: Transcript) -> None:
        session = self._sessions.session
        if session is None or not self._sessions.holds(self._session.administration.id):
            return  # it is transcribed again when that administration is opened
        self._sessions.after(spoken_in(session).transcribed(job.trial, job.attempt, transcript))

    def _fail(self, error: TabwbError) -> None:
        self.deaf = error.message
        self._sessions.publish()
        self._engine.say(Failed(ErrorReport.of("Responses cannot be transcribed now", error)))

    def moved(self, source: Path, kept: Path) -> None:
        """Tell the transcriber that a recording was moved."""
        if self._listener is not None:
            self._listener.moved(source, kept)

    def hand_over(self, *, wait: bool = True) -> None:
        """Leave the responses that still wait for a transcript to a background job."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        listener.close(wait=wait)
        if self.waiting and self._spec and not self.deaf:
            number = self._session.administration.id
            self._engine.say(Requested("transcribing", "transcribe", (number, self._spec)))
