"""Rating sets of people in an open store: ``store.sets`` (docs/rating.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from tabwb.battery.forms import (
    Form,
    check_answers,
    form_from_canonical,
    ratings_of,
    with_source_question,
)
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
    checked_counts,
    checked_rater,
    checked_set_name,
)
from tabwb.records.ratings import PERSON, TAKEN_BACK, Declaration, Rating, undefined
from tabwb.records.speakers import operator
from tabwb.records.specs import uuid7
from tabwb.store import verdicts
from tabwb.store.database import Conflict, Keys, Transaction, now, to_json
from tabwb.store.read import numbers_of

if TYPE_CHECKING:
    from tabwb.store.store import Access

Given = ParamSpec("Given")
Done = TypeVar("Done")
CONFIRMED = "#confirmed"
"""In stored answers: the measures that were confirmed as absent together. No measure has a #."""
EVIDENCE = "#evidence"
"""In stored answers: the words that were marked, by answer."""
_SETS = """
    SELECT s.id, s.uid, name, form.text, form_id, presentation, seed, raters,
        coalesce(guidelines.text, ''), ask_source,
        coalesce((SELECT text FROM set_events WHERE set_id = s.id AND kind = 'counts'
            ORDER BY id DESC LIMIT 1), counts),
        CASE (SELECT kind FROM set_events WHERE set_id = s.id AND kind IN ('closed', 'reopened')
            ORDER BY id DESC LIMIT 1) WHEN 'closed' THEN 'closed' ELSE 'open' END,
        created_at
    FROM sample_sets s JOIN texts form ON form.id = form_text_id
    LEFT JOIN texts guidelines ON guidelines.id = guidelines_id"""
_SAMPLES = """
    SELECT samples.number, administration_id, trial, attempts.number, samples.text, texts.text,
        context_before, context_after, stratum, weight, audio_sha256, audio_start_s, audio_end_s,
        picture, target, consensus
    FROM samples JOIN attempts ON attempts.id = attempt_id JOIN texts ON texts.id = prompt_id"""
_RATINGS = """
    SELECT spec, r.position, sample, purpose, confidence, note, seconds, started_at, recorded_at,
        r.id, replaces, answers, state
    FROM sample_ratings r
    JOIN assignments a ON a.set_id = r.set_id AND a.rater_id = r.rater_id
        AND a.position = r.position
    JOIN raters ON raters.id = r.rater_id"""
_LINKS = """
    SELECT l.id, l.set_id, spec, l.recorded_at, l.who, l.expires_at, coalesce(e.recorded_at, '')
    FROM rater_links l JOIN raters ON raters.id = l.rater_id
    LEFT JOIN rater_links e ON e.revokes = l.id WHERE l.revokes IS NULL"""
_LAST = (
    "SELECT max(verdicts.id) FROM verdicts JOIN raters ON raters.id = rater_id"
    " WHERE attempt_id = ? AND spec = ?"
)


class SavedElsewhere(StoreError):
    """Another program saved an answer at the same position meanwhile; this one was not saved."""


class NotAssigned(StoreError):
    """A rater has no such position; one whose speaker was deleted is gone."""


def _looking_again(work: Callable[Given, Done]) -> Callable[Given, Done]:
    """Do something twice where a server let another program read the same last row meanwhile."""

    @wraps(work)
    def tried(*values: Given.args, **named: Given.kwargs) -> Done:
        try:
            return work(*values, **named)
        except Conflict:
            return work(*values, **named)

    return tried


