"""Measures by the amount of lesions, and by their place: over seeds, less the intact model and
less controls. A row compares two sides: the lesion's seeds and nothing, the intact model, controls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, inf, log2, sqrt
from typing import Any, NamedTuple

from tabwb.analysis.administrations import AdministrationData, spec_of
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.measures import (
    ACCURACY,
    BURDEN,
    CATEGORY_COUNT,
    FEATURE_RATE,
    SECTIONS,
    SURPRISAL,
    USABLE,
    WORDS_MEAN,
    Cell,
)
from tabwb.analysis.series import (
    LESION,
    LESIONS,
    Model,
    Series,
    distinct,
    perplexity_of,
    pooled,
    series_of,
    short_examinees,
    told_apart,
)
from tabwb.analysis.statistics.results import Result
from tabwb.analysis.tables.declared import ends, number, p_value, text, whole
from tabwb.lesion.declared import CONTROL, CONTROLS, TARGETS
from tabwb.lesion.spec import Lesion, numbers_text, parse_lesions
from tabwb.records.conditions import compared
from tabwb.records.errors import UsageError
from tabwb.records.words import plural
from tabwb.scoring.differences import draw_variance
from tabwb.scoring.dose import (
    FEW_SEEDS,
    LEAST_SEEDS,
    NOT_DRAWN,
    ONE_CASE,
    Points,
    SeedTest,
    against_controls,
    against_intact,
    area,
    mean_over_seeds,
    one_against_controls,
    seed_numbers,
    slope,
)
from tabwb.scoring.estimate import Estimate, ratio
from tabwb.scoring.permutation import benjamini_hochberg, holm
from tabwb.tables.table import RecordColumn, Table, records_table

KNOWN = (0.0, inf)
"""The error of a value for which nothing was drawn."""
UNBOUNDED = (-inf, inf)
NO_PERPLEXITY = "no perplexity was stored: 'tabwb lesion sweep' measures it"
MEAN, LESS_INTACT, LESS = "mean", "less intact", "less "
TOO_FEW = "every seed has a value at fewer than two amounts"
NO_INTACT = "the intact model was not given"
FEW_INTACT = "fewer than half of the intact model's responses are usable"
SAMPLED = "answers of the intact model were drawn: its error on these prompts is not known here"
THESE_DRAWS = "answers were drawn; intervals do not have this error"
DOSE_NOTES = (
    "A seed decides which units a lesion takes, or what noise does to prompts; of temperatures it "
    "is that of the run. Intervals (95 %, t) and p are for other seeds and these prompts, over "
    f"{LEAST_SEEDS} seeds or more. Where a seed has no value that "
    "may be averaged, the mean is that of the others, which may be the healthier ones, and has no "
    "interval.",
    "slope: change of the value for an amount of 1 more; height: mean height of a seed's line. "
    "Both are over the amounts at which every seed has a value ('over'); nothing makes a response "
    "rise with the dose. usable: share of usable responses. surprisal: of a fixed text, log2 of "
    "the perplexity, in bits per token.",
    "".join(
        f"{kind.role}: the same operation on as many parameters {kind.meaning}. "
        for kind in CONTROLS.values()
    )
    + "Of selected units a control has as many random ones in the same layers. less control, less "
    "layer control: the difference, over pairs of one seed where the seeds match. A lesion of "
    "which nothing is drawn is one case beside its controls (Crawford and Howell's t): its "
    "interval is for the difference to one more control. less intact: mean less the intact "
    "model's value, with the error of its draws.",
    "corr.: p corrected by Holm's method. A family is one kind of row (mean, less control, less "
    "intact) of one measure and judge: over all lesions, subtests or features.",
)
NO_REFERENCE = (
    "No intact model is among these administrations, so that nothing is compared with "
    "it: {}. A filter by a part of the lesion leaves it out; --where tag=SWEEP keeps it."
)
NO_CONTROLS = "No controls of their size are among these administrations: {}."
MAP_NOTES = (
    "One target, or one unit of it, in one layer is lesioned at a time. Means over seeds; "
    "intervals (95 %, t) and p are for other draws of units and these prompts, over "
    f"{LEAST_SEEDS} seeds or more. A value for which fewer than half of the responses are "
    "usable is in no mean, and then there is no interval.",
    "corr.: p corrected by Benjamini and Hochberg's method over the cells of a map that have one "
    "(one measure, subtest, judge, feature and lesion): of the cells below .05 a share of .05 at "
    "most is expected to be false. It is not corrected for the number of maps.",
)
Error = tuple[float, float]
"""A variance with its degrees of freedom."""
Limits = tuple[float, float]


# ------------------------------------------------------------------ the values of a condition


class Measured(NamedTuple):
    """A value of one condition, and the largest possible one.

    ``error`` is the variance of the value on these prompts with its degrees of freedom: 0 where
    nothing was drawn; None where it is not known.
    """

    value: Estimate
    few: bool = False
    largest: float = inf
    error: Error | None = None

    @property
    def counted(self) -> float | None:
        """The value where it may be averaged, else None."""
        return None if self.few else self.value.value


Side = Mapping[str, Mapping[float, Measured]]
"""Seed to its values by amount."""


def values_of(group: Grouped) -> dict[Cell, Measured]:
    """Return the values of a group, by measure."""
    greedy = all(one.administration.conditions.decoding.greedy for one in group.group.members)
    drawn = KNOWN if greedy else None
    results = group.results
    shares = {"": (results.number("usable"), results.number("responses"))}
    for judge in results.judges:
        shares[judge.rater] = judge.burden.usable.usable, judge.burden.usable.n
    usable = {
        Cell(USABLE, rater=rater): Measured(ratio(*of, "no responses"), largest=1.0, error=drawn)
        for rater, of in shares.items()
    }
    found = {**usable, Cell(SURPRISAL): Measured(_surprisal(group), error=KNOWN)}
    for result in group.results:
        if (cell := _cell(result)) is not None:
            few = result.usable is not None and result.usable.few and cell.measure != ACCURACY.id
            error = drawn or draw_error(cell, group)
            found[cell] = Measured(result.value, few, _largest(result, group), error)
    return found


def draw_error(cell: Cell, group: Grouped) -> Error | None:
    """Return the variance of a value that was drawn, and its degrees of freedom; None if unknown.

    Accuracies, burdens and rates of features, from the responses to each item.
    """
    if cell.measure == ACCURACY.id:
        found = group.results.find(ACCURACY.id, cell.part)
        if found is None or (tally := found.tally) is None or tally.shared:
            return None
        counts = zip(tally.hits, tally.sizes, strict=True)
        items = [(1.0,) * right + (0.0,) * (n - right) for right, n in counts]
        return draw_variance(items, None, deterministic=tally.fixed)
    if cell.measure not in (BURDEN.id, FEATURE_RATE.id):
        return None
    for judge in group.results.judges:
        features = judge.burden.features
        if judge.rater != cell.rater or (cell.feature and cell.feature not in features):
            continue
        rows, n = judge.rows, None if cell.feature else len(features)
        side = rows.side([features.index(cell.feature)]) if cell.feature else rows.burdens
        if side.shares_stream:
            return None
        return draw_variance(list(side.values.values()), n, deterministic=side.deterministic)
    return None


def cells_of(groups: Iterable[Mapping[Cell, Measured]]) -> list[Cell]:
    """Return the measures of groups: usable responses first, then as they come."""
    every = dict.fromkeys(cell for values in groups for cell in values)
    return sorted(every, key=lambda cell: list(SECTIONS).index(cell.measure))


def _cell(result: Result) -> Cell | None:
    if result.measure not in SECTIONS:
        return None
    if result.measure == ACCURACY.id and (result.policy != "exact" or result.feature):
        return None
    return Cell(result.measure, result.part, result.rater, result.feature)


def _largest(result: Result, group: Grouped) -> float:
    """Return the largest possible value: of a count the number of features that it is over."""
    sizes = {BURDEN.id: "features", CATEGORY_COUNT.id: "category_size"}
    if result.measure not in sizes:
        return inf if result.measure == WORDS_MEAN.id else 1.0
    size = group.results.value(
        sizes[result.measure], rater=result.terms or "", feature=result.feature
    )
    return size or inf


def _surprisal(group: Grouped) -> Estimate:
    """Return log2 of the perplexity: bits per token."""
    known = [perplexity_of(one.model_facts) for one in group.group.members]
    if not known or None in known:
        return Estimate(None, NO_PERPLEXITY)
    return Estimate(sum(log2(value) for value in known if value) / len(known))


# ------------------------------------------------------------------ errors that seeds share


def less_intact(values: Sequence[float | None], intact: Measured, limits: Limits) -> SeedTest:
    """Return the mean over seeds less the value of the intact model."""
    base = intact.counted
    assert base is not None
    variance, df = intact.error or KNOWN
    found = against_intact(values, base, variance, df, limits)
    if intact.error is None and found.value is not None:
        reason = found.reason or SAMPLED
        return replace(found, interval=None, p=None, df=None, reason=reason)
    return found


def shared_error(values: Iterable[Measured]) -> Error | None:
    """Return the largest error from drawn answers that seeds can share; None if it is not known.

    All conditions of a sweep draw with the same random streams. If the answers of all seeds
    depended on these alike, the error of a mean over seeds would be that of one seed: the mean of
    their variances.
    """
    errors = [one.error for one in values]
    known = [error for error in errors if error is not None]
    if len(known) < len(errors):
        return None
    if not any(variance for variance, _ in known):
        return KNOWN
    return fsum(variance for variance, _ in known) / len(known), min(df for _, df in known)


def error_of(name: str, errors: Mapping[float, Error | None]) -> Error | None:
    """Return the error that slopes or heights share, from those at their amounts.

    Of a height the errors of all amounts add up as if they were one. In a slope such errors cancel
    in part: half of the variance that independent errors would give it (ours; with none intervals
    of slopes covered .90 in simulations, with all of it .998).
    """
    known = {amount: error for amount, error in errors.items() if error is not None}
    if len(known) < len(errors):
        return None
    if not any(variance for variance, _ in known.values()):
        return KNOWN
    parts = [
        sqrt(known[at][0]) * _MADE[name]({amount: float(amount == at) for amount in known})
        for at in known
    ]
    df = min(df for _, df in known.values())
    return (fsum(part**2 for part in parts) / 2 if name == "slope" else fsum(parts) ** 2), df


# ------------------------------------------------------------------ rows of doses


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: the value at each amount, and slope and height ``over`` some of them.

    ``row`` is ``intact``, ``seed``, ``mean``, ``less intact``, a role of controls, or ``less`` and
    such a role.
    """

    cell: Cell
    series: str
    row: str
    seed: str = ""
    at: Mapping[float, SeedTest] = field(default_factory=dict)
    numbers: Mapping[str, SeedTest] = field(default_factory=dict)
    over: tuple[float, ...] = ()
    intact: float | None = None
    reason: str = ""
    adjusted: Mapping[str, float] = field(default_factory=dict)
    severity: str = ""


