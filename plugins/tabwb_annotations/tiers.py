"""The tiers of a recording, labelled stretches of time, from which every format is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.phonology.inventory import SILENT, to_ipa
from tabwb.records.naming import TIME_UNKNOWN
from tabwb.records.ratings import rule_of
from tabwb.records.speech import Segment
from tabwb.scoring.naming.attempts import propose_attempts

Document = Mapping[str, Any]
TIERS = (
    "item", "target", "attempt", "ipa", "phoneme", "transcriber", "heard", "score", "code",
    "examiner", "cue", "picture", "onset", "mark", "note",
)  # fmt: skip
"""In order; every file has all of them, so that files can be compared."""


@dataclass(frozen=True, slots=True, order=True)
class Stretch:
    """A labelled stretch of a recording, seconds from its beginning."""

    start_s: float
    end_s: float
    label: str


@dataclass(frozen=True, slots=True)
class Annotated:
    """One recording with its tiers.

    Attributes:
        name: of the files made of it, without suffix.
        seconds: its length.
        tiers: name to stretches in time order that do not overlap.
        sound: the file, or None where it is missing.
        administration: the document of its administration.
        trials: those that were answered in it, in order.
    """

    name: str
    seconds: float
    tiers: Mapping[str, tuple[Stretch, ...]]
    sound: Path | None
    administration: Mapping[str, Any]
    trials: tuple[Mapping[str, Any], ...]


def annotated(document: Document) -> tuple[Annotated, ...]:
    """Return the recordings in a document, without those that hold descriptions only."""
    annotated: list[Annotated] = []
    names: set[str] = set()
    for part in document.get("documents", [document]):
        trials = [trial for trial in part["trials"] if trial.get("naming")]
        for recording in part.get("recordings", ()):
            if recording["role"] != "original":
                continue
            own = tuple(
                trial for trial in trials if trial["naming"]["recording"] == recording["uid"]
            )
            if not own and any(
                trial["description"]["recording"] == recording["uid"]
                for trial in part["trials"]
                if trial.get("description")
            ):
                continue
            name = _name(part["administration"], recording, own, names)
            names.add(name)
            file = recording.get("file")
            annotated.append(
                Annotated(
                    name,
                    float(recording["seconds"]),
                    _tiers(own, float(recording["seconds"])),
                    None if file is None else Path(file),
                    part["administration"],
                    own,
                )
            )
    return tuple(annotated)


def _attempts_of(
    naming: Mapping[str, Any], whole: tuple[float, float]
) -> Iterator[tuple[Stretch, tuple[str, ...]]]:
    """Yield the spoken attempts of a trial: the stretch in the recording, and the phonemes.

    A transcript without times, or without speech, is one label over the whole response with its
    silences, which separate attempts.
    """
    shown = shown_of(naming)
    segments = [] if shown is None else shown["segments"]
    if shown is not None and not _has_times(segments):
        phonemes = tuple(segment["phoneme"] for segment in segments)
        if all(phoneme == SILENT[0] for phoneme in phonemes):
            phonemes = SILENT[:1]
        yield Stretch(*whole, " ".join(phonemes)), phonemes
        return
    for attempt in transcribed_attempts(naming):
        phonemes = tuple(attempt["phonemes"])
        onset = whole[0] + attempt["onset_s"]
        offset = whole[0] + max(attempt["offset_s"], attempt["onset_s"] + LEAST_S)
        yield Stretch(onset, offset, " ".join(phonemes)), phonemes


def transcribed_attempts(naming: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the attempts of the main transcript, whatever a listener heard.

    In a document the heard attempts replace those of the transcript; in a file that names the
    transcriber they would be taken for the transcriber's.
    """
    if not naming["by_ear"]:
        return list(naming["attempts"])
    shown, start = shown_of(naming), naming["start_s"] or 0.0
    segments = [
        Segment(segment["phoneme"], segment["start_s"] or 0.0, segment["end_s"] or 0.0)
        for segment in ([] if shown is None else shown["segments"])
        if not _of_examiner(naming, start, segment)
    ]
    accepted = [tuple(form.split()) for form in naming["accepted"]]
    marks = [mark - start for mark in naming["marks"]]
    attempts = propose_attempts(segments, marks=marks, accepted=accepted)
    return [
        {"onset_s": attempt.onset_s, "offset_s": attempt.offset_s, "phonemes": attempt.phonemes}
        for attempt in attempts
    ]


def _of_examiner(naming: Mapping[str, Any], start_s: float, segment: Mapping[str, Any]) -> bool:
    """Return whether the administrator speaks in the middle of a segment."""
    if segment["start_s"] is None:
        return False
    middle = start_s + (segment["start_s"] + segment["end_s"]) / 2
    return any(begun <= middle < ended for begun, ended in naming["examiner"])


