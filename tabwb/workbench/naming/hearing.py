"""Has the responses of the open session transcribed while the session continues."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import TabwbError, error_text
from tabwb.records.speech import Transcript
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.workbench.engine.engine import Engine
from tabwb.workbench.engine.messages import Failed, Requested
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.threads import aside
from tabwb.workbench.engine.view_models import ErrorReport

if TYPE_CHECKING:
    from pathlib import Path

    from tabwb.administer.session.session import Session
    from tabwb.administer.transcription import Job, Transcribing

CLOSE_S = 3.0
"""What is being transcribed gets so long to end."""


class Hearing:
    """Gives responses to the transcriber of the session, and stores what it heard.

    Attributes:
        waiting: the responses that are being transcribed: (number of the trial, of the attempt).
        deaf: why nothing is transcribed, or empty.
    """

    def __init__(self, engine: Engine, sessions: SessionController, session: Session) -> None:
        self._engine, self._sessions, self._session = engine, sessions, session
        self._spec = session.administration.conditions.transcriber
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._cancel = threading.Event()
        self._thread: threading.Thread | None = None
        self._moved: dict[Path, Path] = {}
        self.waiting: set[tuple[int, int]] = set()
        self.deaf = ""

    def catch_up(self) -> None:
        """Have all responses transcribed that have no transcript, unless a job does that."""
        from tabwb.operations.transcribing import TranscribeResponses
        from tabwb.tasks.spoken_naming.giving import waiting

        number = self._session.administration.id
        at_work = self._sessions.jobs.working(TranscribeResponses.DOING, number)
        if self._spec and self._thread is None and not at_work:
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
        if self._thread is None:
            from tabwb.administer.transcription import Transcribing
            from tabwb.store.takes import work_root
            from tabwb.tasks.spoken_naming.giving import permit

            try:
                permit(self._session, spec)
            except TabwbError as error:
                self._fail(error)
                return
            later, root = self._engine.later, work_root(self._session.store)
            self._jobs, self._cancel = SimpleQueue(), threading.Event()
            work = partial(
                listen,
                partial(Transcribing, self._engine.plugins, spec, root),
                self._jobs,
                self._cancel,
                self._moved,
                lambda job, heard: later(partial(self._keep, job, heard)),
                lambda error: later(partial(self._fail, error)),
            )
            self._thread = aside("listener", work)
        self.waiting.add((job.trial, job.attempt))
        self._jobs.put(job)
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
        self._moved[source] = kept

    def hand_over(self, *, wait: bool = True) -> None:
        """Leave the responses that still wait for a transcript to a background job."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._cancel.set()
        self._jobs.put(None)
        if wait:
            thread.join(CLOSE_S)
        if self.waiting and self._spec and not self.deaf:
            number = self._session.administration.id
            self._engine.say(Requested("jobs", "transcribe", (number, self._spec)))


def listen(
    opened: Callable[[Cancel], Transcribing],
    jobs: SimpleQueue[Job | None],
    cancel: Cancel,
    moved: Mapping[Path, Path],
    heard: Callable[[Job, Transcript], None],
    failed: Callable[[TabwbError], None],
) -> None:
    """Open a transcriber and give it one job at a time, so that the next item never waits.

    It ends with the job None, or when it is cancelled; what is not transcribed yet is left.
    """
    try:
        transcribing = opened(cancel)
    except Exception as error:  # noqa: BLE001 - the edge: a transcriber is a plugin's
        if not isinstance(error, TabwbError):
            error = TabwbError(error_text(error))
        if not cancel.is_set():  # cancelled while it is loaded, it may fail in any way
            failed(error)
        return
    with transcribing:
        while (job := jobs.get()) is not None and not cancel.is_set():
            for transcript in _transcripts(transcribing, job, cancel, moved):
                heard(job, transcript)


def _transcripts(
    transcribing: Transcribing, job: Job, cancel: Cancel, moved: Mapping[Path, Path]
) -> Iterator[Transcript]:
    """Yield what was heard; a recording that is moved meanwhile is read once more."""
    for again in (True, False):
        placed = replace(job, source=moved.get(job.source, job.source))
        try:
            done = [transcript for _, transcript in transcribing.run([placed], cancel)]
        except Exception as error:  # noqa: BLE001 - the edge: a transcriber is a plugin's
            done = [Transcript(transcribing.spec, "error", error=error_text(error))]
        moved_meanwhile = moved.get(job.source, job.source) != placed.source
        failed = any(transcript.status == "error" for transcript in done)
        if cancel.is_set() or not (again and moved_meanwhile and failed):
            break
    if not cancel.is_set():
        yield from done