class RatingSets:
    """The part of an open store that keeps rating sets. Rows are only ever added."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.links = RaterLinks(access)

    @_looking_again
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
        form, keys = asked_by(plan.kept), self._access.keys
        with self._access.writing() as transaction:
            number = _insert_set(transaction, keys, plan)
            for event in (SetEvent("planned", who=who or operator()), *events):
                _insert_event(transaction, number, event)
            (kept,) = read_sets(transaction, number)
            for rating in ratings:
                _save(transaction, keys, kept, form, rating)
            for adjudication in settled:
                _settle(transaction, kept, adjudication)
            return kept

    def refuse_taken(self, name: str) -> None:
        """Refuse a name that a rating set has already."""
        with self._access.reading() as transaction:
            _refuse_taken(transaction, name)

    def all(self) -> tuple[RatingSet, ...]:
        """Return every rating set, oldest first."""
        with self._access.reading() as transaction:
            return read_sets(transaction)

    def get(self, ref: int | str) -> RatingSet:
        """Return the set with an id, a name, a uid or the first 8 or more signs of a uid."""
        with self._access.reading() as transaction:
            return one_set(transaction, ref)

    def samples(self, set_id: int, number: int | None = None) -> tuple[Sample, ...]:
        """Return the samples of a set in order; those of deleted speakers are gone."""
        limits, made = {"set_id": set_id, "samples.number": number}, []
        with self._access.reading() as transaction:
            for row in transaction.selected(_SAMPLES, limits, "ORDER BY samples.number"):
                *begin, digest, start_s, end_s, picture, target, known = row
                audio = None if digest is None else AudioCut(digest, start_s, end_s)
                consensus = None if known is None else json.loads(known)
                made.append(Sample(*(*begin, audio, picture, target, consensus)))
        return tuple(made)

    def sample(self, set_id: int, number: int) -> Sample:
        """Return one sample of a set."""
        for sample in self.samples(set_id, number):
            return sample
        raise StoreError(f"rating set {set_id} has no sample {number}")

    def assignments(self, set_id: int, rater: str | None = None) -> tuple[Assignment, ...]:
        """Return who rates what, each rater's in order; of one rater where one is given."""
        with self._access.reading() as transaction:
            rows = transaction.selected(
                "SELECT spec, position, sample, purpose FROM assignments"
                " JOIN raters ON raters.id = rater_id",
                {"set_id": set_id, "spec": rater},
                "ORDER BY spec, position",
            )
            return tuple(Assignment(*row) for row in rows)

    def ratings(
        self, set_id: int, rater: str | None = None, *, every: bool = False
    ) -> tuple[SampleRating, ...]:
        """Return the rating that counts at each position, by rater and position."""
        with self._access.reading() as transaction:
            found = _read_ratings(transaction, set_id, rater)
        if every:
            return found
        last = {(one.rater, one.position): one for one in found if one.complete or one.taken_back}
        return tuple(one for one in last.values() if one.complete)

    def rate(self, set_id: int, rating: SampleRating) -> SampleRating:
        """Save what a rater has answered at one position; durable when this returns.

        A complete first rating is also kept as the rater's ratings of the attempt, which results
        count, in the same commit. Saving the same again changes nothing and returns the row that
        is there, so that a caller may try again after a lost connection.
        """
        return self.rate_all(set_id, [rating])[0]

    @_looking_again
    def rate_all(self, set_id: int, ratings: Sequence[SampleRating]) -> tuple[SampleRating, ...]:
        """Save ratings as :meth:`rate` in one commit, all or none."""
        with self._access.writing() as transaction:
            kept = one_set(transaction, set_id)
            refuse_closed(kept)
            form, keys = asked_by(kept), self._access.keys
            return tuple(_save(transaction, keys, kept, form, one) for one in ratings)

    def take_back(self, set_id: int, rating_id: int) -> SampleRating:
        """Take back a complete rating: it counts no more; what counted before it counts again."""
        with self._access.writing() as transaction:
            kept = one_set(transaction, set_id)
            refuse_closed(kept)
            row = transaction.first(
                "SELECT spec, position FROM sample_ratings JOIN raters ON raters.id = rater_id"
                " WHERE set_id = ? AND sample_ratings.id = ?",
                kept.id,
                rating_id,
            )
            if row is None:
                raise StoreError(f"rating set '{kept.name}' has no rating {rating_id}")
            last = _read_ratings(transaction, kept.id, *row)[-1]
            if last.id != rating_id:
                raise saved_elsewhere(kept.name, last)
            if not last.complete:
                raise StoreError(
                    f"rating {rating_id} is not complete, so that nothing counts of it",
                    where=f"rating set '{kept.name}'",
                )
            back = replace(last, complete=False, taken_back=True, replaces=last.id)
            return _save(transaction, self._access.keys, kept, asked_by(kept), back)

    @_looking_again
    def adjudicate(self, set_id: int, adjudication: Adjudication) -> Adjudication:
        """Settle a measure of a sample; replaces what settled it before."""
        with self._access.writing() as transaction:
            return _settle(transaction, one_set(transaction, set_id), adjudication)

    def adjudications(self, set_id: int, *, every: bool = False) -> tuple[Adjudication, ...]:
        """Return what settles each measure of each sample."""
        with self._access.reading() as transaction:
            rows = transaction.rows(
                "SELECT sample, measure, answer, reason, who, recorded_at, id, replaces"
                " FROM adjudications WHERE set_id = ? ORDER BY id",
                set_id,
            )
            made = tuple(Adjudication(*(*row[:2], json.loads(row[2]), *row[3:])) for row in rows)
        if every:
            return made
        last = {(one.sample, one.measure): one for one in made}
        return tuple(last[place] for place in sorted(last) if last[place].answer is not None)

    def log(self, set_id: int, event: SetEvent) -> SetEvent:
        """Record an event of a set; who and when are filled in where they are empty.

        ``closed`` and ``reopened`` change its status, ``counts`` whose ratings count.
        """
        if event.kind == "counts":
            checked_counts(event.text)
        with self._access.writing() as transaction:
            return _insert_event(transaction, one_set(transaction, set_id).id, event)

    def events(self, set_id: int) -> tuple[SetEvent, ...]:
        """Return what happened to a set, oldest first."""
        sql = "SELECT kind, text, who, recorded_at FROM set_events WHERE set_id = ? ORDER BY id"
        with self._access.reading() as transaction:
            return tuple(SetEvent(*row) for row in transaction.rows(sql, set_id))

    def lock(self, set_id: int, rater: str) -> AbstractContextManager[None]:
        """Hold the work of one rater on one set for this process, which frees it when it ends."""
        with self._access.reading() as transaction:
            kept = one_set(transaction, set_id)
            rater_id = transaction.value("SELECT id FROM raters WHERE spec = ?", rater) or 0
        what = f"rating set '{kept.name}' is open for rater {rater}"
        return self._access.database.lock_rater(kept.id, int(rater_id), what)


