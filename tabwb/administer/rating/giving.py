"""One rating given by a program, for example of a simulated rater."""

from __future__ import annotations

from collections.abc import Mapping

from tabwb.battery.forms import completed, step
from tabwb.records.errors import StoreError, UsageError
from tabwb.records.rating_sets import Answer, Purpose, RatingSet, SampleRating
from tabwb.store.sets import asked_by
from tabwb.store.store import Store


def give_rating(
    store: Store,
    kept: RatingSet,
    rater: str,
    sample: int,
    answers: Mapping[str, Answer],
    *,
    purpose: Purpose = "rate",
    confidence: int | None = None,
    note: str = "",
    seconds: float = 0.0,
    rest_absent: bool = False,
) -> SampleRating:
    """Save a rater's complete rating of one sample, or replace the one that is there."""
    form = asked_by(kept)
    found = step(form, answers, seconds)
    lacking = found.missing if rest_absent else (*found.missing, *found.unmarked)
    if lacking:
        confirms = not found.missing and " or, where the rater has confirmed it, rest_absent=True"
        raise UsageError(
            f"sample {sample} is not rated in: {', '.join(lacking)}",
            where=f"rating set '{kept.name}', rater {rater}",
            hint=f"give an answer to each question that is not optional{confirms or ''}",
        )
    assigned = [
        one.position
        for one in store.sets.assignments(kept.id, rater)
        if (one.sample, one.purpose) == (sample, purpose)
    ]
    if not assigned:
        raise StoreError(
            f"sample {sample} is not assigned to rater {rater} ({purpose})",
            where=f"rating set '{kept.name}'",
        )
    rows = store.sets.ratings(kept.id, rater, every=True)
    before = [row.id for row in rows if row.position == assigned[0]]
    rating = SampleRating(
        rater,
        assigned[0],
        sample,
        purpose,
        completed(form, answers),
        complete=True,
        confidence=confidence,
        note=note,
        seconds=seconds,
        confirmed=found.unmarked,
        replaces=before[-1] if before else None,
    )
    return store.sets.rate(kept.id, rating)
