"""Settings of the user interface: themes, the terminal's graphics, a small JSON file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual.theme import Theme

from tabwb.host.settings import config_folder
from tabwb.records.errors import MissingExtra, UsageError
from tabwb.records.files import write_private

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


def prepare_pictures(environment: Mapping[str, str] = os.environ) -> None:
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


def picture_widget() -> type[Widget] | None:
    """Return the widget that draws pictures exactly; None: half-blocks."""
    return _widget


THEME_NAMES = ("dark", "light", "high-contrast")
# One accent colour each, quiet borders, no red and green for a verdict.
_COLOURS = {
    "primary secondary accent success border": ("#7fb4ca", "#1f5f7a", "#ffd75f"),
    "warning": ("#d9a75f", "#855600", "#ffd75f"),
    "error": ("#dd9273", "#9c3d12", "#ffffff"),
    "foreground": ("#d6d9de", "#23282f", "#ffffff"),
    "background scrollbar-background scrollbar-corner-color": ("#14171c", "#faf9f6", "#000000"),
    "surface": ("#191d23", "#f4f2ee", "#000000"),
    "panel boost": ("#20252d", "#eae7e1", "#262626"),
    "quiet": ("#98a1ae", "#565d66", "#d8d8d8"),
    "line": ("#6c7685", "#857f74", "#b0b0b0"),
    "hover": ("#262c36", "#e6e2da", "#4a4a4a"),
    "field": ("#2b3139", "#dfdcd6", "#272727"),
    "on-accent": ("#10141a", "#ffffff", "#000000"),
    "block-cursor-background": ("#263a46", "#cfe1e9", "#595959"),
    "block-cursor-foreground": ("#eef3f6", "#12313f", "#ffffff"),
    "block-cursor-text-style": ("none", "none", "bold"),
    "block-cursor-blurred-background": ("#232a33", "#e4e5e2", "#404040"),
    "input-selection-background": ("#7fb4ca 30%", "#1f5f7a 25%", "#ffd75f 45%"),
    "scrollbar": ("#6c7685", "#857f74", "#b0b0b0"),
}
"""Colours of the themes, in their order, by parts of Textual's themes and variables of styles."""


def colours_of(name: str) -> dict[str, Any]:
    """Return the colours of a theme of tabwb by the names of its parts."""
    return {
        part: row[THEME_NAMES.index(name)]
        for parts, row in _COLOURS.items()
        for part in parts.split()
    }


def theme(name: str, colours: Mapping[str, Any], *, dark: bool) -> Theme:
    """Return a theme of Textual of these colours."""
    own = {one.name for one in fields(Theme)}
    variables = {part: colour for part, colour in colours.items() if part not in own}
    parts = {part: colour for part, colour in colours.items() if part in own}
    return Theme(name, dark=dark, variables=variables, **parts)


THEMES = DARK, LIGHT, HIGH_CONTRAST = tuple(
    theme(name, colours_of(name), dark=name != "light") for name in THEME_NAMES
)


def next_theme(name: str, names: Sequence[str] = THEME_NAMES) -> str:
    """Return the name of the theme after this one.

    >>> next_theme("dark"), next_theme("high-contrast"), next_theme("of another program")
    ('light', 'dark', 'dark')
    """
    at = names.index(name) + 1 if name in names else 0
    return names[at % len(names)]


FILE_NAME = "workbench.json"
MIN_WIDTH, MAX_WIDTH = 16, 60
"""Columns of a dock."""
EXPLORER = 28
"""Columns of the explorer at first."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Settings of the user interface that are kept.

    Attributes:
        theme: one of :data:`THEME_NAMES` or of the user's own, or empty for the configuration's.
        explorer, scores: whether the docks are shown where there is room.
        folded: titles of the explorer's folded groups, with blanks between.
        explorer_width, scores_width: columns.
        notice_seen: the research-only sentence was shown once.
        microphone: name of the microphone for spoken naming, or empty for the system's default.
        sweep_grid: the grid file of the sweep that was started last, or empty.
        sweep_workers: its number of workers.
        arpabet: phonemes are shown in ARPAbet; else in IPA.
        names_shown: the name of a picture is shown beside it while it is being named.
        begun: the fields of the last administration that was begun in the dialog.
    """

    theme: str = ""
    explorer: bool = True
    scores: bool = True
    folded: str = ""
    explorer_width: int = EXPLORER
    scores_width: int = 44
    notice_seen: bool = False
    microphone: str = ""
    sweep_grid: str = ""
    sweep_workers: int = 1
    arpabet: bool = False
    names_shown: bool = False
    begun: Mapping[str, str] = field(default_factory=dict)


def _path(path: Path | None) -> Path:
    return path or config_folder(os.environ) / FILE_NAME


def _can_be_shown(value: object) -> bool:
    """Return whether a value is not a text, or one that a terminal shows as it is."""
    return not isinstance(value, str) or value.isprintable()


def load(path: Path | None = None, themes: Sequence[str] = THEME_NAMES) -> Remembered:
    """Return the kept settings, with the default for every missing or damaged value."""
    try:
        values = json.loads(_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return Remembered()
    if not isinstance(values, dict):
        return Remembered()
    kept = {
        name: values[name]
        for name, default in asdict(Remembered()).items()
        if type(values.get(name)) is type(default) and _can_be_shown(values[name])
    }
    if "begun" in kept:
        begun = kept["begun"].items()
        kept["begun"] = {
            name: text for name, text in begun if type(text) is str and _can_be_shown(text)
        }
    for name in ("explorer_width", "scores_width"):
        if name in kept:
            kept[name] = min(max(kept[name], MIN_WIDTH), MAX_WIDTH)
    if kept.get("theme") not in themes:
        kept.pop("theme", None)
    return Remembered(**kept)


def save(remembered: Remembered, path: Path | None = None) -> bool:
    """Write the settings atomically; return False if the folder cannot be written."""
    try:
        write_private(_path(path), json.dumps(asdict(remembered), indent=1) + "\n")
    except OSError:
        return False
    return True
