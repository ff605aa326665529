"""Speakers: records, consents, the log of who used their data, and the origin of answers.

Rows are appended and never changed; the last row holds the current state. The one exception is the
deletion of a speaker, which leaves a :class:`Tombstone`. ``speaker`` is a study ID, never a name;
times are UTC, ISO 8601, and empty before a row is stored; ``by`` and ``who`` are as
:func:`operator` returns it.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Literal, get_args

from tabwb.records.errors import UsageError
from tabwb.records.files import open_file
from tabwb.records.ratings import counting
from tabwb.records.words import did_you_mean

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
    "registered", "recorded", "imported", "heard", "transcribed", "rated", "export-begun",
    "exported", "sent", "deleted",
]  # fmt: skip
Reason = Literal["withdrawn", "retention-ended", "entered-by-mistake", "other"]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a speaker was deleted: words of ours, so that a tombstone can hold nothing of the person."""
RecordingRole = Literal["original", "conditioned"]
IMPORT_OF = "import of "
"""Begins who made a version of a record whose values a file states."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """The latest record of a speaker."""

    id: str
    values: Mapping[str, Value] = field(default_factory=dict)
    recorded_at: str = ""
    by: str = ""
    version: int = 0

    @property
    def is_imported(self) -> bool:
        """Whether this version is made of what a file states; that registers nobody."""
        return self.by.startswith(IMPORT_OF)


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
    """A sound file that belongs to an administration."""

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


Value = str | int | float
"""Of one column; a column without a value is left out, never 0 or empty."""
SEX = "sex"
"""The choice that may be shortened."""
ColumnType = Literal["text", "choice", "choices", "whole", "number"]
COLUMN_TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
ID_PATTERN = "[A-Za-z]{1,4}-?[0-9]{2,6}[a-z]?"
"""Study IDs where the study says nothing: ``S-014``, ``AB0123a``. The whole ID matches."""
Bands = tuple[tuple[str, float], ...]
COLUMN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
LONGEST = 200
"""Limit of the characters of a text."""


@dataclass(frozen=True, slots=True)
class Column:
    """One fact that a study records of each speaker.

    Attributes:
        name: letters, digits and underscores; the unit belongs to it where it has one.
        type: ``text``, ``choice``, ``choices`` (several, with commas), ``whole`` or ``number``.
        unit: of a number, or empty.
        minimum, maximum: both allowed; None where there is no bound.
        choices: of a choice.
        title: for people.
        bands: of a number: names of groups, each with the highest value that belongs to it.
        bands_of: of a choice: the column whose band is the value where none is recorded.
    """

    name: str
    type: ColumnType = "text"
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    title: str = ""
    bands: Bands = ()
    bands_of: str = ""

    def band(self, value: Value) -> str:
        """Return the name of the band that a number belongs to; empty where there is none.

        >>> [AQ.band(value) for value in (25, 25.1, 50, 75, 75.1, "moderate")]
        ['very severe', 'severe', 'severe', 'moderate', 'mild', '']
        """
        if isinstance(value, str):
            return ""
        above = [(highest, name) for name, highest in self.bands if value <= highest]
        return min(above)[1] if above else ""

    def parts(self, value: Value | None) -> tuple[Value, ...]:
        """Return what a value consists of: several choices, else itself; nothing without one."""
        if value is None or value == "":
            return ()
        if self.type == "choices":
            return tuple(part.strip() for part in str(value).split(","))
        return (value,)

    def group(self, value: Value) -> Value:
        """Return the group of a value: the name of its band, else itself.

        >>> AQ.group(48.5), Column("age_years", "number").group(61)
        ('severe', 61)
        """
        return self.band(value) or value

    @property
    def order(self) -> tuple[str, ...]:
        """The groups in their order, where they have one."""
        return tuple(name for name, _ in self.bands) or self.choices

    @property
    def allowed(self) -> str:
        """The allowed values, for people.

        >>> Column("AQ", "number", minimum=0, maximum=100).allowed
        'a number from 0 to 100'
        """
        if self.type == "choice":
            return ", ".join(self.choices)
        if self.type == "choices":
            return f"one or more, with commas: {', '.join(self.choices)}"
        if self.type == "text":
            return f"up to {LONGEST} characters on one line"
        kind = "a whole number" if self.type == "whole" else "a number"
        bounds = (("from", self.minimum), ("to", self.maximum))
        ends = [f"{word} {bound:g}" for word, bound in bounds if bound is not None]
        return " ".join([kind, *ends, *([f"({self.unit})"] if self.unit else [])])

    def read(self, text: str) -> Value:
        """Return the value that a text stands for.

        Raises:
            UsageError: it is none of this column's.

        >>> Column("months_post_onset", "whole", "months", 0).read("18")
        18
        >>> Column("sex", "choice", choices=("female", "male", "other")).read("M")
        'male'
        """
        text = text.strip()
        if self.type == "text" and 0 < len(text) <= LONGEST and text.isprintable():
            return text
        if self.type == "choice":
            alike = [one for one in self.choices if one.casefold() == text.casefold()]
            if not alike and self.name == SEX and text:  # CHAT and PSST write M and F
                begin = [one for one in self.choices if one.casefold().startswith(text.casefold())]
                alike = begin if len(begin) == 1 else []
            if alike:
                return text if text in alike else alike[0]
        if self.type == "choices":
            several = [part.strip() for part in text.split(",")]
            if several and all(part in self.choices for part in several):
                return ", ".join(dict.fromkeys(several))
        if self.type in ("whole", "number"):
            number = _number(text, whole=self.type == "whole")
            if number is not None and self._within(number):
                return number
        raise UsageError(f"'{text}' is not a valid value of '{self.name}'", allowed=self.allowed)

    def _within(self, number: float) -> bool:
        return (self.minimum is None or number >= self.minimum) and (
            self.maximum is None or number <= self.maximum
        )


def _number(text: str, *, whole: bool) -> int | float | None:
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        return None
    exact = isinstance(number, float) or abs(number) <= 2**53  # as a float has it too
    return number if exact and math.isfinite(number) else None


VARIETIES = (
    "non-rhotic", "cot-caught", "trap-bath", "th-fronting", "h-dropping", "foot-strut",
    "t-glottalling", "raising",
)  # fmt: skip
"""What a speaker's English may have that General American has not (docs/naming-rules.md)."""
NOT_RECORDED = "not recorded"
"""The group of those of whom a column has no value."""
AQ = Column(
    "AQ", "number", minimum=0, maximum=100, title="aphasia quotient (WAB)",
    # PSST, section 3: mild above 75, moderate above 50, severe above 25.
    bands=(("mild", 100), ("moderate", 75), ("severe", 50), ("very severe", 25)),
)  # fmt: skip
BUILT_IN = (
    AQ,
    Column("severity", "choice", choices=tuple(name for name, _ in AQ.bands), bands_of="AQ"),
    Column("aphasia_type", "text", title="type of aphasia"),
    Column("aetiology", "text"),
    Column("months_post_onset", "number", "months", 0, 1200, title="time since onset"),
    Column("age_years", "number", "years", 0, 120, title="age"),
    Column(SEX, "choice", choices=("female", "male", "other")),
    Column("education", "text"),
    Column("SES", "text", title="socio-economic status"),
    Column("language", "text"),
    Column("dialect", "text"),
    Column("site", "text"),
    Column("corpus", "text"),
    Column("split", "text", title="part of a corpus: train, valid or test"),
    Column("group", "text"),
    Column("role", "text", title="role in a conversation"),
    Column("custom", "text", title="custom field of CHAT"),
    Column("variety", "choices", choices=VARIETIES, title="what differs from General American"),
    Column("ipa", "choice", choices=("us", "uk"), title="how IPA is read"),
)
"""Columns that every study has."""


