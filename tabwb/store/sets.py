"""Rating sets of people in an open store: ``store.sets`` (docs/rating.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from tabwb.battery.form_answers import check_answers, ratings_of
from tabwb.battery.forms import Form, form_from_canonical, with_source_question
from tabwb.records.errors import StoreError, TabwbError, UsageError
from tabwb.records.rating_sets import (
    MOST_CONFIDENT,
    Adjudication,
    Answer,
    Assignment,
    AudioCut,
    Presentation,
    RaterLink,
    RatingSet,
    Sample,
    SampleRating,
    SetEvent,
    SetPlan,
    SetStatus,
    checked_counts,
    checked_rater,
    checked_set_name,
)
from tabwb.records.ratings import PERSON, TAKEN_BACK, Declaration, Rating, undefined
from tabwb.records.speakers import operator
from tabwb.records.specs import uuid7
from tabwb.store import verdicts
from tabwb.store.database import Conflict, Transaction
from tabwb.store.keys import Keys, now, to_json

if TYPE_CHECKING:
    from tabwb.store.access import Access
    from tabwb.store.set_arrays import SetArrays


Done = TypeVar("Done")


class RatingSets:
    """The part of an open store that keeps rating sets. Rows are only ever added."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.links = RaterLinks(access)

    def create(
        self,
        plan: SetPlan,
        *,
        who: str = "",
        ratings: Sequence[SampleRating] = (),
        settled: Sequence[Adjudication] = (),
        events: Sequence[SetEvent] = (),
    ) -> RatingSet:
        """Make a rating set with its samples and assignments, in one commit."""
        form_of(plan.form, plan.ask_source)
        happened = (SetEvent("planned", who=who or operator()), *events)
        return _looking_again(lambda: self._create(plan, happened, ratings, settled))

    def _create(
        self,
        plan: SetPlan,
        happened: Sequence[SetEvent],
        ratings: Sequence[SampleRating],
        settled: Sequence[Adjudication],
    ) -> RatingSet:
        with self._access.writing() as transaction:
            number = insert_set(transaction, self._access.keys, plan)
            for event in happened:
                insert_event(transaction, number, event)
            kept = read_sets(transaction, number)[0]
            form = asked_by(kept)
            for rating in ratings:
                save(transaction, self._access.keys, kept, form, rating)
            for adjudication in settled:
                settle(transaction, kept, adjudication)
            return kept

    def refuse_taken(self, name: str) -> None:
        """Refuse a name that a rating set has already."""
        with self._access.reading() as transaction:
            refuse_taken(transaction, name)

    def all(self) -> tuple[RatingSet, ...]:
        """Return every rating set, oldest first."""
        with self._access.reading() as transaction:
            return read_sets(transaction)

    def get(self, ref: int | str) -> RatingSet:
        """Return the set with an id, a name, a uid or the first 8 or more signs of a uid."""
        with self._access.reading() as transaction:
            return read_sets(transaction, set_number(transaction, ref))[0]

    def samples(self, set_id: int) -> tuple[Sample, ...]:
        """Return the samples of a set in order; those of deleted speakers are gone."""
        with self._access.reading() as transaction:
            return tuple(read_samples(transaction, set_id))

    def sample(self, set_id: int, number: int) -> Sample:
        """Return one sample of a set."""
        with self._access.reading() as transaction:
            for sample in read_samples(transaction, set_id, number):
                return sample
        raise StoreError(f"rating set {set_id} has no sample {number}")

    def assignments(self, set_id: int, rater: str | None = None) -> tuple[Assignment, ...]:
        """Return who rates what, each rater's in order; of one rater where one is given."""
        with self._access.reading() as transaction:
            return tuple(assignments_of(transaction, set_id, rater))

    def ratings(
        self, set_id: int, rater: str | None = None, *, every: bool = False
    ) -> tuple[SampleRating, ...]:
        """Return the rating that counts at each position, by rater and position."""
        with self._access.reading() as transaction:
            return tuple(read_ratings(transaction, set_id, rater, every=every))

    def arrays(self, set_id: int, purpose: str = "rate") -> SetArrays:
        """Return the ratings that count as numpy arrays."""
        from tabwb.store.set_arrays import set_arrays

        with self._access.reading() as transaction:
            return set_arrays(transaction, set_id, purpose)

    def rate(self, set_id: int, rating: SampleRating) -> SampleRating:
        """Save what a rater has answered at one position; durable when this returns.

        A complete first rating is also kept as the rater's ratings of the attempt, which results
        count, in the same commit. Saving the same again changes nothing and returns the row that
        is there, so that a caller may try again after a lost connection.
        """
        return self.rate_all(set_id, [rating])[0]

    def rate_all(self, set_id: int, ratings: Sequence[SampleRating]) -> tuple[SampleRating, ...]:
        """Save ratings as :meth:`rate` in one commit, all or none."""
        return _looking_again(lambda: self._rate_all(set_id, ratings))

    def _rate_all(self, set_id: int, ratings: Sequence[SampleRating]) -> tuple[SampleRating, ...]:
        with self._access.writing() as transaction:
            kept = _open_set(transaction, set_id)
            form, keys = asked_by(kept), self._access.keys
            return tuple(save(transaction, keys, kept, form, one) for one in ratings)

    def take_back(self, set_id: int, rating_id: int) -> SampleRating:
        """Take back a complete rating: it counts no more; what counted before it counts again."""
        with self._access.writing() as transaction:
            kept = _open_set(transaction, set_id)
            back = taken_back(transaction, kept, rating_id)
            return save(transaction, self._access.keys, kept, asked_by(kept), back)

    def adjudicate(self, set_id: int, adjudication: Adjudication) -> Adjudication:
        """Settle a measure of a sample; replaces what settled it before."""
        return _looking_again(lambda: self._settle(set_id, adjudication))

    def _settle(self, set_id: int, adjudication: Adjudication) -> Adjudication:
        with self._access.writing() as transaction:
            return settle(transaction, _set(transaction, set_id), adjudication)

    def adjudications(self, set_id: int, *, every: bool = False) -> tuple[Adjudication, ...]:
        """Return what settles each measure of each sample."""
        with self._access.reading() as transaction:
            return read_adjudications(transaction, set_id, every=every)

    def log(self, set_id: int, event: SetEvent) -> SetEvent:
        """Record an event of a set; who and when are filled in where they are empty.

        ``closed`` and ``reopened`` change its status, ``counts`` whose ratings count.
        """
        if event.kind == "counts":
            checked_counts(event.text)
        with self._access.writing() as transaction:
            kept = _set(transaction, set_id)
            return insert_event(transaction, kept.id, event)

    def events(self, set_id: int) -> tuple[SetEvent, ...]:
        """Return what happened to a set, oldest first."""
        with self._access.reading() as transaction:
            return read_events(transaction, set_id)

    def lock(self, set_id: int, rater: str) -> AbstractContextManager[None]:
        """Hold the work of one rater on one set for this process, which frees it when it ends."""
        with self._access.reading() as transaction:
            kept = _set(transaction, set_id)
            rater_id = transaction.value("SELECT id FROM raters WHERE spec = ?", rater) or 0
        what = f"rating set '{kept.name}' is open for rater {rater}"
        return self._access.database.lock_rater(kept.id, int(rater_id), what)


