"""Columns: what one is, how its values are shown, and those of administrations and ratings.

Exported files, their descriptions, the tables of the Python interface and the data dictionary take
them from here. Column names are stable: new ones are added, old ones keep their name and meaning.
A missing value is an empty cell of a file, and missing in a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tabwb.records import declared_conditions
from tabwb.records.declared_conditions import ColumnType, Condition
from tabwb.records.speakers import Column as Recorded
from tabwb.records.states import RatingStatus, ResponseStatus, StopReason

MISSING = "-"
"""Is shown where a value is missing."""
P_VALUE = "probability"
"""The unit of p values, which people are not shown as 0."""
MOST = 4
"""Decimal places that an interval is given at most."""


def fixed(value: float, digits: int, sign: str = "") -> str:
    """Return a number with decimal places; one that is shown as 0 has no sign.

    >>> fixed(-0.001, 2), fixed(0.0, 2, "+"), fixed(0.125, 1), fixed(1e308, 2)
    ('0.00', '0.00', '0.1', '1e+308')
    """
    if abs(value) >= 1e15:
        return f"{value:{sign}.4g}"
    text = f"{value:{sign}.{digits}f}"
    return text.lstrip("+-") if not float(text) else text


def digits_of(low: float, high: float, digits: int) -> int:
    """Return how many decimal places two numbers need so that they are not shown as equal.

    >>> digits_of(0.0, 0.5, 2), digits_of(0.0, 0.0018, 2), digits_of(0.5, 0.5, 2)
    (2, 3, 2)
    """
    most = max(MOST, digits)
    if low == high:
        return digits
    for more in range(digits, most):
        if fixed(low, more) != fixed(high, more):
            return more
    return most


def ends_of(low: float, high: float, digits: int, sign: str = "") -> tuple[str, str]:
    """Return the ends of an interval, which differ; beyond :data:`MOST` places as ``<0.0001``.

    >>> ends_of(0.0, 0.0018, 2), ends_of(0.9985, 1.0, 2), ends_of(0.0, 0.00001, 2)
    (('0.000', '0.002'), ('0.999', '1.000'), ('0.0000', '<0.0001'))
    """
    places = digits_of(low, high, digits)
    first, second = fixed(low, places, sign), fixed(high, places, sign)
    if first == second and low != high:
        least = 10.0**-places
        if low >= 0 and high < least:
            second = f"<{least:.{places}f}"
        elif 1 - least < low and high == 1:
            first = f">{1 - least:.{places}f}"
    return first, second


@dataclass(frozen=True, slots=True)
class Column:
    """The declaration of a column.

    Attributes:
        name: in files and in Python, snake_case.
        title: what people read above it.
        meaning: what it holds, for the data dictionary; no final stop.
        type: ``text``, ``integer``, ``number``, ``boolean`` or ``list of text``.
        unit: of its numbers (``features per response``); empty where there is none.
        digits: decimal places that people are shown; None: all of them.
        percent: a share that people are shown in per cent.
        allowed: the values that there can be; empty: any.
    """

    name: str
    title: str
    meaning: str
    type: ColumnType = "text"
    unit: str = ""
    digits: int | None = None
    percent: bool = False
    allowed: tuple[str, ...] = ()

    def format(self, value: object, digits: int | None = None) -> str:
        """Return a value as people are shown it.

        Args:
            value: of the column, or None.
            digits: decimal places instead of those of the column.

        >>> Column("rate", "Rate", "a share", "number", "share", 1, True).format(0.125)
        '12.5 %'
        >>> Column("n", "N", "responses", "integer").format(None)
        '-'
        >>> Column("p", "p", "of no difference", "number", P_VALUE, 3).format(0.00006)
        '<0.001'
        """
        if value is None:
            return MISSING
        if self.unit == P_VALUE and isinstance(value, float) and value < 0.001:
            return "<0.001"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int | float):
            if self.digits is None and not self.percent:
                return f"{value:g}" if isinstance(value, float) else str(value)
            places = (self.digits or 0) if digits is None else digits
            return f"{fixed(value * 100, places)} %" if self.percent else fixed(value, places)
        return ", ".join(value) if isinstance(value, tuple) else str(value)


_STATUSES = tuple(status.value for status in ResponseStatus)
_ALLOWED = {
    "kind": ("model", "speaker"),
    "origin": ("human", "model", "unknown"),
    "lesion_role": ("intact", "lesion", "control", "layer control"),
    "trial_status": _STATUSES,
    "effective_status": _STATUSES,
    "stop_reason": tuple(reason.value for reason in StopReason),
    "rating_status": tuple(status.value for status in RatingStatus),
}
_DECLARED = """
id integer Id | its number in the store
administration text Uid | the administration's uid
battery text Battery | the battery's id
battery_version text Version | the battery's version
battery_hash text Hash | SHA-256 of the battery's content
examinee text Examinee | the model's spec, or the speaker's participant code
kind text Kind | model or speaker
origin text Origin | who made the responses: human, model or unknown
participant text Participant | participant code of the person who made the responses; none for a
    model