@lru_cache(maxsize=16)
def form_of(canonical: str, ask_source: bool) -> Form:
    """Return what a set asks."""
    form = form_from_canonical(canonical)
    return with_source_question(form) if ask_source else form


def asked_by(kept: RatingSet) -> Form:
    """Return what a set asks; the question of the source is its last one, where it is asked."""
    return form_of(kept.form, kept.ask_source)


def one_set(transaction: Transaction, reference: int | str) -> RatingSet:
    """Return the set that an id, a name, a uid or the beginning of one names."""
    numbers = numbers_of(transaction, "sample_sets", reference)
    if not numbers:
        of_name = "SELECT id FROM sample_sets WHERE name = ?"
        numbers = [int(one) for (one,) in transaction.rows(of_name, str(reference).strip())]
    if len(numbers) == 1:
        return read_sets(transaction, numbers[0])[0]
    known = transaction.rows("SELECT name FROM sample_sets ORDER BY id DESC LIMIT 8")
    names = ", ".join(name for (name,) in known)
    if numbers:
        raise StoreError(
            f"'{reference}' is the beginning of {len(numbers)} rating sets' ids", allowed=names
        )
    raise StoreError(
        f"there is no rating set '{reference}' in this store",
        allowed=names or None,
        hint="'tabwb rate list' lists what there is; 'tabwb rate plan' makes one",
    )


