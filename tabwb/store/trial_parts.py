"""The trials of one administration in parts, for exports that do not hold all of them in memory.

Each trial is folded by :mod:`tabwb.store.derive`, as in :meth:`tabwb.store.store.Store.history`.
Messages sent are left out: exports have the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter

from tabwb.records.ratings import Rating
from tabwb.records.states import (
    AdministrationStatus,
    AttemptState,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Attempt, AttemptEntry, EventEntry, PlannedTrial, Trial
from tabwb.store.database import Row, Transaction
from tabwb.store.derive import Step, status_of, taken_back, trial_of
from tabwb.store.write import STATUS_OF_KEY

PART = 1_000
"""Trials read at a time."""
_KEPT = 20_000
"""Sets of ratings that are remembered, because most sets repeat an earlier one."""
_STATE = {f"attempt-{state.value}": state for state in AttemptState}
_OK = f"attempt-{AttemptState.OK.value}"
_STATUS = {status.value: status for status in ResponseStatus}
_STOP = {reason.value: reason for reason in StopReason}
_MEASURE_BITS = 16
_LEAST = (1 << _MEASURE_BITS) - 1

_PLANNED = """
SELECT number, subtest, item, replicate, options, prompt_id, practice FROM trials
WHERE administration_id = ? AND number BETWEEN ? AND ? ORDER BY number
"""
_ATTEMPTS = """
SELECT a.trial, a.sequence, a.number, e.kind, response, status, stop_reason, latency_s, error,
       metadata, e.recorded_at
