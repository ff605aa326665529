"""Whether the terminal draws pictures itself, and with which widget of the extra ``pictures``.

Asked once, before the screen is taken: afterwards the terminal's answers would be read as keys. It
is asked only where it says itself that it can (a wrong question costs the first key on some).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from tabwb.records.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from textual.widget import Widget

Protocol = Literal["kitty", "sixel", "blocks"]
VARIABLE = "TABWB_PICTURES"
_BY_PROGRAM: Mapping[str, Protocol] = {
    "ghostty": "kitty",
    "WezTerm": "sixel",
    "iTerm.app": "sixel",
}
_BY_TERM: Mapping[str, Protocol] = {"xterm-kitty": "kitty", "foot": "sixel", "mlterm": "sixel"}

_widget: type[Widget] | None = None


def protocol_of(environment: Mapping[str, str]) -> Protocol:
    """Return how pictures are drawn, as the terminal reports it; in tmux as half-blocks.

    >>> protocol_of({"TERM": "xterm-kitty"}), protocol_of({"TERM": "xterm-256color"})
    ('kitty', 'blocks')
    >>> protocol_of({"TERM_PROGRAM": "WezTerm", "TMUX": "/tmp/tmux-1000/default,1,0"})
    'blocks'
    """
    match environment.get(VARIABLE, ""):
        case "kitty" | "sixel" | "blocks" as wish:
            return wish
        case str(other) if other:
            raise UsageError(f"{VARIABLE}={other} cannot be used", allowed="kitty, sixel, blocks")
    if environment.get("TMUX") or environment.get("ZELLIJ") or environment.get("STY"):
        return "blocks"
    by_program = _BY_PROGRAM.get(environment.get("TERM_PROGRAM", ""))
    return by_program or _BY_TERM.get(environment.get("TERM", ""), "blocks")


def prepare(environment: Mapping[str, str] = os.environ) -> None:
    """Make ready to draw pictures; call it before the screen is taken."""
    global _widget
    _widget = None
    protocol = protocol_of(environment)
    if protocol == "blocks":
        return
    try:
        from textual_image import widget as drawn
    except ImportError:
        if not environment.get(VARIABLE):
            return
        raise MissingExtra(f"{VARIABLE}={protocol}", "pictures", package="textual-image") from None
    chosen: Any = drawn.TGPImage if protocol == "kitty" else drawn.SixelImage
    _widget = chosen


def widget() -> type[Widget] | None:
    """Return the widget that draws pictures exactly; None: half-blocks."""
    return _widget
