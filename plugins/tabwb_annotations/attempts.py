"""A table of spoken attempts, one row each, with everything about the response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tabwb.host.writing import write_text
from tabwb.phonology.inventory import to_ipa
from tabwb.records.errors import TabwbError
from tabwb.records.words import CSV_CELLS, RESEARCH_ONLY, csv_text
from tabwb_annotations.tiers import Document, by_raters

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
