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
from tabwb.store.verdicts import COLUMNS, Verdicts, texts

PART = 1_000
"""Trials read at a time."""
_KEPT = 20_000
"""Prompts and lists of options that are remembered."""
_STATE = {f"attempt-{state.value}": state for state in AttemptState}
_OK = f"attempt-{AttemptState.OK.value}"
_STATUS = {status.value: status for status in ResponseStatus}
_STOP = {reason.value: reason for reason in StopReason}

_PLANNED = """
SELECT number, subtest, item, replicate, options_id, prompt_id, practice
FROM trials JOIN items ON items.id = item_id
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
_decode = json.JSONDecoder().raw_decode


class Rated(Verdicts):
    """Reads what each rater gave last; equal ratings are one object, as are tuples of them."""

    def __init__(self) -> None:
        super().__init__()
        self._joined: dict[tuple[int, ...], tuple[Rating, ...]] = {}

    def of(
        self, transaction: Transaction, administration: int, first: int, last: int
    ) -> dict[int, dict[int, dict[str, tuple[Rating, ...]]]]:
        """Return, by trial (``first`` to ``last``) and attempt, what each rater gave last."""
        rows = transaction.rows(
            f"SELECT a.trial, a.number, {COLUMNS} FROM attempts a"
            " JOIN verdicts ON attempt_id = a.id JOIN raters ON raters.id = rater_id"
            " WHERE a.administration_id = ? AND a.trial BETWEEN ? AND ? ORDER BY verdicts.id",
            administration,
            first,
            last,
        )
        rated: dict[int, dict[int, dict[str, tuple[Rating, ...]]]] = {}
        given = self.read(transaction, [row[2:] for row in rows])
        for (trial, attempt, rater, *_), ratings in zip(rows, given, strict=True):
            if ratings:
                rated.setdefault(trial, {}).setdefault(attempt, {})[rater] = ratings
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
        self._options: dict[int, tuple[str, ...]] = {}

    def planned(self, rows: Sequence[Row]) -> Iterator[PlannedTrial]:
        """Yield the trials of rows."""
        if len(self._texts) > _KEPT:
            self._texts.clear()
            self._options.clear()
        wanted = {number for row in rows for number in row[4:6]}
        self._texts.update(texts(self._transaction, wanted - self._texts.keys()))
        for number, subtest, item, replicate, options, prompt, practice in rows:
            if options not in self._options:
                self._options[options] = tuple(json.loads(self._texts[options]))
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
