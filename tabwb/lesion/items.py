"""The texts of the localizer: two conditions whose contrast selects units."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular

ITEMS: Final = "language-1"
"""The id of the shipped items; other items get another id."""
TOO_LARGE = 20_000_000
"""A longer file (bytes) is refused."""
LONGEST = 100
"""A longer name or label is refused."""
FEWEST = 4
"""So many texts has each condition: each half then has a variance."""
_ALLOWED = (
    "a TOML file with format = 1, name, and tables [first] and [second], each with label and texts"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the two conditions.

    Attributes:
        label: in words, for example ``sentences``.
        texts: its items.
    """

    label: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """Items of a contrast: units are selective that respond more to ``first`` than to ``second``.

    Attributes:
        name: of the items.
        first: the condition of interest.
        second: what it is compared with.
        sha256: of the file (hex).
    """

    name: str
    first: Condition
    second: Condition
    sha256: str

    @property
    def contrast(self) -> str:
        """The contrast in words: ``sentences > nonwords``."""
        return f"{self.first.label} > {self.second.label}"


def shipped_items() -> Items:
    """Return the shipped items: 80 sentences, and 80 lists of nonwords of the same lengths."""
    place = files("tabwb.lesion") / "data" / f"{ITEMS}.toml"
    return _of(place.read_bytes(), ITEMS)


def read_items(path: Path) -> Items:
    """Return the items of a file."""
    content = read_regular(path, TOO_LARGE)
    if content is None:
        raise UsageError("cannot be read: there is no such file", where=str(path))
    return _of(content, str(path))


def _of(content: bytes, where: str) -> Items:
    import tomli

    try:
        table = tomli.loads(content.decode())
    # ValueError: of both, and a number with thousands of digits.
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not TOML in UTF-8: {error}", where=where) from error
    name = table.get("name")
    if table.get("format") != 1 or not isinstance(name, str) or not name.strip():
        raise UsageError("is not a file of items of format 1", where=where, allowed=_ALLOWED)
    _check_shown(name, "name", where)
    first, second = (_condition(table, key, where) for key in ("first", "second"))
    seen: set[str] = set()
    for text in (*first.texts, *second.texts):
        if text in seen:
            raise UsageError(
                f"has a text twice: {text[:80]!r}", where=where, allowed="each text once"
            )
        seen.add(text)
    return Items(name, first, second, hashlib.sha256(content).hexdigest())


def _condition(table: Mapping[str, Any], key: str, where: str) -> Condition:
    own = table.get(key)
    label = own.get("label") if isinstance(own, dict) else None
    texts = own.get("texts") if isinstance(own, dict) else None
    if not isinstance(label, str) or not isinstance(texts, list):
        raise UsageError(
            f"has no table [{key}] with label and texts", where=where, allowed=_ALLOWED
        )
    _check_shown(label, f"{key}.label", where)
    if not all(isinstance(text, str) and text.strip() and "\0" not in text for text in texts):
        raise UsageError(f"has a text in [{key}] that is empty or no text", where=where)
    if len(texts) < FEWEST:
        message = f"has {len(texts)} texts in [{key}]"
        raise UsageError(message, where=where, allowed=f"{FEWEST} or more")
    return Condition(label, tuple(texts))


def _check_shown(text: str, key: str, where: str) -> None:
    if not (text.strip() and text.isprintable() and len(text) <= LONGEST):
        allowed = f"1 to {LONGEST} printable characters"
        raise UsageError(f"has a {key} that cannot be shown", where=where, allowed=allowed)
