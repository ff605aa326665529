"""The one layout of columns, and names that are shortened so that they stay different."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Generic, TypeVar

from rich.cells import cell_len
from textual.content import Content

from tabwb.analysis.file_names import without_folders
from tabwb.workbench.shell.wording import QUIET


def clipped(text: str, width: int) -> str:
    """Return a text in at most so many columns: its beginning.

    >>> clipped("naming", 6), clipped("naming", 4)
    ('naming', 'nam…')
    """
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"


def short_spec(spec: str, most: int = 36) -> str:
    """Return a component's spec with its path shortened from the left.

    >>> short_spec("wav2vec2:/models/psst"), short_spec("wav2vec2:/a/long/path/to/psst", 20)
    ('wav2vec2:/models/psst', 'wav2vec2:…th/to/psst')
    """
    if len(spec) <= most:
        return spec
    name, _, rest = spec.partition(":")
    room = max(most - len(name) - 2, 1)
    return f"{name}:…{rest[-room:]}" if rest else clipped(spec, most)


def shortened(label: str, width: int) -> str:
    """Return a name in at most so many columns: its beginning and its end.

    The end tells servers and lesions apart. Of a file the folders are left out first.

    >>> shortened("openai:small@base_url=http://localhost:8000/v1", 20), shortened("bundled", 20)
    ('openai:small@…000/v1', 'bundled')
    >>> shortened("replay:/home/me/study/lesioned.jsonl", 16), shortened("replay:/me/a.jsonl", 14)
    ('replay:les…jsonl', 'replay:a.jsonl')
    """
    if len(label) > width:
        label = without_folders(label)
    if len(label) <= width:
        return label
    end = width // 3
    return f"{label[: width - end - 1]}…{label[len(label) - end :]}"


def shortened_apart(labels: Sequence[str], width: int) -> list[str]:
    """Return labels cut to a width; those that would look alike keep what differs between them.

    Of a label that is too long folders of files go first, if others stay different without them,
    then the words that tell it least from the others. Labels that are alike even then begin where
    they differ.
    Of more than :data:`MOST_APART` labels words are not compared, which takes seconds.

    >>> shortened_apart(["bundled (greedy)", "bundled (temperature 0.8)"], 15)
    ['bundled…greedy)', 'bundled…0.8)']
    >>> given = ["m (temperature 1, whole battery)", "m (temperature 0.7, whole battery)"]
    >>> shortened_apart(given, 14)
    ['m…1, whole…', 'm…0.7, whole…']
    >>> given = [f"oak-{size}-chat + mlp:zero:0.{dose}@seed=4" for size in "17" for dose in "35"]
    >>> shortened_apart(given, 16)
    ['oak-1-…mlp…0.3…4', 'oak-1-…mlp…0.5…4', 'oak-7-…mlp…0.3…4', 'oak-7-…mlp…0.5…4']
    """
    different = dict.fromkeys(labels)
    bare = {label: without_folders(label) if len(label) > width else label for label in different}
    if len(set(bare.values())) == len(bare):
        labels = [bare[label] for label in labels]
        different = dict.fromkeys(labels)
    cut = {label: shortened(label, width) for label in different}
    words = {label: _words(label) for label in different if len(different) <= MOST_APART}
    begins = Counter(own[0] for own in words.values() if own)
    if len(set(cut.values())) == len(cut) and max(begins.values(), default=0) < 2:
        return [cut[label] for label in labels]
    having: Counter[str] = Counter()
    sharing: dict[str, int] = {}
    for place, own in enumerate(words.values()):
        having.update(set(own))
        for word in own:
            sharing[word] = sharing.get(word, 0) | 1 << place
    plain = Counter(cut.values())
    for label, own in words.items():
        if len(label) > width and own and (plain[cut[label]] > 1 or begins[own[0]] > 1):
            cut[label] = shortened(_fewer_words(own, sharing, having, width), width)
            if cut[label].endswith("…") and label.startswith(cut[label][:-1]):
                cut[label] = clipped(label, width)  # as much as there is room for
    for shown in [one for one, n in Counter(cut.values()).items() if n > 1]:
        alike = [label for label in different if cut[label] == shown]
        pairs = enumerate(zip(*alike, strict=False))
        start = next((at for at, signs in pairs if len({*signs}) > 1), min(map(len, alike)))
        cut |= {label: clipped(f"…{label[start:]}", width) for label in alike}
    return [cut[label] for label in labels]


MOST_APART = 1000
"""Different labels whose words are compared."""
SEPARATORS = " -_/:@=,+()"
SHORT = 10
"""The most characters of a first word that stays."""
ENDS = " :@=,+(."
"""Separators that are not shown before an ellipsis."""
_ANY = re.escape(SEPARATORS)


def _words(label: str) -> list[str]:
    return re.findall(rf"(?:[^{_ANY}.]|\.(?=\d))*(?:[{_ANY}]|\.(?!\d))*", label)[:-1]


def _fewer_words(
    words: Sequence[str], sharing: Mapping[str, int], having: Mapping[str, int], width: int
) -> str:
    """Return words without those that tell least, with … for them."""
    kept = list(range(len(words)))

    def joined() -> str:
        text, before = "", -1
        for at in kept:
            text = (text if at == before + 1 else f"{text.rstrip(ENDS)}…") + words[at]
            before = at
        return text if before == len(words) - 1 else f"{text.rstrip(ENDS)}…"

    def others_without(at: int) -> int:
        same = -1
        for place in kept:
            if place != at:
                same &= sharing[words[place]]
        return same.bit_count()

    kind = words[0].endswith(":")  # of a spec: it tells little
    stays = not kind and len(words[0].rstrip(SEPARATORS)) <= min(width // 2, SHORT)
    while len(joined()) > width and len(kept) > 1:
        least = min(
            [at for at in kept if at or not stays],
            key=lambda at: (others_without(at), -having[words[at]], -len(words[at]), -at),
        )
        if len(kept) == 2 and others_without(least) > 1:
            if (room := width - len(words[kept[1]]) - 1) > 0 and kept[0] == 0:
                return f"{words[0][:room].rstrip(ENDS)}…{words[kept[1]]}"
            break  # both tell it from others
        kept.remove(least)
    return joined()


R = TypeVar("R")

GAP, APART = 2, 3
"""Columns of characters between two columns, and between two lists beside each other."""
WIDE = 104
"""From so many columns a page has its wide layout: panes beside each other, longer names."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A line between the rows, as wide as the list."""

    words: Content


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """One column of a list, for rows of one class.

    Attributes:
        head: its head; of a column that grows it may be a function of its width.
        cell: returns what a row has in it; of a column that grows it is given the width too.
        right: cells and head are aligned to the right, as numbers are.
        rank: columns with the highest rank are left out first; 0: never left out. Columns of one
            rank that grow go together: intervals of some would be taken for those of all.
        least: the width to which cells may be cut, so that nothing else is left out; 0: never cut.
        most: the width beyond which cells are cut until every other column has what it wants.
        end: cells are cut at their end, as texts are; names are cut so that they stay different.
        grow: the least and the most columns of what is drawn for the width that is left.
        style: of the cells.
        tip: what the column means, shown under the mouse.
        id: what rows are sorted by; empty: the head.
        key: returns by what rows are sorted; None: by the cell.
        falling: rows are sorted from high to low at first.
    """

    head: str | Callable[[int], Content | str]
    cell: Callable[..., Content | str]
    right: bool = False
    rank: int = 0
    least: int = 0
    most: int = 0
    end: bool = False
    grow: tuple[int, int] | None = None
    style: str = ""
    tip: str = ""
    id: str = ""
    key: Callable[[R], Any] | None = None
    falling: bool = False

    @property
    def name(self) -> str:
        """What tells the column from others."""
        return self.id or (self.head if isinstance(self.head, str) else "")

    def sort_key(self, row: R) -> Any:
        """Return by what a row is sorted."""
        return (self.key or self.cell)(row)