Estimates = Mapping[str, Estimate]
"""Of each seed."""
Compare = Callable[[Estimates, Estimates, Limits, "Error | None"], SeedTest]
"""Makes a number of a row, of the seeds of both sides, its limits, and the error that seeds share.
"""
_MADE: Mapping[str, Callable[[Points], float]] = {"slope": slope, "height": area}


def _mean(own: Estimates, _: Estimates, limits: Limits, error: Error | None) -> SeedTest:
    return mean_over_seeds([one.value for one in own.values()], limits, error or KNOWN)


def rows_of_series(
    row: Row, series: Series, sides: Mapping[str, Side], intact: Measured | None
) -> Iterator[Row]:
    """Yield the rows of one lesion under one measure, from the values of it ("") and its controls.

    Where only some amounts have seeds, slope and height are over these.
    """
    lesion = sides[""]
    drawn = [one for one in series.amounts if one not in series.undrawn] or list(series.amounts)
    limits = 0.0, max(one.largest for line in lesion.values() for one in line.values())

    def seeded(side: Side) -> Side:
        return {seed: line for seed, line in side.items() if not line.keys().isdisjoint(drawn)}

    def common(*both: Side) -> tuple[float, ...]:
        lines = [line for side in both for line in seeded(side).values()]
        return tuple(x for x in drawn if all(_counted(line, x) is not None for line in lines))

    def is_case(amount: float | None) -> bool:
        """Return whether the lesion is one condition without seeds, at an amount or at all."""
        if amount is None:
            return len(lesion) == 1 and series.undrawn >= set(series.amounts)
        return amount in series.undrawn and sum(amount in line for line in lesion.values()) == 1

    def compared(
        kind: str, compare: Compare, side: Side, beside: Side, over: Side,
        names: Sequence[str] = tuple(_MADE),
    ) -> Row:  # fmt: skip
        def number(at: float | None, own: Estimates, other: Estimates, ends: Limits,
                   error: Error | None) -> SeedTest:  # fmt: skip
            if side is not lesion or not is_case(at):
                return compare(own, other, ends, error)
            if beside:
                (one,) = own.values()
                return one_against_controls(one, other, ends)
            found = compare(own, other, ends, error)
            alone = found.reason == FEW_SEEDS
            return replace(found, reason=NOT_DRAWN, method="") if alone else found

        amounts = common(lesion, over)
        errors = {x: shared_error(line[x] for line in side.values() if x in line)
                  for x in series.amounts}  # fmt: skip
        at = {
            x: number(x, _estimates(side, x), _estimates(beside, x), limits, errors[x])
            for x in series.amounts
            if any(x in line for line in (beside or side).values())
        }
        first, second = (_numbers(seeded(one), amounts) for one in (side, beside))
        numbers = {
            name: number(
                None, first[name], second.get(name, {}),
                limits if name == "height" else UNBOUNDED,
                error_of(name, {x: errors[x] for x in amounts}),
            )
            for name in names if name in first
        }  # fmt: skip
        reasons = _reasons(at, amounts)
        if compare is _mean:  # that a height is not 0 needs no test
            numbers |= {
                name: replace(one, p=None) for name, one in numbers.items() if name == "height"
            }
            if any(errors[x] is None and one.interval for x, one in at.items()):
                reasons.append(THESE_DRAWS)
        return replace(
            row, row=kind, at=at, numbers=numbers, over=amounts, reason="; ".join(reasons)
        )

    if intact is not None:
        yield replace(row, row="intact", intact=intact.value.value, reason=_why({0.0: intact}))
    over = common(lesion)
    of_seeds = _numbers(seeded(lesion), over)
    for seed, line in lesion.items():
        yield replace(
            row, row="seed", seed=seed, at={x: _single(one.value) for x, one in line.items()},
            numbers={name: _single(one[seed]) for name, one in of_seeds.items() if seed in one},
            over=over, reason=_why(line),
        )  # fmt: skip
    yield compared(MEAN, _mean, lesion, {}, {})
    if intact is not None and intact.counted is None:
        reason = FEW_INTACT if intact.few else intact.value.reason
        yield replace(row, row=LESS_INTACT, reason=reason)
    elif intact is not None:

        def less(own: Estimates, _: Estimates, ends: Limits, error: Error | None) -> SeedTest:
            return less_intact([one.value for one in own.values()], intact, ends)

        yield compared(LESS_INTACT, less, lesion, {}, {}, ("height",))
    for role, control in sides.items():
        if role and control:
            yield compared(role, _mean, control, {}, control)
            yield compared(f"{LESS}{role}", _less_control, lesion, control, control)


