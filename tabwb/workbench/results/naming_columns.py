"""The columns of the list of responses to pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tabwb.analysis.tables.said import code_of, heard_or_transcribed, score_of
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.results.responses import number_column
from tabwb.workbench.shell.columns import GAP, Column
from tabwb.workbench.shell.marks import MARKS
from tabwb.workbench.shell.row_list import EDGE
from tabwb.workbench.shell.shortening import shortened
from tabwb.workbench.shell.wording import seconds

STATES = "✓ right, ✗ wrong, ● given and not scored, · not given, › skipped, ∅ void, ! in error"
TIPS = {
    "item": STATES,
    "said": "in quotes: as a listener heard it; between / /: the transcript, a draft",
    "score": "by ear; where several listeners scored, whose score counts comes first",
    "code": "a code with ? is proposed by rule",
    "latency": "seconds from the picture to the onset of speech",
}
MOST = {"item": 22, "said": 24, "score": 30, "code": 30, "latency": 7}
NEEDED = ("item", "said", "latency", "score", "code")
"""Columns beside number and mark, those that stay where room is short first."""
ORDER = ("item", "said", "score", "code", "latency")
LEAST = 8
"""The fewest columns to which a column is cut."""


def _item(row: ResponseRow) -> str:
    return f"{MARKS[row.glyph]} {shortened(row.item.trial.plan.item, MOST['item'] - 2)}"


def _said(row: ResponseRow, *, arpabet: bool) -> str:
    if row.named is not None:
        return heard_or_transcribed(row.named.item, arpabet=arpabet)
    attempt = row.item.attempt
    return " ".join(attempt.response.split()) if attempt else row.item.trial.reason


def _latency(row: ResponseRow) -> float | None:
    if row.named is not None:
        return row.named.item.latency_s
    return row.item.attempt.latency_s if row.item.attempt else None


def _words(arpabet: bool) -> dict[str, Callable[[ResponseRow], str]]:
    """Return what each column shows of a response."""
    return {
        "item": _item,
        "said": partial(_said, arpabet=arpabet),
        "score": lambda row: row.verdict if row.named is None else score_of(row.named.item),
        "code": lambda row: "" if row.named is None else code_of(row.named.item),
        "latency": lambda row: seconds(_latency(row)),
    }


KEYS: Mapping[str, Callable[[ResponseRow], Any]] = {
    "item": lambda row: row.item.trial.plan.item.casefold(),
    "latency": lambda row: _latency(row) or 0.0,
}
"""By what the list is sorted, where that is not what a column shows."""


def columns_of(
    rows: Sequence[ResponseRow], width: int, *, arpabet: bool = False
) -> list[Column[ResponseRow]]:
    """Return the columns that fit, from left to right."""
    words = _words(arpabet)
    number = len(str(len(rows)))
    left = width - EDGE - number
    sizes: dict[str, int] = {}
    for name in NEEDED:
        longest = max((len(words[name](row)) for row in rows), default=0)
        if not longest:
            continue
        size = max(min(longest, MOST[name]), len(name))
        if left >= min(size, LEAST) + GAP:
            sizes[name] = min(size, left - GAP)
            left -= sizes[name] + GAP
    return [number_column(rows)] + [
        Column(
            name,
            words[name],
            sizes[name],
            right=name == "latency",
            tip=TIPS.get(name, ""),
            key=KEYS.get(name),
            falling=name == "latency",
        )
        for name in ORDER
        if name in sizes
    ]
