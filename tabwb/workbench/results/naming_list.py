"""The list of responses of a naming administration, as wide as there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable

from tabwb.report.render.naming import code_of, heard_or_transcribed, score_of
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.shell.wording import MARKS, seconds, shortened

PADDING = 2
"""What a table puts around each cell."""
SHOWN_BY_WIDTH = ("item", "latency", "code", "said", "score", "#")
"""Columns beside the mark, those that are shown first where room is short first."""
ORDER = ("#", "item", "said", "score", "code", "latency")
"""Columns from left to right."""
MOST = {"item": 20, "said": 24, "score": 16, "code": 22}
LEAST = {"item": 8, "said": 8, "score": 8, "code": 8}


def _said(row: ResponseRow, arpabet: bool) -> str:
    if row.named is not None:
        return heard_or_transcribed(row.named.item, arpabet=arpabet)
    attempt = row.item.attempt
    return " ".join(attempt.response.split()) if attempt else row.item.trial.reason


def cells_of(row: ResponseRow, *, arpabet: bool = False) -> dict[str, str]:
    """Return the words of each column for a response.

    Args:
        row: the response, as the one who listens may see it.
        arpabet: show phonemes in ARPAbet instead of IPA.
    """
    attempt, named = row.item.attempt, row.named
    latency = attempt.latency_s if attempt else None
    cells = {"#": str(row.item.place[0]), "item": row.item.trial.plan.item}
    cells["said"] = _said(row, arpabet)
    cells["score"] = row.verdict if named is None else score_of(named.item)
    cells["code"] = "" if named is None else code_of(named.item)
    cells["latency"] = seconds(latency if named is None else named.item.latency_s)
    return cells


def columns_for(rows: Sequence[dict[str, str]], room: int) -> dict[str, int]:
    """Return the columns that fit beside the mark, from left to right, and their widths.

    >>> rows = [{"item": "house", "latency": "0.61 s", "code": "semantic", "said": "/haʊs/",
    ...          "score": "right", "#": "12"}]
    >>> columns_for(rows, 24), columns_for(rows, 36)
    ({'item': 8, 'latency': 7}, {'item': 8, 'code': 8, 'latency': 7})
    """
    sizes: dict[str, int] = {}
    left = room - PADDING - 1
    for name in SHOWN_BY_WIDTH:
        words = max((len(row[name]) for row in rows), default=0)
        width = max(min(words, MOST.get(name, words)), len(name), LEAST.get(name, 0))
        least = min(width, max(LEAST.get(name, width), len(name)))
        if left < least + PADDING:
            continue
        sizes[name] = min(width, left - PADDING)
        left -= sizes[name] + PADDING
    return {name: sizes[name] for name in ORDER if name in sizes}


class NamedTable(DataTable[Text]):
    """Every item with its response; a click on a head, or ``>``, sorts by it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_top", show=False),
        Binding("end", "scroll_bottom", show=False),
        Binding("space", "cursor_down", show=False),
        Binding("greater_than_sign", "sort(1)", show=False),
        Binding("less_than_sign", "sort(-1)", show=False),
    ]
    HELP = """\
# Responses

One row for each item; what the row stands for is beside the list. **>** sorts by the next column,
**<** turns the order round; a click on a head does both. **enter** goes to the response, **esc**
comes back.
"""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, cursor_type="row", classes="enter-opens")
        self._rows: Sequence[ResponseRow] = ()
        self._numbers: list[int] = []
        self._sorted, self._turned = "#", False
        self.arpabet = False

    @property
    def marked(self) -> int | None:
        """The number of the marked trial."""
        at = self.cursor_row
        return self._numbers[at] if 0 <= at < len(self._numbers) else None

    def forget(self) -> None:
        """Forget mark and order: responses of another administration follow."""
        self._numbers, self._sorted, self._turned = [], "#", False

    def mark(self, number: int) -> None:
        """Put the mark on a trial."""
        if number in self._numbers:
            self.move_cursor(row=self._numbers.index(number))

    def fill(self, rows: Sequence[ResponseRow], room: int) -> None:
        """Show responses; the mark stays on its trial, the view where it is scrolled.

        Args:
            rows: as the one who listens may see them.
            room: columns of the list.
        """
        kept, offset = self.marked, self.scroll_offset
        self._rows = rows
        cells = [cells_of(row, arpabet=self.arpabet) for row in rows]
        order = sorted(range(len(rows)), key=self._key(cells), reverse=self._turned)
        sizes = columns_for(cells, room - self.scrollbar_size_vertical)
        self.clear(columns=True)
        self.add_column(Text(""), width=1, key="")
        for name, width in sizes.items():
            justify: Literal["left", "right"] = "right" if name in {"#", "latency"} else "left"
            sign = ("▴" if self._turned else "▾") if name == self._sorted else ""
            self.add_column(Text(f"{name}{sign}"[:width], justify=justify), width=width, key=name)
        for at in order:
            words = [_cell(name, cells[at][name], width) for name, width in sizes.items()]
            self.add_row(Text(MARKS[rows[at].glyph]), *words, key=cells[at]["#"])
        self._numbers = [rows[at].item.place[0] for at in order]
        if kept is not None:
            self.mark(kept)
            self.scroll_to(offset.x, offset.y, animate=False)

    def _key(self, cells: Sequence[dict[str, str]]) -> Callable[[int], tuple[object, ...]]:
        name = self._sorted

        def key(at: int) -> tuple[object, ...]:
            words = cells[at][name]
            if name == "#":
                return (int(words),)
            if name == "latency":
                number = words.removesuffix(" s")
                return (not number, float(number or 0), at)
            return (words.casefold(), at)

        return key

    def action_sort(self, step: int) -> None:
        """Sort by the next column (1), or turn the order round (-1)."""
        names = [name for name in ORDER if name in {key.value for key in self.columns}]
        if step < 0:
            self.sort_by(self._sorted)
        elif names:
            at = names.index(self._sorted) + 1 if self._sorted in names else 0
            self.sort_by(names[at % len(names)])

    def sort_by(self, name: str) -> None:
        """Sort by a column; by the same one again: turn the order round."""
        self._turned = name == self._sorted and not self._turned
        self._sorted = name
        self.fill(self._rows, self.size.width)

    def on_data_table_header_selected(self, event: DataTable.HeaderSelected) -> None:
        """Sort by the column whose head was clicked."""
        event.stop()
        if event.column_key.value:
            self.sort_by(event.column_key.value)


def _cell(name: str, words: str, width: int) -> Text:
    right = name in {"#", "latency"}
    cell = Text(
        shortened(words, width) if name == "item" else words,
        justify="right" if right else None,
        no_wrap=True,
    )
    cell.truncate(width, overflow="ellipsis")
    return cell