created_at text Created | when the run began, ISO 8601, UTC
session_date text Day | the day of the responses, ISO 8601; none if it is not known
model_family text Family | from the model's profile
model_tuning text Tuning | from the model's profile
model_parameters integer Parameters | number of parameters, from the model's profile
model_revision text Revision | of the model's repository
model_weights_sha256 text Weights | SHA-256 of the model's weights
lesion_role text Role | of a model in a lesion study: controls have the tag control, a layer
    control takes weights in the lesion's layers alone; intact has no lesion
lesion_target text Target | what is lesioned; of joined lesions all targets
lesion_operation text Operation | what is done to the units
lesion_amount number Amount | the share of units that is taken
lesion_factor number Factor | by which the units are multiplied
lesion_sigma number Sigma | of noise, in standard deviations of the tensor
lesion_bits number:bits Bits | to which weights are rounded
lesion_layers text Layers | in which layers; all where the lesion's spec names none
lesion_seed integer Seed | of the choice of units, of noise and orders
lesion_kind text Kind | the lesion's spec with * for the amount and without the seed
lesion_parameters integer Parameters | how many parameters the lesion takes
lesion_perplexity number:tokens Perplexity | of a fixed text, where it was measured
trial_number integer Trial | position in the administration, from 1
subtest text Subtest | the subtest's id
item text Item | the item's id
replicate integer Replicate | from 0
options texts Options | in the order shown
expected text Expected | the right answer, if there is one
tags texts Tags | the item's tags
prompt text Prompt | the user message, exactly as sent
system text System | the system message that was sent; empty without one
response text Response | unaltered, without what the model wrote in its thinking
reasoning text Reasoning | what the model wrote in its thinking; part of no score and of no
    judgement
words integer:words Words | words of the response
trial_status text Stored status | the status of the response (ok, empty, truncated ...), as stored
effective_status text Status | the status under which it counts: the stored one, or
    repeated-answer if the same text answers three or more prompts; features of an unusable
    response are undefined, whatever a rating says
usable boolean Usable | whether its features count
stop_reason text Stop | end, length, stop-string, refused, or none for a person
latency_s number:seconds Latency | from request to end
response_attempt integer Attempt | number of the attempt that counts, from 1
response_recorded_at text Recorded | ISO 8601, UTC
response_protocol text Obtained | how this response was obtained, where it is noted
decoding_seed integer Seed of the draw | this response's own seed, as sent; none if nothing was
    sampled, if it was not sent, and for responses of versions that stored none
rater text Rater | a scorer, a judge, or a person
measure text Measure | the measure that was rated
value number Value | of the rating; none: see rating_status
rating_status text Status | value, undefined, unparsed or error
rating_reason text Reason | the reason of the value, or of its absence
"""
"""A column in a line: its name, type (and unit), title, and after a bar its meaning."""


def _declared() -> Iterator[Column]:
    for line in _DECLARED.strip().replace("\n    ", " ").splitlines():
        head, _, meaning = line.partition(" | ")
        name, kind, title = head.split(maxsplit=2)
        type_, _, unit = kind.partition(":")
        column: ColumnType = "list of text" if type_ == "texts" else type_  # type: ignore[assignment]
        yield Column(name, title, meaning, column, unit, allowed=_ALLOWED.get(name, ()))


DECLARED = {column.name: column for column in _declared()}
"""The columns by name; those of conditions are in :func:`condition_columns`."""


def column_of(name: str, digits: int | None = None) -> Column:
    """Return a declared column of administrations, responses or ratings.

    >>> column_of("latency_s", 2).format(1.234)
    '1.23'
    """
    return replace(DECLARED[name], digits=digits)


PARTICIPANT = "participant_"
"""Begins the names of the columns with what is recorded of a participant."""


def participant_column(recorded: Recorded) -> Column:
    """Return the column of files and tables for what is recorded of a participant.

    >>> participant_column(Recorded("age_years", "number", "years", title="age")).name
    'participant_age_years'
    """
    title = recorded.title or recorded.name.replace("_", " ")
    kinds: dict[str, ColumnType] = {"whole": "integer", "number": "number"}
    band = f", or the band of {recorded.bands_of}" if recorded.bands_of else ""
    return Column(
        f"{PARTICIPANT}{recorded.name}",
        title[:1].upper() + title[1:],
        f"{title}, of the participant's record{band}; none if it is not recorded",
        kinds.get(recorded.type, "text"),
        recorded.unit,
    )


def condition_columns() -> Iterator[tuple[Condition, Column]]:
    """Yield the conditions that have a column, each with it."""
    for known in declared_conditions.CONDITIONS:
        if known.column is not None:
            title, kind = known.name.capitalize(), known.kind.column
            yield known, Column(known.id, title, known.column.meaning, kind, known.column.unit)
