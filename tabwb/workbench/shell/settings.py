"""Settings of the user interface: the themes, and what is kept in a small JSON file."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from textual.theme import Theme

from tabwb.plugin_api.config.settings import config_folder
from tabwb.records.files import write_private

# One accent colour each, quiet borders, no red and green for a verdict.
DARK = Theme(
    name="dark",
    primary="#7fb4ca",
    secondary="#7fb4ca",
    accent="#7fb4ca",
    warning="#d9a75f",
    error="#d98a6a",
    success="#7fb4ca",
    foreground="#d6d9de",
    background="#14171c",
    surface="#191d23",
    panel="#20252d",
    boost="#20252d",
    dark=True,
    variables={
        "quiet": "#929ba8",
        "line": "#333a45",
        "hover": "#262c36",
        "on-accent": "#10141a",
        "block-cursor-background": "#2d4654",
        "block-cursor-foreground": "#eef3f6",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#232a33",
        "input-selection-background": "#7fb4ca 30%",
        "border": "#7fb4ca",
        "scrollbar": "#2b323c",
        "scrollbar-background": "#14171c",
        "scrollbar-corner-color": "#14171c",
    },
)
LIGHT = Theme(
    name="light",
    primary="#1f5f7a",
    secondary="#1f5f7a",
    accent="#1f5f7a",
    warning="#8a5a00",
    error="#9c3d12",
    success="#1f5f7a",
    foreground="#23282f",
    background="#faf9f6",
    surface="#f4f2ee",
    panel="#eae7e1",
    boost="#eae7e1",
    dark=False,
    variables={
        "quiet": "#596069",
        "line": "#d3cfc7",
        "hover": "#e6e2da",
        "on-accent": "#ffffff",
        "block-cursor-background": "#cfe1e9",
        "block-cursor-foreground": "#12313f",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#e4e5e2",
        "input-selection-background": "#1f5f7a 25%",
        "border": "#1f5f7a",
        "scrollbar": "#d8d4cc",
        "scrollbar-background": "#faf9f6",
        "scrollbar-corner-color": "#faf9f6",
    },
)
HIGH_CONTRAST = Theme(
    name="high-contrast",
    primary="#ffd75f",
    secondary="#ffd75f",
    accent="#ffd75f",
    warning="#ffd75f",
    error="#ffffff",
    success="#ffd75f",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#262626",
    boost="#262626",
    dark=True,
    variables={
        "quiet": "#d8d8d8",
        "line": "#ffffff",
        "hover": "#4a4a4a",
        "on-accent": "#000000",
        "block-cursor-background": "#ffd75f",
        "block-cursor-foreground": "#000000",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": "#404040",
        "input-selection-background": "#ffd75f 45%",
        "border": "#ffd75f",
        "scrollbar": "#ffffff",
        "scrollbar-background": "#000000",
        "scrollbar-corner-color": "#000000",
    },
)
THEMES = (DARK, LIGHT, HIGH_CONTRAST)
THEME_NAMES = tuple(theme.name for theme in THEMES)


def next_theme(name: str) -> str:
    """Return the name of the theme after this one.

    >>> next_theme("dark"), next_theme("high-contrast"), next_theme("of another program")
    ('light', 'dark', 'dark')
    """
    at = THEME_NAMES.index(name) + 1 if name in THEME_NAMES else 0
    return THEME_NAMES[at % len(THEME_NAMES)]


FILE_NAME = "workbench.json"
MIN_WIDTH, MAX_WIDTH = 16, 60
"""Columns of a dock."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Settings of the user interface that are kept.

    Attributes:
        theme: one of :data:`THEME_NAMES`, or empty for the configuration's.
        explorer, scores: whether the docks stand (from 100 columns up).
        explorer_width, scores_width: columns.
        notice_seen: the research-only sentence was shown once.
        microphone: name of the microphone for spoken naming, or empty for the system's own.
    """

    theme: str = ""
    explorer: bool = True
    scores: bool = True
    explorer_width: int = 26
    scores_width: int = 44
    notice_seen: bool = False
    microphone: str = ""


def _path(path: Path | None) -> Path:
    return path or config_folder(os.environ) / FILE_NAME


def load(path: Path | None = None) -> Remembered:
    """Return the kept settings, with the default for every missing or damaged value."""
    try:
        values = json.loads(_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Remembered()
    if not isinstance(values, dict):
        return Remembered()
    kept = {
        field.name: values[field.name]
        for field in fields(Remembered)
        if type(values.get(field.name)) is type(field.default)
    }
    for name in ("explorer_width", "scores_width"):
        if name in kept:
            kept[name] = min(max(kept[name], MIN_WIDTH), MAX_WIDTH)
    if kept.get("theme") not in THEME_NAMES:
        kept.pop("theme", None)
    return Remembered(**kept)


def save(remembered: Remembered, path: Path | None = None) -> bool:
    """Write the settings atomically; return False if the folder cannot be written."""
    try:
        write_private(_path(path), json.dumps(asdict(remembered), indent=1) + "\n")
    except OSError:
        return False
    return True
