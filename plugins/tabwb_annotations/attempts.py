"""What exports of spoken attempts share: the attempts, what a format loses, and the folder."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.phonology.inventory import to_ipa
from tabwb.plugin_api import draft_of, write_text
from tabwb.records.errors import TabwbError
from tabwb.records.files import sync_file
from tabwb.records.speakers import lost_line, origin_line, session_line
from tabwb.records.words import CSV_CELLS, RESEARCH_ONLY, csv_text, plural
from tabwb_annotations.tiers import Annotated, Document, by_raters

OF_TIERS = (
    "score", "finer score", "heard line", "code", "proposed code", "cue", "phoneme time",
    "transcriber", "latency", "onset", "mark", "note",
)  # fmt: skip
"""What :data:`tabwb_annotations.tiers.TIERS` carry, of the names counted here."""


def not_carried(
    document: Document, recordings: Sequence[Annotated], carried: Sequence[str], format_name: str
) -> str:
    """Return a sentence on the recorded content that the format cannot represent."""
    lost: Counter[str] = Counter()
    for part in document.get("documents", [document]):
        lost["description"] += sum(bool(trial.get("description")) for trial in part["trials"])
    for trial in (trial for recording in recordings for trial in recording.trials):
        naming = trial["naming"]
        attempts = [attempt for attempt in trial["attempts"] if attempt["state"] == "void"]
        lost["void take"] += len(attempts)
        lost["further transcript"] += max(len(naming["transcripts"]) - 1, 0)
        lost["transcriber"] += bool(naming["transcripts"])
        lost["phoneme confidence"] += sum(
            segment["confidence"] is not None
            for transcript in naming["transcripts"]
            for segment in transcript["segments"]
        )
        lost["phoneme time"] += sum(
            segment["start_s"] is not None
            for transcript in naming["transcripts"]
            for segment in transcript["segments"]
        )
        lost["lengthless phoneme"] += sum(
            segment["start_s"] is not None and segment["start_s"] >= segment["end_s"]
            for transcript in naming["transcripts"]
            for segment in transcript["segments"]
        )
        lost["score"] += naming["score"] is not None
        lost["score by a further rater"] += max(
            sum(bool(rater["score"]) for rater in naming["raters"]) - 1, 0
        )
        lost["reason of a score"] += bool(naming["score_reason"])
        lost["finer score"] += naming["score"] not in {None, "right", "error"}
        lost["heard line"] += naming["heard"] is not None
        lost["code"] += any(rater["code"] for rater in naming["raters"])
        lost["proposed code"] += naming["proposed"] is not None
        lost["latency"] += naming["latency_s"] is not None
        lost["onset"] += naming["onset_s"] is not None
        lost["cue"] += len(naming["cues"])
        lost["mark"] += len(naming["marks"])
        lost["flag"] += len(naming["flags"])
        lost["note"] += len(trial["notes"])
        lost["rating"] += len(trial["ratings"])
    left = {name: count for name, count in lost.items() if count and name not in carried}
    if not left:
        return f"{format_name} carries all that was recorded."
    losses = ", ".join(plural(count, name) for name, count in left.items())
    return lost_line(format_name, losses)


RESPONSE = (
    "target", "score", "score_by", "score_reason", "scored_after_reveal", "heard", "code",
    "code_by", "code_source", "counts", "latency_s", "onset_s", "onset_by", "start_s", "end_s",
    "recording", "sound",
)  # fmt: skip
"""Columns of the response, as in the documents."""
COLUMNS = (
    "administration", "battery", "battery_version", "speaker", "session_date", "item", "replicate",
    "practice", "state", *RESPONSE, "all_scores", "all_heard", "all_codes", "flags", "cues",
    "correct_any", "correct_first", "proposed", "proposed_clause", "transcriber", "attempt",
    "attempts", "attempt_onset_s", "attempt_offset_s", "phonemes", "ipa", "complete",
    "attempt_code", "attempt_heard", "by_ear",
)  # fmt: skip
PERSONS = {"score": "scores", "heard": "heard", "code": "codes"}
"""Ratings by ear; a column ``all_...`` has those of every rater."""
NOTE = (
    "One row per spoken attempt, as proposed at pauses and marks; a response in which none was "
    "heard has one row without an attempt. Times are seconds of the recording; empty cells are not "
    "known. complete: false is a fragment, empty where only a person can tell. attempt_code is the "
    "code that the rules propose for the attempt. by_ear: true where the phonemes are those of "
    "what a listener heard, not of the transcriber. score, heard and code are those that count, "
    "all_scores, all_heard and all_codes those of every rater; code_source: given by the rater "
    "whose score counts, following from the score, or borrowed from another rater; counts says why "
    "the score counts: only (one rater), first (whoever scored first), primary (the study's "
    "rater), or the rule "
    "(majority, consensus, adjudicated), whose score is empty where it gives none."
)


class AttemptsExporter:
    """A CSV of spoken attempts, RFC 4180, UTF-8."""

    suffix = ".csv"

    def export(self, document: Document, out: Path) -> None:
        """Write every answered naming response."""
        rows = [
            [_cell(row[name]) for name in COLUMNS]
            for part in document.get("documents", [document])
            for trial in part["trials"]
            if trial.get("naming") and trial["state"] == "answered"
            for row in _rows(part["administration"], trial)
        ]
        if not rows:
            raise TabwbError(
                "nothing in these administrations was named aloud",
                hint="csv has a row for every rating of any administration",
            )
        parts = document.get("documents", [document])
        notices = (notice for part in parts for notice in part["notices"])
        notes = [*dict.fromkeys((RESEARCH_ONLY, *notices)), NOTE, CSV_CELLS]
        write_text(out, csv_text(COLUMNS, rows), notes)


def _rows(
    administration: Mapping[str, Any], trial: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    naming = trial["naming"]
    verdicts, proposed = naming["verdicts"], naming["proposed"] or {}
    transcripts = naming["transcripts"]
    whole = {
        "administration": administration["uid"],
        "battery": administration["battery"],
        "battery_version": administration["battery_version"],
        "speaker": administration["examinee"],
        "session_date": administration.get("session_date"),
        **{name: trial[name] for name in ("item", "replicate", "practice", "state")},
        **{name: naming[name] for name in RESPONSE},
        **{f"all_{whats}": by_raters(naming, what) for what, whats in PERSONS.items()},
        "flags": " ".join(naming["flags"]),
        "cues": " ".join(cue["kind"] for cue in naming["cues"]),
        "correct_any": verdicts.get("correct-any", {}).get("value"),
        "correct_first": verdicts.get("correct-first", {}).get("value"),
        "proposed": proposed.get("code"),
        "proposed_clause": proposed.get("clause"),
        "transcriber": str(transcripts[-1]["transcriber"]) if transcripts else None,
        "attempts": len(naming["attempts"]) if transcripts else None,
    }
    none = dict.fromkeys(("onset_s", "offset_s", "complete", "code", "heard", "by_ear"))
    none["phonemes"] = ()
    start = naming["start_s"] or 0.0
    for number, attempt in enumerate(naming["attempts"] or [none], start=1):
        heard = bool(attempt["phonemes"])
        timed = attempt["onset_s"] is not None
        yield {
            **whole,
            "attempt": number if heard else None,
            "attempt_onset_s": start + attempt["onset_s"] if timed else None,
            "attempt_offset_s": start + attempt["offset_s"] if timed else None,
            "phonemes": " ".join(attempt["phonemes"]),
            "ipa": to_ipa(attempt["phonemes"]),
            "complete": attempt["complete"],
            "attempt_code": attempt["code"],
            "attempt_heard": attempt["heard"],
            "by_ear": attempt["by_ear"],
        }


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return round(value, 6) if isinstance(value, float) else value


NOTES = "README.txt"


@dataclass(frozen=True, slots=True)
class Made:
    """One file of an export: its name and the function that writes it."""

    name: str
    write: Callable[[Path], None]


def write_folder(
    out: Path,
    made: Sequence[Made],
    recordings: Sequence[Annotated],
    document: Document,
    notes: Sequence[str],
) -> None:
    """Write files, their recordings, and the notes."""
    if not made:
        raise TabwbError(
            "no spoken naming was recorded in these administrations",
            hint="this format is for spoken naming; jsonl and csv carry every administration",
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise TabwbError(
            "exists and is not an empty folder", where=str(out), hint="choose another name"
        )
    notices = (note for part in document.get("documents", [document]) for note in part["notices"])
    dates = dict.fromkeys(_session(recording.administration) for recording in recordings)
    made_by = dict.fromkeys(_origin(recording) for recording in recordings)
    general = dict.fromkeys((RESEARCH_ONLY, *notices))
    paragraphs = [*general, *notes, "\n".join(dates), "\n".join(made_by)]
    explanation = "\n\n".join(paragraphs) + "\n"
    try:
        with draft_of(out) as draft:
            draft.mkdir(mode=0o700)
            (draft / NOTES).write_text(explanation, encoding="utf-8")
            for file in made:
                file.write(draft / file.name)
            for recording in recordings:
                if recording.sound is not None:
                    shutil.copyfile(recording.sound, draft / sound_name(recording))
            for path in draft.iterdir():
                path.chmod(0o600)  # responses of people are confidential
                sync_file(path)
            if out.exists():
                out.rmdir()
            draft.replace(out)
    except OSError as error:
        raise _unwritable(out, error) from error


def _session(administration: Mapping[str, Any]) -> str:
    """Return who was recorded when."""
    day = administration.get("session_date") or ""
    return session_line(administration["examinee"], administration["id"], day)


def _origin(recording: Annotated) -> str:
    """Return who made the answers, in the line that ``tabwb import`` reads."""
    given = recording.administration
    return origin_line(recording.name, given["origin"], given["participant"])


def sound_name(recording: Annotated) -> str:
    """Return the name of the copy of a recording, which is unaltered."""
    return f"{recording.name}{_suffix(recording.sound)}"


def _suffix(sound: Path | None) -> str:
    if sound is None:
        return ".wav"
    with sound.open("rb") as file:
        beginning = file.read(4)
    known = {b"RIFF": ".wav", b"fLaC": ".flac", b"OggS": ".ogg", b"FORM": ".aiff"}
    return known.get(beginning, ".mp3")


def _unwritable(out: Path, error: OSError) -> TabwbError:
    return TabwbError(
        f"cannot be written: {error.strerror or error}",
        where=str(out),
        hint="choose another place",
    )
