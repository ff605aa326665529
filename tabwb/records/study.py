"""Definition of a study: the pattern of its IDs and typed columns with units.

Built-in columns are those that the naming literature reports; a study adds columns, or redefines
built-in ones, under ``[study]`` in ``tabwb.toml``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from tabwb.records.errors import UsageError
from tabwb.records.ratings import counting
from tabwb.records.words import did_you_mean

Value = str | int | float
"""Of one column; a column without a value is left out, never 0 or empty."""
ColumnType = Literal["text", "choice", "choices", "whole", "number"]
COLUMN_TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
ID_PATTERN = "[A-Za-z]{1,4}-?[0-9]{2,6}[a-z]?"
"""Study IDs where the study says nothing: ``S-014``, ``AB0123a``. The whole ID matches."""
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
    """

    name: str
    type: ColumnType = "text"
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    title: str = ""

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
        """
        text = text.strip()
        if self.type == "text" and 0 < len(text) <= LONGEST and text.isprintable():
            return text
        if self.type == "choice" and text in self.choices:
            return text
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
    return number if math.isfinite(number) else None


VARIETIES = (
    "non-rhotic", "cot-caught", "trap-bath", "th-fronting", "h-dropping", "foot-strut",
    "t-glottalling", "raising",
)  # fmt: skip
"""What a speaker's English may have that General American has not (docs/naming-rules.md)."""
BUILT_IN = (
    Column("AQ", "number", "", 0, 100, title="aphasia quotient (WAB)"),
    # The bands of the aphasia quotient: above 75, above 50, above 25, the rest (PSST, section 3).
    Column("severity", "choice", choices=("mild", "moderate", "severe", "very severe")),
    Column("months_post_onset", "number", "months", 0, 1200, title="time since onset"),
    Column("age_years", "number", "years", 0, 120, title="age"),
    Column("dialect", "text"),
    Column("group", "text"),
    Column("variety", "choices", choices=VARIETIES, title="what differs from General American"),
    Column("ipa", "choice", choices=("us", "uk"), title="how IPA is read"),
)
"""Columns that every study has."""


@dataclass(frozen=True, slots=True)
class Study:
    """The settings of a study.

    Attributes:
        id_pattern: a regular expression that the whole of an ID matches.
        columns: by name; the built-in ones first.
        require_consent: whether data are recorded only with a recorded consent.
        primary_rater: whose ratings count where several people rated: a rater's code, or a rule
            (:mod:`tabwb.records.ratings`); empty: those of whoever scored first.
    """

    id_pattern: str = ID_PATTERN
    columns: tuple[Column, ...] = BUILT_IN
    require_consent: bool = False
    primary_rater: str = ""

    def counting_rater(self, primary: str = "") -> str:
        """Return whose ratings count, a rater or a rule: ``primary`` if named, else the study's.

        Raises:
            UsageError: ``primary`` names neither.
        """
        return counting(primary) if primary else self.primary_rater

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
