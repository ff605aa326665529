"""The smallest detectable effects of lesions over the seeds of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabwb.administer.session.smallest_difference import (
    ACCURACY_MEASURE,
    BURDEN_MEASURE,
    Showable,
)
from tabwb.battery.model import Battery
from tabwb.records.words import plural
from tabwb.scoring.detectable import detectable_over_seeds
from tabwb.scoring.estimate import Estimate

CONTROL, INTACT = "a control of its size", "the intact model"


@dataclass(frozen=True, slots=True)
class OverSeeds:
    """What one measure shows of a lesion at one amount.

    Attributes:
        measure: the symptom burden or an accuracy.
        items: of the subtest with the fewest.
        seeds: of the lesion and amount with the fewest.
        than: :data:`CONTROL` or :data:`INTACT`: what is subtracted.
        difference: the smallest that is found with power .8 at the level .05; undefined with the
            reason.
    """

    measure: str
    items: int
    seeds: int
    than: str
    difference: Estimate


def over_seeds(
    n: int, battery: Battery, can_show: Sequence[Showable], *, controls: bool
) -> tuple[OverSeeds, ...]:
    """Return what a sweep can show over seeds; nothing without seeds."""
    if not n:
        return ()
    sizes = {
        BURDEN_MEASURE: [
            sum(not item.practice for item in one.items)
            for one in battery.subtests if one.task.connected
        ],
        ACCURACY_MEASURE: [
            sum(not item.practice for item in one.items)
            for one in battery.subtests if one.task.right_or_wrong
        ],
    }  # fmt: skip
    features = {row.measure: row.n_features for row in can_show}
    return tuple(
        OverSeeds(
            measure, min(sizes[measure]), n, than,
            detectable_over_seeds(
                n, min(sizes[measure]), n_features, controls=than == CONTROL
            ),
        )
        for measure, n_features in features.items() if sizes.get(measure)
        for than in ((CONTROL, INTACT) if controls else (INTACT,))
    )  # fmt: skip


def said_over_seeds(rows: Sequence[OverSeeds]) -> Iterator[str]:
    """Yield what a sweep can show over seeds as lines of text."""
    if not rows:
        return
    yield (
        f"smallest detectable effect of a lesion at one amount, over "
        f"{plural(rows[0].seeds, 'seed')} (other draws of units, these prompts; 80 % power, "
        "5 % level):"
    )
    for row in rows:
        value = row.difference.value
        if value is None:
            shown = f"none can be detected ({row.difference.reason})"
        elif row.measure == ACCURACY_MEASURE:
            shown = f"{100 * value:.0f} percentage points"
        else:
            shown = f"{value:.2g}"
        where = "of a subtest, " if row.measure == ACCURACY_MEASURE else ""
        yield f"  {row.measure}, {where}{plural(row.items, 'item')}, from {row.than}: {shown}"
    yield (
        "  assumed: an accuracy of 50% or a burden of 1 without the lesion, values that vary "
        "between seeds as if each answer were drawn, a greedy intact model; not corrected for "
        "several measures"
    )


def over_seeds_json(rows: Sequence[OverSeeds]) -> list[dict[str, object]]:
    """Return the rows as plain data; what is undefined is None with its reason."""
    return [
        {
            "measure": row.measure,
            "items": row.items,
            "seeds": row.seeds,
            "than": "control" if row.than == CONTROL else "intact",
            "difference": row.difference.value,
            "reason": row.difference.reason,
        }
        for row in rows
    ]
