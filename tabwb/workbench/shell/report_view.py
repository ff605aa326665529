"""Views of the report, which are Rich renderables, in the colours of the theme."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from io import StringIO

from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from textual.content import Content

from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, AMBER, LINE, QUIET

_COLOURS = {"cyan": ACCENT, "yellow": AMBER}
"""Colours of the report, and the theme's variable for each."""


def content_of(view: RenderableType, width: int) -> Content:
    """Return a view of the report as lines of text for a widget.

    Args:
        view: as a function of :mod:`tabwb.report.render` returns it.
        width: columns of characters.
    """
    console = Console(
        file=StringIO(), width=max(width, 1), highlight=False, markup=False, emoji=False
    )
    lines = console.render_lines(view, pad=False)
    return Content("\n").join(Content.assemble(*_pieces(line)) for line in lines)


def _pieces(line: list[Segment]) -> Iterator[tuple[str, str]]:
    while line and line[-1].text.isspace():
        line = line[:-1]
    for segment in line:
        rule = segment.text and set(segment.text) == {"─"}
        yield segment.text, LINE if rule else _theme_style(segment.style)


@cache
def _theme_style(style: Style | None) -> str:
    if style is None:
        return ""
    names = ["bold"] if style.bold else []
    if style.reverse:
        names.append("reverse")
    if style.dim:
        names.append(QUIET)
    if style.color is not None and style.color.name in _COLOURS:
        names.append(_COLOURS[style.color.name])
    return " ".join(names)


class ReportView(WidthAwareWidget):
    """Shows a view of the report, laid out again when its width changes."""

    def __init__(self, view: RenderableType = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._view = view
        self._painted: tuple[int, Content] | None = None

    def show(self, view: RenderableType) -> None:
        """Show another view."""
        self._view, self._painted = view, None
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        if self._painted is None or self._painted[0] != width:
            self._painted = width, content_of(self._view, width)
        return self._painted[1]