KIND = "kind"
"""The column with the kind of a subject, where a study has such kinds."""


@dataclass(frozen=True, slots=True)
class SubjectKind:
    """A kind of people that a study records, with what it records of each.

    Where plugins bring kinds, a record says under ``kind`` which one it is of.

    Attributes:
        id: kebab-case, the value of the column ``kind``.
        title: for people.
        columns: of the records of these people, besides those of everybody.
        required: the names of columns that a record of this kind must have.
    """

    id: str
    title: str
    columns: tuple[Column, ...] = ()
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """The settings of a study.

    Attributes:
        id_pattern: a regular expression that the whole of an ID matches.
        columns: by name; the built-in ones first.
        require_consent: whether data are recorded only with a recorded consent.
        primary_rater: whose ratings count where several people rated: a rater's code, or a rule
            (:mod:`tabwb.records.ratings`); empty: those of whoever scored first.
        kinds: the kinds of subjects that plugins bring.
    """

    id_pattern: str = ID_PATTERN
    columns: tuple[Column, ...] = BUILT_IN
    require_consent: bool = False
    primary_rater: str = ""
    kinds: tuple[SubjectKind, ...] = ()

    def with_kinds(self, kinds: Sequence[SubjectKind]) -> Study:
        """Return the study with kinds of subjects; a column that it has stays as it is.

        >>> controls = SubjectKind("control", "control participant", (Column("MMSE", "whole"),))
        >>> [column.name for column in Study().with_kinds([controls]).columns][-2:]
        ['kind', 'MMSE']
        """
        if not kinds:
            return self
        kind = Column(
            KIND, "choice", choices=tuple(one.id for one in kinds), title="kind of subject"
        )
        columns = {column.name: column for column in self.columns}
        for column in (kind, *(column for one in kinds for column in one.columns)):
            columns.setdefault(column.name, column)
        return replace(self, columns=tuple(columns.values()), kinds=tuple(kinds))

    def check_record(self, record: Mapping[str, Value]) -> None:
        """Check that a record has what its kind of subject requires, and nothing of others.

        Raises:
            UsageError: the message names the column.
        """
        own = next((one for one in self.kinds if one.id == record.get(KIND)), None)
        taken = {column.name for column in own.columns} if own else set()
        for other in self.kinds:
            for column in other.columns:
                if column.name in record and column.name not in taken:
                    raise UsageError(
                        f"'{column.name}' is of subjects of the kind '{other.id}'",
                        allowed=f"{KIND}={other.id}",
                    )
        lacking = [name for name in (own.required if own else ()) if name not in record]
        if own is not None and lacking:
            raise UsageError(
                f"the record of a subject of the kind '{own.id}' lacks {', '.join(lacking)}",
                allowed=", ".join(f"{name}=VALUE" for name in lacking),
            )

    def counting_rater(self, primary: str = "") -> str:
        """Return whose ratings count, a rater or a rule: ``primary`` if named, else the study's.

        Raises:
            UsageError: ``primary`` names neither.
        """
        return counting(primary) if primary else self.primary_rater

    def values_of(self, record: Mapping[str, Value]) -> dict[str, Value]:
        """Return the values of a record, and those that follow from them.

        >>> Study().values_of({"AQ": 48.5}), Study().values_of({"AQ": 48.5, "severity": "mild"})
        ({'AQ': 48.5, 'severity': 'severe'}, {'AQ': 48.5, 'severity': 'mild'})
        """
        known = dict(record)
        for name, band, _ in self._from_bands(record):
            known.setdefault(name, band)
        return known

    def doubts(self, record: Mapping[str, Value]) -> tuple[str, ...]:
        """Return what is recorded and contradicts the band of a number that is recorded too.

        >>> Study().doubts({"AQ": 48.5, "severity": "mild"})
        ('severity is recorded as mild, and AQ 48.5 is severe',)
        """
        return tuple(
            f"{name} is recorded as {record[name]}, and {of} {record[of]:g} is {band}"
            for name, band, of in self._from_bands(record)
            if record.get(name, band) != band
        )

    def columns_in(self, records: Iterable[Mapping[str, Value]]) -> tuple[Column, ...]:
        """Return the columns of which a record has a value, those that are not declared last.

        >>> [column.name for column in Study().columns_in([{"hand": "left"}, {"AQ": 48.5}])]
        ['AQ', 'severity', 'hand']
        """
        named = {name: None for record in records for name in self.values_of(record)}
        declared = tuple(column for column in self.columns if column.name in named)
        others = sorted(named.keys() - {column.name for column in declared})
        return (*declared, *map(Column, others))

    def _from_bands(self, record: Mapping[str, Value]) -> Iterator[tuple[str, str, str]]:
        columns = {column.name: column for column in self.columns}
        for column in self.columns:
            of = columns.get(column.bands_of)
            band = of.band(record[of.name]) if of is not None and of.name in record else ""
            if of is not None and band:
                yield column.name, band, of.name

    def column(self, name: str) -> Column:
        """Return a column by its name.

        Raises:
            UsageError: there is none; the nearest is named.
        """
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        raise UsageError(
            f"this study has no column '{name}'" + did_you_mean(name, names),
            allowed=", ".join(names),
            hint="declare others under [study] in tabwb.toml",
        )

    def read(self, values: Mapping[str, str]) -> dict[str, Value]:
        """Return typed values from texts.

        Raises:
            UsageError: a name or a value is none of this study's.

        >>> Study().read({"AQ": "71.3", "dialect": "Scots"})
        {'AQ': 71.3, 'dialect': 'Scots'}
        """
        return {name: self.column(name).read(text) for name, text in values.items()}

    def remark(self, speaker: str) -> str:
        """Return a warning where an ID is not as this study writes them, or empty.

        >>> Study().remark("S-014")
        ''
        >>> Study(id_pattern="[A-Z]{2}[0-9]{3}").remark("Jane")[:57]
        "'Jane' does not have the form of this study's participant"
        """
        if re.fullmatch(self.id_pattern, speaker):
            return ""
        usual = self.id_pattern == ID_PATTERN
        shape = "letters and two or more digits, such as S-014" if usual else self.id_pattern
        return (
            f"'{speaker}' does not have the form of this study's participant codes ({shape}): "
            "never use a person's name"
        )


def check_id(speaker: str) -> None:
    """Refuse texts that cannot be a study ID; a name usually has a space."""
    if not speaker or len(speaker) > 64 or any(c.isspace() or not c.isprintable() for c in speaker):
        raise UsageError(
            f"'{speaker}' is not a valid participant code",
            allowed="1 to 64 letters, digits and signs without spaces, for example S-014",
            hint="never use a person's name",
        )
