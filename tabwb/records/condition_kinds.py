"""Kinds of values of a condition: what a person types, what is stored, what is allowed.

Of a kind, ``read`` gives what a person typed as a value, ``checked`` the value as it is stored, or
raises :class:`BadValue`; ``written`` gives the text back. Kinds are named tuples: every start
imports them, and a frozen dataclass takes three times as long to make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

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
