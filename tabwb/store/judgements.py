"""Rows of judgements: one for each call of a judge that uses a model.

The ratings of the judgement that counts are stored with all other ratings; those of repetitions,
which never count, are stored as JSON with the judgement itself.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tabwb.records.ratings import Declaration, Judged, Judgement, Rating
from tabwb.records.states import RatingStatus, StopReason
from tabwb.store.database import Transaction
from tabwb.store.write import (
    STATUS_OF_KEY,
    Keys,
    attempt_key,
    insert_declaration,
    insert_ratings,
    now,
    to_json,
)

_AT_ONCE = 500
"""Parameters of one statement; databases allow some thousands."""

_COLUMNS = (
    "trial, attempts.number, set_id, verdict, spec, repeat, prompt.text, raw.text, first_raw.text,"
    " repaired, structured, judgements.stop_reason, requests, prompt_tokens, reply_tokens,"
    " judgements.latency_s, key, same_as, judgements.id, judgements.recorded_at"
)
_JOINS = (
    " FROM judgements JOIN attempts ON attempts.id = judgements.attempt_id"
    " JOIN raters ON raters.id = judgements.rater_id"
    " JOIN texts AS prompt ON prompt.id = prompt_id JOIN texts AS raw ON raw.id = raw_id"
    " LEFT JOIN texts AS first_raw ON first_raw.id = first_raw_id"
)


def insert(
    transaction: Transaction,
    keys: Keys,
    administration_id: int,
    judged: Sequence[Judged],
    declaration: Declaration | None = None,
) -> tuple[Judged, ...]:
    """Insert judgements, and the ratings of those that count; the same with their keys.

    ``declaration`` is what the judge says of itself, if it does.
    """
    moment = now()
    if declaration is not None:
        insert_declaration(transaction, keys, administration_id, declaration, moment)
    kept: list[Judged] = []
    for entry in judged:
        judgement = entry.judgement
        attempt_id = attempt_key(transaction, administration_id, entry.trial, entry.attempt)
        rater_id = keys.of(transaction, "raters", judgement.rater)
        set_id = verdict = None
        if judgement.repeat == 0:
            sets = insert_ratings(transaction, keys, attempt_id, judgement.ratings, moment)
            set_id = sets[judgement.rater]
        else:
            plain = [[r.measure, r.value, r.status.value, r.reason] for r in judgement.ratings]
            verdict = to_json(plain)
        row = {
            "attempt_id": attempt_id,
            "rater_id": rater_id,
            "set_id": set_id,
            "repeat": judgement.repeat,
            "prompt_id": keys.of(transaction, "texts", judgement.prompt_text),
            "raw_id": keys.of(transaction, "texts", judgement.raw),
            "first_raw_id": (
                keys.of(transaction, "texts", judgement.first_raw) if judgement.first_raw else None
            ),
            "repaired": judgement.repaired,
            "structured": judgement.structured,
            "stop_reason": judgement.stop_reason.value,
            "requests": judgement.requests,
            "prompt_tokens": judgement.prompt_tokens,
            "reply_tokens": judgement.reply_tokens,
            "latency_s": judgement.latency_s,
            "key": bytes.fromhex(judgement.key),
            "same_as": judgement.same_as,
            "verdict": verdict,
            "recorded_at": moment,
        }
        number = transaction.insert("judgements", row, "RETURNING id")
        stored = replace(judgement, id=int(number), recorded_at=moment)
        kept.append(replace(entry, judgement=stored))
    return tuple(kept)


def of_administration(
    transaction: Transaction, administration_id: int, trial: int | range | None = None
) -> tuple[Judged, ...]:
    """Return all judgements of an administration, a trial or a range, in the order recorded."""
    given = range(trial, trial + 1) if isinstance(trial, int) else trial
    rows = transaction.rows(
        f"SELECT {_COLUMNS}{_JOINS} WHERE administration_id = ?"
        f"{'' if given is None else ' AND trial BETWEEN ? AND ?'} ORDER BY judgements.id",
        administration_id,
        *(() if given is None else (given.start, given.stop - 1)),
    )
    return tuple(_judged(transaction, rows))


def repetitions(
    transaction: Transaction, administration_ids: Sequence[int]
) -> Iterator[tuple[tuple[int, int, int], str, int, dict[str, float]]]:
    """Yield the verdicts that judges gave when they were asked again, without copies."""
    for number in administration_ids:
        for trial, attempt, rater, repeat, verdict in transaction.rows(
            "SELECT trial, attempts.number, spec, repeat, verdict FROM judgements"
            " JOIN attempts ON attempts.id = judgements.attempt_id"
            " JOIN raters ON raters.id = judgements.rater_id"
            " WHERE administration_id = ? AND repeat > 0 AND same_as IS NULL"
            " ORDER BY judgements.id",
            number,
        ):
            values = {name: value for name, value, *_ in json.loads(verdict) if value is not None}
            yield (number, trial, attempt), rater, repeat, values


def of_keys(transaction: Transaction, keys: Collection[str]) -> dict[str, Judgement]:
    """Return the latest judgement of each key, without failures and repetitions."""
    latest: dict[str, Judgement] = {}
    wanted = sorted(keys)
    for at in range(0, len(wanted), _AT_ONCE):
        part = [bytes.fromhex(key) for key in wanted[at : at + _AT_ONCE]]
        marks = ", ".join("?" * len(part))
        rows = transaction.rows(
            f"SELECT {_COLUMNS}{_JOINS} WHERE key IN ({marks}) AND repeat = 0"
            " ORDER BY judgements.id",
            *part,
        )
        for entry in _judged(transaction, rows):
            statuses = {rating.status for rating in entry.judgement.ratings}
            if RatingStatus.ERROR not in statuses:
                latest[entry.judgement.key] = entry.judgement
    return latest


def _judged(transaction: Transaction, rows: Sequence[Any]) -> Iterator[Judged]:
    ratings = _ratings(transaction, [row[2] for row in rows if row[2] is not None])
    for trial, attempt, set_id, verdict, rater, repeat, prompt, raw, first_raw, *rest in rows:
        repaired, structured, stop, requests, prompt_tokens, reply_tokens, latency_s, *last = rest
        key, same_as, number, moment = last
        given = _from_verdict(verdict) if set_id is None else ratings[set_id]
        judgement = Judgement(
            rater=rater,
            ratings=tuple(Rating(rater, *rating) for rating in given),
            repeat=repeat,
            prompt_text=prompt,
            raw=raw,
            first_raw=first_raw or "",
            repaired=bool(repaired),
            structured=bool(structured),
            stop_reason=StopReason(stop),
            requests=requests,
            prompt_tokens=prompt_tokens,
            reply_tokens=reply_tokens,
            latency_s=latency_s,
            key=bytes(key).hex(),
            same_as=same_as,
            id=number,
            recorded_at=moment,
        )
        yield Judged(trial, attempt, judgement)


_Given = list[tuple[str, float | None, RatingStatus, str]]
"""Measure, value, status and reason of each rating."""


def _ratings(transaction: Transaction, sets: Sequence[int]) -> dict[int, _Given]:
    ratings: dict[int, _Given] = {}
    for at in range(0, len(sets), _AT_ONCE):
        part = sets[at : at + _AT_ONCE]
        marks = ", ".join("?" * len(part))
        for set_id, measure, value, status, reason in transaction.rows(
            "SELECT set_id, name, value, status_id, reasons.text FROM ratings"
            " JOIN measures ON measures.id = measure_id"
            " LEFT JOIN reasons ON reasons.id = reason_id"
            f" WHERE set_id IN ({marks}) ORDER BY set_id, measure_id",
            *part,
        ):
            given = (measure, value, STATUS_OF_KEY[status], reason or "")
            ratings.setdefault(set_id, []).append(given)
    return ratings


def _from_verdict(verdict: str) -> _Given:
    rows = json.loads(verdict)
    return [(measure, value, RatingStatus(status), why) for measure, value, status, why in rows]
