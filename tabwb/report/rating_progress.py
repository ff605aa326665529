"""How far the raters of a rating set are, without any answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from tabwb.battery.form_answers import flag_of
from tabwb.records.rating_sets import RatingSet
from tabwb.store.sets import asked_by
from tabwb.store.store import Store


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """How far one rater is.

    Attributes:
        rater: the code.
        done, assigned: complete samples, and all of this rater; with repeats and calibration.
        begun: samples that are half-filled, or opened again.
        minutes: spent in all.
        median_seconds: of a complete sample; None before there is one with a time.
        flagged: complete samples whose rating is doubtful, see
            :func:`tabwb.battery.form_answers.flag_of`.
        last: when something was saved last; None before that.
    """

    rater: str
    done: int
    assigned: int
    begun: int
    minutes: float
    median_seconds: float | None
    flagged: int
    last: str | None


def progress_of(store: Store, kept: RatingSet) -> Iterator[RaterProgress]:
    """Yield how far each rater is, in the order of the plan."""
    form = asked_by(kept)
    assigned = Counter(one.rater for one in store.sets.assignments(kept.id))
    done = Counter(one.rater for one in store.sets.ratings(kept.id))
    last = {(one.rater, one.position): one for one in store.sets.ratings(kept.id, every=True)}
    for rater in kept.raters:
        own = [row for (who, _), row in last.items() if who == rater]
        seconds = [row.seconds for row in own if row.complete and row.seconds > 0]
        yield RaterProgress(
            rater=rater,
            done=done[rater],
            assigned=assigned[rater],
            begun=sum(not row.complete for row in own),
            minutes=round(sum(row.seconds for row in own) / 60, 1),
            median_seconds=round(median(seconds), 1) if seconds else None,
            flagged=sum(bool(flag_of(form, row)) for row in own),
            last=max((row.recorded_at for row in own), default=None),
        )
