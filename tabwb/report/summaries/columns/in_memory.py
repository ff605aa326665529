"""Trials in memory as columns: of responses that were loaded one by one, or are not stored."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabwb.records.ratings import Rating
from tabwb.records.trials import Attempt, Trial
from tabwb.report.summaries.counted import Source
from tabwb.store.column_ratings import Ratings
from tabwb.store.column_rows import NOTES, STATUSES, Places, seed_code
from tabwb.store.columns import RaterColumns, ResponseColumns
from tabwb.store.response_texts import Texts
from tabwb.store.write import STATUSES as RATING_STATUSES

_COLUMNS = ("trials", "attempts", "items", "replicates", "options", "asked", "texts", "statuses")


@dataclass(slots=True)
class _Rater:
    rows: list[int] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    measures: dict[str, list[tuple[int, Rating]]] = field(default_factory=dict)
    prompts: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Held:
    """What was taken so far; dictionaries map a value to its place."""

    starts: list[int] = field(default_factory=lambda: [0])
    planned: list[Counter[str]] = field(default_factory=list)
    answers: list[tuple[Trial, Attempt]] = field(default_factory=list)
    raters: dict[str, _Rater] = field(default_factory=dict)
    noted: Places[str] = field(default_factory=Places)
    reasons: dict[str, int] = field(default_factory=lambda: {"": 0})
    prompts: Places[str] = field(default_factory=Places)


def columns_in_memory(sources: Sequence[Source]) -> ResponseColumns:
    """Return the answers of trials in memory that count, as if they were read from a store."""
    held = _Held()
    for source in sources:
        _take(held, source)
    places, shown = Places[tuple[str, str]](), Places[tuple[str, ...]]()
    texts, asked = Places[str](), Places[object]()
    columns: dict[str, list[int]] = {name: [] for name in _COLUMNS}
    notes: dict[str, list[int]] = {name: [] for name in NOTES}
    seeds: list[int] = []
    for trial, attempt in held.answers:
        plan, noted = trial.plan, attempt.metadata
        row = (
            plan.number,
            attempt.number,
            places[plan.subtest, plan.item],
            plan.replicate,
            shown[plan.options],
            asked[attempt.messages or plan.prompt],
            texts[attempt.response],
            -1 if attempt.status is None else STATUSES.index(attempt.status),
        )
        for name, value in zip(_COLUMNS, row, strict=True):
            columns[name].append(value)
        for name, codes in notes.items():
            codes.append(held.noted[noted[name]] if name in noted else -1)
        seeds.append(seed_code(noted["seed"], held.noted) if "seed" in noted else -1)
    arrays: dict[str, Any] = {name: np.array(values, np.int32) for name, values in columns.items()}
    return ResponseColumns(
        administrations=tuple(range(len(sources))),
        starts=np.array(held.starts),
        planned=tuple(held.planned),
        places=tuple(places),
        shown=tuple(shown),
        responses=Texts.of(tuple(texts)),
        seeds=np.array(seeds, np.int64),
        notes={name: np.array(codes, np.int32) for name, codes in notes.items()},
        noted=tuple(held.noted),
        ratings={name: _columns_of(rater, held.reasons) for name, rater in held.raters.items()},
        reasons={code: text for text, code in held.reasons.items()},
        prompts={code: text for text, code in held.prompts.items()},
        **arrays,
    )


def _take(held: _Held, source: Source) -> None:
    given = [trial for trial in source.trials if not trial.plan.practice]
    held.planned.append(Counter(trial.plan.subtest for trial in given))
    rows: dict[tuple[int, int], int] = {}
    for trial in given:
        attempt = trial.counting
        if attempt is None or not trial.is_answered:
            continue
        row = rows[trial.plan.number, attempt.number] = len(held.answers)
        held.answers.append((trial, attempt))
        for order, rating in enumerate(trial.ratings):
            rater = held.raters.setdefault(rating.rater, _Rater())
            if not rater.rows or rater.rows[-1] != row:
                rater.rows.append(row)
                rater.order.append(order)
            rater.measures.setdefault(rating.measure, []).append((row, rating))
            held.reasons.setdefault(rating.reason, len(held.reasons))
    held.starts.append(len(held.answers))
    for judged in source.judged:
        call = judged.judgement
        place = rows.get((judged.trial, judged.attempt))
        if place is not None and not call.repeat and call.rater in held.raters:
            prompt = held.prompts[call.prompt_text]
            # A later verdict takes the place of an earlier one.
            held.raters[call.rater].prompts[place] = prompt


def _columns_of(rater: _Rater, reasons: Mapping[str, int]) -> RaterColumns:
    judged = sorted(rater.prompts.items())
    return RaterColumns(
        np.array(rater.rows, np.int32),
        np.array(rater.order),
        {name: _ratings(given, reasons) for name, given in rater.measures.items()},
        np.array([row for row, _ in judged], np.int64),
        np.array([prompt for _, prompt in judged], np.int64),
    )


def _ratings(given: Sequence[tuple[int, Rating]], reasons: Mapping[str, int]) -> Ratings:
    values = (math.nan if rating.value is None else rating.value for _, rating in given)
    return Ratings(
        np.array([row for row, _ in given], np.int32),
        np.fromiter(values, np.float64, len(given)),
        np.array([RATING_STATUSES.index(rating.status) for _, rating in given], np.int8),
        np.array([reasons[rating.reason] for _, rating in given], np.int32),
    )