def _less_control(
    own: Estimates, control: Estimates, limits: Limits, error: Error | None
) -> SeedTest:
    return against_controls(own, control, limits)


def _numbers(side: Side, amounts: Sequence[float]) -> dict[str, dict[str, Estimate]]:
    """Return slope and height of each seed; nothing where there are fewer than two amounts."""
    if len(amounts) < 2:
        return {}
    lines = {seed: {x: _counted(line, x) for x in amounts} for seed, line in side.items()}
    return {name: seed_numbers(lines, made, amounts) for name, made in _MADE.items()}


def _counted(line: Mapping[float, Measured], amount: float) -> float | None:
    return line[amount].counted if amount in line else None


def _estimates(side: Side, amount: float) -> dict[str, Estimate]:
    found = {seed: _counted(line, amount) for seed, line in side.items() if amount in line}
    return {
        seed: Estimate(value, "" if value is not None else f"no value at {amount:g}")
        for seed, value in found.items()
    }


def _single(value: Estimate) -> SeedTest:
    return SeedTest(value.value, 1, 0, 0, "")


def _why(line: Mapping[float, Measured]) -> str:
    """Return why values are missing or in no mean."""
    few = [f"{amount:g}" for amount, one in line.items() if one.few and one.value.defined]
    found = list(dict.fromkeys(one.value.reason for one in line.values() if one.value.reason))
    if few:
        where = "" if few == ["0"] else f" at {', '.join(few)}"
        found.append(f"few usable{where}, in no mean")
    return "; ".join(found)