def _set(transaction: Transaction, set_id: int) -> RatingSet:
    return read_sets(transaction, set_number(transaction, set_id))[0]


def _looking_again(work: Callable[[], Done]) -> Done:
    """Do something, twice where a server let another program read the same last row meanwhile."""
    try:
        return work()
    except Conflict:
        return work()


def _open_set(transaction: Transaction, set_id: int) -> RatingSet:
    kept = _set(transaction, set_id)
    refuse_closed(kept)
    return kept


@lru_cache(maxsize=16)
def form_of(canonical: str, ask_source: bool) -> Form:
    """Return what a set asks."""
    form = form_from_canonical(canonical)
    return with_source_question(form) if ask_source else form


def asked_by(kept: RatingSet) -> Form:
    """Return what a set asks; the question of the source is its last one, where it is asked."""
    return form_of(kept.form, kept.ask_source)


def with_earlier(
    form: Form, given: Sequence[Rating], earlier: Sequence[Rating], why: str
) -> tuple[Rating, ...]:
    """Return the ratings of a new row, which replaces the rater's last one of the attempt.

    Measures that the form does not ask are carried over. If nothing is left, what was rated before
    becomes undefined, because a row without ratings would replace nothing.
    """
    carried = (one for one in earlier if not is_asked(form, one.measure))
    return (*given, *carried) or tuple(undefined(one.rater, one.measure, why) for one in earlier)


