"""What a browser may send through its web socket; everything else is ignored."""

from __future__ import annotations

import json

from tabwb.records.classes import dataclass

MOST_BYTES = 65_536
"""Length of a message; a longer one ends the connection."""
SMALLEST, LARGEST = 2, 500
"""Columns and lines of a terminal; the process reserves memory for each cell."""


@dataclass(frozen=True)
class Keys:
    """What was typed or pasted, or what the mouse did, as a terminal sends it."""

    text: str


@dataclass(frozen=True)
class Size:
    """Size of the terminal in the browser."""

    columns: int
    lines: int


@dataclass(frozen=True)
class Ping:
    """Is to be sent back."""

    text: str


@dataclass(frozen=True)
class Focus:
    """The terminal got the focus or lost it."""

    has: bool


Envelope = Keys | Size | Ping | Focus


def read_envelope(text: str) -> Envelope | None:
    """Return what textual-serve's terminal said, or None where it can't have said this.

    >>> read_envelope('["stdin", "a"]'), read_envelope('["resize", {"width": 80, "height": 24}]')
    (Keys(text='a'), Size(columns=80, lines=24))
    >>> read_envelope('["resize", {"width": 1e9, "height": 24}]') is None
    True
    """
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match read:
        case ["stdin", str(typed)]:
            return Keys(typed)
        case ["resize", {"width": width, "height": height}]:
            return read_size(width, height)
        case ["ping", str(mark)] if len(mark) <= 32:
            return Ping(mark)
        case ["focus" | "blur" as which]:
            return Focus(which == "focus")
        case _:
            return None


def read_size(width: object, height: object) -> Size | None:
    """Return a size of a terminal, or None where it is not one."""
    sides = []
    for side in (width, height):
        if isinstance(side, str) and side.isascii() and side.isdigit() and len(side) < 5:
            side = int(side)  # noqa: PLW2901 - the same side, read
        if type(side) is not int or not SMALLEST <= side <= LARGEST:
            return None
        sides.append(side)
    return Size(*sides)
