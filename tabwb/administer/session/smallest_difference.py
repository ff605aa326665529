"""The smallest difference that a planned administration can detect, before anything is spent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabwb.administer.session.plan import plan_trials
from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.states import Protocol
from tabwb.records.trials import PlannedTrial
from tabwb.records.words import plural
from tabwb.scoring.detectable import (
    ACCURACY,
    ACCURACY_BETWEEN_ITEMS,
    BURDEN,
    DISPERSION,
    ITEM_VARIATION,
    Design,
    design_of,
    detectable_accuracy,
    detectable_burden,
    never,
    simulated_test,
)
from tabwb.scoring.estimate import DETERMINISTIC, Estimand, Estimate
from tabwb.scoring.permutation import smallest_p

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins

BURDEN_MEASURE, ACCURACY_MEASURE = "symptom burden", "accuracy"
ASSUMED = {
    BURDEN_MEASURE: f"a first burden of {BURDEN:g} whose variance within an item is "
    f"{DISPERSION:g} x its mean, item means that vary by {ITEM_VARIATION:.0%}, and a judge that "
    "rates every feature of every item (rules-2 gives no burden to an item where one of its "
    "features is undefined)",
    ACCURACY_MEASURE: f"a first accuracy of {ACCURACY:.0%}, of whose variance "
    f"{ACCURACY_BETWEEN_ITEMS:.0%} lies between items",
}
"""What is assumed of a measure, unless it was piloted."""


@dataclass(frozen=True, slots=True)
class Showable:
    """What one measure of a planned administration can show.

    Attributes:
        measure: ``symptom burden`` or ``accuracy`` (of all scored subtests together).
        difference: the smallest that another examinee on the same items must differ by, to be found
            in 4 of 5 simulated studies by the test (``test``) at .05; undefined with the reason.
        n_features: of a burden, how many features the judge rates; None for an accuracy.
    """

    measure: str
    estimand: Estimand
    design: Design
    difference: Estimate
    n_features: int | None = None

    @property
    def test(self) -> str:
        """The test that is simulated."""
        return simulated_test(self.estimand)

    @property
    def smallest_p(self) -> float | None:
        """Of sign flips over these items or clusters; None where the test is another one."""
        like = self.estimand is Estimand.PROMPTS_LIKE_THESE
        return smallest_p(self.design.items) if like else None


def planned(plugins: Plugins, battery: Battery, conditions: Conditions) -> tuple[Showable, ...]:
    """Return what a planned administration can show, with the judges and back end it names."""
    unsampled: tuple[str, ...] = ()
    if conditions.kind == "model":
        unsampled = plugins.resolve("models", conditions.examinee)[0].unsampled
    sizes: list[int] = []
    for spec in conditions.judges:
        with suppress(TabwbError):  # said where the judge is used
            sizes.append(len(plugins.judge(spec).features))
    return showable(battery, conditions, unsampled, min(filter(None, sizes), default=None))


def showable(
    battery: Battery,
    conditions: Conditions,
    unsampled: Collection[str] = (),
    n_features: int | None = None,
) -> tuple[Showable, ...]:
    """Return what a planned administration of a model can show against another on the same
    items.
    """
    tasks = {subtest.id: subtest.task for subtest in battery.subtests}
    plans = [plan for plan in plan_trials(battery, conditions) if not plan.practice]
    texts = [plan for plan in plans if tasks[plan.subtest].connected]
    scored = [plan for plan in plans if tasks[plan.subtest].right_or_wrong]
    is_model = conditions.kind == "model"
    greedy = is_model and conditions.decoding.greedy
    takes_likeliest = conditions.protocol.value in (Protocol.LIKELIHOOD.value, *unsampled)
    fixed = greedy or (is_model and takes_likeliest)
    n = min(len(battery.features), n_features or len(battery.features))
    rows: list[Showable] = []
    if texts and n and conditions.judges:
        for estimand in Estimand:
            design = _design(battery, texts, greedy, estimand)
            value = _drawn(greedy, estimand) or detectable_burden(design, n, estimand)
            rows.append(Showable(BURDEN_MEASURE, estimand, design, value, n))
    if scored:
        for estimand in Estimand:
            design = _design(battery, scored, fixed, estimand)
            value = _drawn(fixed, estimand) or detectable_accuracy(design, estimand)
            rows.append(Showable(ACCURACY_MEASURE, estimand, design, value))
    return tuple(rows)


def _drawn(fixed: bool, estimand: Estimand) -> Estimate | None:
    if fixed and estimand is Estimand.THESE_PROMPTS:
        return Estimate(None, DETERMINISTIC)
    return None


def _design(
    battery: Battery, plans: Sequence[PlannedTrial], fixed: bool, estimand: Estimand
) -> Design:
    """Return items and responses to each; of answers that are not drawn one for each prompt.

    For prompts like these clusters of items are the units.
    """
    given: dict[tuple[str, str], list[str]] = {}
    for plan in plans:
        given.setdefault((plan.subtest, plan.item), []).append(plan.prompt)
    counts = {at: len(set(prompts) if fixed else prompts) for at, prompts in given.items()}
    like = estimand is Estimand.PROMPTS_LIKE_THESE
    return design_of(counts, battery.clusters if like else {})


def said(rows: Iterable[Showable]) -> Iterator[str]:
    """Yield what a design can show as lines of text; nothing where there is nothing to show."""
    rows = list(rows)
    if not rows:
        return
    yield (
        "smallest detectable difference between two examinees, found in 4 of 5 simulated studies "
        "at .05:"
    )
    for row in rows:
        design = row.design
        responses = f"{design.items} {design.unit} x {design.replicates:.3g}"
        by = f" by {row.test}" if row.difference.defined else ""
        yield f"  {_measure(row)}, {row.estimand.value} ({responses}): {_difference(row)}{by}"
    for measure in dict.fromkeys(row.measure for row in rows):
        design = next(row.design for row in rows if row.measure == measure)
        least = smallest_p(design.items)
        never = ", so it never reaches .05" if least > 0.05 else ""
        yield (
            f"  sign-flip test of {measure} over {design.items} {design.unit}: "
            f"p is at least {least:.3g}{never}"
        )
    assumed = (ASSUMED[measure] for measure in dict.fromkeys(row.measure for row in rows))
    yield f"  assumed, unless piloted: {'; '.join(assumed)}"


def _measure(row: Showable) -> str:
    if row.n_features is None:
        return row.measure
    return f"{row.measure} over {plural(row.n_features, 'feature')}"


def _difference(row: Showable) -> str:
    value = row.difference.value
    if value is None:
        if row.difference.reason == DETERMINISTIC:
            return "any difference: nothing is drawn"
        return f"none ({row.difference.reason})"
    return (
        f"{100 * value:.0f} percentage points"
        if row.measure == ACCURACY_MEASURE
        else f"{value:.2g}"
    )


def brief(rows: Iterable[Showable]) -> Iterator[str]:
    """Yield a sentence for each estimand that has a smallest difference, or none at all."""
    rows = list(rows)
    for estimand in Estimand:
        own = [row for row in rows if row.estimand is estimand]
        shown = [f"{_difference(row)} in {_measure(row)}" for row in own if row.difference.defined]
        if shown:
            test = simulated_test(estimand)
            shown[-1] += f" ({test})"
            yield f"Smallest detectable difference for {estimand.value}: {', '.join(shown)}."
        for row in own:
            few = never(row.design.items, row.design.unit)
            if not row.difference.defined and row.difference.reason == few:
                yield f"No difference in {_measure(row)} can be found: {row.difference.reason}."


def to_json(rows: Iterable[Showable]) -> list[dict[str, object]]:
    """Return the rows as plain data; what is undefined is None with its reason."""
    return [
        {
            "measure": row.measure,
            "estimand": row.estimand.value,
            "items": row.design.items,
            "unit": row.design.unit,
            "replicates": row.design.replicates,
            "difference": row.difference.value,
            "reason": row.difference.reason,
            "test": row.test,
            "smallest_p": row.smallest_p,
        }
        for row in rows
    ]