def is_asked(form: Form, measure: str) -> bool:
    """Return whether a rating of a measure (``code:formal``) follows from a question of a form."""
    return measure.partition(":")[0] in form.measures


def counted_as(form: Form, code: str) -> str:
    """Return under which id results count what a person answers to a form.

    Who scores or codes spoken names is a listener of the session, as who does so in the session.
    """
    return f"{PERSON}{code}" if {"correct", "code"} & {*form.measures} else code


def declaration_of(form: Form, rater: str) -> Declaration:
    """Return what a person declares who rates with a form: the features that it decides."""
    decides = tuple(one.measure for one in form.questions if one.is_feature)
    return Declaration(rater, decides, kind="person")


STATES = ("draft", "complete", "taken-back")
COUNTS = " AND state <> 'draft'"
CONFIRMED = "#confirmed"
"""In stored answers: the measures that were confirmed as absent together. No measure has a #."""
_PREFIX = re.compile(r"[0-9a-f][0-9a-f-]{7,35}")


def set_number(transaction: Transaction, reference: int | str) -> int:
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


def read_sets(transaction: Transaction, number: int | None = None) -> tuple[RatingSet, ...]:
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


def read_samples(
    transaction: Transaction, set_id: int, number: int | None = None
) -> Iterator[Sample]:
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


