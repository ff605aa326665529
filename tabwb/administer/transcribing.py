"""Stretches of recordings conditioned and given to a transcriber; originals are only read."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from tabwb.administer.transcripts import checked
from tabwb.extend.components import Cancel
from tabwb.extend.plugins import Plugins
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.speech import Clip, Transcript

TOGETHER = 32
"""Clips that a transcriber gets at once: enough to fill a batch, few enough to show progress."""


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt that waits for its transcript.

    Attributes:
        trial, attempt: numbers.
        source: the recording, as it was made (it may still be growing).
        start_s, end_s: the attempt's stretch of it; None: to the end.
        accepted: pronunciations whose likelihood is asked for.
        name: of the conditioned copy, without suffix: what a transcriber by name goes by.
    """

    trial: int
    attempt: int
    source: Path
    start_s: float = 0.0
    end_s: float | None = None
    accepted: tuple[tuple[str, ...], ...] = ()
    name: str = "response"


class Transcribing:
    """One transcriber, opened once, given job after job. Used from one thread.

    Args:
        plugins: where the transcriber is registered.
        spec: of the transcriber.
        folder: for conditioned copies, removed at the end; of a store's recordings one of
            :func:`tabwb.store.takes.working_folder`.

    Attributes:
        spec: of the transcriber, as stored.
        facts: what it says of itself (model, revision, labels).
    """

    def __init__(self, plugins: Plugins, spec: str, folder: Path | None = None) -> None:
        self.spec = spec
        self._transcriber = plugins.open_transcriber(spec)
        self._folder = folder or Path(tempfile.mkdtemp(prefix="tabwb-conditioned-"))
        try:
            self.facts: Mapping[str, str] = self._transcriber.open()
        except BaseException:
            self.close()
            raise

    def run(self, jobs: Sequence[Job], cancel: Cancel) -> Iterator[tuple[Job, Transcript]]:
        """Yield each job with its transcript, in whatever order they come.

        A job whose sound cannot be read, or that the transcriber fails on, yields a transcript in
        status ``error``. Where ``cancel`` is set the rest yields nothing.
        """
        for first in range(0, len(jobs), TOGETHER):
            if cancel.is_set():
                return
            yield from self._batch(jobs[first : first + TOGETHER], cancel)

    def close(self) -> None:
        """Give the model back and remove the conditioned copies; may be called twice."""
        self._transcriber.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _given(self, clips: Sequence[Clip], cancel: Cancel) -> Iterator[tuple[object, object]]:
        """What the transcriber yields, as it yields it."""
        try:
            yield from self._transcriber.transcribe_many(clips, cancel)
        except TabwbError:
            raise
        except Exception as error:
            raise ComponentError(
                f"transcriber '{self.spec}' failed: {type(error).__name__}: {error}"
            ) from error

    def _batch(self, jobs: Sequence[Job], cancel: Cancel) -> Iterator[tuple[Job, Transcript]]:
        from tabwb.speech.condition import condition_file

        clips: list[Clip] = []
        of: list[tuple[Job, Mapping[str, str]]] = []
        for number, job in enumerate(jobs):
            copy = self._folder / str(number) / f"{job.name}.wav"
            copy.parent.mkdir(exist_ok=True)
            try:
                told = condition_file(job.source, copy, job.start_s, job.end_s)
            except TabwbError as error:
                yield job, Transcript(self.spec, "error", error=str(error))
                continue
            parameters: Mapping[str, str] = {
                f"conditioning_{name}": str(value) for name, value in told.items()
            }
            clips.append(Clip(str(copy), accepted=job.accepted))
            of.append((job, parameters))
        try:
            for index, given in self._given(clips, cancel):
                if not isinstance(index, int) or not 0 <= index < len(of):
                    raise ComponentError(f"transcriber '{self.spec}' heard clip {index!r}, of none")
                job, told_of = of[index]
                transcript = checked(given, self.spec)
                yield job, replace(transcript, metadata={**told_of, **transcript.metadata})
        finally:
            for clip in clips:
                Path(clip.path).unlink(missing_ok=True)
