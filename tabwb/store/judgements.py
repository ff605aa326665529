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
from tabwb.store import verdicts
from tabwb.store.database import Transaction
from tabwb.store.keys import Keys, now, to_json
from tabwb.store.verdicts import AT_ONCE, Verdicts
from tabwb.store.write import attempt_key, insert_declaration

_COLUMNS = (
    "trial, attempts.number, verdict_id, verdict, spec, repeat, prompt.text, raw.text,"
    " first_raw.text, repaired, structured, judgements.stop_reason, requests, prompt_tokens,"
    " reply_tokens,"
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
        verdict_id = verdict = None
        if judgement.repeat == 0:
            made = verdicts.insert(transaction, keys, attempt_id, judgement.ratings, moment)
            verdict_id = made[judgement.rater]
        else:
            plain = [[r.measure, r.value, r.status.value, r.reason] for r in judgement.ratings]
            verdict = to_json(plain)
        row = {
            "attempt_id": attempt_id,
            "rater_id": rater_id,
            "verdict_id": verdict_id,
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
    for at in range(0, len(wanted), AT_ONCE):
        part = [bytes.fromhex(key) for key in wanted[at : at + AT_ONCE]]
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
    ids = [row[2] for row in rows if row[2] is not None]
    found = verdicts.of_ids(transaction, Verdicts(), ids)
    for trial, attempt, verdict_id, verdict, rater, repeat, prompt, raw, first_raw, *rest in rows:
        repaired, structured, stop, requests, prompt_tokens, reply_tokens, latency_s, *last = rest
        key, same_as, number, moment = last
        given = _repeated(rater, verdict) if verdict_id is None else found[verdict_id]
        judgement = Judgement(
            rater=rater,
            ratings=given,
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


def _repeated(rater: str, verdict: str) -> tuple[Rating, ...]:
    return tuple(
        Rating(rater, measure, value, RatingStatus(status), why)
        for measure, value, status, why in json.loads(verdict)
    )