def shown_of(naming: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the main transcript, or None where nothing was transcribed."""
    shown = naming["transcripts"][-1] if naming["transcripts"] else None
    return None if shown is None or shown["status"] == "error" else shown


def code_of(naming: Mapping[str, Any]) -> tuple[str, str]:
    """Return the code and its source, a person's before a proposal; empty where there is none.

    >>> code_of({"code": None, "proposed": {"code": "formal"}})
    ('formal', 'proposed')
    """
    if naming["code"] is not None:
        return str(naming["code"]), str(naming["code_by"])
    if naming["proposed"] is not None and naming["proposed"]["code"]:
        return str(naming["proposed"]["code"]), "proposed"
    return "", ""


def by_raters(naming: Mapping[str, Any], what: str) -> str:
    """Return the ratings of each person by ear; the one that counts, or a rule's, is first.

    >>> two = [{"rater": "person:A", "score": "right"}, {"rater": "person:B", "score": "error"}]
    >>> said = {"raters": two, "score_by": "person:A"}
    >>> by_raters(said, "score"), by_raters({**said, "raters": two[:1]}, "score")
    ('right (person:A, counts); error (person:B)', 'right (person:A)')
    """
    raters = [rater for rater in naming.get("raters", ()) if rater[what]]
    borrowed = what == "code" and naming.get("code_source") == "borrowed"
    counts = "borrowed, counts" if borrowed else "counts"
    if (rule := rule_of(naming.get("counts") or "")) is not None:
        own = naming[what] or "open"
        return "; ".join(
            (f"{own} ({rule}, {counts})", *(f"{row[what]} ({row['rater']})" for row in raters))
        ) if raters or naming[what] else ""  # fmt: skip
    rows = sorted(raters, key=lambda row: row["rater"] != naming[f"{what}_by"])
    mark = f", {counts}" if len(rows) > 1 or borrowed else ""
    return "; ".join(
        f"{row[what]} ({row['rater']}{mark if row['rater'] == naming[f'{what}_by'] else ''})"
        for row in rows
    )


def _tiers(
    trials: Sequence[Mapping[str, Any]], seconds: float
) -> Mapping[str, tuple[Stretch, ...]]:
    found: dict[str, list[Stretch]] = {name: [] for name in TIERS}
    for trial in trials:
        naming = trial["naming"]
        start, end = naming["start_s"] or 0.0, naming["end_s"] or seconds
        code, by = code_of(naming)
        shown = shown_of(naming)
        labels = {
            "item": trial["item"],
            "target": naming["target"],
            "transcriber": "" if shown is None else str(shown["transcriber"]),
            "heard": _heard_by(naming),
            "score": by_raters(naming, "score"),
            "code": by_raters(naming, "code") or (f"{code} ({by})" if code else ""),
            "note": NOTES_APART.join(" ".join(note.split()) for note in trial["notes"]),
        }
        for name, label in labels.items():
            if label:
                found[name].append(Stretch(start, end, label))
        for stretch, phonemes in _attempts_of(naming, (start, end)):
            found["attempt"].append(stretch)
            if ipa := to_ipa(phonemes):
                found["ipa"].append(Stretch(stretch.start_s, stretch.end_s, ipa))
        segments = () if shown is None else shown["segments"]
        found["phoneme"] += [
            Stretch(start + segment["start_s"], start + segment["end_s"], segment["phoneme"])
            for segment in segments
            if _has_times(segments) and _have_length(segments)
        ]
        found["examiner"] += [Stretch(a, b, "examiner") for a, b in naming["examiner"]]
        moments = {
            "cue": list(_cues(naming, start)),
            "picture": [(naming.get("shown_s"), trial["item"])],
            "onset": [(naming["onset_s"], naming.get("onset_by") or "measured")],
            "mark": [(at_s, "mark") for at_s in naming["marks"]],
        }
        for name, moments_of in moments.items():
            found[name] += [
                Stretch(s, s + CUE_S, label) for s, label in moments_of if s is not None
            ]
    return {name: tuple(_apart(stretches, seconds)) for name, stretches in found.items()}


def _cues(naming: Mapping[str, Any], start_s: float) -> Iterator[tuple[float, str]]:
    """Yield the place and the label of each cue, in order.

    One whose time is not known says so, and stands directly after the one before it.
    """
    place = start_s
    for cue in naming["cues"]:
        known = cue["at_s"] is not None
        place = cue["at_s"] if known else place
        yield place, cue["kind"] if known else cue["kind"] + TIME_UNKNOWN
        place += LEAST_S


def _heard_by(naming: Mapping[str, Any]) -> str:
    """Return the heard words, with the listeners where there are several."""
    several = sum(rater["heard"] is not None for rater in naming["raters"]) > 1
    return by_raters(naming, "heard") if several else naming["heard"] or ""


def _has_times(segments: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether there are phonemes with times; typed ones have none.

    >>> _has_times([{"start_s": 0.0, "end_s": 0.1}]), _has_times([{"start_s": None, "end_s": None}])
    (True, False)
    """
    return bool(segments) and all(segment["start_s"] is not None for segment in segments)


def _have_length(segments: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether every phoneme has a length; else none is drawn, and attempts have them."""
    return all(segment["start_s"] < segment["end_s"] for segment in segments)


LEAST_S = 0.001
"""The drawn length of an attempt without length; ELAN has whole milliseconds."""
CUE_S = 0.1
"""The drawn length of a cue and of other moments; only their start is known."""
NOTES_APART = " / "
"""Stands between the notes of a response."""


def _apart(stretches: Sequence[Stretch], seconds: float) -> Iterator[Stretch]:
    """Yield the stretches in time order inside the recording, each cut at the start of the next."""
    ordered = sorted(stretches)
    for at, stretch in enumerate(ordered):
        limit = ordered[at + 1].start_s if at + 1 < len(ordered) else seconds
        start, end = max(stretch.start_s, 0.0), min(stretch.end_s, limit, seconds)
        if end > start:
            yield Stretch(start, end, stretch.label)


def _name(
    administration: Mapping[str, Any],
    recording: Mapping[str, Any],
    trials: Sequence[Mapping[str, Any]],
    taken: set[str],
) -> str:
    parts = [administration["battery"], administration["examinee"], str(administration["id"])]
    if len(trials) == 1:
        parts.append(trials[0]["item"])
    name = re.sub(r"[^A-Za-z0-9_.+-]+", "-", "_".join(parts))
    return name if name not in taken else f"{name}_{recording['uid'][-8:]}"
