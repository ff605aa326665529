"""Rows of rating sets. Every function works inside a transaction that its caller opened."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tabwb.records.errors import StoreError, UsageError
from tabwb.records.rating_sets import (
    Answer,
    Assignment,
    AudioCut,
    Presentation,
    RatingSet,
    Sample,
    SampleRating,
    SetPlan,
    SetStatus,
    checked_counts,
    checked_rater,
    checked_set_name,
)
from tabwb.records.specs import uuid7
from tabwb.store.database import Transaction
from tabwb.store.keys import Keys, now, to_json

STATES = ("draft", "complete", "taken-back")
COUNTS = " AND state <> 'draft'"
CONFIRMED = "#confirmed"
"""In stored answers: the measures that were confirmed as absent together. No measure has a #."""
_PREFIX = re.compile(r"[0-9a-f][0-9a-f-]{7,35}")


def number_of(transaction: Transaction, reference: int | str) -> int:
    """Return the id of the set that an id, a name, a uid or the beginning of one names."""
    text = str(reference).strip()
    rows: list[Any] = []
    if text.isdecimal() and len(text) < 8:
        rows = transaction.rows("SELECT id FROM sample_sets WHERE id = ?", int(text))
    elif _PREFIX.fullmatch(text.lower()):
        low = text.lower()
        rows = transaction.rows(
            "SELECT id FROM sample_sets WHERE uid >= ? AND uid < ? ORDER BY id", low, low + "g"
        )
    rows = rows or transaction.rows("SELECT id FROM sample_sets WHERE name = ?", text)
    if len(rows) == 1:
        return int(rows[0][0])
    names = ", ".join(
        name
        for (name,) in transaction.rows("SELECT name FROM sample_sets ORDER BY id DESC LIMIT 8")
    )
    if rows:
        raise StoreError(
            f"'{reference}' is the beginning of {len(rows)} rating sets' ids", allowed=names
        )
    raise StoreError(
        f"there is no rating set '{reference}' in this store",
        allowed=names or None,
        hint="'tabwb rate list' lists what there is; 'tabwb rate plan' makes one",
    )


def sets(transaction: Transaction, number: int | None = None) -> tuple[RatingSet, ...]:
    """Return all sets, or the one with an id, oldest first."""
    changed: dict[int, dict[str, str]] = {}
    for set_id, kind, text in transaction.rows(
        "SELECT set_id, kind, text FROM set_events"
        " WHERE kind IN ('closed', 'reopened', 'counts') ORDER BY id"
    ):
        what = "counts" if kind == "counts" else "status"
        changed.setdefault(set_id, {})[what] = text if kind == "counts" else kind
    made: list[RatingSet] = []
    for row in transaction.rows(
        "SELECT sample_sets.id, uid, name, form.text, form_id, presentation, seed, raters,"
        " guidelines.text, ask_source, counts, created_at FROM sample_sets"
        " JOIN texts AS form ON form.id = form_text_id"
        " LEFT JOIN texts AS guidelines ON guidelines.id = guidelines_id"
        f"{'' if number is None else ' WHERE sample_sets.id = ?'} ORDER BY sample_sets.id",
        *(() if number is None else (number,)),
    ):
        set_id, uid, name, form, form_id, presentation, seed, raters, guidelines, asks, *rest = row
        counts, created_at = rest
        since = changed.get(set_id, {})
        status: SetStatus = "closed" if since.get("status") == "closed" else "open"
        made.append(
            RatingSet(
                id=set_id,
                uid=uid,
                name=name,
                form=form,
                form_id=form_id,
                presentation=Presentation(**json.loads(presentation)),
                seed=seed,
                raters=tuple(json.loads(raters)),
                guidelines=guidelines or "",
                ask_source=bool(asks),
                counts=since.get("counts", counts),
                status=status,
                created_at=created_at,
            )
        )
    return tuple(made)


def refuse_closed(kept: RatingSet) -> None:
    """Refuse ratings of a set that is closed."""
    if kept.status == "closed":
        raise StoreError(
            f"rating set '{kept.name}' is closed",
            hint=f"'tabwb rate reopen {kept.name}' opens it again",
        )


def refuse_taken(transaction: Transaction, name: str) -> None:
    """Refuse a name that a rating set has already."""
    if transaction.value("SELECT 1 FROM sample_sets WHERE name = ?", name):
        raise UsageError(f"a rating set '{name}' already exists", hint="give another name")


