"""Where the questions of a form stand: in columns, group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from tabwb.battery.forms import Form
from tabwb.workbench.rating.view_models import Slot

GAP = 2
"""Columns of characters between two columns of questions."""
LEAST_MARKED, LEAST_WORDED = 23, 36
"""The least width of a column: of marks and digits, and where answers are words."""
TITLES = 34
"""A fourth column must leave so much room for titles."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a group."""

    title: str


Entry = Heading | Slot | None
"""None is an empty line."""


def least_width(slots: Sequence[Slot]) -> int:
    """Return the least width of a column for these questions."""
    worded = any(slot.question.kind in {"choice", "phonemes", "text"} for slot in slots)
    return LEAST_WORDED if worded and len(slots) < 12 else LEAST_MARKED


def columns_in(slots: Sequence[Slot], width: int) -> int:
    """Return how many columns fit."""
    most = 4 if (width + GAP) // 4 - GAP >= TITLES else 3
    return max(1, min((width + GAP) // (least_width(slots) + GAP), most))


def arranged(form: Form, slots: Sequence[Slot], columns: int, most: int) -> list[list[Entry]]:
    """Return the entries of each column, in reading order down the columns, as short as possible.

    Groups stay together, unless one is much longer than the others. Their titles are left out where
    the columns would be too long with them.
    """
    made = _arranged(_blocks(form, slots), columns)
    if max(map(len, made)) > most and not any(slot.attempt for slot in slots):
        made = _arranged([[slot] for slot in slots], columns)
    return made


def _arranged(blocks: list[list[Entry]], columns: int) -> list[list[Entry]]:
    total = sum(map(len, blocks))
    for height in range(max(ceil(total / columns), 1), total + 1):
        limit = ceil(total / columns) + 3
        pieces = [
            piece
            for block in blocks
            for piece in ([block] if len(block) <= limit else [[entry] for entry in block])
        ]
        filled = _filled(pieces, height)
        if len(filled) <= columns:
            return filled
    return [[entry for block in blocks for entry in block]]


def _blocks(form: Form, slots: Sequence[Slot]) -> list[list[Entry]]:
    titles = {group.id: group.title for group in form.groups}
    blocks: list[list[Entry]] = []
    before: str | None = None
    for slot in slots:
        title = titles.get(slot.question.group, "")
        if slot.question.per_attempt:
            title = f"Attempt {slot.attempt}"
        if title != before:
            blocks.append([Heading(title)] if title else [])
            before = title
        blocks[-1].append(slot)
    return blocks


def _filled(pieces: Sequence[list[Entry]], height: int) -> list[list[Entry]]:
    columns: list[list[Entry]] = [[]]
    for piece in pieces:
        if columns[-1] and len(columns[-1]) + len(piece) > height:
            columns.append([])
        columns[-1] += piece
    return columns


def moved(columns: Sequence[Sequence[Entry]], slot: Slot, right: int, down: int) -> Slot:
    """Return the question that an arrow key leads to."""
    order = [entry for column in columns for entry in column if isinstance(entry, Slot)]
    if down:
        return order[(order.index(slot) + down) % len(order)]
    at = next(n for n, column in enumerate(columns) if slot in column)
    row = list(columns[at]).index(slot)
    other = columns[(at + right) % len(columns)]
    rows = [(abs(n - row), n) for n, entry in enumerate(other) if isinstance(entry, Slot)]
    found = other[min(rows)[1]] if rows else slot
    return found if isinstance(found, Slot) else slot
