"""Three themes as data: one accent colour each, quiet borders, no red and green for a verdict."""

from __future__ import annotations

from textual.theme import Theme

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
NAMES = tuple(theme.name for theme in THEMES)


def after(name: str) -> str:
    """Return the name of the next theme.

    >>> after("dark"), after("high-contrast"), after("of another program")
    ('light', 'dark', 'dark')
    """
    return NAMES[(NAMES.index(name) + 1) % len(NAMES)] if name in NAMES else NAMES[0]
