"""The rows of the table of doses: seeds, means over seeds, and what they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, inf, sqrt

from tabwb.report.tables.dose_values import KNOWN, Cell, Measured
from tabwb.scoring.dose import (
    FEW_SEEDS,
    NOT_DRAWN,
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
from tabwb.scoring.estimate import Estimate

MEAN, LESS_INTACT, LESS = "mean", "less intact", "less "
TOO_FEW = "every seed has a value at fewer than two amounts"
NO_INTACT = "the intact model was not given"
FEW_INTACT = "fewer than half of the intact model's responses are usable"
SAMPLED = "answers of the intact model were drawn: its error on these prompts is not known here"
THESE_DRAWS = "answers were drawn; intervals do not have this error"
Values = Mapping[float, Measured]
"""Of one seed by amount."""
Error = tuple[float, float]
"""A variance with its degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table.

    Attributes:
        cell: what was measured.
        series: the model with the lesion.
        row: ``intact``, ``seed``, ``mean``, ``less intact``, a role of controls, or ``less`` and
            such a role.
        at: the value at each amount; ``numbers``: slope and height.
        over: the amounts behind these.
        adjusted: by number, p corrected for its family.
        severity: what the amounts are.
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


@dataclass(frozen=True, slots=True)
class Lines:
    """The values of a series under one measure, by seed and amount.

    Attributes:
        own: of the lesion; control: of its controls.
        amounts: ascending.
        undrawn: those at which nothing of the lesion is drawn.
    """

    own: Mapping[str, Values]
    control: Mapping[str, Values]
    amounts: tuple[float, ...]
    undrawn: frozenset[float] = frozenset()

    @property
    def limits(self) -> tuple[float, float]:
        """The least and largest value that there can be."""
        every = (one.largest for line in self.own.values() for one in line.values())
        return 0.0, max(every)

    @property
    def is_case(self) -> bool:
        """Whether the lesion is one condition at every amount, without seeds."""
        return len(self.own) == 1 and self.undrawn >= set(self.amounts)

    def case_at(self, amount: float) -> bool:
        """Return whether the lesion is one condition at an amount, without seeds."""
        return amount in self.undrawn and sum(amount in line for line in self.own.values()) == 1

    def common(self, *, control: bool) -> tuple[float, ...]:
        """Return the amounts at which every seed has a value, of both sides for a comparison.

        Where only some amounts have seeds, the others are left out.
        """
        sides = (self.own, self.control) if control else (self.own,)
        lines = [line for side in sides for line in self.seeded(side).values()]
        return tuple(
            amount
            for amount in self._drawn
            if all(_counted(line, amount) is not None for line in lines)
        )

    def seeded(self, side: Mapping[str, Values]) -> dict[str, Values]:
        """Return the lines of seeds: not those that have only an amount without draws."""
        drawn = self._drawn
        return {seed: line for seed, line in side.items() if not line.keys().isdisjoint(drawn)}

    @property
    def _drawn(self) -> list[float]:
        return [one for one in self.amounts if one not in self.undrawn] or list(self.amounts)


def rows_of_series(
    row: Row, of_roles: Mapping[str, Lines], intact: Measured | None
) -> Iterator[Row]:
    """Yield the rows of one lesion under one measure."""
    if intact is not None:
        yield replace(row, row="intact", intact=intact.value.value, reason=_why({0.0: intact}))
    lines = of_roles[""]
    common = lines.common(control=False)
    of_seeds = _numbers(lines.seeded(lines.own), common)
    for seed, line in lines.own.items():
        yield replace(
            row, row="seed", seed=seed, at={x: _single(one.value) for x, one in line.items()},
            numbers={name: _single(one[seed]) for name, one in of_seeds.items() if seed in one},
            over=common, reason=_why(line),
        )  # fmt: skip
    yield _mean(replace(row, row=MEAN), lines.own, lines)
    if intact is not None:
        yield _less_intact(replace(row, row=LESS_INTACT), lines, intact)
    for role, beside in of_roles.items():
        if beside.control:
            yield _mean(replace(row, row=role), beside.control, beside)
            yield _less_control(replace(row, row=f"{LESS}{role}"), beside)


def _mean(row: Row, side: Mapping[str, Values], lines: Lines) -> Row:
    common = lines.common(control=row.row != MEAN)
    errors = {
        amount: shared_error(line[amount] for line in side.values() if amount in line)
        for amount in lines.amounts
    }
    own = row.row == MEAN
    at = {
        amount: _named(
            mean_over_seeds(values, lines.limits, errors[amount] or KNOWN),
            case=own and lines.case_at(amount),
        )
        for amount in lines.amounts
        if (values := [_counted(line, amount) for line in side.values() if amount in line])
    }
    numbers = {}
    for name, found in _numbers(lines.seeded(side), common).items():
        over = mean_over_seeds(
            [one.value for one in found.values()],
            lines.limits if name == "height" else (-inf, inf),
            error_of(name, {amount: errors[amount] for amount in common}) or KNOWN,
        )
        numbers[name] = _named(over, case=own and lines.is_case)
    if "height" in numbers:  # that it is not 0 needs no test
        numbers["height"] = replace(numbers["height"], p=None)
    unknown = any(errors[amount] is None and one.interval for amount, one in at.items())
    return replace(
        row, at=at, numbers=numbers, over=common, reason=_reasons(at, common, unknown=unknown)
    )


