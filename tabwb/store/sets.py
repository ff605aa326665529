"""Rating sets of people in an open store: ``store.sets`` (docs/rating.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from tabwb.records.errors import StoreError
from tabwb.records.rating_sets import (
    Adjudication,
    Assignment,
    RatingSet,
    Sample,
    SampleRating,
    SetEvent,
    SetPlan,
    checked_counts,
)
from tabwb.records.speakers import operator
from tabwb.store import set_decisions, set_rows, set_saving
from tabwb.store.database import Conflict, Transaction
from tabwb.store.set_links import RaterLinks
from tabwb.store.set_ratings import asked_by, form_of

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
            number = set_rows.insert_set(transaction, self._access.keys, plan)
            for event in happened:
                set_decisions.insert_event(transaction, number, event)
            kept = set_rows.sets(transaction, number)[0]
            form = asked_by(kept)
            for rating in ratings:
                set_saving.save(transaction, self._access.keys, kept, form, rating)
            for adjudication in settled:
                set_decisions.settle(transaction, kept, adjudication)
            return kept

    def refuse_taken(self, name: str) -> None:
        """Refuse a name that a rating set has already."""
        with self._access.reading() as transaction:
            set_rows.refuse_taken(transaction, name)

    def all(self) -> tuple[RatingSet, ...]:
        """Return every rating set, oldest first."""
        with self._access.reading() as transaction:
            return set_rows.sets(transaction)

    def get(self, ref: int | str) -> RatingSet:
        """Return the set with an id, a name, a uid or the first 8 or more signs of a uid."""
        with self._access.reading() as transaction:
            return set_rows.sets(transaction, set_rows.number_of(transaction, ref))[0]

    def samples(self, set_id: int) -> tuple[Sample, ...]:
        """Return the samples of a set in order; those of deleted speakers are gone."""
        with self._access.reading() as transaction:
            return tuple(set_rows.samples(transaction, set_id))

    def sample(self, set_id: int, number: int) -> Sample:
        """Return one sample of a set."""
        with self._access.reading() as transaction:
            for sample in set_rows.samples(transaction, set_id, number):
                return sample
        raise StoreError(f"rating set {set_id} has no sample {number}")

    def assignments(self, set_id: int, rater: str | None = None) -> tuple[Assignment, ...]:
        """Return who rates what, each rater's in order; of one rater where one is given."""
        with self._access.reading() as transaction:
            return tuple(set_rows.assignments_of(transaction, set_id, rater))

    def ratings(
        self, set_id: int, rater: str | None = None, *, every: bool = False
    ) -> tuple[SampleRating, ...]:
        """Return the rating that counts at each position, by rater and position."""
        with self._access.reading() as transaction:
            return tuple(set_rows.ratings(transaction, set_id, rater, every=every))

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
            return tuple(set_saving.save(transaction, keys, kept, form, one) for one in ratings)

    def take_back(self, set_id: int, rating_id: int) -> SampleRating:
        """Take back a complete rating: it counts no more; what counted before it counts again."""
        with self._access.writing() as transaction:
            kept = _open_set(transaction, set_id)
            back = set_saving.taken_back(transaction, kept, rating_id)
            return set_saving.save(transaction, self._access.keys, kept, asked_by(kept), back)

    def adjudicate(self, set_id: int, adjudication: Adjudication) -> Adjudication:
        """Settle a measure of a sample; replaces what settled it before."""
        return _looking_again(lambda: self._settle(set_id, adjudication))

    def _settle(self, set_id: int, adjudication: Adjudication) -> Adjudication:
        with self._access.writing() as transaction:
            return set_decisions.settle(transaction, _set(transaction, set_id), adjudication)

    def adjudications(self, set_id: int, *, every: bool = False) -> tuple[Adjudication, ...]:
        """Return what settles each measure of each sample."""
        with self._access.reading() as transaction:
            return set_decisions.adjudications(transaction, set_id, every=every)

    def log(self, set_id: int, event: SetEvent) -> SetEvent:
        """Record an event of a set; who and when are filled in where they are empty.

        ``closed`` and ``reopened`` change its status, ``counts`` whose ratings count.
        """
        if event.kind == "counts":
            checked_counts(event.text)
        with self._access.writing() as transaction:
            kept = _set(transaction, set_id)
            return set_decisions.insert_event(transaction, kept.id, event)

    def events(self, set_id: int) -> tuple[SetEvent, ...]:
        """Return what happened to a set, oldest first."""
        with self._access.reading() as transaction:
            return set_decisions.events(transaction, set_id)

    def lock(self, set_id: int, rater: str) -> AbstractContextManager[None]:
        """Hold the work of one rater on one set for this process, which frees it when it ends."""
        with self._access.reading() as transaction:
            kept = _set(transaction, set_id)
            rater_id = transaction.value("SELECT id FROM raters WHERE spec = ?", rater) or 0
        what = f"rating set '{kept.name}' is open for rater {rater}"
        return self._access.database.lock_rater(kept.id, int(rater_id), what)


def _set(transaction: Transaction, set_id: int) -> RatingSet:
    return set_rows.sets(transaction, set_rows.number_of(transaction, set_id))[0]


def _looking_again(work: Callable[[], Done]) -> Done:
    """Do something, twice where a server let another program read the same last row meanwhile."""
    try:
        return work()
    except Conflict:
        return work()


def _open_set(transaction: Transaction, set_id: int) -> RatingSet:
    kept = _set(transaction, set_id)
    set_rows.refuse_closed(kept)
    return kept
