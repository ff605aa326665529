"""The thread in which responses are transcribed, one after another."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import TabwbError, error_text
from tabwb.records.speech import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from tabwb.administer.transcription import Job, Transcribing

CLOSE_S = 3.0
"""The listener gets so long to end."""


class Listener(threading.Thread):
    """Opens a transcriber and gives it one job at a time, so that the next item never waits."""

    def __init__(
        self,
        open_transcriber: Callable[[Cancel], Transcribing],
        heard: Callable[[Job, Transcript], None],
        failed: Callable[[TabwbError], None],
    ) -> None:
        super().__init__(name="listener", daemon=True)
        self._open, self._heard, self._failed = open_transcriber, heard, failed
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._cancel = threading.Event()
        self._moved: dict[Path, Path] = {}

    def put(self, job: Job) -> None:
        """Queue one job."""
        self._jobs.put(job)

    def moved(self, source: Path, kept: Path) -> None:
        """Record that a recording was moved."""
        self._moved[source] = kept

    def close(self, *, wait: bool = True) -> None:
        """Stop; what is not transcribed yet is left to a background job."""
        self._cancel.set()
        self._jobs.put(None)
        if wait:
            self.join(CLOSE_S)

    def run(self) -> None:
        """Work until :meth:`close`."""
        try:
            transcribing = self._open(self._cancel)
        except Exception as error:  # noqa: BLE001 - the edge: a transcriber is a plugin's
            if not isinstance(error, TabwbError):
                error = TabwbError(error_text(error))
            if not self._cancel.is_set():  # closed while it is loaded, it may fail in any way
                self._failed(error)
            return
        with transcribing:
            while (job := self._jobs.get()) is not None and not self._cancel.is_set():
                self._transcribe(transcribing, job)

    def _transcribe(self, transcribing: Transcribing, job: Job) -> None:
        for again in (True, False):
            placed = replace(job, source=self._moved.get(job.source, job.source))
            try:
                done = list(transcribing.run([placed], self._cancel))
            except Exception as error:  # noqa: BLE001 - as above
                message = error_text(error)
                done = [(placed, Transcript(transcribing.spec, "error", error=message))]
            if self._cancel.is_set():
                return
            moved_meanwhile = self._moved.get(job.source, job.source) != placed.source
            if again and moved_meanwhile and any(made.status == "error" for _, made in done):
                continue
            for _, transcript in done:
                self._heard(job, transcript)
            return