def read_ratings(
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


_LAST = (
    "SELECT max(verdicts.id) FROM verdicts JOIN raters ON raters.id = rater_id"
    " WHERE attempt_id = ? AND spec = ?"
)


class SavedElsewhere(StoreError):
    """Another program saved an answer at the same position meanwhile; this one was not saved."""


class NotAssigned(StoreError):
    """A rater has no such position; one whose speaker was deleted is gone."""


def save(
    transaction: Transaction,
    keys: Keys,
    kept: RatingSet,
    form: Form,
    given: SampleRating,
) -> SampleRating:
    """Insert what a rater has answered at one position, and the ratings that results count."""
    where = f"rating set '{kept.name}', rater {given.rater}, position {given.position}"
    rater_id = keys.of(transaction, "raters", given.rater)
    place = kept.id, rater_id, given.position
    assigned = transaction.first(
        "SELECT sample, purpose, attempt_id, administration_id FROM assignments"
        " JOIN samples ON samples.set_id = assignments.set_id AND samples.number = sample"
        " JOIN attempts ON attempts.id = attempt_id"
        " WHERE assignments.set_id = ? AND rater_id = ? AND position = ?",
        *place,
    )
    if assigned is None:
        raise NotAssigned("nothing is assigned here", where=where)
    sample, purpose, attempt_id, administration_id = assigned
    if (sample, purpose) != (given.sample, given.purpose):
        raise StoreError(
            f"sample {sample} is shown here ({purpose}), not {given.sample} ({given.purpose})",
            where=where,
        )
    answers = checked(form, given.answers, where)
    given = replace(given, answers=answers)
    _check(given, where)
    chain = list(read_ratings(transaction, kept.id, given.rater, given.position, every=True))
    last = chain[-1] if chain else None
    if given.replaces != (last.id if last else None):
        if last is not None and same(last, given):
            return last
        raise saved_elsewhere(kept.name, given)
    moment = now()
    counted = counted_as(form, given.rater)
    ratings: tuple[Rating, ...] = ()
    if purpose == "rate" and given.complete:
        earlier = _last_ratings(transaction, attempt_id, counted)
        said = ratings_of(form, counted, answers, given.confirmed or ())
        ratings = with_earlier(form, said, earlier, "not rated")
    elif purpose == "rate" and given.taken_back:
        ratings = _before(transaction, form, place, attempt_id, counted)
    verdict_id = None
    if ratings and not _scored_in_session(transaction, attempt_id, counted):
        verdict_id = verdicts.insert(transaction, keys, attempt_id, ratings, moment)[counted]
        declaration = declaration_of(form, counted)
        verdicts.insert_declaration(transaction, keys, administration_id, declaration, moment)
    row = {
        "set_id": kept.id,
        "rater_id": rater_id,
        "position": given.position,
        "replaces": given.replaces,
        "state": _state(given),
        "answers": to_json(written_answers(given)),
        "confidence": given.confidence,
        "note": given.note,
        "seconds": given.seconds,
        "verdict_id": verdict_id,
        "started_at": given.started_at or moment,
        "recorded_at": moment,
    }
    number = transaction.insert("sample_ratings", row, "RETURNING id")
    started_at = given.started_at or moment
    return replace(given, id=int(number), recorded_at=moment, started_at=started_at)


def taken_back(transaction: Transaction, kept: RatingSet, rating_id: int) -> SampleRating:
    """Return what is to be saved to take back a complete rating."""
    row = transaction.first(
        "SELECT spec, position FROM sample_ratings JOIN raters ON raters.id = rater_id"
        " WHERE set_id = ? AND sample_ratings.id = ?",
        kept.id,
        rating_id,
    )
    if row is None:
        raise StoreError(f"rating set '{kept.name}' has no rating {rating_id}")
    *_, last = read_ratings(transaction, kept.id, *row, every=True)
    if last.id != rating_id:
        raise saved_elsewhere(kept.name, last)
    if not last.complete:
        raise StoreError(
            f"rating {rating_id} is not complete, so that nothing counts of it",
            where=f"rating set '{kept.name}'",
        )
    return replace(last, complete=False, taken_back=True, replaces=last.id)


def saved_elsewhere(name: str, given: SampleRating) -> SavedElsewhere:
    """Return the error for an answer that does not continue from the last row of its position."""
    return SavedElsewhere(
        f"rater {given.rater} answered this sample elsewhere meanwhile; this answer was not saved",
        where=f"rating set '{name}', position {given.position}",
        hint="close the other window, then open the sample again",
    )


def _check(given: SampleRating, where: str) -> None:
    if given.confidence is not None and given.confidence not in range(MOST_CONFIDENT + 1):
        raise StoreError(
            f"{given.confidence} is not a confidence", where=where, allowed=f"0 to {MOST_CONFIDENT}"
        )
    if not given.seconds >= 0:
        raise StoreError(f"{given.seconds} is not a number of seconds", where=where)
    for measure in given.confirmed or ():
        if given.answers.get(measure) != 0.0:
            raise StoreError(
                f"'{measure}' is not absent, so that it cannot be confirmed as absent", where=where
            )


def checked(form: Form, answers: Mapping[str, Answer], where: str) -> dict[str, Answer]:
    """Return the answers, verdicts as floats, if each is one that the form allows."""
    plain = {
        key: float(answer) if isinstance(answer, bool | int) else answer
        for key, answer in answers.items()
    }
    try:
        check_answers(form, plain)
    except TabwbError as error:
        raise StoreError(
            error.message, where=where, allowed=error.allowed, hint=error.hint
        ) from error
    return plain


def _state(given: SampleRating) -> str:
    draft, complete, taken_back = STATES
    return taken_back if given.taken_back else complete if given.complete else draft


def same(kept: SampleRating, given: SampleRating) -> bool:
    """Return whether a row is what is to be saved, which a lost reply makes a caller repeat."""
    started_at = given.started_at or kept.started_at
    return replace(given, id=kept.id, recorded_at=kept.recorded_at, started_at=started_at) == kept


def _scored_in_session(transaction: Transaction, attempt_id: int, rater: str) -> bool:
    """Return whether a listener's last row of an attempt is of the naming session, which counts."""
    if not rater.startswith(PERSON):
        return False
    last = transaction.value(_LAST, attempt_id, rater)
    of_set = "SELECT 1 FROM sample_ratings WHERE verdict_id = ? LIMIT 1"
    if last is None or transaction.value(of_set, last) is not None:
        return False
    return any(one.reason != TAKEN_BACK for one in _ratings_in(transaction, last, rater))


def _last_ratings(transaction: Transaction, attempt_id: int, rater: str) -> tuple[Rating, ...]:
    return _ratings_in(transaction, transaction.value(_LAST, attempt_id, rater), rater)


def _ratings_in(transaction: Transaction, row: int | None, rater: str) -> tuple[Rating, ...]:
    if row is None:
        return ()
    given = verdicts.of_ids(transaction, verdicts.Verdicts(), [row])[row]
    return tuple(replace(one, rater=rater) for one in given)


def _before(
    transaction: Transaction,
    form: Form,
    place: tuple[int, int, int],
    attempt_id: int,
    rater: str,
) -> tuple[Rating, ...]:
    """Return the ratings of the rater's row after what this position added is taken back."""
    first = transaction.value(
        "SELECT min(verdict_id) FROM sample_ratings"
        " WHERE set_id = ? AND rater_id = ? AND position = ?",
        *place,
    )
    before = transaction.value("SELECT replaces FROM verdicts WHERE id = ?", first)
    held = _ratings_in(transaction, before, rater)
    own = [one for one in held if is_asked(form, one.measure)]
    earlier = _last_ratings(transaction, attempt_id, rater)
    return with_earlier(form, own, earlier, TAKEN_BACK)


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


def read_adjudications(
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


def read_events(transaction: Transaction, set_id: int) -> tuple[SetEvent, ...]:
    """Return what happened to a set, oldest first.

    Args:
        transaction: to read in.
        set_id: id of the set.
    """
    rows = transaction.rows(
        "SELECT kind, text, who, recorded_at FROM set_events WHERE set_id = ? ORDER BY id", set_id
    )
    return tuple(SetEvent(*row) for row in rows)


class RaterLinks:
    """The links of an open store. Rows are only added: a row that ends a link names it."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def add(
        self, set_id: int, rater: str, token_sha256: bytes, *, expires_at: str = "", who: str = ""
    ) -> RaterLink:
        """Keep a link of one rater."""
        with self._access.writing() as transaction:
            (kept,) = read_sets(transaction, set_number(transaction, set_id))
            if rater not in kept.raters:
                raise UsageError(
                    f"'{rater}' is not a rater of rating set '{kept.name}'",
                    allowed=", ".join(kept.raters) or None,
                )
            row = _row(kept.id, self._access.keys.of(transaction, "raters", rater), who)
            row |= {"token_sha256": token_sha256, "expires_at": expires_at}
            number = int(transaction.insert("rater_links", row, "RETURNING id"))
        made_at, made_by = str(row["recorded_at"]), str(row["who"])
        return RaterLink(number, kept.id, rater, made_at, made_by, expires_at)

    def revoke(self, link_id: int, *, who: str = "") -> None:
        """End a link; one that ended already stays so."""
        with self._access.writing() as transaction:
            found = transaction.first(
                "SELECT set_id, rater_id FROM rater_links WHERE id = ? AND revokes IS NULL", link_id
            )
            if found is None:
                raise StoreError(f"there is no link {link_id}")
            row = {**_row(found[0], found[1], who), "revokes": link_id, "expires_at": ""}
            transaction.insert("rater_links", row, "ON CONFLICT DO NOTHING")

    def all(self, set_id: int | None = None) -> tuple[RaterLink, ...]:
        """Return the links of a set, or of all sets, oldest first; also those that ended."""
        where = "" if set_id is None else " AND l.set_id = ?"
        with self._access.reading() as transaction:
            return _links(transaction, where, *(() if set_id is None else (set_id,)))

    def of(self, token_sha256: bytes) -> RaterLink | None:
        """Return the link whose secret has this SHA-256, also when it ended; None without one."""
        with self._access.reading() as transaction:
            found = _links(transaction, " AND l.token_sha256 = ?", token_sha256)
        return found[0] if found else None


def _row(set_id: int, rater_id: int, who: str) -> dict[str, object]:
    return {"set_id": set_id, "rater_id": rater_id, "who": who or operator(), "recorded_at": now()}


def _links(transaction: Transaction, where: str, *parameters: object) -> tuple[RaterLink, ...]:
    rows = transaction.rows(
        "SELECT l.id, l.set_id, spec, l.recorded_at, l.who, l.expires_at, e.recorded_at"
        " FROM rater_links l JOIN raters ON raters.id = l.rater_id"
        " LEFT JOIN rater_links e ON e.revokes = l.id"
        f" WHERE l.revokes IS NULL{where} ORDER BY l.id",
        *parameters,
    )
    return tuple(
        RaterLink(number, of, rater, made_at, who, expires_at, ended or "")
        for number, of, rater, made_at, who, expires_at, ended in rows
    )
