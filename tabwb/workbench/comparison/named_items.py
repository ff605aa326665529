"""Pictures by examinee: how often each was named right, the hardest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from textual.content import Content

from tabwb.analysis.grouping import Grouped
from tabwb.records.words import NONE
from tabwb.workbench.shell.columns import Column, laid, shortened_apart
from tabwb.workbench.shell.drawn import share_bar

BAR = 8
"""Columns of the bar of a share."""
HEAD = 16
"""The most columns of an examinee's name."""
TITLE = "Items · names counted as right, of those scored; the hardest first"


class NamedItems:
    """Counts the names of pictures of some rows.

    Attributes:
        items: ids, the hardest first; those that are equally hard in the order given.
    """

    def __init__(self, rows: Sequence[Grouped]) -> None:
        self._labels = [row.label for row in rows]
        self._right: list[Counter[str]] = []
        self._scored: list[Counter[str]] = []
        self._targets: dict[str, str] = {}
        for row in rows:
            given = [item for part in row.results.named for item in part.items]
            self._targets |= {item.item: item.target for item in given}
            scored = [one for one in given if one.status == "answered" and one.outcome is not None]
            self._scored.append(Counter(one.item for one in scored))
            self._right.append(Counter(one.item for one in scored if one.outcome == "right"))
        self.items = sorted(self._targets, key=self._ease)

    def _ease(self, item: str) -> float:
        n = sum(scored[item] for scored in self._scored)
        return sum(right[item] for right in self._right) / n if n else 1.0

    def lines(self, width: int) -> Iterator[Content]:
        """Yield head and items, with a column for each row; the last ones go where room ends."""
        heads = shortened_apart(self._labels, HEAD)
        columns: list[Column[str]] = [
            Column("item", lambda item: Content.styled(item, "bold")),
            Column("target", lambda item: "" if (name := self._targets[item]) == item else name),
        ]
        columns += [Column(head, partial(self._cell, at), rank=at) for at, head in enumerate(heads)]
        yield from laid(columns, self.items, width)

    def _cell(self, at: int, item: str) -> Content:
        right, scored = self._right[at][item], self._scored[at][item]
        if not scored:
            return Content(NONE)
        return Content.assemble(f"{right}/{scored} ", share_bar(right / scored, BAR))
