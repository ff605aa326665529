"""Speakers: records, consents, the log of who used their data, and the origin of answers.

Rows are appended and never changed; the last row holds the current state. The one exception is the
deletion of a speaker, which leaves a :class:`Tombstone`. ``speaker`` is a study ID, never a name;
times are UTC, ISO 8601, and empty before a row is stored; ``by`` and ``who`` are as
:func:`operator` returns it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal, get_args

from tabwb.records.errors import UsageError
from tabwb.records.files import open_file
from tabwb.records.study import Value

Scope = Literal["record", "transcribe", "rate", "train", "share", "play-back", "remote"]
SCOPES: Mapping[Scope, str] = {
    "record": "answers and voice are recorded and kept",
    "transcribe": "a program writes down what was said",
    "rate": "people who listen, or models, judge what was said",
    "train": "recordings train or test a model",
    "share": "data leave the study that collected them",
    "play-back": "recordings are played to others than those who rate",
    "remote": "data are sent over a network to another computer",
}
"""What a speaker can agree to, each by itself."""
CONSENTED_TO: Mapping[Scope, str] = {
    "record": "recording",
    "transcribe": "transcription by a program",
    "rate": "rating",
    "train": "training models",
    "share": "sharing outside the study",
    "play-back": "playing recordings to others",
    "remote": "sending data over a network",
}
"""The scopes as words for messages: consent to ..."""
Origin = Literal["human", "model", "unknown"]
"""Who made the answers. Answers of unknown origin are guarded like a person's."""
ORIGINS: tuple[Origin, ...] = get_args(Origin)
Act = Literal[
    "registered",
    "recorded",
    "imported",
    "heard",
    "transcribed",
    "rated",
    "export-begun",
    "exported",
    "sent",
    "deleted",
]
Reason = Literal["withdrawn", "retention-ended", "entered-by-mistake", "other"]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a speaker was deleted: words of ours, so that a tombstone can hold nothing of the person."""
RecordingRole = Literal["original", "conditioned"]


@dataclass(frozen=True, slots=True)
class Speaker:
    """The latest record of a speaker.

    Attributes:
        values: by column; what is not known is left out.
        version: 1 for the first; 0 for one that is only known from consents or administrations.
    """

    id: str
    values: Mapping[str, Value] = field(default_factory=dict)
    recorded_at: str = ""
    by: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class Consent:
    """A speaker gave consent to one scope, or withdrew it, on a day (``2026-11-21``).

    ``document`` says where the signed form is, for instance ``IRB-7/form-014``.
    """

    speaker: str
    scope: Scope
    given: bool
    on: str
    document: str = ""
    note: str = ""
    recorded_at: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """Somebody did something with a person's data.

    ``detail`` says with what or where to, and is empty once the speaker is deleted.
    """

    act: Act
    speaker: str
    administration: int | None = None
    detail: str = ""
    who: str = ""
    at: str = ""


def exports(entries: Iterable[LogEntry]) -> dict[str, bool]:
    """Return the exports of a log: what was written, and whether the log has the end of it.

    One that began and has no end was interrupted; its file may exist or not.
    """
    finished: dict[str, bool] = {}
    for entry in entries:
        if entry.act in ("export-begun", "exported"):
            finished[entry.detail] = finished.get(entry.detail, False) or entry.act == "exported"
    return finished


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A speaker was deleted; ``counts`` says how much there was, by name.

    ``finished`` is False while traces are still to be removed from the disk.
    """

    speaker: str
    deleted_at: str
    by: str
    reason: Reason
    counts: Mapping[str, int]
    finished: bool = True


@dataclass(frozen=True, slots=True)
class KeptRecording:
    """A sound file that belongs to an administration.

    Attributes:
        rate: frames per second.
        role: ``original``, never altered, or ``conditioned``, derived from one.
        derived_from: uid of the original.
        parameters: how it was conditioned, or with what it was recorded.
        started_at: empty also where it is not known.
        sha256: of the file's bytes, once kept.
    """

    uid: str
    seconds: float
    rate: int
    channels: int = 1
    role: RecordingRole = "original"
    derived_from: str | None = None
    parameters: Mapping[str, float | str] = field(default_factory=dict)
    started_at: str = ""
    sha256: str = ""
    recorded_at: str = ""

    def __post_init__(self) -> None:
        if (self.role == "original") != (self.derived_from is None):
            raise ValueError("exactly a conditioned recording is derived from another")