def _reasons(at: Mapping[float, SeedTest], common: Sequence[float]) -> list[str]:
    """Return why intervals are missing, with the amounts where only some are."""
    found: dict[str, list[str]] = {}
    for amount, one in at.items():
        if one.reason:
            found.setdefault(one.reason, []).append(f"{amount:g}")
    told = [
        reason if len(own) == len(at) else f"at {', '.join(own)}: {reason}"
        for reason, own in found.items()
    ]
    return told if len(common) > 1 else [*told, TOO_FEW]


# ------------------------------------------------------------------ the table of doses


def doses_table(rows: Sequence[Grouped]) -> Table:
    """Return measures by the amount of lesions as a table: usable responses first.

    For each measure and lesion there are rows for the intact model, each seed, the mean over seeds,
    its difference to the intact model, the mean of the controls, and the difference to the
    controls. Each amount has a column.
    """
    made, found, left = dose_rows(rows)
    amounts = sorted({amount for series in found for amount in series.amounts})
    notes = list(DOSE_NOTES)
    for note, without in (
        (NO_REFERENCE, [one for one in found if not one.intact and one.severity.referred]),
        (NO_CONTROLS, [one for one in found if not one.controls and one.severity in LESIONS]),
    ):
        if without:
            notes.append(note.format(", ".join(one.name for one in without)))
    if left:
        notes.append(
            f"Left out: {plural(left, 'administration')} under lesions with one amount, or none."
        )
    return records_table("doses", _dose_columns(amounts), made, notes)