def insert_set(transaction: Transaction, keys: Keys, plan: SetPlan) -> int:
    """Insert a set with its samples and assignments; return its id."""
    checked_set_name(plan.name)
    raters = tuple(dict.fromkeys((*plan.raters, *(one.rater for one in plan.assignments))))
    for rater in raters:
        refuse_program(transaction, checked_rater(rater))
    checked_counts(plan.counts, raters)
    refuse_taken(transaction, plan.name)
    if not plan.samples:
        raise UsageError("a rating set without samples cannot be made")
    row = {
        "uid": uuid7(),
        "name": plan.name,
        "form_id": plan.form_id,
        "form_text_id": keys.of(transaction, "texts", plan.form),
        "guidelines_id": (
            keys.of(transaction, "texts", plan.guidelines) if plan.guidelines else None
        ),
        "presentation": to_json(asdict(plan.presentation)),
        "raters": to_json(raters),
        "seed": plan.seed,
        "ask_source": plan.ask_source,
        "counts": plan.counts,
        "created_at": now(),
    }
    set_id = int(transaction.insert("sample_sets", row, "RETURNING id"))
    _insert_samples(transaction, keys, set_id, plan.samples)
    insert_assignments(transaction, keys, set_id, plan.assignments)
    return set_id


def refuse_program(transaction: Transaction, rater: str) -> None:
    """Refuse a person's code that a judge or a scorer of this store has."""
    is_program = transaction.value(
        "SELECT 1 FROM raters WHERE spec = ? AND (EXISTS (SELECT 1 FROM rater_declarations d"
        " WHERE d.rater_id = raters.id AND d.kind <> 'person') OR EXISTS"
        " (SELECT 1 FROM judgements j WHERE j.rater_id = raters.id)) LIMIT 1",
        rater,
    )
    if is_program:
        raise UsageError(
            f"'{rater}' is a judge or a scorer of this store, not a person",
            hint="choose another code for the person, for example R2",
        )


def _insert_samples(
    transaction: Transaction, keys: Keys, set_id: int, samples: Sequence[Sample]
) -> None:
    known: dict[int, dict[tuple[int, int], int]] = {}
    rows: list[tuple[object, ...]] = []
    seen: dict[tuple[int, int, int], int] = {}
    for sample in samples:
        if sample.administration not in known:
            known[sample.administration] = {
                (trial, number): key
                for trial, number, key in transaction.rows(
                    "SELECT trial, number, id FROM attempts WHERE administration_id = ?",
                    sample.administration,
                )
            }
        place = f"sample {sample.number}"
        key = known[sample.administration].get((sample.trial, sample.attempt))
        if key is None:
            raise StoreError(
                f"administration {sample.administration} has no attempt {sample.attempt} of trial"
                f" {sample.trial}",
                where=place,
            )
        response = sample.administration, sample.trial, sample.attempt
        if response in seen:
            raise StoreError(
                f"the same response as in sample {seen[response]}",
                where=place,
                hint="a sample is rated again with an assignment of purpose 'again'",
            )
        seen[response] = sample.number
        audio = sample.audio
        rows.append(
            (
                set_id,
                sample.number,
                key,
                sample.text,
                keys.of(transaction, "texts", sample.prompt),
                sample.context_before,
                sample.context_after,
                sample.stratum,
                sample.weight,
                *(
                    (None, None, None)
                    if audio is None
                    else (audio.sha256, audio.start_s, audio.end_s)
                ),
                sample.picture,
                sample.target,
                None if sample.consensus is None else to_json(dict(sample.consensus)),
            )
        )
    transaction.many(
        "INSERT INTO samples (set_id, number, attempt_id, text, prompt_id, context_before,"
        " context_after, stratum, weight, audio_sha256, audio_start_s, audio_end_s, picture,"
        " target, consensus) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def insert_assignments(
    transaction: Transaction, keys: Keys, set_id: int, assignments: Sequence[Assignment]
) -> None:
    """Insert the assignments of a new set."""
    numbers = {
        number
        for (number,) in transaction.rows("SELECT number FROM samples WHERE set_id = ?", set_id)
    }
    for rater in dict.fromkeys(one.rater for one in assignments):
        refuse_program(transaction, checked_rater(rater))
    taken: set[tuple[str, int]] = set()
    for one in assignments:
        if (one.rater, one.position) in taken:
            raise StoreError(f"rater {one.rater} has a sample at position {one.position} already")
        taken.add((one.rater, one.position))
        if one.sample not in numbers:
            raise StoreError(
                f"rater {one.rater} is to rate sample {one.sample}, which is not there"
            )
    transaction.many(
        "INSERT INTO assignments (set_id, rater_id, position, sample, purpose)"
        " VALUES (?, ?, ?, ?, ?)",
        [
            (
                set_id,
                keys.of(transaction, "raters", one.rater),
                one.position,
                one.sample,
                one.purpose,
            )
            for one in assignments
        ],
    )


