"""The table beside CHAT transcripts, one line per response: what CHAT has no place for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tabwb.records.columns import PARTICIPANT
from tabwb.records.speech import is_typed
from tabwb.scoring.naming.target import right_by_score
from tabwb_annotations.tiers import (
    NOTES_APART,
    Annotated,
    code_of,
)

COLUMNS = (
    "utterance_id",
    "session",
    "test",
    "prompt",
    "transcript",
    "correctness",
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
"""Before those of participants' records."""
CARRIED = (
    "score", "finer score", "heard line", "code", "cue", "transcriber", "latency", "onset", "mark",
    "note",
)  # fmt: skip
SILENCE = "<sil>"
"""The transcript of silence; an empty cell means no transcript."""


def write_table(recordings: Sequence[tuple[Annotated, str, float]], path: Path) -> None:
    """Write the table of recordings, each with the file that it lies in, and from which second."""
    people = [recording.administration.get("speaker", {}) for recording, _, _ in recordings]
    names = list(dict.fromkeys(name for record in people for name in record))
    lines: list[tuple[object, ...]] = [(*COLUMNS, *(f"{PARTICIPANT}{name}" for name in names))]
    for recording, record in zip(recordings, people, strict=True):
        own = tuple(record.get(name) for name in names)
        lines += [(*row, *own) for row in _rows(*recording)]
    text = "".join("\t".join(map(cell_of, line)) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


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
            phonemes_of(_transcript(naming, by_person=True)),
            correctness_of(naming),
            round((end - start) * 16_000),
            file if recording.sound is not None else None,
            at(start),
            at(end),
            phonemes_of(heard),
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


def phonemes_of(transcript: Mapping[str, Any] | None) -> str | None:
    """Return the cell of a transcript; None where there is none."""
    return None if transcript is None else " ".join(transcript["phonemes"]) or SILENCE


def correctness_of(naming: Mapping[str, Any]) -> str | None:
    """Return whether a person scored a response right, or not right; None: neither."""
    score = naming["score"]
    if score in (None, "not-scorable"):
        return None
    return "TRUE" if right_by_score(score) else "FALSE"


def cell_of(value: object) -> str:
    """Return a value as it stands in a table with tabs; quotes around all of it stand twice."""
    text = "" if value is None else " ".join(str(value).split())
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return '"{}"'.format(text.replace('"', '""')) if quoted else text
