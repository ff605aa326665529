"""What a condition of an administration is: its values, and where it is asked for and shown.

The conditions themselves are in :mod:`tabwb.records.declared_conditions`, kinds of values in
:mod:`tabwb.records.condition_kinds`. The command line, the dialog, the store, documents, exports
and comparisons read these declarations. Declarations are named tuples: every start imports them,
and a frozen dataclass takes three times as long to make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tabwb.records.condition_kinds import BadValue, Kind, OneOf
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.records.conditions import Conditions

Audience = Literal["model", "typed", "spoken", "described"]
"""Who is given a battery: a model, a person who types, a person who answers aloud, or a person
whose spoken answers are judged."""
AUDIENCES: Mapping[Audience, str] = {
    "model": "models",
    "typed": "people who type",
    "spoken": "people who answer aloud",
    "described": "people whose spoken answers are judged",
}
MODEL: frozenset[Audience] = frozenset({"model"})
TYPED: frozenset[Audience] = frozenset({"typed"})
NAMED: frozenset[Audience] = frozenset({"spoken"})
SPOKEN: frozenset[Audience] = NAMED | {"described"}
PERSON: frozenset[Audience] = TYPED | SPOKEN
WRITTEN: frozenset[Audience] = MODEL | TYPED
ANYBODY: frozenset[Audience] = MODEL | PERSON


class ConditionError(UsageError):
    """A condition has a value that cannot be used."""

    def __init__(self, condition: Condition, message: str, allowed: str | None = None) -> None:
        super().__init__(message, where=condition.name, allowed=allowed)
        self.condition = condition


class Option(NamedTuple):
    """An option of a command, as click takes it.

    Attributes:
        default: the value where it is not given, shown in ``--help``; None: not shown.
        value: of a flag that stands for one value of a condition: that value.
    """

    flag: str
    help: str | None
    command: str = "run"
    metavar: str | None = None
    default: object = None
    value: object = None


class Field(NamedTuple):
    """A field of the new-administration dialog; ``help`` has no final stop."""

    label: str
    help: str
    placeholder: str = ""


class Column(NamedTuple):
    """A column of the exported table.

    Conditions of ``decoding`` have what was sent with each request under ``decoding_NAME``, the
    others their value under their key in documents.
    """

    meaning: str
    unit: str = ""


class Line(NamedTuple):
    """A part of the line of conditions; ``always``: where the default is shown too."""

    template: str = "{}"
    always: Callable[[Conditions], bool] = lambda conditions: False


class Comparison(NamedTuple):
    """How a condition is compared; administrations in which it differs are not pooled.

    Attributes:
        name: in documents and tables; conditions with one name are shown as one.
        title: what people read.
        bare: whether the value says what it is, so that the title is left out beside it.
        applies: where the condition can change an answer, so that it must be alike.
        stated: the name under which a group's description holds it; None: as ``name``; empty: the
            description leaves it out.
    """

    name: str
    title: str
    bare: bool = False
    applies: Callable[[Conditions], bool] = lambda conditions: True
    stated: str | None = None


class Condition(NamedTuple):
    """The declaration of one condition.

    Attributes:
        id: its key in documents, and the attribute of the record where ``path`` says nothing.
        kind: of its values.
        path: the attribute of :class:`~tabwb.records.conditions.Conditions`
            (``decoding.temperature``).
        given_to: whom it applies to.
        asked: the value where nobody names one; None: the record's default.
        otherwise: the value for whom it does not apply to; None: the record's default.
        options: of commands.
        field: of the dialog, or None.
        key: its place in JSON documents; None: as ``path``; empty: not in documents.
        column: of the exported table, or None.
        stored: whether the store has its own column for it, beside the JSON of all.
        before: the value of administrations that were stored before the condition existed; None:
            the record's default.
        words: the value in words; None: as the kind writes it.
        reported: the value in documents; None: the value itself.
        line: its part of the line of conditions, or None.
        comparison: how it is compared, or None where administrations that differ are pooled.
    """

    id: str
    kind: Kind
    path: str = ""
    given_to: frozenset[Audience] = ANYBODY
    asked: Any = None
    otherwise: Any = None
    options: tuple[Option, ...] = ()
    field: Field | None = None
    key: str | None = None
    column: Column | None = None
    stored: bool = False
    before: Any = None
    words: Callable[[Conditions], str] | None = None
    reported: Callable[[Conditions], Any] | None = None
    line: Line | None = None
    comparison: Comparison | None = None

    def applies_to(self, kind: str) -> bool:
        """Return whether it applies to ``model`` or to some ``speaker``."""
        return bool(self.given_to & (MODEL if kind == "model" else PERSON))

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.id.replace("_", " ")

    @property
    def document_key(self) -> str:
        """Its place in JSON documents; empty where they leave it out."""
        return (self.path or self.id) if self.key is None else self.key

    @property
    def place(self) -> tuple[str, str]:
        """The record that holds the value (empty: the conditions themselves) and its attribute."""
        record, _, attribute = (self.path or self.id).rpartition(".")
        return record, attribute

    def of(self, conditions: Conditions) -> Any:
        """Return the value under which an administration is given."""
        return attrgetter(self.path or self.id)(conditions)

    def in_words(self, conditions: Conditions) -> str:
        """Return the value in words."""
        if self.words:
            return self.words(conditions)
        unknown = self.id in conditions.unknown
        return "not known" if unknown else self.kind.written(self.of(conditions))

    def restored(self, value: Any) -> Any:
        """Return the value from plain data of a document or the store."""
        if isinstance(value, list):
            return tuple(value)
        return self.kind.make(value) if isinstance(self.kind, OneOf) else value

    def in_document(self, conditions: Conditions) -> Any:
        """Return the value as a document holds it."""
        if self.id in conditions.unknown:
            return None
        return plain(self.of(conditions) if self.reported is None else self.reported(conditions))

    def checked(self, value: object) -> Any:
        """Return a value after checking it, or raise :class:`ConditionError`."""
        return self._guarded(self.kind.checked, value)

    def read(self, text: str) -> Any:
        """Return the value that a person typed, or raise :class:`ConditionError`."""
        return self._guarded(self.kind.read, text)

    def _guarded(self, work: Callable[[Any], Any], value: object) -> Any:
        try:
            return work(value)
        except BadValue as error:
            raise ConditionError(self, str(error), self.kind.allowed or None) from None


def plain(value: Any) -> Any:
    """Return a value as plain data: numbers, texts, lists."""
    if isinstance(value, tuple):
        return list(value)
    return value.value if isinstance(value, Enum) else value