def in_force(consents: Iterable[Consent]) -> dict[Scope, Consent]:
    """Return the consents in force: of each scope the last row, if it gives consent.

    >>> given = Consent("S-014", "record", True, "2026-11-21")
    >>> withdrawn = Consent("S-014", "record", False, "2026-12-01")
    >>> list(in_force([given])), list(in_force([given, withdrawn]))
    (['record'], [])
    """
    last = {consent.scope: consent for consent in consents}
    return {scope: consent for scope, consent in last.items() if consent.given}


def checked_reason(text: str) -> Reason:
    """Return a reason for a deletion by its name."""
    for reason in REASONS:
        if reason == text:
            return reason
    raise UsageError(f"'{text}' is not a valid reason for a deletion", allowed=", ".join(REASONS))


def read_day(text: str, where: str | None = None) -> str:
    """Return a day as ISO 8601 writes it; days in the future are refused.

    >>> read_day(" 2024-03-09 ")
    '2024-03-09'
    """
    written = text.strip()
    try:
        day = date.fromisoformat(written)
    except ValueError:
        day = None
    if day is None or day.isoformat() != written:
        raise UsageError(
            f"'{text}' is not a valid date",
            where=where,
            allowed="YYYY-MM-DD, for example 2024-03-09",
        )
    if day > date.today():
        raise UsageError(f"{written} is in the future", where=where)
    return written


def operator() -> str:
    """Return the operator: ``TABWB_OPERATOR``, else the user's name at this computer."""
    named = os.environ.get("TABWB_OPERATOR", "").strip()
    if named:
        return named
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        # A process may run under a number that has no name.
        return "unknown"


README = "README.txt"
"""The text beside the files of an export."""
_ORIGIN = re.compile(
    rf"^Origin of the answers in (?P<name>.+?): (?P<origin>{'|'.join(ORIGINS)})"
    r"(?:, participant (?P<participant>\S+))?$",
    re.MULTILINE,
)


def origin_line(name: str, origin: Origin, participant: str | None) -> str:
    """Return the line for one file.

    >>> origin_line("S-014-3", "human", "S-014")
    'Origin of the answers in S-014-3: human, participant S-014'
    """
    whose = f", participant {participant}" if participant else ""
    return f"Origin of the answers in {name}: {origin}{whose}"


def read_origins(text: str) -> tuple[tuple[str, Origin, str], ...]:
    r"""Return name, origin and participant (empty where not said) of each line in a text.

    >>> read_origins("Notes.\n" + origin_line("S-014-3", "human", "S-014") + "\n")
    (('S-014-3', 'human', 'S-014'),)
    """
    lines = []
    for match in _ORIGIN.finditer(text):
        origin = next(known for known in ORIGINS if known == match["origin"])
        lines.append((match["name"], origin, match["participant"] or ""))
    return tuple(lines)


def origins_beside(path: Path) -> tuple[tuple[str, Origin, str], ...]:
    """Return the lines of the text in the folder at ``path``, or beside the file at ``path``.

    Empty where there is no such text: the origin is unknown then.
    """
    return read_origins(_text_beside(path))


def _text_beside(path: Path) -> str:
    file = (path if path.is_dir() else path.parent) / README
    try:
        with open_file(file) as opened:
            return opened.read(1_000_000).decode("utf-8", "replace")
    except OSError:
        return ""


NO_DAY = "date not known"


def session_line(examinee: str, administration: int, day: str) -> str:
    """Return the line that says when a session of an export was held; ``day`` may be empty."""
    return f"Session of {examinee} (#{administration}): {day or NO_DAY}."


def session_day(path: Path) -> str:
    """Return the day of the one session in an export, or of the one with the file at ``path``.

    Empty where the text beside it says none, or several.
    """
    found = re.findall(r"^Session of .+ \(#(\d+)\): (.+)\.$", _text_beside(path), re.MULTILINE)
    stem = "" if path.is_dir() else path.stem
    own = [day for number, day in found if re.search(rf"_{number}(?!\d)", stem)]
    days = set(own or (day for _, day in found))
    return days.pop() if len(days) == 1 and NO_DAY not in days else ""


def lost_line(format_name: str, losses: str) -> str:
    """Return the line that says what an export has no place for."""
    return f"{format_name} has no place for: {losses}. The store has it: tabwb results ID --json."


def losses_beside(path: Path) -> tuple[str, ...]:
    """Return what the text beside an export says that the export has no place for."""
    return tuple(re.findall(r"^.* has no place for: (.+?)\. The store", _text_beside(path), re.M))