def dose_rows(rows: Sequence[Grouped]) -> tuple[list[Row], tuple[Series, ...], int]:
    """Return the rows, what they are of, and how many administrations belong to no series.

    p values of slopes and heights are corrected by Holm's method. A family is one kind of row of
    one measure and judge, over all series, subtests or features.
    """
    shown = {name for row in rows for judge in row.results.judges for name in judge.shown}
    found, left = series_of(one for row in rows for one in row.group.members)
    measured = list(map(_measured, found))
    every = (values for _, sides in measured for side in sides.values() for line in side.values()
             for values in line.values())  # fmt: skip
    made: list[Row] = []
    for cell in cells_of([*every, *(intact for intact, _ in measured)]):
        if shown and cell.measure == FEATURE_RATE.id and cell.feature not in shown:
            continue
        for series, (intact, given) in zip(found, measured, strict=True):
            sides = {
                role: {
                    seed: {x: values[cell] for x, values in line.items() if cell in values}
                    for seed, line in side.items()
                }
                for role, side in given.items()
            }
            if any(sides[""].values()):
                row = Row(cell, series.name, "", severity=series.severity.name)
                made += rows_of_series(row, series, sides, intact.get(cell))
    families: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(made):
        for name, one in row.numbers.items():
            if one.p is not None:
                family = name, row.row, row.cell.measure, row.cell.rater
                families.setdefault(family, []).append(place)
    for (name, *_), places in families.items():
        values = holm([made[place].numbers[name].p or 0.0 for place in places])
        for place, p in zip(places, values, strict=True):
            made[place] = replace(made[place], adjusted={**made[place].adjusted, name: p})
    return made, found, left


_Values = Mapping[Cell, Measured]


def _measured(series: Series) -> tuple[_Values, dict[str, dict[str, dict[float, _Values]]]]:
    """Return the values of the intact model, and of the lesion ("") and each role of controls."""

    def values(members: Sequence[AdministrationData]) -> _Values:
        found = values_of(pooled(members))
        if series.shares_streams:
            return found
        return {cell: one._replace(error=KNOWN) for cell, one in found.items()}

    return values_of(pooled(series.intact)) if series.intact else {}, {
        role: {seed: {x: values(own) for x, own in line.items()} for seed, line in lines.items()}
        for role, lines in {"": series.lines, **series.controls}.items()
    }


_MEASURE = (
    text("measure", "Measure", "what was measured", "cell.measure"),
    text("part", "Subtest", "the subtest; empty for a value over all responses", "cell.part"),
    text("rater", "Rater", "the judge", "cell.rater"),
    text("feature", "Feature", "feature or category", "cell.feature"),
)  # fmt: skip


