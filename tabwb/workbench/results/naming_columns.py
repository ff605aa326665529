"""The columns of the list of responses to pictures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tabwb.analysis.tables.said import code_of, heard_or_transcribed, score_of
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.results.responses import NUMBER
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.wording import seconds

STATES = "✓ right, ✗ wrong, ● given and not scored, · not given, › skipped, ∅ void, ! in error"


def _item(row: ResponseRow) -> str:
    return f"{MARKS[row.glyph]} {row.item.trial.plan.item}"


def _said(row: ResponseRow, *, arpabet: bool) -> str:
    if row.named is not None:
        return heard_or_transcribed(row.named.item, arpabet=arpabet)
    attempt = row.item.attempt
    return " ".join(attempt.response.split()) if attempt else row.item.trial.reason


def _latency(row: ResponseRow) -> float | None:
    if row.named is not None:
        return row.named.item.latency_s
    return row.item.attempt.latency_s if row.item.attempt else None


def columns_of(
    rows: Sequence[ResponseRow], *, arpabet: bool = False
) -> Sequence[Column[ResponseRow]]:
    """Return the columns, from left to right."""
    return (
        NUMBER,
        Column(
            "item",
            _item,
            least=8,
            most=22,
            tip=STATES,
            key=lambda row: row.item.trial.plan.item.casefold(),
        ),
        Column(
            "said",
            partial(_said, arpabet=arpabet),
            rank=1,
            least=8,
            most=24,
            end=True,
            tip="in quotes: as a listener heard it; between / /: the transcript, a draft",
        ),
        Column(
            "score",
            lambda row: row.verdict if row.named is None else score_of(row.named.item),
            rank=3,
            least=8,
            most=30,
            end=True,
            tip="by ear; where several listeners scored, whose score counts comes first",
        ),
        Column(
            "code",
            lambda row: "" if row.named is None else code_of(row.named.item),
            rank=4,
            least=8,
            most=30,
            end=True,
            tip="a code with ? is proposed by rule",
        ),
        Column(
            "latency",
            lambda row: seconds(_latency(row)),
            right=True,
            rank=2,
            tip="seconds from the picture to the onset of speech",
            key=lambda row: _latency(row) or 0.0,
            falling=True,
        ),
    )
