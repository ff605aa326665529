"""Writes figures: the same bytes each time, with what they show in the file's metadata."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tabwb
from tabwb.records.errors import UsageError
from tabwb.records.words import RESEARCH_ONLY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tabwb.media.figures.page import Facts

FORMATS: Final = ("pdf", "svg", "png")
LONGEST: Final = 100
"""So many uids are named; of more, their number and SHA-256."""


def format_of(out: Path) -> str:
    """Return the format that a file's name asks for.

    >>> format_of(Path("burden.PDF"))
    'pdf'
    """
    ending = out.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise UsageError(
            f"'{out.name}' does not end in the name of a format of figures",
            allowed=", ".join(f".{name}" for name in FORMATS),
        )
    return ending


def figure_bytes(figure: Figure, format_id: str, *, dpi: float = 300.0) -> bytes:
    """Return a figure as a file's content, the same each time.

    Fonts are embedded as TrueType in PDF, and text is drawn as paths in SVG. No date is written.
    The metadata has the title, the sentences of the caption, the command, the versions of tabwb and
    matplotlib, and the uids of the administrations, and no path.
    """
    from tabwb.media.figures.page import fixed_style

    facts: Facts | None = getattr(figure, "facts", None)
    drawn = io.BytesIO()
    with fixed_style():
        figure.savefig(drawn, format=format_id, dpi=dpi, metadata=_metadata(facts, format_id))
    return drawn.getvalue()


def described(facts: Facts) -> dict[str, str]:
    """Return what is said of a figure: its title, description, command, administrations."""
    uids = sorted(facts.uids)
    if len(uids) > LONGEST:
        digest = hashlib.sha256("\n".join(uids).encode()).hexdigest()
        named = f"{len(uids)} administrations; SHA-256 of their sorted uids: {digest}"
    else:
        named = " ".join(uids)
    return {
        "title": facts.title,
        "description": " ".join((*facts.notes, RESEARCH_ONLY)),
        "command": facts.command,
        "administrations": named,
    }


def _metadata(facts: Facts | None, format_id: str) -> Mapping[str, Any]:
    import matplotlib

    software = f"tabwb {tabwb.__version__}, matplotlib {matplotlib.__version__}"
    told = {"title": "", "description": RESEARCH_ONLY, "command": "", "administrations": ""}
    if facts is not None:
        told = described(facts)
    words = [f"administrations: {told['administrations']}" if told["administrations"] else ""]
    words.insert(0, f"command: {told['command']}" if told["command"] else "")
    keywords = [word for word in words if word]
    if format_id == "pdf":
        return {
            "Title": told["title"],
            "Subject": told["description"],
            "Keywords": "; ".join(keywords),
            "Creator": software,
            "CreationDate": None,
        }
    if format_id == "svg":
        return {
            "Title": told["title"],
            "Description": told["description"],
            "Keywords": keywords,
            "Creator": software,
            "Date": None,
        }
    return {
        "Title": told["title"],
        "Description": told["description"],
        "Comment": "; ".join(keywords),
        "Software": software,
    }
