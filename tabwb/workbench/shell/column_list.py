"""Lists of rows in columns, with a head; several on one page are walked through like one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, Resize
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

Laid = tuple[Content, Sequence[Content]]
"""The head of a list, and its rows."""
LayOut = Callable[[int], Laid]
"""Lays a list out for a number of columns."""


class Rows(OptionList):
    """The rows of a :class:`ColumnList`: a click highlights one, a second click or enter opens it.

    Unlike those of :mod:`tabwb.workbench.shell.row_list` they may have several lines.
    """

    @dataclass
    class Left(Message):
        """The cursor was moved over the first row (-1) or the last row (1)."""

        rows: Rows
        step: int

    def __init__(self) -> None:
        super().__init__(compact=True, classes="enter-opens")

    def action_cursor_up(self) -> None:
        """Highlight the row above."""
        if self.highlighted in (None, 0):
            self.post_message(self.Left(self, -1))
        else:
            super().action_cursor_up()

    def action_cursor_down(self) -> None:
        """Highlight the row below."""
        if self.highlighted in (None, self.option_count - 1):
            self.post_message(self.Left(self, 1))
        else:
            super().action_cursor_down()

    async def _on_click(self, event: Click) -> None:
        event.prevent_default()
        clicked = event.style.meta.get("option")
        if clicked is None:
            return
        opens = event.chain > 1 or self.highlighted == clicked
        self.highlighted = clicked
        if opens:
            self.action_select()


class ColumnList(Vertical):
    """A list with the heads of its columns, laid out for its width.

    Cursor and scroll position stay when the rows change.
    """

    DEFAULT_CSS = """
    ColumnList { height: 1fr; }
    ColumnList > Static { height: 1; color: $quiet; }
    ColumnList > Rows {
        height: 1fr; background: transparent; scrollbar-size-vertical: 1; overflow-x: hidden;
    }
    ColumnList.-fits { height: auto; }
    ColumnList.-fits > Rows { height: auto; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._head, self.rows = Static(), Rows()
        self._ids: tuple[str, ...] = ()
        self._lay_out: LayOut = lambda width: (Content(""), ())
        self._shown: tuple[Content, ...] = ()
        self._drawn: tuple[int, LayOut] | None = None
        """The width and the function of the rows that are shown."""

    def compose(self) -> ComposeResult:
        """Yield head and rows."""
        yield self._head
        yield self.rows

    def show(self, ids: Sequence[str], lay_out: LayOut) -> None:
        """Show rows with these ids, laid out by a function."""
        self._lay_out = lay_out
        self._lay(tuple(ids))

    def on_resize(self, event: Resize) -> None:
        """Lay out again for another width."""
        if self._drawn != (self._room, self._lay_out):
            self._lay(self._ids)

    @property
    def _room(self) -> int:
        """The columns of a row, beside the scroll bar."""
        return self.content_size.width - 1

    @property
    def chosen(self) -> str | None:
        """The id of the highlighted row, or None."""
        at = self.rows.highlighted
        return None if at is None or at >= len(self._ids) else self._ids[at]

    @property
    def first(self) -> str | None:
        """The id of the first row, or None."""
        return self._ids[0] if self._ids else None

    def choose(self, wanted: str) -> None:
        """Highlight the row with an id, if there is one."""
        if wanted in self._ids:
            self.rows.highlighted = self._ids.index(wanted)

    def _lay(self, ids: tuple[str, ...]) -> None:
        self._ids = ids
        width = self._room
        if width <= 0:
            return
        self._drawn = width, self._lay_out
        head, lines = self._lay_out(width)
        self._head.display = bool(head.plain.strip())
        shown = self._head.content
        if not (isinstance(shown, Content) and head.is_same(shown)):
            self._head.update(head)
        if ids == tuple(option.id for option in self.rows.options):
            for at, (line, drawn) in enumerate(zip(lines, self._shown, strict=True)):
                if not line.is_same(drawn):
                    self.rows.replace_option_prompt_at_index(at, line)
        else:
            before = self.rows.highlighted_option
            kept = before.id if before is not None else None
            top = self.rows.scroll_offset.y
            self.rows.set_options(
                Option(line, id=name) for name, line in zip(ids, lines, strict=True)
            )
            self.rows.highlighted = 0 if ids else None
            if kept is not None and kept in ids:
                self.choose(kept)
                self.rows.scroll_to(y=top, animate=False)
        self._shown = tuple(lines)