@dataclass(slots=True, eq=False)
class _Measured:
    """A column with the width that it gets, and the least and the widest it can do with."""

    column: Column[Any]
    width: int
    widest: int
    names: Sequence[str] = ()
    short: Mapping[str, str] = field(default_factory=dict)

    @property
    def wanted(self) -> int:
        return min(self.column.most or self.widest, self.widest)


@dataclass(frozen=True, slots=True)
class Fitted(Generic[R]):
    """Columns that fit a width."""

    measured: Sequence[_Measured]
    width: int
    gap: int = GAP

    @property
    def columns(self) -> list[Column[R]]:
        """The columns that are shown."""
        return [one.column for one in self.measured]

    @property
    def head(self) -> Content:
        """The heads."""
        heads = []
        for one in self.measured:
            head = one.column.head
            made = head(one.width) if callable(head) else head
            if isinstance(made, str) and cell_len(made) > one.width > 1:
                made = f"{made[: one.width - 1]}."
            heads.append(Content.styled(made, QUIET) if isinstance(made, str) else made)
        return self._joined(heads)

    def line(self, row: R | Heading) -> Content:
        """Return a row as one line."""
        if isinstance(row, Heading):
            return row.words.truncate(self.width, ellipsis=True)
        cells = []
        for one in self.measured:
            column = one.column
            cell = _content(column.cell(row, one.width) if column.grow else column.cell(row))
            if (short := one.short.get(cell.plain)) is not None:
                cell = Content.styled(short, cell.spans[0].style if cell.spans else "")
            cells.append(cell.stylize_before(column.style) if column.style else cell)
        return self._joined(cells)

    def _joined(self, cells: Sequence[Content]) -> Content:
        parts: list[Content | str] = []
        for one, cell in zip(self.measured, cells, strict=True):
            content = cell.truncate(one.width, ellipsis=True)
            blank = " " * (one.width - content.cell_length)
            parts += [blank, content] if one.column.right else [content, blank]
            parts.append(" " * self.gap)
        return Content.assemble(*parts).rstrip().truncate(self.width, ellipsis=True)

    def column_at(self, x: int) -> int | None:
        """Return which column is at a place in a line."""
        end = 0
        for at, one in enumerate(self.measured):
            end += one.width + self.gap
            if x < end:
                return at
        return None