def read_sets(transaction: Transaction, number: int | None = None) -> tuple[RatingSet, ...]:
    """Return all sets, or the one with an id, oldest first."""
    made = []
    for row in transaction.selected(_SETS, {"s.id": number}, "ORDER BY s.id"):
        set_id, uid, name, form, form_id, presentation, seed, raters, *rest = row
        guidelines, asks, counts, status, created_at = rest
        shown, who = Presentation(**json.loads(presentation)), tuple(json.loads(raters))
        made.append(RatingSet(name, form, form_id, shown, seed, who, guidelines, bool(asks),
                              counts, set_id, uid, status, created_at))  # fmt: skip
    return tuple(made)


def refuse_closed(kept: RatingSet) -> None:
    """Refuse ratings of a set that is closed."""
    if kept.status == "closed":
        raise StoreError(
            f"rating set '{kept.name}' is closed",
            hint=f"'tabwb rate reopen {kept.name}' opens it again",
        )


def _refuse_taken(transaction: Transaction, name: str) -> None:
    if transaction.value("SELECT 1 FROM sample_sets WHERE name = ?", name):
        raise UsageError(f"a rating set '{name}' already exists", hint="give another name")


def _insert_set(transaction: Transaction, keys: Keys, plan: SetPlan) -> int:
    """Insert a set with its samples and assignments; return its id."""
    made = plan.kept
    checked_set_name(made.name)
    raters = tuple(dict.fromkeys((*made.raters, *(one.rater for one in plan.assignments))))
    for rater in raters:
        _refuse_program(transaction, checked_rater(rater))
    checked_counts(made.counts, raters)
    _refuse_taken(transaction, made.name)
    if not plan.samples:
        raise UsageError("a rating set without samples cannot be made")
    guidelines = made.guidelines and keys.of(transaction, "texts", made.guidelines)
    row = {
        "uid": uuid7(),
        "name": made.name,
        "form_id": made.form_id,
        "form_text_id": keys.of(transaction, "texts", made.form),
        "guidelines_id": guidelines or None,
        "presentation": to_json(asdict(made.presentation)),
        "raters": to_json(raters),
        "seed": made.seed,
        "ask_source": made.ask_source,
        "counts": made.counts,
        "created_at": now(),
    }
    set_id = int(transaction.insert("sample_sets", row, "RETURNING id"))
    _insert_samples(transaction, keys, set_id, plan.samples)
    taken: set[tuple[str, int]] = set()
    numbers = {sample.number for sample in plan.samples}
    for one in plan.assignments:
        if (one.rater, one.position) in taken:
            raise StoreError(f"rater {one.rater} has a sample at position {one.position} already")
        taken.add((one.rater, one.position))
        if one.sample not in numbers:
            raise StoreError(
                f"rater {one.rater} is to rate sample {one.sample}, which is not there"
            )
    ids = {rater: keys.of(transaction, "raters", rater) for rater, _ in taken}
    transaction.many(
        "INSERT INTO assignments (set_id, rater_id, position, sample, purpose)"
        " VALUES (?, ?, ?, ?, ?)",
        [
            (set_id, ids[one.rater], one.position, one.sample, one.purpose)
            for one in plan.assignments
        ],
    )
    return set_id


