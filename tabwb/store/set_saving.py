"""Saving what a rater answered, inside a transaction of the caller's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tabwb.battery.form_answers import check_answers, ratings_of
from tabwb.battery.forms import Form
from tabwb.records.counting import PERSON
from tabwb.records.errors import StoreError, TabwbError
from tabwb.records.rating_sets import MOST_CONFIDENT, Answer, RatingSet, SampleRating
from tabwb.records.ratings import TAKEN_BACK, Rating
from tabwb.store import set_rows, verdicts
from tabwb.store.database import Transaction
from tabwb.store.keys import Keys, now, to_json
from tabwb.store.set_ratings import counted_as, declaration_of, is_asked, with_earlier
from tabwb.store.write import insert_declaration

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
    chain = list(set_rows.ratings(transaction, kept.id, given.rater, given.position, every=True))
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
        insert_declaration(transaction, keys, administration_id, declaration, moment)
    row = {
        "set_id": kept.id,
        "rater_id": rater_id,
        "position": given.position,
        "replaces": given.replaces,
        "state": _state(given),
        "answers": to_json(set_rows.written_answers(given)),
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
    *_, last = set_rows.ratings(transaction, kept.id, *row, every=True)
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
    draft, complete, taken_back = set_rows.STATES
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
