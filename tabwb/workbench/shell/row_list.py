"""The one list of rows: in columns, with headings between them, drawn only where it is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, MouseMove
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

from tabwb.workbench.shell.columns import GAP, Column, Fitted, Heading, fitted
from tabwb.workbench.shell.widgets import Lines
from tabwb.workbench.shell.wording import ACCENT, QUIET

EDGE = 2
"""Columns before the first cell: the mark of the current row."""
Below = Callable[[Any, int], Content]
"""Returns the second line of a row for a number of columns."""


class RowList(ScrollView, can_focus=True):
    """Rows under heads. The current row has a bar at its left; the heads stay while it scrolls.

    A click goes to a row, a second click or enter opens it. The current row stays the same when
    other rows are shown, if it is among them.
    """

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
    RowList {
        height: 1fr; background: transparent; overflow-x: hidden; scrollbar-size-vertical: 1;
    }
    RowList:focus { background-tint: transparent 0%; }
    RowList > .row-list--head { color: $quiet; }
    RowList > .row-list--current {
        background: $block-cursor-blurred-background; color: $foreground;
    }
    RowList:focus > .row-list--current {
        background: $block-cursor-background; color: $block-cursor-foreground;
    }
    """
    GAP: ClassVar[int] = GAP
    """Columns of characters between two columns."""
    AT_ONCE: ClassVar[bool] = False
    """Whether the first click on a row opens it."""

    @dataclass
    class Highlighted(Message):
        """Another row is the current one: its place, and what was there."""

        list: RowList
        row: int
        value: Any

        @property
        def control(self) -> RowList:
            """The list."""
            return self.list

    @dataclass
    class Selected(Highlighted):
        """A row was opened with enter or a second click."""

    @dataclass
    class HeadClicked(Message):
        """The head of a column was clicked."""

        list: RowList
        column: Column[Any]

        @property
        def control(self) -> RowList:
            """The list."""
            return self.list

    @dataclass
    class Left(Message):
        """The cursor was moved over the first row (-1) or the last row (1)."""

        list: RowList
        step: int

    def __init__(self, *, id: str, help_text: str = "", opens: bool = True) -> None:
        super().__init__(id=id, classes="enter-opens" if opens else None)
        self.help_text = help_text
        self.current = -1
        self._columns: Sequence[Column[Any]] = ()
        self._rows: Sequence[Any] = ()
        self._measured: Sequence[Any] = ()
        """The rows that the widths of the columns are for."""
        self._ids: Callable[[Any], object] = id_of
        self._below: Below | None = None
        self._usable: Callable[[Any], bool] = lambda row: True
        self._fitted: Fitted[Any] | None = None
        self._heads = 0
        """Lines of the heads."""
        self._opens_now = False
        """Whether the last click opened a row."""
        self.none: Lines = lambda width: ()
        """What is shown while there is no row."""

    # ---------------------------------------------------------------- what is shown

    def show(
        self,
        columns: Sequence[Column[Any]],
        rows: Sequence[Any],
        *,
        current: int | None = None,
        ids: Callable[[Any], object] | None = None,
        measured: Sequence[Any] | None = None,
        below: Below | None = None,
        usable: Callable[[Any], bool] = lambda row: True,
    ) -> None:
        """Show rows.

        Args:
            columns: those that there may be.
            rows: rows, and headings between them.
            current: the place of the current row; None: the row with the id of the one before; -1:
                there is none until the cursor is moved.
            ids: returns what tells a row from others.
            measured: the rows that the widths of the columns are for; None: those that are shown.
            below: returns a second line of each row.
            usable: returns whether a row can be the current one; others are dimmed.
        """
        before, n = self.chosen, len(self._rows)
        self._ids = ids or id_of
        self._below, self._usable = below, usable
        fits = self._fitted is not None and self._columns is columns
        fits = fits and measured is not None and self._measured is measured
        self._columns, self._rows = columns, rows
        self._measured = rows if measured is None else measured
        if not fits:
            self._fit()
        self._resize()
        at = self._place(before) if current is None else current
        self.current = self._row_from(min(at, len(rows) - 1), 1) if at >= 0 else -1
        if self.current >= 0:
            self.post_message(self.Highlighted(self, self.current, rows[self.current]))
        if n != len(rows) or self.chosen != before:  # else it stays where it was scrolled to
            self._see()
        self.refresh()

    def _place(self, wanted: object) -> int:
        if wanted is None:
            return 0
        found = (at for at, row in enumerate(self._rows) if self._name_of(row) == wanted)
        return next(found, 0)

    def _name_of(self, row: Any) -> object:
        return None if isinstance(row, Heading) else self._ids(row)

    def _fit(self) -> None:
        room = self.size.width - EDGE - 1  # the scroll bar may come
        self._fitted = fitted(self._columns, self._measured, room, self.GAP) if room > 0 else None
        head = "" if self._fitted is None else self._fitted.head.plain.strip()
        self._heads = int(bool(head))

    def _resize(self) -> None:
        lines = len(self._rows) * self._tall + self._heads
        self.virtual_size = Size(max(self.size.width, 1), lines)
        if self.styles.auto_dimensions:
            self.refresh(layout=True)

    @property
    def _tall(self) -> int:
        """The lines of a row."""
        return 1 if self._below is None else 2

    @property
    def rows(self) -> Sequence[Any]:
        """The rows, with the headings between them."""
        return self._rows

    @property
    def columns(self) -> list[Column[Any]]:
        """The columns for which there is room."""
        return [] if self._fitted is None else self._fitted.columns

    @property
    def chosen(self) -> Any:
        """The id of the current row, or None."""
        there = 0 <= self.current < len(self._rows)
        return self._name_of(self._rows[self.current]) if there else None

    @property
    def first(self) -> Any:
        """The id of the first row, or None."""
        names = (self._name_of(row) for row in self._rows)
        return next((name for name in names if name is not None), None)

    def choose(self, wanted: object) -> None:
        """Make the row with an id the current one, if there is one."""
        if any(self._name_of(row) == wanted for row in self._rows):
            self.go(self._place(wanted))

    def on_resize(self) -> None:
        """Lay out for the new width, and keep the current row in view."""
        room = self.size.width - EDGE - 1
        if self._fitted is None or self._fitted.width != room:
            self._fit()
        self._resize()
        self._see()

    # ---------------------------------------------------------------- moving

    def _can_be(self, row: Any) -> bool:
        """Return whether a row can be the current one."""
        return not isinstance(row, Heading) and self._usable(row)

    def _row_from(self, row: int, step: int) -> int:
        """Return the first row from here on that can be current, else the first the other way."""
        for way in (step, -step):
            at = row
            while 0 <= at < len(self._rows):
                if self._can_be(self._rows[at]):
                    return at
                at += way
        return -1

    def go(self, row: int) -> None:
        """Make a row the current one, and scroll it into view."""
        if row == self.current or not 0 <= row < len(self._rows):
            return
        self.current = row
        self.post_message(self.Highlighted(self, row, self._rows[row]))
        self._see()
        self.refresh()

    def _see(self) -> None:
        shown = self.scrollable_content_region.height - self._heads
        if self.current < 0 or shown < 1:
            return
        top, first = self.scroll_offset.y, self.current
        least = max(self.current - shown // self._tall + 1, 0)
        while first > least and isinstance(self._rows[first - 1], Heading):
            first -= 1
        first, end = first * self._tall, (self.current + 1) * self._tall
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
        elif end > top + shown:
            self.scroll_to(y=end - shown, animate=False, force=True)

    def action_move(self, step: int) -> None:
        """Go to the row before or after."""
        at = self.current + step
        if not 0 <= at < len(self._rows) or self._row_from(at, step) == self.current:
            self.post_message(self.Left(self, step))
        else:
            self.go(self._row_from(at, step))

    def action_page(self, pages: int) -> None:
        """Go so many pages on."""
        room = max((self.size.height - self._heads) // self._tall - 1, 1)
        at = min(max(self.current + pages * room, 0), len(self._rows) - 1)
        self.go(self._row_from(at, pages))

    def action_edge(self, row: int) -> None:
        """Go to the first or the last row."""
        self.go(self._row_from(row % max(len(self._rows), 1), -1 if row else 1))

    def action_select(self) -> None:
        """Open the current row."""
        if 0 <= self.current < len(self._rows):
            self.post_message(self.Selected(self, self.current, self._rows[self.current]))

    # ---------------------------------------------------------------- mouse

    def on_click(self, event: Click) -> None:
        """Make a row the current one, open it at a second click, or tell which head it was."""
        if (at := event.get_content_offset(self)) is None or self.text_selection is not None:
            return  # text was selected
        if at.y < self._heads:
            if (column := self._column_at(at.x)) is not None:
                self.post_message(self.HeadClicked(self, column))
            return
        row = (at.y - self._heads + self.scroll_offset.y) // self._tall
        if 0 <= row < len(self._rows) and self._can_be(self._rows[row]):
            if event.chain == 1:
                opens = self._opens_now = self.AT_ONCE or row == self.current
            else:
                opens = event.chain == 2 and not self._opens_now  # not again by a double click
            self.go(row)
            if opens:
                self.action_select()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say what the column under the mouse means."""
        at = event.get_content_offset(self)
        column = None if at is None else self._column_at(at.x)
        if any(one.tip for one in self._columns):
            words = column.tip if column is not None else ""
            if words and at is not None and at.y < self._heads and self.sorts(column):
                words += ". Click: sort."
            self.tooltip = words or None

    def sorts(self, column: Column[Any] | None) -> bool:
        """Return whether the tooltip of a head says that a click sorts."""
        return False

    def _column_at(self, x: int) -> Column[Any] | None:
        at = None if self._fitted is None else self._fitted.column_at(x - EDGE)
        return None if at is None else self.columns[at]

    # ---------------------------------------------------------------- drawing

    def render_line(self, y: int) -> Strip:
        """Draw the heads, or the row that is in this line."""
        width = self.scrollable_content_region.width
        at = y if y < self._heads else y + self.scroll_offset.y
        if self._fitted is None or width < 1 or (drawn := self._drawn(at, width)) is None:
            return Strip.blank(self.size.width, self.rich_style)
        line, style = drawn
        chosen = self.text_selection
        if chosen is not None and (span := chosen.get_span(at)) is not None:
            start, end = span
            look = self.screen.get_visual_style("screen--selection")
            line = line.stylize(look, start, len(line) if end < 0 else end)
        (strip,) = Visual.to_strips(self, line, width, 1, style, pad=True)
        return strip.adjust_cell_length(width, style.rich_style).apply_offsets(0, at)

    def _drawn(self, line: int, width: int) -> tuple[Content, Style] | None:
        """Return a line of the whole list, heads first, with its style; None below the last."""
        assert self._fitted is not None
        style, edge = self.visual_style, Content(" " * EDGE)
        at, part = divmod(line - self._heads, self._tall)
        if not self._rows:
            lines = list(islice(self.none(width), line + 1))
            return (lines[line] if line < len(lines) else Content("")).truncate(width), style
        if line < self._heads:
            style += Style.from_styles(self.get_component_styles("row-list--head"))
            shown = self._fitted.head
        elif at >= len(self._rows):
            return None
        elif part and self._below is not None:
            shown = self._below(self._rows[at], self._fitted.width)
        else:
            row = self._rows[at]
            shown = self.line_of(row, self._fitted)
            if not isinstance(row, Heading) and not self._usable(row):
                shown = shown.stylize(QUIET)
        if line >= self._heads and at == self.current:
            style += Style.from_styles(self.get_component_styles("row-list--current"))
            edge = Content.assemble(("▌ ", ACCENT if self.has_focus else QUIET))
        return Content.assemble(edge, shown).truncate(width), style

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that was selected with the mouse, as it is seen."""
        width, n = self.scrollable_content_region.width, self._heads + len(self._rows) * self._tall
        if self._fitted is None or width < 1 or not self._rows:
            return None
        first = 0 if selection.start is None else selection.start.y
        last = n if selection.end is None else selection.end.y
        lines = [""] * n
        for at in range(max(first, 0), min(last + 1, n)):
            drawn = self._drawn(at, width)
            lines[at] = "" if drawn is None else f"  {drawn[0].plain[EDGE:]}".rstrip()
        return selection.extract("\n".join(lines)), "\n"

    def text_select_all(self) -> None:
        """Select nothing at a double click, which opens a row."""

    def line_of(self, row: Any, fitted: Fitted[Any]) -> Content:
        """Return the line of a row."""
        return fitted.line(row)

    def on_focus(self) -> None:
        """Draw the bar of the current row again."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw the bar of the current row again."""
        self.refresh()


def id_of(row: object) -> object:
    """Return the row itself: what tells it from others."""
    return row
