"""Counts what a format cannot represent, for the notes of an export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tabwb.records.speakers import lost_line
from tabwb.records.words import plural
from tabwb_annotations.tiers import Annotated, Document

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