FROM attempts a
LEFT JOIN entries e ON e.administration_id = a.administration_id AND e.sequence = a.sequence
WHERE a.administration_id = ? AND a.trial BETWEEN ? AND ? ORDER BY a.trial, a.sequence
"""
_EVENTS = """
SELECT sequence, kind, trial, text, undoes FROM entries
WHERE administration_id = ? AND substr(kind, 1, 8) <> 'attempt-' AND kind <> 'trial-started'
ORDER BY sequence
"""
_RATED = """
FROM attempts a JOIN rating_sets s ON s.attempt_id = a.id JOIN ratings r ON r.set_id = s.id
WHERE a.administration_id = ? AND a.trial BETWEEN ? AND ?
"""
_PACKED = (
    f"(CAST(coalesce(r.reason_id, 0) AS BIGINT) << {_MEASURE_BITS + 4}) | (r.measure_id << 4)"
    " | (r.status_id << 2) | CASE WHEN r.value IS NULL THEN 0 WHEN r.value = 0 THEN 1"
    " WHEN r.value = 1 THEN 2 ELSE 3 END"
)
"""SQL: reason, measure, status and value of a rating in one integer; 3 is any other value."""
_decode = json.JSONDecoder().raw_decode
_VALUES = (None, 0.0, 1.0)
_Set = tuple[int, str, tuple[tuple[int, float], ...]]
"""Rater, packed ratings, and measure and value of those with another value than 0 and 1."""


class Rated:
    """Reads ratings; equal ones are one object, as are equal tuples of them.

    That halves time and memory of an export. It serves all administrations of one store.
    """

    def __init__(self) -> None:
        self._measures: dict[int, str] = {}
        self._raters: dict[int, str] = {}
        self._forget()

    def _forget(self) -> None:
        self._reasons: dict[int, str] = {0: ""}
        self._ratings: dict[tuple[int, int, float | None], Rating] = {}
        self._sets: dict[_Set, tuple[Rating, ...]] = {}
        self._joined: dict[tuple[int, ...], tuple[Rating, ...]] = {}

    def of(
        self, transaction: Transaction, administration: int, first: int, last: int
    ) -> dict[int, dict[int, dict[str, tuple[Rating, ...]]]]:
        """Return, by trial and attempt, what each rater gave last.

        Args:
            transaction: to read in.
            administration: its number.
            first: number of a trial.
            last: number of a trial.
        """
        within = administration, first, last
        others: dict[int, list[tuple[int, float]]] = {}
        for set_id, measure, value in transaction.rows(
            f"SELECT s.id, r.measure_id, r.value {_RATED} AND r.value NOT IN (0, 1) ORDER BY 1, 2",
            *within,
        ):
            others.setdefault(set_id, []).append((measure, value))
        rows = transaction.rows(
            f"SELECT a.trial, a.number, s.id, s.rater_id, {transaction.joined(_PACKED)}"
            f" {_RATED} GROUP BY a.trial, a.number, s.id, s.rater_id ORDER BY s.id",
            *within,
        )
        if len(self._sets) > _KEPT:
            self._forget()
        keys = [
            (rater, packed, tuple(others[set_id]) if set_id in others else ())
            for _, _, set_id, rater, packed in rows
        ]
        self._make(transaction, set(keys) - self._sets.keys())
        rated: dict[int, dict[int, dict[str, tuple[Rating, ...]]]] = {}
        for (trial, attempt, *_), key in zip(rows, keys, strict=True):
            by_rater = rated.setdefault(trial, {}).setdefault(attempt, {})
            by_rater[self._raters[key[0]]] = self._sets[key]
        return rated

    def joined(self, by_rater: Mapping[str, tuple[Rating, ...]]) -> tuple[Rating, ...]:
        """Return the ratings of all raters of an attempt."""
        given = tuple(by_rater.values())
        if len(given) == 1:
            return given[0]
        key = tuple(map(id, given))
        if key not in self._joined:
            self._joined[key] = tuple(chain.from_iterable(given))
        return self._joined[key]

    def _make(self, transaction: Transaction, keys: set[_Set]) -> None:
        if keys:
            self._measures = dict(transaction.rows("SELECT id, name FROM measures"))
            self._raters = dict(transaction.rows("SELECT id, spec FROM raters"))
        packed = {key: sorted(map(int, key[1].split(","))) for key in keys}
        wanted = {rating >> _MEASURE_BITS + 4 for ratings in packed.values() for rating in ratings}
        self._read_reasons(transaction, sorted(wanted - self._reasons.keys()))
        for key, ratings in packed.items():
            values = dict(key[2])
            made = {
                measure: self._rating(key[0], rating, values.get(measure))
                for rating in ratings
                for measure in (rating >> 4 & _LEAST,)
            }
            self._sets[key] = tuple(made[measure] for measure in sorted(made))

    def _rating(self, rater: int, packed: int, other: float | None) -> Rating:
        key = rater, packed, other
        if key not in self._ratings:
            self._ratings[key] = Rating(
                self._raters[rater],
                self._measures[packed >> 4 & _LEAST],
                other if packed & 3 == 3 else _VALUES[packed & 3],
                STATUS_OF_KEY[packed >> 2 & 3],
                self._reasons[packed >> _MEASURE_BITS + 4],
            )
        return self._ratings[key]

    def _read_reasons(self, transaction: Transaction, ids: Sequence[int]) -> None:
        for at in range(0, len(ids), 500):
            part = ids[at : at + 500]
            marks = ", ".join("?" * len(part))
            self._reasons.update(
                transaction.rows(f"SELECT id, text FROM reasons WHERE id IN ({marks})", *part)
            )


def trial_parts(
    transaction: Transaction, administration: int, rated: Rated
) -> Iterator[tuple[Trial, ...]]:
    """Yield the trials of an administration in order, some at a time."""
    events: dict[int | None, list[Step]] = {}
    undone: list[tuple[int, int]] = []
    for sequence, kind, trial, text, undoes in transaction.rows(_EVENTS, administration):
        events.setdefault(trial, []).append(Step(sequence, EventEntry(kind, trial, text, undoes)))
        if undoes is not None:
            undone.append((sequence, undoes))
    back = taken_back(undone)
    steps = sorted((step for own in events.values() for step in own), key=lambda one: one.sequence)
    discontinued = status_of(steps, back)[0] is AdministrationStatus.DISCONTINUED
    prompts, left = _Prompts(transaction), 0
    first, last = transaction.first(
        "SELECT coalesce(min(number), 1), coalesce(max(number), 0) FROM trials"
        " WHERE administration_id = ?",
        administration,
    ) or (1, 0)
    for start in range(first, last + 1, PART):
        within = administration, start, start + PART - 1
        attempts = {
            trial: list(rows)
            for trial, rows in groupby(transaction.rows(_ATTEMPTS, *within), key=itemgetter(0))
        }
        left += sum(map(len, attempts.values()))
        ratings = rated.of(transaction, *within)
        trials: list[Trial] = []
        for plan in prompts.planned(transaction.rows(_PLANNED, *within)):
            tried = attempts.get(plan.number, ())
            own = events.get(plan.number, ())
            by_attempt = ratings.get(plan.number, {})
            if len(tried) == 1 and not own and tried[0][3] == _OK and tried[0][1] not in back:
                # Nearly all trials: what trial_of returns for them, in half the time.
                attempt = _attempted(tried[0])
                given = rated.joined(by_attempt.get(attempt.number, {}))
                trials.append(Trial(plan, TrialState.ANSWERED, (attempt,), given))
                continue
            steps = _steps(tried, own)
            trials.append(trial_of(plan, steps, by_attempt, back, discontinued=discontinued))
        yield tuple(trials)
    recorded = transaction.value(
        "SELECT count(*) FROM entries WHERE administration_id = ?"
        " AND substr(kind, 1, 8) = 'attempt-'",
        administration,
    )
    if recorded != left:
        raise ValueError("an entry has no attempt")


class _Prompts:
    """Reads planned trials; each different prompt and list of options is one object."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._texts: dict[int, str] = {}
        self._options: dict[str, tuple[str, ...]] = {}

    def planned(self, rows: Sequence[Row]) -> Iterator[PlannedTrial]:
        """Yield the trials of rows."""
        for kept in (self._texts, self._options):
            if len(kept) > _KEPT:
                kept.clear()
        missing = sorted({row[5] for row in rows} - self._texts.keys())
        for at in range(0, len(missing), 500):
            part = missing[at : at + 500]
            marks = ", ".join("?" * len(part))
            self._texts.update(
                self._transaction.rows(f"SELECT id, text FROM texts WHERE id IN ({marks})", *part)
            )
        for number, subtest, item, replicate, options, prompt, practice in rows:
            if options not in self._options:
                self._options[options] = tuple(json.loads(options))
            yield PlannedTrial(
                number,
                subtest,
                item,
                replicate,
                self._options[options],
                self._texts[prompt],
                bool(practice),
            )


def _steps(attempts: Sequence[Row], events: Sequence[Step]) -> list[Step]:
    steps = [Step(row[1], AttemptEntry(row[0], _attempted(row))) for row in attempts]
    return sorted((*steps, *events), key=lambda step: step.sequence) if events else steps


def _attempted(row: Row) -> Attempt:
    _, _, number, kind, response, status, stop, latency_s, error, metadata, at = row
    if kind is None:
        raise ValueError("an attempt has no entry")
    noted: Mapping[str, str] = _decode(metadata)[0] if metadata != "{}" else {}
    return Attempt(
        number,
        response,
        _STATE[kind],
        None if status is None else _STATUS[status],
        _STOP[stop],
        latency_s,
        (),
        error,
        noted,
        at,
    )