def _refuse_program(transaction: Transaction, rater: str) -> None:
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
    attempts = {
        (administration, trial, number): key
        for administration in {sample.administration for sample in samples}
        for trial, number, key in transaction.rows(
            "SELECT trial, number, id FROM attempts WHERE administration_id = ?", administration
        )
    }
    rows: list[tuple[object, ...]] = []
    seen: dict[tuple[int, int, int], int] = {}
    for one in samples:
        place, response = f"sample {one.number}", (one.administration, one.trial, one.attempt)
        if response not in attempts:
            raise StoreError(
                f"administration {one.administration} has no attempt {one.attempt} of trial"
                f" {one.trial}",
                where=place,
            )
        if response in seen:
            raise StoreError(
                f"the same response as in sample {seen[response]}",
                where=place,
                hint="a sample is rated again with an assignment of purpose 'again'",
            )
        seen[response] = one.number
        audio, prompt = one.audio, keys.of(transaction, "texts", one.prompt)
        rows.append(
            (
                set_id, one.number, attempts[response], one.text, prompt, one.context_before,
                one.context_after, one.stratum, one.weight,
                *((audio.sha256, audio.start_s, audio.end_s) if audio else (None, None, None)),
                one.picture, one.target,
                None if one.consensus is None else to_json(dict(one.consensus)),
            )
        )  # fmt: skip
    transaction.many(
        "INSERT INTO samples (set_id, number, attempt_id, text, prompt_id, context_before,"
        " context_after, stratum, weight, audio_sha256, audio_start_s, audio_end_s, picture,"
        " target, consensus) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def _read_ratings(
    transaction: Transaction, set_id: int, rater: str | None = None, position: int | None = None
) -> tuple[SampleRating, ...]:
    """Return every row by rater and position, each position's in the order recorded."""
    limits = {"a.set_id": set_id, "spec": rater, "r.position": position}
    made = []
    for row in transaction.selected(_RATINGS, limits, "ORDER BY spec, r.position, r.id"):
        *begin, answers, state = row
        given = json.loads(answers)
        confirmed = given.pop(CONFIRMED, None)
        confirmed = None if confirmed is None else tuple(confirmed)
        words = {key: tuple(marked) for key, marked in given.pop(EVIDENCE, {}).items()}
        done, back = state == "complete", state == "taken-back"
        made.append(SampleRating(*(*begin[:4], given, done, *begin[4:], back, confirmed, words)))
    return tuple(made)


def _save(
    transaction: Transaction, keys: Keys, kept: RatingSet, form: Form, given: SampleRating
) -> SampleRating:
    """Insert what a rater has answered at one position, and the ratings that results count."""
    where = f"rating set '{kept.name}', rater {given.rater}, position {given.position}"
    rater_id = keys.of(transaction, "raters", given.rater)
    place = kept.id, rater_id, given.position
    assigned = transaction.first(
        "SELECT sample, purpose, attempt_id, administration_id, samples.text FROM assignments"
        " JOIN samples ON samples.set_id = assignments.set_id AND samples.number = sample"
        " JOIN attempts ON attempts.id = attempt_id"
        " WHERE assignments.set_id = ? AND rater_id = ? AND position = ?",
        *place,
    )
    if assigned is None:
        raise NotAssigned("nothing is assigned here", where=where)
    sample, purpose, attempt_id, administration_id, text = assigned
    if (sample, purpose) != (given.sample, given.purpose):
        raise StoreError(
            f"sample {sample} is shown here ({purpose}), not {given.sample} ({given.purpose})",
            where=where,
        )
    answers = _checked(form, given.answers, where)
    given = replace(given, answers=answers)
    _check(given, len(text.split()), where)
    chain = _read_ratings(transaction, kept.id, given.rater, given.position)
    last = chain[-1] if chain else None
    if given.replaces != (last.id if last else None):
        if last is not None and same(last, given):
            return last
        raise saved_elsewhere(kept.name, given)
    moment = now()
    # Who scores or codes spoken names is a listener of the session, as who does so in the session.
    listens = not {"correct", "code"}.isdisjoint(form.measures)
    counted = f"{PERSON}{given.rater}" if listens else given.rater
    ratings: tuple[Rating, ...] = ()
    if purpose == "rate" and given.complete:
        said = ratings_of(form, counted, answers, given.confirmed or ())
        ratings = _with_earlier(transaction, form, attempt_id, counted, said, "not rated")
    elif purpose == "rate" and given.taken_back:
        ratings = _before(transaction, form, place, attempt_id, counted)
    verdict_id = None
    if ratings and not _scored_in_session(transaction, attempt_id, counted):
        verdict_id = verdicts.insert(transaction, keys, attempt_id, ratings, moment)[counted]
        decides = tuple(one.measure for one in form.questions if one.is_feature)
        declaration = Declaration(counted, decides, kind="person")
        verdicts.insert_declaration(transaction, keys, administration_id, declaration, moment)
    confirmed = {} if given.confirmed is None else {CONFIRMED: list(given.confirmed)}
    marked = {EVIDENCE: dict(given.evidence)} if given.evidence else {}
    row = {
        "set_id": kept.id,
        "rater_id": rater_id,
        "position": given.position,
        "replaces": given.replaces,
        "state": "taken-back" if given.taken_back else "complete" if given.complete else "draft",
        "answers": to_json(answers | confirmed | marked),
        "confidence": given.confidence,
        "note": given.note,
        "seconds": given.seconds,
        "verdict_id": verdict_id,
        "started_at": given.started_at or moment,
        "recorded_at": moment,
    }
    number = int(transaction.insert("sample_ratings", row, "RETURNING id"))
    return replace(given, id=number, recorded_at=moment, started_at=given.started_at or moment)


