"""The tiers of a recording, labelled stretches of time, from which every format is written."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tabwb.phonology.inventory import SILENT, to_ipa
from tabwb.plugin_api import draft_of, write_text
from tabwb.records.errors import TabwbError
from tabwb.records.files import sync_file
from tabwb.records.naming import TIME_UNKNOWN
from tabwb.records.ratings import rule_of
from tabwb.records.speakers import lost_line, origin_line, session_line
from tabwb.records.speech import Segment
from tabwb.records.words import CSV_CELLS, RESEARCH_ONLY, csv_text, plural
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
        tests: the titles of the battery's subtests, by id.
    """

    name: str
    seconds: float
    tiers: Mapping[str, tuple[Stretch, ...]]
    sound: Path | None
    administration: Mapping[str, Any]
    trials: tuple[Mapping[str, Any], ...]
    tests: Mapping[str, str] = field(default_factory=dict)


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
                    {each["id"]: each["title"] for each in part["summary"]["subtests"]},
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
    """One file of an export: its name, also in a folder, and the function that writes it."""

    name: str
    write: Callable[[Path], object]


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
                path = draft / file.name
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                file.write(path)
            for recording in recordings:
                if recording.sound is not None:
                    shutil.copyfile(recording.sound, draft / sound_name(recording))
            for path in draft.rglob("*"):  # responses of people are confidential
                path.chmod(0o700 if path.is_dir() else 0o600)
                if path.is_file():
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


class EafExporter:
    """One EAF with time-aligned tiers for each recording."""

    suffix = ""
    sound = True

    def export(self, document: Document, out: Path) -> None:
        """Write a folder of EAF files and the recordings they belong to."""
        recordings = annotated(document)
        made = [
            Made(f"{recording.name}.eaf", partial(_write_eaf, recording))
            for recording in recordings
        ]
        notes = [
            not_carried(document, recordings, OF_TIERS, "EAF"),
            "EAF keeps times in whole milliseconds.",
        ]
        write_folder(out, made, recordings, document, notes)


def _write_eaf(recording: Annotated, path: Path) -> None:
    """Write a recording's tiers as an ELAN file."""
    from pympi.Elan import Eaf, to_eaf

    eaf = Eaf(author="tabwb")
    # The date of the administration, so that one document always gives the same bytes.
    eaf.adocument["DATE"] = str(recording.administration["created_at"])
    eaf.remove_tier("default")
    sound = sound_name(recording)
    if recording.sound is not None:
        eaf.add_linked_file(f"file:///{sound}", relpath=f"./{sound}", mimetype="audio/x-wav")
    eaf.add_property("session date", recording.administration.get("session_date") or "not known")
    examinee = str(recording.administration["examinee"])
    for name, stretches in recording.tiers.items():
        eaf.add_tier(name, part=examinee)
        for stretch in stretches:
            start, end = round(stretch.start_s * 1000), round(stretch.end_s * 1000)
            eaf.add_annotation(name, start, max(end, start + 1), stretch.label)
    to_eaf(str(path), eaf)


class TextGridExporter:
    """One TextGrid with interval tiers for each recording."""

    suffix = ""
    sound = True

    def export(self, document: Document, out: Path) -> None:
        """Write a folder of TextGrids and the recordings they belong to."""
        recordings = annotated(document)
        made = [
            Made(f"{recording.name}.TextGrid", partial(_write_textgrid, recording))
            for recording in recordings
        ]
        write_folder(
            out,
            made,
            recordings,
            document,
            [not_carried(document, recordings, OF_TIERS, "TextGrid")],
        )


def _write_textgrid(recording: Annotated, path: Path) -> None:
    """Write a recording's tiers as a TextGrid in Praat's long text format."""
    from praatio.data_classes.interval_tier import IntervalTier
    from praatio.data_classes.textgrid import Textgrid

    grid = Textgrid(0, recording.seconds)
    for name, stretches in recording.tiers.items():
        entries = [(stretch.start_s, stretch.end_s, stretch.label) for stretch in stretches]
        grid.addTier(IntervalTier(name, entries, 0, recording.seconds))
    grid.save(str(path), format="long_textgrid", includeBlankSpaces=True)