def _dose_columns(amounts: Sequence[float]) -> tuple[RecordColumn, ...]:
    return (
        *_MEASURE,
        text("series", "Lesion", "the model with the lesion, * for its amount"),
        text("severity", "Severity", "what the amounts are"),
        text("row", "Row", "intact: without a lesion; seed: one seed; mean: over seeds; less "
             "intact: mean less intact; control, layer control: mean of the controls anywhere, or "
             "in the same layers; less control, less layer control: mean less these"),
        text("seed", "Seed", "of the lesion"),
        number("intact", "Intact", "the value of the intact model"),
        *(one for amount in amounts for one in _at(amount)),
        *_number("slope", "Slope", "change of the value for an amount of 1 more",
                 "that the slope, or the difference of slopes, is 0; not corrected"),
        *_number("height", "Height", "mean height of the line, in units of the value",
                 "that the difference of heights is 0; not corrected"),
        text("over", "Over", "the amounts behind slope and height",
             lambda row: ", ".join(f"{amount:g}" for amount in row.over)),
        whole("n_seeds", "Seeds", "behind slope and height",
              lambda row: n if (n := sample(row.numbers.get("height"))) and n > 1 else None),
        text("test", "Test", "how slopes and heights were compared",
             lambda row: _of(row.numbers.get("height"), "method")),
        number("df", "df", "degrees of freedom of the test of slopes; of heights less intact",
               lambda row: _of(row.numbers.get("height" if row.row == LESS_INTACT else "slope"),
                               "df"), digits=1),
        text("reason", "Reason", "why values or intervals are missing, or in no mean"),
    )  # fmt: skip


def _of(found: SeedTest | None, attribute: str) -> Any:
    return getattr(found, attribute, None)


def _at(amount: float) -> tuple[RecordColumn, ...]:
    name = f"at_{amount:g}".replace(".", "_")
    return (
        number(name, f"{amount:g}", f"value at the amount {amount:g}",
               lambda row: _of(row.at.get(amount), "value")),
        *ends(f"{name}_", f"over seeds at the amount {amount:g}",
              lambda row: _of(row.at.get(amount), "interval")),
        whole(f"{name}_n", "Seeds", f"behind the mean at the amount {amount:g}",
              lambda row: None if row.row == "seed" else sample(row.at.get(amount))),
    )  # fmt: skip


def _number(name: str, title: str, meaning: str, tested: str) -> tuple[RecordColumn, ...]:
    def taken(attribute: str) -> Callable[[Row], Any]:
        return lambda row: _of(row.numbers.get(name), attribute)

    return (
        number(name, title, meaning, taken("value")),
        *ends(f"{name}_", f"over seeds, of the {name}", taken("interval")),
        p_value(f"{name}_p", "p", tested, taken("p")),
        p_value(f"{name}_p_adjusted", "corr.", "the same, corrected for its family (Holm)",
                lambda row: row.adjusted.get(name)),
    )  # fmt: skip


def sample(found: SeedTest | None) -> int | None:
    """Return how many seeds are behind a number: beside one case those of the controls."""
    if found is None:
        return None
    return found.n_control if found.method == ONE_CASE else found.n


# ------------------------------------------------------------------ the map of lesions


@dataclass(frozen=True, slots=True)
class MapCell:
    """One measure under a lesion of one target, or one unit of it, in one layer: the mean over
    seeds, without ``few`` of them, and its difference to the intact model.
    """

    cell: Cell
    series: str
    target: str
    unit: int | None
    layer: int
    mean: SeedTest
    few: int
    intact: float | None
    difference: SeedTest
    reason: str
    adjusted: float | None = None


class _Place(NamedTuple):
    """The order of a map: its series, model, and what is lesioned where."""

    series: str
    model: Model
    target: str
    unit: int | None
    layer: int

    @property
    def order(self) -> tuple[Any, ...]:
        unit = -1 if self.unit is None else self.unit
        return self.series, list(TARGETS).index(self.target), unit, self.layer < 0, self.layer


def map_table(rows: Sequence[Grouped]) -> Table:
    """Return every measure by target and layer as a table: usable responses first."""
    found = list(map_cells(one for row in rows for one in row.group.members))
    return records_table("map", MAP, found, MAP_NOTES)


