"""Transcripts that a person typed, as a transcriber."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from tabwb.phonology.inventory import SILENT, Notation, parse_spoken
from tabwb.phonology.transcripts import Row, read_table
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import TabwbError
from tabwb.records.speech import Clip, Segment, Transcript
from tabwb.speech.files import info

ID, TRANSCRIPT = "utterance_id", "transcript"


class ManualTranscriber:
    """Reads typed transcripts from a table with ``utterance_id`` and ``transcript``.

    A clip's row is the one that has its file's name without the suffix. When a sound was said
    within its clip is not known: every segment has the time of the whole clip, and no confidence.
    """

    unit: Literal["phonemes", "words"] = "phonemes"

    def __init__(self, path: Path, notation: Notation = "us", shown: str = "") -> None:
        self._path = path
        self._notation: Notation = notation
        self._shown = shown or f"manual:{path}"
        self._typed: Mapping[str, tuple[str, ...] | None] | None = None

    def open(self) -> Mapping[str, str]:
        """Read and check the whole table."""
        table = read_table(self._path)
        table.need(ID, TRANSCRIPT)
        self._typed = {
            name: _phonemes(row, self._notation) for name, row in table.by_id(ID).items()
        }
        return {"model": "none: typed by a person", "labels": "arpabet", "unit": self.unit}

    def transcribe_many(
        self, clips: Sequence[Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield the transcript of each clip; an error where it has no row."""
        if self._typed is None:
            self.open()
        for index, clip in enumerate(clips):
            if cancel.is_set():
                return
            yield index, self._transcript(clip)

    def close(self) -> None:
        """Forget the table."""
        self._typed = None

    def _transcript(self, clip: Clip) -> Transcript:
        assert self._typed is not None
        shown = self._shown
        name = Path(clip.path).stem
        try:
            if name not in self._typed:
                raise TabwbError(f"there is no transcript of '{name}'", where=str(self._path))
            sound = info(clip.path)
        except TabwbError as error:
            return Transcript(shown, "error", error=str(error))
        seconds = (sound.seconds if clip.end_s is None else clip.end_s) - clip.start_s
        phonemes = self._typed[name]
        if phonemes is None:
            empty = "is empty: it was not transcribed; write <sil> where nothing was said"
            return Transcript(shown, "error", error=f"the transcript of '{name}' {empty}")
        # A written silence has no length, but it separates attempts.
        segments = tuple(
            Segment(phoneme, 0.0, 0.0 if phoneme in SILENT else round(seconds, 4))
            for phoneme in phonemes
        )
        spoken = any(phoneme not in SILENT for phoneme in phonemes)
        return Transcript(
            shown,
            "ok" if spoken else "empty",
            segments,
            seconds=round(seconds, 4),
            metadata={"model": "none: typed by a person"},
        )


def _phonemes(row: Row, notation: Notation) -> tuple[str, ...] | None:
    """Return the phonemes of a row with written silences; None where it is empty."""
    text = row.cells[TRANSCRIPT]
    if not text.strip():
        return None
    try:
        return parse_spoken(text, notation, beyond="keep")
    except TabwbError as error:
        error.where = row.where
        raise