def fitted(
    columns: Iterable[Column[R]], rows: Sequence[R | Heading], width: int, gap: int = GAP
) -> Fitted[R]:
    """Return the columns that fit for some rows, each with its width."""
    own = [row for row in rows if not isinstance(row, Heading)]
    chosen = [one for column in columns if (one := _measured(column, own)) is not None]
    while len(chosen) > 1 and _needed(chosen, gap) > width:
        rank = max(one.column.rank for one in chosen)
        last = [one for one in chosen if one.column.rank == rank]
        gone = last if last[-1].column.grow else last[-1:]
        if not rank or len(gone) == len(chosen):
            break
        chosen = [one for one in chosen if one not in gone]
    spare = max(width - _needed(chosen, gap), 0)
    grown = [one for one in chosen if one.column.grow]
    others = [one for one in chosen if not one.column.grow]
    for one in others:
        more = min(max(one.wanted - one.width, 0), spare)
        one.width += more
        spare -= more
    while spare and (growing := [one for one in grown if one.width < one.widest]):
        for one in growing[:spare]:
            one.width += 1
        spare -= min(spare, len(growing))
    for one in others:
        more = min(one.widest - one.width, spare)
        one.width += more
        spare -= more
        if one.width < one.widest and not one.column.end:
            cut = shortened_apart(one.names, one.width)
            pairs = zip(one.names, cut, strict=True)
            one.short = {name: short for name, short in pairs if cell_len(name) > one.width}
    return Fitted(chosen, width, gap)


def laid(columns: Iterable[Column[R]], rows: Sequence[R | Heading], width: int) -> list[Content]:
    """Return the heads, then the rows of a list, in at most ``width`` columns of characters.

    >>> name, n = Column("name", lambda row: row[0], least=4), Column(
    ...     "n", lambda row: row[1], right=True, rank=1)
    >>> rows = [("bundled", "15"), ("echo", "3")]
    >>> [line.plain for line in laid([name, n], rows, 12)]
    ['name      n', 'bundled  15', 'echo      3']
    >>> [line.plain for line in laid([name, n], rows, 8)]
    ['name   n', 'bu…d  15', 'echo   3']
    >>> [line.plain for line in laid([name, n], rows, 7)]
    ['name', 'bundled', 'echo']
    >>> drawn = Column("0", lambda row, width: "─" * width, grow=(2, 5))
    >>> [line.plain for line in laid([name, drawn], rows, 12)]
    ['name     0', 'bundled  ───', 'echo     ───']
    """
    made = fitted(columns, rows, width)
    return [made.head, *map(made.line, rows)]


def laid_beside(columns: Sequence[Column[R]], rows: Sequence[R], width: int) -> list[Content]:
    """Return a narrow list in as many parts beside each other as have room.

    >>> column = Column("n", str)
    >>> [line.plain for line in laid_beside([column], [1, 2, 3, 4, 5], 9)]
    ['n   n   n', '1   3   5', '2   4']
    """
    made = fitted(columns, rows, width)
    each = _needed(made.measured, GAP)
    most = max(min((width + APART) // (each + APART), len(rows)), 1)
    tall = -(-len(rows) // most)
    parts = [rows[at : at + tall] for at in range(0, len(rows), tall)] if rows else []
    lines = [[made.head, *map(made.line, part)] for part in parts]
    gap = Content(" " * APART)
    return [
        gap.join(line.pad_right(each - line.cell_length) for line in beside).rstrip()
        for beside in zip_longest(*lines, fillvalue=Content(""))
    ]


def _measured(column: Column[R], rows: Sequence[R]) -> _Measured | None:
    if column.grow:
        return _Measured(column, *column.grow)
    cells = [cell if isinstance(cell, str) else cell.plain for cell in map(column.cell, rows)]
    if not any(cells):
        return None
    assert isinstance(column.head, str)
    names = [" ".join(cell.split()) if not cell.isprintable() else cell for cell in cells]
    widest = max(cell_len(column.head), *map(cell_len, names))
    return _Measured(column, min(column.least, widest) or widest, widest, names)


def _needed(columns: Sequence[_Measured], gap: int) -> int:
    return sum(one.width for one in columns) + gap * (len(columns) - 1)


def _content(cell: Content | str) -> Content:
    if not isinstance(cell, str):
        return cell
    return Content(cell if cell.isprintable() else " ".join(cell.split()))  # one line each