def map_cells(members: Iterable[AdministrationData]) -> Iterator[MapCell]:
    """Yield the cells of maps, measure by measure."""
    members = distinct(members)
    names = short_examinees(members)
    at: dict[_Place, dict[str, list[AdministrationData]]] = {}
    intact: dict[Model, list[AdministrationData]] = {}
    for one in members:
        given = one.administration.conditions
        model = (spec_of(given), tuple(sorted(compared(given, [LESION]).items())))
        if given.lesion is None:
            intact.setdefault(model, []).append(one)
        elif (lesion := _of_one_layer(one)) is not None:
            series = f"{names[spec_of(given)]} + {_elsewhere(lesion)}"
            unit = lesion.units[0] if len(lesion.units) == 1 else None
            place = _Place(series, model, lesion.target, unit, lesion.layers[0])
            at.setdefault(place, {}).setdefault(str(lesion.seed), []).append(one)
    if not at:
        raise UsageError(
            "no lesion of these administrations is of one target in one layer",
            hint='a grid of lesions with layers = ["each"]: tabwb lesion sweep',
        )
    whole_model = {model: values_of(pooled(own)) for model, own in intact.items()}
    values = {key: [values_of(pooled(own)) for own in seeds.values()] for key, seeds in at.items()}
    told = told_apart({(key.model, key.series): (key.series, key.model[1]) for key in at})
    for cell in cells_of(one for own in values.values() for one in own):
        maps: dict[str, list[MapCell]] = {}
        for key in sorted(at, key=lambda key: key.order):
            if own := [one[cell] for one in values[key] if cell in one]:
                beside = whole_model.get(key.model, {}).get(cell)
                series = told[key.model, key.series]
                maps.setdefault(series, []).append(_map_cell(cell, series, key, own, beside))
        for cells in maps.values():
            tests = [made.difference.p for made in cells]
            adjusted = iter(benjamini_hochberg([p for p in tests if p is not None]))
            for made, p in zip(cells, tests, strict=True):
                yield made if p is None else replace(made, adjusted=next(adjusted))


def _map_cell(
    cell: Cell, series: str, place: _Place, own: Sequence[Measured], intact: Measured | None
) -> MapCell:
    counted = [one.counted for one in own]
    limits = 0.0, max(one.largest for one in own)
    mean = mean_over_seeds(counted, limits, shared_error(own) or KNOWN)
    base = None if intact is None else intact.counted
    difference, reason = SeedTest(None, 0, 0, 0, ""), mean.reason
    if intact is None or base is None:
        reason = reason or (NO_INTACT if intact is None else FEW_INTACT)
    elif mean.value is not None:
        difference = less_intact(counted, intact, limits)
        reason = reason or difference.reason
    few = sum(one.few for one in own)
    return MapCell(cell, series, *place[2:], mean, few, base, difference, reason)


def _of_one_layer(one: AdministrationData) -> Lesion | None:
    try:
        lesions = parse_lesions(one.administration.conditions.lesion or "")
    except UsageError:  # made with another tool
        return None
    alone = len(lesions) == 1 and len(lesions[0].layers) == 1
    return lesions[0] if alone and CONTROL not in one.administration.tags else None


def _elsewhere(lesion: Lesion) -> str:
    """Return the lesion without target, layer, single unit and seed.

    >>> _elsewhere(parse_lesions("mlp:scale:0.5@layers=2,factor=0.1,seed=3")[0])
    'scale:0.5@factor=0.1'
    """
    own = () if len(lesion.units) == 1 else lesion.units
    spec = replace(lesion, units=own).kind(amount="")
    options = spec.partition("@")[2].removeprefix(f"layers={numbers_text(lesion.layers)}")
    options = options.removeprefix(",")
    head = spec.partition("@")[0].removeprefix(f"{lesion.target}:")
    return head + (f"@{options}" if options else "")


MAP = (
    *_MEASURE,
    text("series", "Lesion", "the model, with operation and amount"),
    text("target", "Target", "what is lesioned"),
    whole("unit", "Unit", "the head, neuron or expert that is lesioned alone; missing: the target"),
    whole("layer", "Layer", "in which layer, from 0; negative: from the end"),
    number("value", "Value", "mean over seeds", "mean.value"),
    *ends("value_", "over seeds", "mean.interval"),
    number("intact", "Intact", "the value of the intact model"),
    number("difference", "Difference", "mean less intact", "difference.value"),
    *ends("difference_", "over seeds", "difference.interval"),
    p_value("p", "p", "that the difference is 0; not corrected", "difference.p"),
    p_value("p_adjusted", "corr.", "the same, corrected over the cells of the map (Benjamini and "
            "Hochberg)", "adjusted"),
    whole("n_seeds", "Seeds", "behind the mean", "mean.n"),
    whole("few_usable", "Few usable", "seeds left out: fewer than half of their responses usable",
          "few"),
    text("reason", "Reason", "why there is no value, difference or interval"),
)  # fmt: skip
"""The columns of :func:`map_table`."""
