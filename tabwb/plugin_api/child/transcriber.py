"""The proxy of a transcriber in a child process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from tabwb.plugin_api.child.component import ChildComponent
from tabwb.plugin_api.child.frames import read_record
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.speech import Clip, Transcript

DEATHS = 3
"""After so many clips in a row that ended a process, no more are tried: the cause is another."""


class ChildTranscriber(ChildComponent):
    """A transcriber in a child process.

    Attributes:
        unit: valid once :meth:`open` was called.
    """

    _MAKE = "make-transcriber"
    unit: Literal["phonemes", "words"] = "phonemes"

    def open(self) -> Mapping[str, str]:
        """Start the process and load the model there; return its facts."""
        facts = super().open()
        assert self._process is not None
        self.unit = self._result(self._process, "unit", {})
        return facts

    def transcribe_many(
        self, clips: Sequence[Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield ``(index, transcript)`` in any order; fewer when cancelled.

        Where the process dies, the clips that wait are transcribed one by one, and only the clip
        that ends its process is an error.

        Args:
            clips: the clips.
            cancel: ends the transcription.
        """
        waiting = dict(enumerate(clips))
        try:
            for index, transcript in self._some(clips, cancel):
                del waiting[index]
                yield index, transcript
        except ComponentError:
            # An error of a running component concerns all clips.
            if self._process is not None:
                raise
            yield from self._one_by_one(waiting, cancel)

    def _one_by_one(
        self, waiting: Mapping[int, Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        deaths = 0
        error: ComponentError | None = None
        for index, clip in waiting.items():
            if cancel.is_set():
                return
            if error is not None and deaths >= DEATHS:
                yield index, self._failed(error)
                continue
            try:
                for _, transcript in self._some([clip], cancel):
                    yield index, transcript
                deaths = 0
            except ComponentError as failure:
                error = failure
                deaths += 1
                yield index, self._failed(failure)

    def _some(self, clips: Sequence[Clip], cancel: Cancel) -> Iterator[tuple[int, Transcript]]:
        process = self._ready()
        arguments = {"clips": list(clips)}
        for frame in self._call(process, "transcribe-many", arguments, cancel):
            if "piece" in frame:
                place, plain = frame["piece"]
                yield place, read_record(Transcript, plain)

    def _failed(self, error: ComponentError) -> Transcript:
        return Transcript(str(self._spec), "error", unit=self.unit, error=str(error))
