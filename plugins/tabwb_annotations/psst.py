"""The table of the PSST corpus: one line per response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tabwb.records.speech import is_typed
from tabwb.scoring.naming.target import right_by_score
from tabwb_annotations.tiers import (
    NOTES_APART,
    Annotated,
    Document,
    Made,
    annotated,
    code_of,
    not_carried,
    sound_name,
    write_folder,
)

COLUMNS = (
    "utterance_id",
    "session",
    "test",
    "prompt",
    "transcript",
    "correctness",
    "aq_index",
    "duration_frames",
    "filename",
    "start_s",
    "end_s",
    "asr_transcript",
    "asr",
    "session_date",
    "score",
    "rater",
    "heard",
    "code",
    "cues",
    "shown_s",
    "onset_s",
    "marks",
    "examiner",
    "note",
)
"""Columns of the corpus, then those with which an import of this table gives the same results."""
CARRIED = (
    "score", "finer score", "heard line", "code", "cue", "transcriber", "latency", "onset", "mark",
    "note",
)  # fmt: skip
SILENCE = "<sil>"
"""The transcript of silence; an empty cell means no transcript."""
NOTE = (
    "utterances.tsv: test is the subtest's title, aq_index the AQ of the participant's record; "
    "transcript is a person's (empty where nobody transcribed), asr_transcript a "
    "machine's, asr says whose; correctness is a person's score, right or not, empty where nobody "
    "scored, whether or not a cue was given before (cues: kind@second, or kind); duration_frames "
    "counts frames of the file at 16 kHz. A machine's transcript against a person's is PER and "
    "FER: tabwb phonemes utterances.tsv utterances.tsv, without the lines that nobody "
    "transcribed, which would count as silence."
)


class PsstExporter:
    """``utterances.tsv`` and the recordings."""

    suffix = ""
    sound = True

    def export(self, document: Document, out: Path) -> None:
        """Write a folder with the table and the recordings."""
        recordings = annotated(document)
        made = [Made("utterances.tsv", partial(write, recordings))] if recordings else []
        notes = [NOTE, not_carried(document, recordings, CARRIED, "The PSST table")]
        write_folder(out, made, recordings, document, notes)


def write(recordings: Sequence[Annotated], path: Path) -> None:
    """Write the table: tab-separated, no quotes, one line per answered response."""
    write_table([(recording, sound_name(recording), 0.0) for recording in recordings], path)


def write_table(recordings: Sequence[tuple[Annotated, str, float]], path: Path) -> None:
    """Write the table of recordings, each with the file that it lies in, and from which second."""
    lines = ["\t".join(COLUMNS)]
    for recording in recordings:
        lines += ["\t".join(_cell(value) for value in row) for row in _rows(*recording)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows(recording: Annotated, file: str, from_s: float) -> Iterator[tuple[object, ...]]:
    administration = recording.administration

    def at(seconds: float | None) -> str | None:
        return None if seconds is None else f"{from_s + seconds:.3f}"

    for trial in recording.trials:
        naming = trial["naming"]
        start, end = naming["start_s"] or 0.0, naming["end_s"] or recording.seconds
        code, by = code_of(naming)
        heard = _transcript(naming, by_person=False)
        yield (
            f"{administration['examinee']}-{administration['id']}-{trial['item']}"
            + (f"-{trial['replicate'] + 1}" if trial["replicate"] else ""),
            f"{administration['examinee']}-{administration['id']}",
            recording.tests.get(trial["subtest"], administration["battery"]),
            naming["target"],
            _phonemes(_transcript(naming, by_person=True)),
            _correctness(naming),
            administration.get("speaker", {}).get("AQ"),
            round((end - start) * 16_000),
            file if recording.sound is not None else None,
            at(start),
            at(end),
            _phonemes(heard),
            None if heard is None else str(heard["transcriber"]),
            administration.get("session_date"),
            naming["score"],
            str(naming["score_by"] or "").removeprefix("person:"),
            naming["heard"],
            None if by == "proposed" else code,
            " ".join(_cue(cue["kind"], at(cue["at_s"])) for cue in naming["cues"]),
            at(naming.get("shown_s")),
            at(naming["onset_s"]),
            " ".join(str(at(mark)) for mark in naming["marks"]),
            " ".join(f"{at(a)}-{at(b)}" for a, b in naming["examiner"]),
            NOTES_APART.join(trial["notes"]),
        )


def _cue(kind: str, at: str | None) -> str:
    return kind if at is None else f"{kind}@{at}"


def _transcript(naming: Mapping[str, Any], *, by_person: bool) -> Mapping[str, Any] | None:
    for transcript in reversed(naming["transcripts"]):
        typed = is_typed(transcript["transcriber"])
        if typed == by_person and transcript["status"] != "error":
            return dict(transcript)
    return None


def _phonemes(transcript: Mapping[str, Any] | None) -> str | None:
    return None if transcript is None else " ".join(transcript["phonemes"]) or SILENCE


def _correctness(naming: Mapping[str, Any]) -> str | None:
    score = naming["score"]
    if score in (None, "not-scorable"):
        return None
    return "TRUE" if right_by_score(score) else "FALSE"


def _cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())
