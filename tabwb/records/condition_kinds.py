"""Kinds of values of a condition: what a person types, what is stored, what is allowed.

Of a kind, ``read`` gives what a person typed as a value, ``checked`` the value as it is stored, or
raises :class:`BadValue`; ``written`` gives the text back. Kinds are named tuples: every start
imports them, and a frozen dataclass takes three times as long to make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.records.conditions import Conditions

NONE = "none"
"""Stands for no component, where one can be named."""
ColumnType = Literal["text", "integer", "number", "boolean", "list of text"]


class BadValue(ValueError):
    """A text or a value is not one of a kind; the message says what is wrong."""


def _number(make: Callable[[str], Any], text: str) -> Any:
    try:
        return make(text)
    except ValueError:
        raise BadValue(f"'{text}' cannot be used") from None


def _accepted(value: Any, accepted: bool) -> Any:
    if not accepted:
        raise BadValue(f"'{value}' cannot be used")
    return value


class Whole(NamedTuple):
    """A whole number between two limits; ``optional``: nothing typed is None."""

    low: int
    high: int
    optional: bool = False
    column: ColumnType = "integer"

    @property
    def allowed(self) -> str:
        """What is accepted, for people."""
        between = f" from {self.low} to {self.high}" if self.low >= 0 else ""
        return f"a whole number{between}"

    def read(self, text: str) -> int | None:
        """Return the number that a person typed."""
        return None if self.optional and not text.strip() else _number(int, text)

    def checked(self, value: Any) -> int:
        """Return a value after checking it."""
        return int(_accepted(value, self.low <= value <= self.high))

    def written(self, value: Any) -> str:
        """Return the text that :meth:`read` reads as ``value``."""
        return "" if value is None else str(value)


class Real(NamedTuple):
    """A finite number between two limits; ``above``: the lower limit itself is excluded."""

    low: float
    high: float
    above: bool = False
    column: ColumnType = "number"

    @property
    def allowed(self) -> str:
        """What is accepted, for people."""
        return f"{'above' if self.above else 'from'} {self.low:g} to {self.high:g}"

    def read(self, text: str) -> float:
        """Return the number that a person typed."""
        return float(_number(float, text))

    def checked(self, value: Any) -> float:
        """Return a value after checking it; NaN lies between no limits."""
        excluded = self.above and value == self.low
        _accepted(f"{value:g}", self.low <= value <= self.high and not excluded)
        return float(value)

    def written(self, value: Any) -> str:
        """Return the text that :meth:`read` reads as ``value``."""
        return f"{value:g}"


class OneOf(NamedTuple):
    """One of a few values, each as text with its words in the dialog; ``make`` reads the text."""

    values: Mapping[str, str]
    make: Callable[[str], Any] = str
    column: ColumnType = "text"

    @property
    def allowed(self) -> str:
        """What is accepted, for people."""
        return ", ".join(self.values)

    def read(self, text: str) -> str:
        """Return the text itself."""
        return text

    def checked(self, value: Any) -> Any:
        """Return a value after checking it."""
        return self.make(_accepted(value, self.written(value) in self.values))

    def written(self, value: Any) -> str:
        """Return the text that :meth:`read` reads as ``value``."""
        return str(value)


class Switch(NamedTuple):
    """True or false; ``off`` and ``on`` are their words."""

    off: str
    on: str
    column: ColumnType = "boolean"
    allowed: str = "yes, no"

    @property
    def values(self) -> Mapping[str, str]:
        """Each value as text, with its words in the dialog."""
        return {"no": self.off, "yes": self.on}

    def read(self, text: str) -> bool:
        """Return the value that a text names."""
        return text == "yes"

    def checked(self, value: Any) -> bool:
        """Return a value after checking it."""
        return bool(value)

    def written(self, value: Any) -> str:
        """Return the text that :meth:`read` reads as ``value``."""
        return "yes" if value else "no"


class Text(NamedTuple):
    """One line of text; ``empty`` is the value where nothing is given."""

    empty: str | None = None
    column: ColumnType = "text"
    allowed: str = ""

    def read(self, text: str) -> str | None:
        """Return the text without spaces around it."""
        return text.strip() or self.empty

    def checked(self, value: Any) -> str | None:
        """Return a value after checking it."""
        return value or self.empty

    def written(self, value: Any) -> str:
        """Return the text that :meth:`read` reads as ``value``."""
        return value or ""


class Texts(NamedTuple):
    r"""Several texts, two spaces between them; ``\n`` stands for a new line."""

    column: ColumnType = "list of text"
    allowed: str = ""

    def read(self, text: str) -> tuple[str, ...]:
        """Return the texts that a person typed."""
        return tuple(part.replace("\\n", "\n") for part in text.split("  ") if part)

    def checked(self, value: Any) -> tuple[str, ...]:
        """Return a value after checking it."""
        if "" in value:
            raise BadValue("an empty text would end every reply at once")
        return tuple(value)

    def written(self, value: Any) -> str:
        """Return the text that :meth:`read` reads as ``value``."""
        return "  ".join(text.replace("\n", "\\n") for text in value)


class Ids(NamedTuple):
    """Several ids with spaces or commas between."""

    column: ColumnType = "list of text"
    allowed: str = ""

    def read(self, text: str) -> tuple[str, ...]:
        """Return the ids that a person typed."""
        return tuple(text.replace(",", " ").split())

    def checked(self, value: Any) -> tuple[str, ...]:
        """Return a value after checking it; an id that occurs twice counts once."""
        return tuple(dict.fromkeys(part for text in value for part in self.read(text)))

    def written(self, value: Any) -> str:
        """Return the text that :meth:`read` reads as ``value``."""
        return " ".join(value)


class Component(NamedTuple):
    """The spec of a component, or ``none`` for no component (the value is None)."""

    registry: Literal["transcribers"]
    column: ColumnType = "text"
    allowed: str = ""

    def read(self, text: str) -> str:
        """Return the spec that a person typed."""
        return text.strip()

    def checked(self, value: Any) -> str | None:
        """Return a value after checking it."""
        return None if value in (None, "", NONE) else str(value)

    def written(self, value: Any) -> str:
        """Return the text that :meth:`read` reads as ``value``."""
        return value or NONE


class Components(NamedTuple):
    """The specs of several components with spaces between, or ``none`` (the value is empty)."""

    registry: Literal["judges"]
    column: ColumnType = "list of text"
    allowed: str = ""

    def read(self, text: str) -> tuple[str, ...]:
        """Return the specs that a person typed."""
        return tuple(text.split()) or (NONE,)

    def checked(self, value: Any) -> tuple[str, ...]:
        """Return a value after checking it."""
        if NONE in value and len(value) > 1:
            raise BadValue(f"'{NONE}' cannot be combined with others")
        return () if NONE in value else tuple(value)

    def written(self, value: Any) -> str:
        """Return the text that :meth:`read` reads as ``value``."""
        return " ".join(value) or NONE


Kind = Whole | Real | OneOf | Switch | Text | Texts | Ids | Component | Components


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
