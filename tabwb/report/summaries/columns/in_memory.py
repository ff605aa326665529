"""Trials in memory as columns: of responses that were loaded one by one, or are not stored yet."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData
from tabwb.records.trials import Attempt, Trial
from tabwb.store.columns import (
    STATUSES,
    Places,
    RaterColumns,
    Ratings,
    ResponseColumns,
    Texts,
    seed_code,
)
from tabwb.store.facts import NOTES, of_text
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

_COLUMNS = ("trials", "attempts", "items", "replicates", "options", "asked", "texts", "statuses")


def _ints() -> array[int]:
    return array("i")


@dataclass(slots=True)
class _Measure:
    rows: array[int] = field(default_factory=_ints)
    values: array[float] = field(default_factory=lambda: array("d"))
    statuses: array[int] = field(default_factory=lambda: array("b"))
    reasons: array[int] = field(default_factory=_ints)

    @property
    def arrays(self) -> tuple[array[Any], ...]:
        return self.rows, self.values, self.statuses, self.reasons


@dataclass(slots=True)
class _Rater:
    rows: array[int] = field(default_factory=_ints)
    order: array[int] = field(default_factory=_ints)
    measures: dict[str, _Measure] = field(default_factory=dict)
    prompts: dict[int, int] = field(default_factory=dict)

    def columns(self) -> RaterColumns:
        judged = sorted(self.prompts.items())
        return RaterColumns(
            _copied(self.rows),
            _copied(self.order),
            {
                name: Ratings(*map(_copied, given.arrays))
                for name, given in self.measures.items()
                if given.rows
            },
            np.array([row for row, _ in judged], np.int64),
            np.array([prompt for _, prompt in judged], np.int64),
        )


def _copied(values: array[Any]) -> NDArray[Any]:
    return np.array(values)


class Memory:
    """Answers of trials that count, taken one by one, as if they were read from a store.

    :meth:`columns` copies what was taken so far, so that more can be taken afterwards.
    """

    def __init__(self) -> None:
        self.starts = [0]
        self.planned: list[Counter[str]] = []
        self._rows = {name: _ints() for name in (*_COLUMNS, *NOTES)}
        self._seeds = array("q")
        self._raters: dict[str, _Rater] = {}
        self._items, self._shown = Places[tuple[str, str]](), Places[tuple[str, ...]]()
        self._asked, self._noted, self._prompts = Places[object](), Places[str](), Places[str]()
        self._reasons = Places[str]({"": 0})
        self._texts = Places[str]()
        self._of_text = [array("q"), array("i"), array("b"), array("b")]

    def add(self, source: AdministrationData) -> None:
        """Take all trials of an administration, and what its judges were told."""
        self.planned.append(planned_of(source.trials))
        first = len(self)
        self.take(source.trials)
        self.starts.append(len(self))
        numbers = zip(self._rows["trials"][first:], self._rows["attempts"][first:], strict=True)
        rows = {place: row for row, place in enumerate(numbers, first)}
        for judged in source.judged:
            call = judged.judgement
            place = rows.get((judged.trial, judged.attempt))
            if place is not None and not call.repeat and call.rater in self._raters:
                # A later verdict takes the place of an earlier one.
                self._raters[call.rater].prompts[place] = self._prompts[call.prompt_text]

    def again(self, before: Sequence[Trial], trials: Sequence[Trial]) -> Sequence[Trial]:
        """Take the trials of the only administration as they are now, and return those that differ.

        Those before the first that differs stay as they were taken.
        """
        pairs = enumerate(zip(before, trials, strict=False))
        same = min(len(before), len(trials))
        first = next((at for at, (old, new) in pairs if old is not new), same)
        self._cut(sum(trial.is_answered for trial in before[:first]))
        self.take(trials[first:])
        if len(trials) != len(before):
            self.planned = [planned_of(trials)]
        self.starts = [0, len(self)]
        return [
            trial
            for at, trial in enumerate(trials[first:], first)
            if at >= len(before) or trial is not before[at]
        ]

    def __len__(self) -> int:
        return len(self._seeds)

    def take(self, trials: Iterable[Trial]) -> None:
        """Take the answers of trials that count."""
        for trial in trials:
            attempt = trial.counting
            if attempt is not None and trial.is_answered:
                self._take(trial, attempt)

    def _cut(self, row: int) -> None:
        if row == len(self):
            return
        for values in (*self._rows.values(), self._seeds):
            del values[row:]
        for rater in self._raters.values():
            at = bisect_left(rater.rows, row)
            del rater.rows[at:], rater.order[at:]
            for measure in rater.measures.values():
                at = bisect_left(measure.rows, row)
                for values in measure.arrays:
                    del values[at:]

    def _take(self, trial: Trial, attempt: Attempt) -> None:
        plan, noted, row = trial.plan, attempt.metadata, len(self)
        places = (
            plan.number,
            attempt.number,
            self._items[plan.subtest, plan.item],
            plan.replicate,
            self._shown[plan.options],
            self._asked[attempt.messages or plan.prompt],
            self._text(attempt.response),
            -1 if attempt.status is None else STATUSES.index(attempt.status),
        )
        for name, value in zip(_COLUMNS, places, strict=True):
            self._rows[name].append(value)
        for name in NOTES:
            self._rows[name].append(self._noted[noted[name]] if name in noted else -1)
        self._seeds.append(seed_code(noted["seed"], self._noted) if "seed" in noted else -1)
        for order, rating in enumerate(trial.ratings):
            rater = self._raters.setdefault(rating.rater, _Rater())
            if not rater.rows or rater.rows[-1] != row:
                rater.rows.append(row)
                rater.order.append(order)
            measure = rater.measures.setdefault(rating.measure, _Measure())
            measure.rows.append(row)
            measure.values.append(math.nan if rating.value is None else rating.value)
            measure.statuses.append(RATING_STATUSES.index(rating.status))
            measure.reasons.append(self._reasons[rating.reason])

    def _text(self, text: str) -> int:
        """Return the place of a text, with what :class:`Texts` has of each if it is new."""
        if text not in self._texts:
            for values, fact in zip(self._of_text, of_text(text)[1:], strict=True):
                values.append(fact)
        return self._texts[text]

    def columns(self) -> ResponseColumns:
        """Return what was taken."""
        arrays: dict[str, Any] = {name: _copied(self._rows[name]) for name in _COLUMNS}
        return ResponseColumns(
            administrations=tuple(range(len(self.planned))),
            starts=np.array(self.starts),
            planned=tuple(self.planned),
            places=tuple(self._items),
            shown=tuple(self._shown),
            responses=Texts(tuple(self._texts), [*map(_copied, self._of_text)]),
            seeds=_copied(self._seeds),
            notes={name: _copied(self._rows[name]) for name in NOTES},
            noted=tuple(self._noted),
            ratings={name: one.columns() for name, one in self._raters.items() if one.rows},
            reasons={code: text for text, code in self._reasons.items()},
            prompts={code: text for text, code in self._prompts.items()},
            **arrays,
        )


def planned_of(trials: Iterable[Trial]) -> Counter[str]:
    """Return the number of trials of each subtest, without practice."""
    return Counter(trial.plan.subtest for trial in trials if not trial.plan.practice)


def columns_in_memory(sources: Sequence[AdministrationData]) -> ResponseColumns:
    """Return the answers of trials in memory that count."""
    held = Memory()
    for source in sources:
        held.add(source)
    return held.columns()
