"""A typed table as the terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import wrap

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text

from tabwb.analysis.tables.captioned import (
    FEW,
    HIGH,
    LOW,
    MARK,
    WHY,
    Captioned,
    noted,
)
from tabwb.media.terminal import INDENT, ForWidth, spec_lines
from tabwb.media.views.tables import shown_columns, view_of
from tabwb.records.columns import Column, digits_of, ends_of
from tabwb.records.words import NONE
from tabwb.tables.table import Table

_Shown = tuple[str, bool, list[str]]
"""A column: its title, whether it has numbers, its cells."""
INTERVAL = "95 %"
TIED = "\u00a0"
"""A space at which no line ends."""
GAP = 2
"""Spaces between columns."""
SHARES = (40, 30, 20, 15)
"""Per cent of the width that a column of texts has at most; longer texts have several lines. The
first counts with which all columns stand side by side, and a cell has at most DEEP lines."""
DEEP = 3
FEW_ROWS = 2
"""So many rows are named below a table; of more, their number is given."""
LEAST = 12
WORD = 20
"""Characters: a column of texts has LEAST at least, and no word of WORD or fewer is broken."""


def sectioned_view(
    table: Table, sections: Sequence[str], width: int, *, stacked: bool = False
) -> Text:
    """Return a table with a line above the rows that have some columns in common.

    Columns without any value are left out; the two columns of an interval are one. Texts get
    several lines where all columns fit side by side so. Columns that do not fit go into a further
    part below, with the names of the rows again; ``stacked``: intervals stand below their values
    where there are fewer parts so.
    """
    if not len(table):
        return Text("no rows\n")
    keys = [[value or "" for value in table[name].to_list()] for name in sections]
    above = [", ".join(filter(None, row)) for row in zip(*keys, strict=True)] or [""] * len(table)
    shown = list(_columns(table, sections))
    ways = [shown, list(_stacked(shown))] if stacked else [shown]
    made = Text()
    for part in _best(ways, width):
        for line in _rows([column.head for column in part], part, bottom=True):
            made.append(line, "bold")
        made.append((" " * GAP).join("─" * column.width for column in part) + "\n", "bold")
        for place, section in enumerate(above):
            if section and (place == 0 or section != above[place - 1]):
                made.append(section + "\n", "bold")
            for line in _rows([column.cells[place] for column in part], part):
                made.append(line)
        made.append("\n")
    return made


def fits_once(table: Table, sections: Sequence[str], width: int) -> bool:
    """Whether :func:`sectioned_view` has all columns side by side."""
    return len(_laid(list(_columns(table, sections)), SHARES[0], width)) == 1


def _best(ways: Sequence[Sequence[_Shown]], width: int) -> list[list[_Laid]]:
    found: list[tuple[tuple[bool, bool, int, int], list[list[_Laid]]]] = []
    for share in SHARES:
        for way in ways:
            parts = _laid(way, share, width)
            is_over = not all(_fits(part, width) for part in parts)
            deep = share < SHARES[0] and max(one.depth for part in parts for one in part) > DEEP
            rank = is_over, len(parts) > 1 or deep, -share, len(parts)
            found.append((rank, parts))
            if not any(rank[:2]):
                return parts
    return min(found, key=lambda one: one[0])[1]


@dataclass(frozen=True, slots=True)
class _Laid:
    """A column as lines of characters.

    Attributes:
        number: its cells are set to the right.
        width: of its longest line.
        head, cells: lines of the title, and of each cell.
    """

    number: bool
    width: int
    head: Sequence[str]
    cells: Sequence[Sequence[str]]

    @property
    def depth(self) -> int:
        """Lines of its longest cell."""
        return 1 if self.number else max(map(len, self.cells), default=1)

    @classmethod
    def of(cls, title: str, number: bool, texts: Sequence[str], widest: int) -> _Laid:
        if not number and any(cell_len(text) > widest for text in texts):
            words = (cell_len(word) for text in texts for word in text.split())
            widest = max(n for n in (widest, *words) if n <= max(widest, WORD))
        cells = [
            text.split("\n")
            if number or cell_len(text) <= widest
            else list(spec_lines(text, widest, INDENT))
            for text in texts
        ]
        longest = max((cell_len(line) for cell in cells for line in cell), default=0)
        width = max(longest, *map(cell_len, title.split() or [""]))
        head = [line.replace(TIED, " ") for line in wrap(title, width) or [""]]
        return cls(number, width, head, cells)


def _laid(shown: Sequence[_Shown], share: int, width: int) -> list[list[_Laid]]:
    widest = max(share * width // 100, LEAST)
    columns = [_Laid.of(*one, widest) for one in shown]
    named = next((at for at, column in enumerate(columns) if column.number), len(columns)) or 1
    named = named if _fits(columns[:named], width) else 1
    groups: list[list[_Laid]] = []
    for column, (title, *_) in zip(columns[named:], shown[named:], strict=True):
        if (
            groups
            and title.startswith(INTERVAL)
            and _fits([*columns[:named], *groups[-1], column], width)
        ):
            groups[-1].append(column)  # not in another part than its value
        else:
            groups.append([column])
    return list(_parts(columns[:named], groups, width))


def _fits(columns: Sequence[_Laid], width: int) -> bool:
    return sum(one.width + GAP for one in columns) - GAP <= width


def _stacked(shown: Sequence[_Shown]) -> Iterator[_Shown]:
    """Yield columns with each interval below the values that it belongs to."""
    for at, (title, number, texts) in enumerate(shown):
        if at + 1 < len(shown) and shown[at + 1][0] == INTERVAL and title != INTERVAL:
            below = shown[at + 1][2]
            yield (
                f"{title} {INTERVAL.replace(' ', TIED)}",
                number,
                [
                    f"{text}\n{ends}" if ends != NONE else text
                    for text, ends in zip(texts, below, strict=True)
                ],
            )
        elif title != INTERVAL or at == 0:
            yield title, number, texts


def _parts(
    names: list[_Laid], groups: Sequence[Sequence[_Laid]], width: int
) -> Iterator[list[_Laid]]:
    part = names
    for group in groups:
        if len(part) > len(names) and not _fits([*part, *group], width):
            yield part
            part = names
        part = [*part, *group]
    yield part


def _rows(
    cells: Sequence[Sequence[str]], part: Sequence[_Laid], *, bottom: bool = False
) -> Iterator[str]:
    """Yield the lines of a row; ``bottom``: cells with fewer lines end with the last one."""
    deepest = max(map(len, cells))
    for at in range(deepest):
        shown = []
        for cell, column in zip(cells, part, strict=True):
            place = at - (deepest - len(cell)) if bottom else at
            text = cell[place] if 0 <= place < len(cell) else ""
            space = " " * (column.width - cell_len(text))
            shown.append(space + text if column.number else text + space)
        yield (" " * GAP).join(shown).rstrip() + "\n"


def _columns(table: Table, sections: Sequence[str] = ()) -> Iterator[_Shown]:
    """Yield title, whether it has numbers, and cells, of each column that is shown.

    An interval has a column beside its value; of a text it is where that is empty.
    """
    names = set(table.names)
    for column in table.columns:
        name = column.name
        if name in sections or table[name].is_missing.all():
            continue
        if _other_end(name, HIGH, LOW) in names or _belongs(name, table.names):
            continue
        has_ends = {name + LOW, name + HIGH} <= names
        values = table[name].to_list()
        if (end := _other_end(name, LOW, HIGH)) in names:
            joint = " to " if any(value is not None and value < 0 for value in values) else "-"
            pairs = zip(values, table[end].to_list(), strict=True)
            cells = [_between(column, *pair, joint) for pair in pairs]
            title = f"{INTERVAL} these" if name.endswith(f"_these{LOW}") else INTERVAL
            base = name.removesuffix(LOW)
            if base in names and table.column(base).type == "text":
                title = f"{INTERVAL} {table.column(base).title.lower()}"
                whys = table[base].to_list()
                cells = [why or cell for why, cell in zip(whys, cells, strict=True)]
            yield title, True, cells
        elif column.type == "number" and has_ends:
            ends = zip(table[name + LOW].to_list(), table[name + HIGH].to_list(), strict=True)
            places = (_places(column, *pair) for pair in ends)
            few = table[name + FEW].to_list() if name + FEW in names else [False] * len(table)
            marked = zip(values, places, few, strict=True)
            cells = [column.format(one, at) + MARK * (is_few is True) for one, at, is_few in marked]
            yield column.title, True, cells
        elif column.type != "text" or not has_ends or table[name + LOW].is_missing.all():
            number = column.type in ("integer", "number")
            yield column.title, number, [column.format(value) for value in values]


def _belongs(name: str, names: Sequence[str]) -> bool:
    return any(name.endswith(end) and name.removesuffix(end) in names for end in (FEW, WHY))


def _other_end(name: str, this: str, other: str) -> str:
    """Return the column with the other end of an interval; empty if the column has no end.

    >>> _other_end("burden_low", "_low", "_high"), _other_end("low", "_low", "_high")
    ('burden_high', 'high')
    """
    if f"_{name}".endswith(this):
        return f"_{name}".removesuffix(this)[1:] + (other if name != this[1:] else other[1:])
    return ""


def _places(column: Column, low: object, high: object) -> int | None:
    """Return the decimal places with which the ends of an interval differ; None: the column's."""
    if column.digits is None or not isinstance(low, float) or not isinstance(high, float):
        return None
    scale = 100 if column.percent else 1
    return digits_of(low * scale, high * scale, column.digits)


