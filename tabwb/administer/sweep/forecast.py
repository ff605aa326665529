"""What a sweep would give, how long it takes, and what it can show, before anything is stored."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tabwb.administer.session.exchange import request_for
from tabwb.administer.session.plan import plan_trials
from tabwb.administer.session.smallest_difference import (
    ACCURACY_MEASURE,
    BURDEN_MEASURE,
    Showable,
    planned,
    said,
)
from tabwb.administer.sweep.sweep import Model, Point, Sweep
from tabwb.battery.model import Battery
from tabwb.lesion.declared import CONTROL_ROLES
from tabwb.lesion.spec import spec_values
from tabwb.plugin_api.components import BatchingBackend, Cancel
from tabwb.records.words import plural, time_left
from tabwb.scoring.detectable import detectable_over_seeds
from tabwb.scoring.dose import LEAST_SEEDS
from tabwb.scoring.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is left of a sweep.

    Attributes:
        roles: number of conditions by role.
        done: conditions that the store has.
        trials: responses under each condition.
        seconds_each: that the intact model took for the battery just now; None of a model that
            does not batch, which may cost money: it is not asked.
        seeds: the smallest number of seeds of a lesion at an amount; 0 where none draws units.
        can_show: the smallest differences that an administration can show from another one.
        over_seeds: those that lesions can show over seeds.
    """

    roles: Mapping[str, int]
    done: int
    trials: int
    seconds_each: float | None
    seeds: int
    can_show: tuple[Showable, ...]
    over_seeds: tuple[OverSeeds, ...] = ()

    @property
    def conditions(self) -> int:
        """Number of conditions."""
        return sum(self.roles.values())

    @property
    def left(self) -> int:
        """Number of conditions that are not done."""
        return self.conditions - self.done

    @property
    def responses(self) -> int:
        """Number of responses that are left."""
        return self.trials * self.left

    def seconds(self, workers: int) -> float | None:
        """Return the time that is left, if workers do not slow each other down; None: not known."""
        return None if self.seconds_each is None else self.seconds_each * self.left / workers

    def lines(self, workers: int) -> Iterator[str]:
        """Yield it in words."""
        counts = ", ".join(f"{plural(number, role)}" for role, number in self.roles.items())
        yield f"{plural(self.conditions, 'condition')} ({counts}), {self.done} done before"
        yield f"{self.responses:,} responses left, {self.trials} under each condition"
        if (seconds := self.seconds(workers)) is not None:
            spent = time_left(seconds).strip() or "less than 2 s left"
            took = f"the intact model took {self.seconds_each:.2g} s for the battery just now"
            yield f"{spent}: {took}"
        if self.seeds:
            yield (
                f"{LEAST_SEEDS} seeds or more of each lesion: means over seeds have intervals"
                if self.seeds >= LEAST_SEEDS
                else f"{plural(self.seeds, 'seed')} of a lesion: means over its seeds have no "
                f"interval and no test; {LEAST_SEEDS} seeds or more do"
            )
        if self.seeds >= LEAST_SEEDS:
            yield from said_over_seeds(self.over_seeds)
        yield from said(self.can_show)


def seeds_of(points: Iterable[Point]) -> int:
    """Return the smallest number of seeds that a lesion has at an amount; 0 where none draws."""
    seeds: dict[tuple[object, ...], set[object]] = {}
    for point in points:
        values = spec_values(point.lesion) if point.role == "lesion" else {}
        if "seed" in values:
            same = (point.model, point.setting, values.get("kind"), values.get("amount"))
            seeds.setdefault(same, set()).add(values["seed"])
    return min(map(len, seeds.values()), default=0)


def forecast(
    sweep: Sweep, points: Sequence[Point], model: Model, done: int, together: int, cancel: Cancel
) -> Forecast:
    """Return what a sweep would give; the intact model is asked once, and nothing is stored."""
    plans = plan_trials(sweep.battery, sweep.conditions)
    requests = [request_for(sweep.battery, sweep.conditions, plan) for plan in plans]
    spent = None
    if isinstance(model.backend, BatchingBackend):
        began = time.monotonic()
        for first in range(0, len(requests), together):
            for _ in model.backend.reply_many(requests[first : first + together], cancel):
                pass
        spent = time.monotonic() - began
    can_show = planned(sweep.plugins, sweep.battery, sweep.conditions)
    roles = Counter[str](point.role for point in points)
    controls = any(point.role in CONTROL_ROLES for point in sweep.points)
    seeds = seeds_of(sweep.points)
    of_lesions = over_seeds(seeds, sweep.battery, can_show, controls=controls)
    return Forecast(roles, done, len(plans), spent, seeds, can_show, of_lesions)


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