def saved_elsewhere(name: str, given: SampleRating) -> SavedElsewhere:
    """Return the error for an answer that does not continue from the last row of its position."""
    return SavedElsewhere(
        f"rater {given.rater} answered this sample elsewhere meanwhile; this answer was not saved",
        where=f"rating set '{name}', position {given.position}",
        hint="close the other window, then open the sample again",
    )


def same(kept: SampleRating, given: SampleRating) -> bool:
    """Return whether a row is what is to be saved, which a lost reply makes a caller repeat."""
    started_at = given.started_at or kept.started_at
    return replace(given, id=kept.id, recorded_at=kept.recorded_at, started_at=started_at) == kept


def _check(given: SampleRating, words: int, where: str) -> None:
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
    for measure, marked in given.evidence.items():
        if given.answers.get(measure) in {None, 0.0}:
            raise UsageError(f"'{measure}' is not present: no word can show it", where=where)
        if list(marked) != sorted({*marked} & {*range(words)}):
            raise UsageError(
                f"the words that show '{measure}' must be words of the text, which has {words}, "
                "in their order",
                where=where,
            )


def _checked(form: Form, answers: Mapping[str, Answer], where: str) -> dict[str, Answer]:
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


def _is_asked(form: Form, measure: str) -> bool:
    """Return whether a rating of a measure (``code:formal``) follows from a question of a form."""
    return measure.partition(":")[0] in form.measures


def _with_earlier(
    transaction: Transaction,
    form: Form,
    attempt_id: int,
    rater: str,
    given: Sequence[Rating],
    why: str,
) -> tuple[Rating, ...]:
    """Return the ratings of a new row, which replaces the rater's last one of the attempt.

    Measures that the form does not ask are carried over. If nothing is left, what was rated before
    becomes undefined, because a row without ratings would replace nothing.
    """
    last = transaction.value(_LAST, attempt_id, rater)
    earlier = _ratings_in(transaction, last, rater)
    carried = (one for one in earlier if not _is_asked(form, one.measure))
    return (*given, *carried) or tuple(undefined(one.rater, one.measure, why) for one in earlier)


def _before(
    transaction: Transaction,
    form: Form,
    place: tuple[int, int, int],
    attempt_id: int,
    rater: str,
) -> tuple[Rating, ...]:
    """Return the ratings of the rater's row after what this position added is taken back."""
    before = transaction.value(
        "SELECT replaces FROM verdicts WHERE id = (SELECT min(verdict_id) FROM sample_ratings"
        " WHERE set_id = ? AND rater_id = ? AND position = ?)",
        *place,
    )
    held = _ratings_in(transaction, before, rater)
    own = [one for one in held if _is_asked(form, one.measure)]
    return _with_earlier(transaction, form, attempt_id, rater, own, TAKEN_BACK)