def _between(column: Column, low: object, high: object, joint: str) -> str:
    if low is None or high is None:
        return NONE
    if not isinstance(low, float) or not isinstance(high, float) or column.digits is None:
        return f"{column.format(low)}{joint}{column.format(high)}"
    if column.percent:
        first, second = ends_of(low * 100, high * 100, column.digits)
        return f"{first} %{joint}{second} %"
    return joint.join(ends_of(low, high, column.digits))


def captioned_view(captioned: Captioned) -> RenderableType:
    """Return a table between its caption and its notes."""

    def made(width: int) -> RenderableType:
        parts = [Text(captioned.caption, style="bold")] if captioned.caption else []
        table = sectioned_view(captioned.table, (), width, stacked=True)
        table.rstrip()
        notes = (Text(note, style="dim") for note in captioned.all_notes)
        return Group(*parts, table, *notes, Text())

    return ForWidth(made)


def explained_view(table: Table) -> RenderableType:
    """Return a table below what is the same in all rows, and above why values are missing.

    It has the columns that people are shown, and a line above each of its sections. Of columns
    whose names end in ``reason`` each text is shown once, with the rows that have it where there
    are several; see also :func:`noted`.
    """
    table = noted(table)
    wanted = shown_columns(table)
    same = [name for name in wanted if len(table) > 1 and _is_same(table, name)]
    head = [f"{table.column(name).title.lower()}: {table[name].to_list()[0]}" for name in same]
    parts: list[RenderableType] = [Text("  ·  ".join(head))] if head else []
    own = table.select([name for name in wanted if name not in same])
    reasons = (line for name in table.names if name.endswith("reason")
               for line in _reasons(table, name, own))  # fmt: skip
    below = "\n".join([*reasons, *table.notes])
    apart = [name for name in view_of(table).sections.split() if name in own.names]
    parts.append(ForWidth(partial(sectioned_view, own, apart)))
    return Group(*parts, Text(below, style="dim"))


def _reasons(table: Table, name: str, own: Table) -> Iterator[str]:
    """Yield each reason of a column; of several, with the rows that have them."""
    found: dict[str, list[int]] = {}
    for place, reason in enumerate(table[name].to_list()):
        if reason:
            found.setdefault(reason, []).append(place)
    texts = [own[one.name].to_list() for one in own.columns if one.type == "text"]
    for reason, places in found.items():
        rows = [", ".join(filter(None, (column[at] for column in texts))) for at in places]
        of = "; ".join(rows) if len(rows) <= FEW_ROWS else f"{len(rows):,} rows"
        yield f"{table.column(name).meaning}: {reason}{f' ({of})' if len(found) > 1 else ''}"


def _is_same(table: Table, name: str) -> bool:
    """Return whether a column of texts has one text, or none, in all rows."""
    series = table[name]
    if series.labels is None or table.column(name).type != "text":
        return False
    return bool((series.values == series.values[0]).all()) and not series.is_missing.any()
