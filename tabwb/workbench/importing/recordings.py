"""Gives the recordings of a folder in a background job: stored, then transcribed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.records.errors import Interrupted
from tabwb.records.events import AttemptRecorded, Observed
from tabwb.records.naming import Transcribed
from tabwb.records.states import AdministrationStatus
from tabwb.records.words import plural
from tabwb.workbench.engine.jobs import Tools

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.tasks.spoken_naming.giving import PreparedFolder

STOPPED = "stopped: the recordings so far are stored"


class FolderJob:
    """One folder on its way into the store."""

    def __init__(
        self,
        tools: Tools,
        prepared: PreparedFolder,
        say: Callable[[str], object],
        progress: Callable[[str], object],
        *,
        again: bool,
    ) -> None:
        self._tools, self._prepared, self._again = tools, prepared, again
        self._say, self._progress = say, progress

    def give(self, numbers: list[int]) -> None:
        """Store and transcribe what is not stored yet."""
        from tabwb.administer.session.pausing import pausing
        from tabwb.tasks.spoken_naming.giving import settle

        cancel = self._tools.cancel
        with self._opened(numbers) as session:
            number = session.administration.id
            numbers[:] = [number]
            self._tools.tell(administration=number)
            session.resume()
            with pausing(session):
                self._store(session)
                if not cancel.is_set():
                    self._transcribe(session)
            running = session.status is AdministrationStatus.RUNNING
            if running and (words := settle(session, stopped=cancel.is_set())):
                self._say(words)
            waiting = session.waiting(aloud=True)
        if cancel.is_set():
            raise Interrupted(STOPPED)
        if waiting:
            items = ", ".join(trial.plan.item for trial in waiting)
            self._say(f"administration {number} is paused; no recording of: {items}")

    @contextmanager
    def _opened(self, numbers: Sequence[int]) -> Iterator[Session]:
        from tabwb.administer.consent import Guard
        from tabwb.tasks.spoken_naming.giving import create_naming, resume_naming

        plugins, store, prepared = self._tools.plugins, self._tools.store, self._prepared
        known = {one.id for one in store.administrations()}
        conditions = prepared.conditions
        guard = Guard(store, plugins, conditions)
        if conditions.transcriber:
            guard.check_transcribing(conditions.transcriber)
        # An administration of this run may have been deleted meanwhile, with its participant.
        begun = next(iter(known.intersection(numbers)), None) or self._begun_earlier()
        if begun is not None:
            opened = resume_naming(store, plugins, begun)
        else:
            opened = create_naming(store, plugins, prepared.battery, conditions)
            for notice in guard.notices():
                self._say(notice)
        with opened as session:
            yield session

    def _begun_earlier(self) -> int | None:
        """Return the administration to continue that an earlier run of the program began."""
        from tabwb.tasks.spoken_naming.files import begun_earlier
        from tabwb.tasks.spoken_naming.giving import notated

        plugins, store, prepared = self._tools.plugins, self._tools.store, self._prepared
        spec = notated(store, plugins, prepared.conditions, prepared.conditions.transcriber)
        conditions = replace(prepared.conditions, transcriber=spec)
        sounds = [file.path for file in prepared.files]
        if self._again:
            return None
        given = begun_earlier(store, prepared.battery, conditions, sounds, self._say)
        return None if given is None else given.id

    def _store(self, session: Session) -> None:
        from tabwb.tasks.spoken_naming.giving import give_files

        files = self._prepared.files
        done = sum(len(trial.attempts) for trial in session.trials)
        for event in give_files(session, files):
            if isinstance(event, AttemptRecorded):
                done += 1
                self._count("stored", done, len(files))
            if self._tools.cancel.is_set():
                return

    def _transcribe(self, session: Session) -> None:
        from tabwb.administer.transcription.transcribe import Transcribing
        from tabwb.store.takes import work_root
        from tabwb.tasks.spoken_naming.giving import transcribe, waiting

        cancel, spec = self._tools.cancel, session.administration.conditions.transcriber
        jobs = waiting(session, spec, by_any=True) if spec else ()
        if not spec or not jobs:
            return
        self._progress(f"opening {spec}")
        root = work_root(session.store)
        try:
            transcribing = Transcribing(self._tools.plugins, spec, root, cancel)
        except Interrupted:
            return  # the caller pauses the administration
        with transcribing:
            if transcribing.caution:
                self._say(transcribing.caution)
            done = 0
            for event in transcribe(session, transcribing, jobs, cancel):
                if isinstance(event, Observed) and isinstance(event.observation, Transcribed):
                    done += 1
                    self._count("transcribed", done, len(jobs))

    def _count(self, verb: str, done: int, of: int) -> None:
        words = f"{verb} {done} of {plural(of, 'recording')}"
        self._tools.tell(words=words, done=done, planned=of)
        self._progress(words)


def described(prepared: PreparedFolder) -> list[str]:
    """Return what the import of a folder would store."""
    items = {file.item for file in prepared.files}
    given = prepared.conditions
    return [
        f"{given.examinee}: {plural(len(prepared.files), 'recording')} of "
        f"{plural(len(items), 'item')} of '{prepared.battery.id}', "
        f"transcriber {given.transcriber or 'none'}",
        *prepared.notes,
    ]
