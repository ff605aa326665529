"""What was settled in a rating set, and what happened to it.

Every function works inside a transaction that its caller opened.
"""

from __future__ import annotations

import json
from dataclasses import replace

from tabwb.records.errors import StoreError
from tabwb.records.rating_sets import Adjudication, RatingSet, SetEvent
from tabwb.records.speakers import operator
from tabwb.store.database import Transaction
from tabwb.store.keys import now, to_json
from tabwb.store.set_ratings import asked_by
from tabwb.store.set_saving import checked


def settle(transaction: Transaction, kept: RatingSet, given: Adjudication) -> Adjudication:
    """Insert an adjudication and return it with its id, its time and what it replaces.

    Args:
        transaction: of the caller.
        kept: the set.
        given: what is settled.

    Raises:
        StoreError: the sample is not there, the answer is not allowed, or the reason is empty.
    """
    where = f"rating set '{kept.name}', sample {given.sample}"
    answer = checked(asked_by(kept), {given.measure: given.answer}, where)[given.measure]
    if not given.reason.strip():
        raise StoreError("an adjudication needs a reason", where=where)
    place = kept.id, given.sample
    if not transaction.value("SELECT 1 FROM samples WHERE set_id = ? AND number = ?", *place):
        raise StoreError("there is no such sample", where=where)
    last = transaction.value(
        "SELECT max(id) FROM adjudications WHERE set_id = ? AND sample = ? AND measure = ?",
        *place,
        given.measure,
    )
    who, moment = given.who or operator(), now()
    row = {
        "set_id": kept.id,
        "sample": given.sample,
        "measure": given.measure,
        "answer": to_json(answer),
        "reason": given.reason,
        "who": who,
        "replaces": last,
        "recorded_at": moment,
    }
    number = int(transaction.insert("adjudications", row, "RETURNING id"))
    return replace(given, answer=answer, who=who, recorded_at=moment, id=number, replaces=last)


def adjudications(
    transaction: Transaction, set_id: int, *, every: bool
) -> tuple[Adjudication, ...]:
    """Return what settles each measure of each sample."""
    rows = transaction.rows(
        "SELECT sample, measure, answer, reason, who, recorded_at, id, replaces"
        " FROM adjudications WHERE set_id = ? ORDER BY id",
        set_id,
    )
    made = [
        Adjudication(sample, measure, json.loads(answer), *rest)
        for sample, measure, answer, *rest in rows
    ]
    if every:
        return tuple(made)
    latest = {(one.sample, one.measure): one for one in made}
    settled = (one for one in latest.values() if one.answer is not None)
    return tuple(sorted(settled, key=lambda one: (one.sample, one.measure)))


def insert_event(transaction: Transaction, set_id: int, event: SetEvent) -> SetEvent:
    """Insert an event and return it with who and when."""
    made = replace(event, who=event.who or operator(), recorded_at=event.recorded_at or now())
    row = {"kind": made.kind, "text": made.text, "who": made.who, "recorded_at": made.recorded_at}
    transaction.insert("set_events", {"set_id": set_id, **row})
    return made


def events(transaction: Transaction, set_id: int) -> tuple[SetEvent, ...]:
    """Return what happened to a set, oldest first.

    Args:
        transaction: to read in.
        set_id: id of the set.
    """
    rows = transaction.rows(
        "SELECT kind, text, who, recorded_at FROM set_events WHERE set_id = ? ORDER BY id", set_id
    )
    return tuple(SetEvent(*row) for row in rows)
