"""Style sheets of pages and dialogs, which are read when one is opened first."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any

from textual.app import App
from textual.screen import Screen


def read_styles(app: App[Any], paths: Iterable[PurePath]) -> None:
    """Read style sheets that the application does not have yet.

    Textual reads those of a screen too, but then parses every other one again and updates the
    styles of all widgets. Ours concern only what is inside their own page or dialog.
    """
    for path in paths:
        place = str(path), ""
        if not app.stylesheet.has_source(*place):  # its read() would leave the rules found before
            css = Path(path).read_text(encoding="utf-8")
            app.stylesheet.add_source(css, read_from=place)


def prepare(screen: Screen[Any]) -> None:
    """Read the styles of a screen, and give it the class for the height of the window.

    Textual gives the class after the first layout, and updates all styles for it.
    """
    app = screen.app
    read_styles(app, screen.css_path)
    least = [at for at in app.VERTICAL_BREAKPOINTS or () if at[0] <= app.size.height]
    if least:
        screen.add_class(max(least)[1], update=False)
