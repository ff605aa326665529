"""Who made the answers of an export, as one line of the text that explains it.

Formats of annotations have no place for it; ``tabwb import`` reads the line back.
"""

from __future__ import annotations

import re
from pathlib import Path

from tabwb.records.speakers import ORIGINS, Origin

FILE = "README.txt"
"""The text beside the files of an export."""
_LINE = re.compile(
    rf"^Origin of the answers in (?P<name>.+?): (?P<origin>{'|'.join(ORIGINS)})"
    r"(?:, participant (?P<participant>\S+))?$",
    re.MULTILINE,
)


def said(name: str, origin: Origin, participant: str | None) -> str:
    """Return the line for one file.

    Args:
        name: of the file or administration.
        origin: who made the answers.
        participant: study ID, or None where it is unknown.

    >>> said("S-014-3", "human", "S-014")
    'Origin of the answers in S-014-3: human, participant S-014'
    """
    whose = f", participant {participant}" if participant else ""
    return f"Origin of the answers in {name}: {origin}{whose}"


def read(text: str) -> tuple[tuple[str, Origin, str], ...]:
    r"""Return name, origin and participant (empty where not said) of each line in a text.

    >>> read("Notes.\n" + said("S-014-3", "human", "S-014") + "\n")
    (('S-014-3', 'human', 'S-014'),)
    """
    lines = []
    for match in _LINE.finditer(text):
        origin = next(each for each in ORIGINS if each == match["origin"])
        lines.append((match["name"], origin, match["participant"] or ""))
    return tuple(lines)


def beside(path: Path) -> tuple[tuple[str, Origin, str], ...]:
    """Return the lines of the text in the folder at ``path``, or beside the file at ``path``.

    Empty where there is no such text: the origin is unknown then.
    """
    file = (path if path.is_dir() else path.parent) / FILE
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return read(opened.read(1_000_000))
    except OSError:
        return ()