def _scored_in_session(transaction: Transaction, attempt_id: int, rater: str) -> bool:
    """Return whether a listener's last row of an attempt is of the naming session, which counts."""
    last = transaction.value(_LAST, attempt_id, rater) if rater.startswith(PERSON) else None
    of_set = "SELECT 1 FROM sample_ratings WHERE verdict_id = ? LIMIT 1"
    if last is None or transaction.value(of_set, last) is not None:
        return False
    return any(one.reason != TAKEN_BACK for one in _ratings_in(transaction, last, rater))


def _ratings_in(transaction: Transaction, row: int | None, rater: str) -> tuple[Rating, ...]:
    if row is None:
        return ()
    given = verdicts.of_ids(transaction, verdicts.Verdicts(), [row])[row]
    return tuple(replace(one, rater=rater) for one in given)


def _settle(transaction: Transaction, kept: RatingSet, given: Adjudication) -> Adjudication:
    """Insert an adjudication and return it with its id, its time and what it replaces."""
    where = f"rating set '{kept.name}', sample {given.sample}"
    answer = _checked(asked_by(kept), {given.measure: given.answer}, where)[given.measure]
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
    who = given.who or operator()
    made = replace(given, answer=answer, who=who, recorded_at=now(), replaces=last)
    row = asdict(made) | {"set_id": kept.id, "answer": to_json(answer)}
    del row["id"]
    return replace(made, id=int(transaction.insert("adjudications", row, "RETURNING id")))


def _insert_event(transaction: Transaction, set_id: int, event: SetEvent) -> SetEvent:
    made = replace(event, who=event.who or operator(), recorded_at=event.recorded_at or now())
    transaction.insert("set_events", {"set_id": set_id, **asdict(made)})
    return made


class RaterLinks:
    """The links of an open store. Rows are only added: a row that ends a link names it."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def add(
        self, set_id: int, rater: str, token_sha256: bytes, *, expires_at: str = "", who: str = ""
    ) -> RaterLink:
        """Keep a link of one rater."""
        with self._access.writing() as transaction:
            kept = one_set(transaction, set_id)
            if rater not in kept.raters:
                raise UsageError(
                    f"'{rater}' is not a rater of rating set '{kept.name}'",
                    allowed=", ".join(kept.raters) or None,
                )
            made_at, made_by = now(), who or operator()
            row = {
                "set_id": kept.id,
                "rater_id": self._access.keys.of(transaction, "raters", rater),
                "token_sha256": token_sha256,
                "who": made_by,
                "recorded_at": made_at,
                "expires_at": expires_at,
            }
            number = int(transaction.insert("rater_links", row, "RETURNING id"))
        return RaterLink(number, kept.id, rater, made_at, made_by, expires_at)

    def revoke(self, link_id: int, *, who: str = "") -> None:
        """End a link; one that ended already stays so."""
        with self._access.writing() as transaction:
            of_link = "FROM rater_links WHERE id = ? AND revokes IS NULL"
            if transaction.value(f"SELECT 1 {of_link}", link_id) is None:
                raise StoreError(f"there is no link {link_id}")
            transaction.execute(
                "INSERT INTO rater_links (set_id, rater_id, who, recorded_at, revokes, expires_at)"
                f" SELECT set_id, rater_id, ?, ?, id, '' {of_link} ON CONFLICT DO NOTHING",
                who or operator(),
                now(),
                link_id,
            )

    def all(self, set_id: int | None = None) -> tuple[RaterLink, ...]:
        """Return the links of a set, or of all sets, oldest first; also those that ended."""
        return self._links(*(() if set_id is None else ("AND l.set_id = ?", set_id)))

    def of(self, token_sha256: bytes) -> RaterLink | None:
        """Return the link whose secret has this SHA-256, also when it ended; None without one."""
        return next(iter(self._links("AND l.token_sha256 = ?", token_sha256)), None)

    def _links(self, where: str = "", *values: object) -> tuple[RaterLink, ...]:
        with self._access.reading() as transaction:
            rows = transaction.rows(f"{_LINKS} {where} ORDER BY l.id", *values)
        return tuple(RaterLink(*row) for row in rows)