def samples(transaction: Transaction, set_id: int, number: int | None = None) -> Iterator[Sample]:
    """Yield the samples of a set in order, or the one with a number."""
    for row in transaction.rows(
        "SELECT samples.number, administration_id, trial, attempts.number, samples.text,"
        " texts.text, context_before, context_after, stratum, weight, audio_sha256, audio_start_s,"
        " audio_end_s, picture, target, consensus FROM samples"
        " JOIN attempts ON attempts.id = attempt_id JOIN texts ON texts.id = prompt_id"
        f" WHERE set_id = ?{'' if number is None else ' AND samples.number = ?'}"
        " ORDER BY samples.number",
        set_id,
        *(() if number is None else (number,)),
    ):
        number, administration, trial, attempt, text, prompt, before, after, *rest = row
        stratum, weight, sha256, start_s, end_s, picture, target, consensus = rest
        yield Sample(
            number=number,
            administration=administration,
            trial=trial,
            attempt=attempt,
            text=text,
            prompt=prompt,
            context_before=before,
            context_after=after,
            stratum=stratum,
            weight=weight,
            audio=None if sha256 is None else AudioCut(sha256, start_s, end_s),
            picture=picture,
            target=target,
            consensus=None if consensus is None else json.loads(consensus),
        )


def assignments_of(
    transaction: Transaction, set_id: int, rater: str | None = None
) -> Iterator[Assignment]:
    """Yield the assignments of a set, or of one rater, each rater's in order."""
    rows = transaction.rows(
        "SELECT spec, position, sample, purpose FROM assignments"
        " JOIN raters ON raters.id = rater_id WHERE set_id = ?"
        f"{'' if rater is None else ' AND spec = ?'} ORDER BY spec, position",
        set_id,
        *(() if rater is None else (rater,)),
    )
    yield from (Assignment(*row) for row in rows)


def written_answers(rating: SampleRating) -> dict[str, Any]:
    """Return the JSON object that keeps the answers of a rating, and which were confirmed."""
    if rating.confirmed is None:
        return dict(rating.answers)
    return {**rating.answers, CONFIRMED: list(rating.confirmed)}


def read_answers(text: str) -> tuple[Mapping[str, Answer], tuple[str, ...] | None]:
    """Return the answers of stored JSON, and which of them were confirmed; None: not known."""
    answers = json.loads(text)
    confirmed = answers.pop(CONFIRMED, None)
    return answers, None if confirmed is None else tuple(confirmed)


def ratings(
    transaction: Transaction,
    set_id: int,
    rater: str | None = None,
    position: int | None = None,
    *,
    every: bool,
) -> Iterator[SampleRating]:
    """Yield ratings of samples by rater and position, each position's in the order recorded.

    Args:
        transaction: to read in.
        set_id: of the set.
        rater: only theirs.
        position: only there.
        every: every row; else of each position the one that counts, if there is one.
    """
    limits = {"a.set_id": set_id, "spec": rater, "r.position": position}
    wanted = {column: value for column, value in limits.items() if value is not None}
    counting: dict[tuple[str, int], SampleRating] = {}
    for row in transaction.rows(
        "SELECT spec, r.position, sample, purpose, answers, state, confidence, note, seconds,"
        " started_at, recorded_at, r.id, replaces FROM sample_ratings r"
        " JOIN assignments a ON a.set_id = r.set_id AND a.rater_id = r.rater_id"
        " AND a.position = r.position JOIN raters ON raters.id = r.rater_id"
        f" WHERE {' AND '.join(f'{column} = ?' for column in wanted)}"
        f"{'' if every else COUNTS}"
        " ORDER BY spec, r.position, r.id",
        *wanted.values(),
    ):
        who, at, sample, purpose, answers, state, confidence, note, seconds, *times = row
        started_at, recorded_at, number, replaces = times
        given, confirmed = read_answers(answers)
        one = SampleRating(
            rater=who,
            position=at,
            sample=sample,
            purpose=purpose,
            answers=given,
            complete=state == "complete",
            confidence=confidence,
            note=note,
            seconds=seconds,
            started_at=started_at,
            recorded_at=recorded_at,
            id=number,
            replaces=replaces,
            taken_back=state == "taken-back",
            confirmed=confirmed,
        )
        if every:
            yield one
        elif one.complete:
            counting[who, at] = one
        else:
            counting.pop((who, at), None)
    yield from counting.values()
