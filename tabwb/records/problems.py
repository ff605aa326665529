"""What is wrong at one place of a file that a person writes, and how its values are shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time

KeyPath = tuple[str | int, ...]
"""Keys and 0-based indexes from the top: ``("subtest", 0, "item", 2, "prompt")``."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that does not hold at a path.

    Attributes:
        path: keys and 0-based indexes from the top: ``("subtest", 0, "item", 2, "prompt")``.
        message: what is wrong, without a final stop.
        value: the value there, shortened.
        allowed: what may stand there.
        suggestion: a near match for something misspelt.
    """

    path: KeyPath
    message: str
    value: str = ""
    allowed: str = ""
    suggestion: str = ""


def shortened(value: object, most: int = 60) -> str:
    """Return a value for a message, as TOML writes it; nothing for tables and arrays.

    >>> shortened("x" * 100, 10), shortened(True), shortened([1, 2])
    ("'xxxxxxxx…", 'true', '')
    """
    match value:
        case bool():
            text = str(value).lower()
        case dict() | list():
            text = ""
        case date() | time():
            text = value.isoformat()
        case int() if value.bit_length() > 1_000:  # too long for Python to write it out
            text = "a number of more than 300 digits"
        case _:
            text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"
