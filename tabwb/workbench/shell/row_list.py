"""A list of rows with columns that draws only the rows that can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, MouseMove
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

from tabwb.workbench.shell.columns import GAP, Column, R, line
from tabwb.workbench.shell.wording import ACCENT, QUIET

EDGE = 2
"""Columns before the first cell: the mark of the current row."""


class RowList(ScrollView, can_focus=True):
    """Rows under heads. The current row has a bar at its left; the heads stay while it scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "edge(0)", show=False),
        Binding("end", "edge(-1)", show=False),
        Binding("enter", "select", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--head", "row-list--current"}
    DEFAULT_CSS = """
    RowList { background: transparent; overflow-x: hidden; scrollbar-size-vertical: 1; }
    RowList > .row-list--head { color: $quiet; }
    RowList > .row-list--current {
        background: $block-cursor-blurred-background; color: $foreground;
    }
    RowList:focus > .row-list--current {
        background: $block-cursor-background; color: $block-cursor-foreground;
    }
    """
    ALLOW_SELECT = False

    @dataclass
    class Highlighted(Message):
        """Another row is the current one."""

        list: RowList
        row: int

        @property
        def control(self) -> RowList:
            """The list."""
            return self.list

    @dataclass
    class Selected(Highlighted):
        """A row was opened with enter or a double click."""

    @dataclass
    class HeadClicked(Message):
        """The head of a column was clicked."""

        list: RowList
        column: int

        @property
        def control(self) -> RowList:
            """The list."""
            return self.list

    class Resized(Message):
        """The list is as wide as it is now; what is laid out for its width follows."""

    def __init__(self, *, id: str, help_text: str) -> None:
        super().__init__(id=id, classes="enter-opens")
        self.help_text = help_text
        self.current = -1
        self._columns: Sequence[Column[Any]] = ()
        self._rows: Sequence[Any] = ()

    def show(self, columns: Sequence[Column[R]], rows: Sequence[R], current: int) -> None:
        """Show rows."""
        self._columns, self._rows = columns, rows
        self.virtual_size = Size(max(self.size.width, 1), len(rows) + 1)
        self.current = -1
        self.go(min(max(current, 0), len(rows) - 1))
        self.refresh()

    def go(self, row: int) -> None:
        """Make a row the current one, and scroll it into view."""
        if row == self.current or not 0 <= row < len(self._rows):
            return
        self.current = row
        self.post_message(self.Highlighted(self, row))
        self._see()
        self.refresh()

    def _see(self) -> None:
        if self.current >= 0 and self.size.height > 1:
            top, shown = self.scroll_offset.y, self.scrollable_content_region.height - 1
            if self.current < top:
                self.scroll_to(y=self.current, animate=False, force=True)
            elif self.current >= top + shown:
                self.scroll_to(y=self.current - shown + 1, animate=False, force=True)

    def on_resize(self) -> None:
        """Keep the current row in view."""
        self.virtual_size = Size(max(self.size.width, 1), len(self._rows) + 1)
        self.post_message(self.Resized())
        self._see()

    def action_move(self, step: int) -> None:
        """Go to the row before or after."""
        self.go(min(max(self.current + step, 0), len(self._rows) - 1))

    def action_page(self, pages: int) -> None:
        """Go so many pages on."""
        self.action_move(pages * max(self.size.height - 2, 1))

    def action_edge(self, row: int) -> None:
        """Go to the first or the last row."""
        self.go(row if row >= 0 else len(self._rows) - 1)

    def action_select(self) -> None:
        """Open the current row."""
        if self.current >= 0:
            self.post_message(self.Selected(self, self.current))

    def on_click(self, event: Click) -> None:
        """Make a row the current one, open it at a second click, or tell which head it was."""
        if event.y == 0:
            column = self._column_at(event.x)
            if column is not None:
                self.post_message(self.HeadClicked(self, column))
            return
        row = event.y - 1 + self.scroll_offset.y
        if 0 <= row < len(self._rows):
            self.go(row)
            if event.chain > 1:
                self.action_select()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say what the column under the mouse means."""
        column = self._column_at(event.x)
        self.tooltip = (self._columns[column].tip or None) if column is not None else None

    def _widths(self) -> list[int]:
        room = self.scrollable_content_region.width - EDGE
        fixed = sum(column.width for column in self._columns) + GAP * (len(self._columns) - 1)
        rest = max(room - fixed, 0)
        return [column.width or rest for column in self._columns]

    def _column_at(self, x: int) -> int | None:
        end = EDGE
        for at, width in enumerate(self._widths()):
            end += width + GAP
            if x < end:
                return at
        return None

    def render_line(self, y: int) -> Strip:
        """Draw the heads, or the row that is in this line."""
        width = self.scrollable_content_region.width
        style = self.visual_style
        edge = Content(" " * EDGE)
        row = y - 1 + self.scroll_offset.y
        if y == 0:
            style += Style.from_styles(self.get_component_styles("row-list--head"))
            cells: list[Content | str] = [column.head for column in self._columns]
        elif row < len(self._rows):
            cells = [column.cell(self._rows[row]) for column in self._columns]
            if row == self.current:
                style += Style.from_styles(self.get_component_styles("row-list--current"))
                edge = Content.assemble(("▌ ", ACCENT if self.has_focus else QUIET))
        else:
            return Strip.blank(self.size.width, self.rich_style)
        shown = Content.assemble(edge, line(self._columns, self._widths(), cells))
        (strip,) = Visual.to_strips(self, shown.truncate(width), width, 1, style, pad=True)
        return strip.adjust_cell_length(width, style.rich_style)

    def on_focus(self) -> None:
        """Draw the bar of the current row again."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw the bar of the current row again."""
        self.refresh()