def less_intact(
    values: Sequence[float | None], intact: Measured, limits: tuple[float, float]
) -> SeedTest:
    """Return the mean over seeds less the value of the intact model."""
    base = intact.counted
    assert base is not None
    variance, df = intact.error or KNOWN
    found = against_intact(values, base, variance, df, limits)
    if intact.error is None and found.value is not None:
        reason = found.reason or SAMPLED
        return replace(found, interval=None, p=None, df=None, reason=reason)
    return found


def _less_intact(row: Row, lines: Lines, intact: Measured) -> Row:
    if intact.counted is None:
        return replace(row, reason=FEW_INTACT if intact.few else intact.value.reason)
    common = lines.common(control=False)
    at = {
        amount: _named(less_intact(values, intact, lines.limits), case=lines.case_at(amount))
        for amount in lines.amounts
        if (values := [_counted(line, amount) for line in lines.own.values() if amount in line])
    }
    heights = _numbers(lines.seeded(lines.own), common).get("height", {}).values()
    numbers = {}
    if heights:
        given = [one.value for one in heights]
        found = less_intact(given, intact, lines.limits)
        numbers["height"] = _named(found, case=lines.is_case)
    return replace(row, at=at, numbers=numbers, over=common, reason=_reasons(at, common))


def _less_control(row: Row, lines: Lines) -> Row:
    common = lines.common(control=True)
    at = {
        amount: _against(
            _estimates(lines.own, amount),
            _estimates(lines.control, amount),
            lines.limits,
            case=lines.case_at(amount),
        )
        for amount in lines.amounts
        if any(amount in line for line in lines.control.values())
    }
    own, control = (_numbers(lines.seeded(side), common) for side in (lines.own, lines.control))
    numbers = {
        name: _against(
            own[name],
            control[name],
            lines.limits if name == "height" else (-inf, inf),
            case=lines.is_case,
        )
        for name in own
    }
    return replace(row, at=at, numbers=numbers, over=common, reason=_reasons(at, common))


def _against(
    lesion: Mapping[str, Estimate],
    control: Mapping[str, Estimate],
    limits: tuple[float, float],
    *,
    case: bool,
) -> SeedTest:
    """Return the comparison with controls: of one condition without seeds, or over seeds."""
    if not case:
        return against_controls(lesion, control, limits)
    (one,) = lesion.values()
    return one_against_controls(one, control, limits)


def _named(found: SeedTest, *, case: bool) -> SeedTest:
    """Return a mean over seeds, with the reason of a condition that has none."""
    if case and found.reason == FEW_SEEDS:
        return replace(found, reason=NOT_DRAWN, method="")
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
    if any(error is None for error in errors.values()):
        return None
    known = {amount: error for amount, error in errors.items() if error is not None}
    if not any(variance for variance, _ in known.values()):
        return KNOWN
    made = slope if name == "slope" else area
    parts = [
        sqrt(known[at][0]) * made({amount: float(amount == at) for amount in known}) for at in known
    ]
    df = min(df for _, df in known.values())
    return (fsum(part**2 for part in parts) / 2 if name == "slope" else fsum(parts) ** 2), df


def _numbers(
    side: Mapping[str, Values], amounts: Sequence[float]
) -> dict[str, dict[str, Estimate]]:
    """Return slope and height of each seed; nothing where there are fewer than two amounts."""
    if len(amounts) < 2:
        return {}
    lines = {
        seed: {amount: _counted(line, amount) for amount in amounts} for seed, line in side.items()
    }
    kinds: tuple[tuple[str, Callable[[Points], float]], ...] = (("slope", slope), ("height", area))
    return {name: seed_numbers(lines, made, amounts) for name, made in kinds}


def _counted(line: Values, amount: float) -> float | None:
    return line[amount].counted if amount in line else None


def _estimates(side: Mapping[str, Values], amount: float) -> dict[str, Estimate]:
    found = {seed: _counted(line, amount) for seed, line in side.items() if amount in line}
    return {
        seed: Estimate(value, "" if value is not None else f"no value at {amount:g}")
        for seed, value in found.items()
    }


def _single(value: Estimate) -> SeedTest:
    return SeedTest(value.value, 1, 0, 0, "")


def _why(line: Values) -> str:
    """Return why values are missing or in no mean."""
    few = [f"{amount:g}" for amount, one in line.items() if one.few and one.value.defined]
    reasons = dict.fromkeys(one.value.reason for one in line.values() if one.value.reason)
    found = [*reasons]
    if few:
        where = "" if few == ["0"] else f" at {', '.join(few)}"
        found.append(f"few usable{where}, in no mean")
    return "; ".join(found)


def _reasons(
    at: Mapping[float, SeedTest], common: Sequence[float], *, unknown: bool = False
) -> str:
    """Return why intervals are missing, with the amounts where only some are."""
    found: dict[str, list[float]] = {}
    for amount, one in at.items():
        if one.reason:
            found.setdefault(one.reason, []).append(amount)
    told = [
        reason if len(own) == len(at) else f"at {', '.join(f'{one:g}' for one in own)}: {reason}"
        for reason, own in found.items()
    ]
    told += [] if len(common) > 1 else [TOO_FEW]
    return "; ".join([*told, *([THESE_DRAWS] if unknown else [])])
