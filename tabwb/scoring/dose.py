"""Dose and response over seeds of a lesion: one number for each seed, tested over seeds.

The seed of a lesion decides which units it takes: intervals and tests are for *other draws of
units, these prompts*. Responses and amounts of one seed are not independent (masks of growing
amounts are nested), so that they become one number, its :func:`slope` or :func:`area`. p values are
not corrected for several measures or lesions: :func:`tabwb.scoring.permutation.holm`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum

from tabwb.scoring.distributions import t_quantile, t_tail
from tabwb.scoring.estimate import UPPER, Estimate, Interval
from tabwb.scoring.intervals import sum_of_squares

LEAST_SEEDS = 5
FEW_SEEDS = f"fewer than {LEAST_SEEDS} seeds"
EQUAL_SEEDS = "all seeds have the same value, which does not show how much seeds differ"
NO_SEED = "no seed has a value"
ONE_AMOUNT = "a slope or an area needs two amounts or more"
LEFT_OUT = "seeds left out (the others may differ from them)"
ROUNDING = 1e-12
"""What rounding can change, as a share of the numbers that are added up."""
UNBOUNDED = (-math.inf, math.inf)
Points = Mapping[float, float]
OF_SEEDS, PAIRED, WELCH = "t over seeds", "paired t over seeds", "Welch's t over seeds"
ONE_CASE = "one lesion against controls"
NOT_DRAWN = "one condition without seeds"
EQUAL_CONTROLS = "all controls have the same value, which does not show how much they differ"


@dataclass(frozen=True, slots=True)
class SeedTest:
    """A mean over seeds, or a difference of two, with its t interval and test.

    Attributes:
        value: the mean or difference; None where no seed has one.
        n: seeds behind it; of Welch's test those of the lesion; 1 of a lesion without draws.
        n_control: seeds of the controls in Welch's test and of a lesion without draws, else 0.
        left_out: seeds without a number, of both sides; with any there is no interval.
        method: :data:`OF_SEEDS`, :data:`PAIRED`, :data:`WELCH` or :data:`ONE_CASE`.
        interval: 95 %; None with the reason. Of :data:`ONE_CASE` of the difference to one more
            control, not to their mean.
        df: degrees of freedom of t.
        p: two-sided, that the value is 0 (for an intact model, that it is the intact model's).
        reason: why there are no interval and no p, else empty.
    """

    value: float | None
    n: int
    n_control: int
    left_out: int
    method: str
    interval: Interval | None = None
    df: float | None = None
    p: float | None = None
    reason: str = ""


def slope(points: Points) -> float:
    """Return the least-squares slope of a seed's values over its amounts.

    ``sum (d - mean d) y / sum (d - mean d)^2``: the change of the value for an amount of 1 more.
    The intact model is not among the points: all seeds have the same one, so that its error would
    not vary between seeds, and a test would take it for an effect.

    >>> round(slope({0.1: 1.0, 0.2: 1.5, 0.3: 2.0}), 12)
    5.0
    """
    if len(points) < 2:
        raise ValueError(ONE_AMOUNT)
    middle = fsum(points) / len(points)
    top = fsum((amount - middle) * value for amount, value in points.items())
    # Rounding alone is not a slope: slopes of 1e-16 would differ between seeds, and be tested.
    if abs(top) <= ROUNDING * fsum(abs((at - middle) * value) for at, value in points.items()):
        return 0.0
    return top / fsum((amount - middle) ** 2 for amount in points)


def area(points: Points) -> float:
    """Return the mean height of a seed's line: the area below it, divided by its width.

    By the trapezoidal rule, from the least to the largest amount. The unit is that of the values.

    >>> area({0.1: 1.0, 0.2: 2.0, 0.4: 2.0})
    1.8333333333333333
    """
    if len(points) < 2:
        raise ValueError(ONE_AMOUNT)
    line = sorted(points.items())
    parts = ((end - start) * (low + high) / 2 for (start, low), (end, high) in pairwise(line))
    return fsum(parts) / (line[-1][0] - line[0][0])


def seed_numbers(
    lines: Mapping[str, Mapping[float, float | None]],
    number: Callable[[Points], float],
    amounts: Sequence[float],
) -> dict[str, Estimate]:
    """Return one number for each seed, undefined where a seed lacks a value at an amount.

    A number over fewer amounts is not comparable with the others: high amounts are where responses
    become unusable. Choose fewer amounts for all seeds instead.

    The amount of a control is that of the lesion whose size it has.

    >>> seed_numbers({"1": {0.1: 0.0, 0.3: 1.0}, "2": {0.1: 0.0, 0.3: None}}, area, (0.1, 0.3))
    {'1': Estimate(value=0.5, reason=''), '2': Estimate(value=None, reason='no value at 0.3')}
    """
    found: dict[str, Estimate] = {}
    for seed, line in lines.items():
        points = {at: value for at in amounts if (value := line.get(at)) is not None}
        missing = ", ".join(f"{at:g}" for at in amounts if at not in points)
        why = f"no value at {missing}"
        found[seed] = Estimate(None, why) if missing else Estimate(number(points))
    return found


def mean_over_seeds(
    values: Sequence[float | None],
    limits: tuple[float, float] = UNBOUNDED,
    shared: tuple[float, float] = (0.0, math.inf),
) -> SeedTest:
    """Return the mean over seeds with its t interval, and the test that it is 0.

    ``mean +- t_{n-1} s / sqrt(n)`` from five seeds on. The test is of use for slopes.

    A seed has no value where its responses are unusable, so that the seeds with one are the better
    ones. Their mean is given, without interval and test: in simulations such intervals covered
    .92 on average and .87 at worst.

    Drawn answers of all seeds come from the same random streams. This error does not differ between
    seeds: ``se^2 = s^2 / n + v``, with Welch and Satterthwaite's degrees of freedom.

    Args:
        values: one for each seed; None where it has none.
        limits: the least and largest possible mean, where the interval is truncated.
        shared: v and its degrees of freedom: an error that all seeds share.

    >>> found = mean_over_seeds([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> found.value, round(found.interval.low, 4), round(found.p, 4)
    (3.0, 1.0368, 0.0132)
    """
    given = [value for value in values if value is not None]
    return _tested(given, len(values) - len(given), OF_SEEDS, limits=limits, extra=shared)


def against_intact(
    values: Sequence[float | None],
    intact: float,
    variance: float,
    df: float = math.inf,
    limits: tuple[float, float] = UNBOUNDED,
) -> SeedTest:
    """Return the mean over seeds less the intact model's value, with interval and test.

    ``se^2 = s^2 / n + v``, t with Welch and Satterthwaite's degrees of freedom. v is the error of
    the intact model's value on these prompts. It is 0 only where nothing is drawn (greedy
    decoding). All seeds are compared with the same intact model, so that leaving v out would make
    the test reject far too often: with one sampled run of the intact model and five seeds, .32
    instead of .05 where the lesion does nothing.

    ``values`` are one :func:`area` for each seed, ``df`` the degrees of freedom of v: of k items
    with r responses each k (r - 1). The interval is truncated at the ``limits`` of a value less the
    intact model's.

    >>> found = against_intact([1.0, 2.0, 3.0, 4.0, 5.0], 1.0, 0.5, 20)
    >>> found.value, round(found.df, 2), round(found.p, 4)
    (2.0, 13.33, 0.0663)
    """
    given = [value - intact for value in values if value is not None]
    least, most = limits
    return _tested(
        given,
        len(values) - len(given),
        OF_SEEDS,
        limits=(least - most, most - least) if variance > 0.0 else (least - intact, most - intact),
        largest=abs(intact),
        extra=(variance, df),
    )


def against_controls(
    lesion: Mapping[str, Estimate],
    control: Mapping[str, Estimate],
    limits: tuple[float, float] = UNBOUNDED,
) -> SeedTest:
    """Return the mean number of a lesion less that of controls of its size, tested over seeds.

    With the same seeds on both sides the paired t test: a control with the seed of a lesion takes
    some of the same weights. Otherwise Welch's: ``t = (m_1 - m_2) / sqrt(v_1/n_1 + v_2/n_2)``
    (Welch, Biometrika 34 (1947), 28). Five seeds or more on each side.

    Args:
        lesion: a number for each seed, see :func:`seed_numbers`; undefined ones are left out, in
            the paired test with their partners.
        control: as above, of  the controls, over the same amounts.
        limits: the least and largest possible value of either side: the interval of the difference
            is truncated at the largest difference.

    >>> one = {str(n): Estimate(value) for n, value in enumerate((3.0, 4.0, 6.0, 5.0, 7.0))}
    >>> two = {str(n): Estimate(value) for n, value in enumerate((1.0, 3.0, 4.0, 4.0, 5.0))}
    >>> found = against_controls(one, two)
    >>> found.method, round(found.value, 6), round(found.p, 4)
    ('paired t over seeds', 1.6, 0.0028)
    """
    sides = [
        {seed: one.value for seed, one in side.items() if one.value is not None}
        for side in (lesion, control)
    ]
    ends = limits[0] - limits[1], limits[1] - limits[0]
    if lesion.keys() == control.keys():
        both = [seed for seed in sides[0] if seed in sides[1]]
        differences = [sides[0][seed] - sides[1][seed] for seed in both]
        largest = max((abs(sides[0][seed]) for seed in both), default=0.0)
        return _tested(differences, len(lesion) - len(both), PAIRED, limits=ends, largest=largest)
    first, second = (list(side.values()) for side in sides)
    left_out = len(lesion) + len(control) - len(first) - len(second)
    if not first or not second:
        return SeedTest(None, len(first), len(second), left_out, WELCH, reason=NO_SEED)
    middle = fsum(second) / len(second)
    if len(second) < LEAST_SEEDS:
        value = fsum(first) / len(first) - middle
        return SeedTest(value, len(first), len(second), left_out, WELCH, reason=FEW_SEEDS)
    return _tested(
        [value - middle for value in first],
        left_out,
        WELCH,
        limits=ends,
        largest=abs(middle),
        extra=(_variance(second) / len(second), len(second) - 1),
        n_control=len(second),
    )


def one_against_controls(
    case: Estimate,
    control: Mapping[str, Estimate],
    limits: tuple[float, float] = UNBOUNDED,
) -> SeedTest:
    """Return the number of a lesion without draws less the mean of its controls, with a test.

    A lesion by list, localizer or magnitude, or of all units, has no seeds: it is one case, and its
    controls are a sample. With n controls of mean m and standard deviation s,
    ``t = (x - m) / (s sqrt((n + 1) / n))`` with n - 1 degrees of freedom (J. R. Crawford and D. C.
    Howell, 1998, The Clinical Neuropsychologist 12, 482-486). The null hypothesis is that x is a
    further value of the distribution of the controls: that the units of the lesion do what random
    units do.

    The interval is ``x - m +- t_{n-1} s sqrt((n + 1) / n)``, a prediction interval: if x is fixed,
    it holds the difference of x to *one more control* in 95 % of studies. It is wider than
    an interval of the difference to the mean of all controls, and does not shrink to it with n. It
    excludes 0 where p is below .05. Both assume that values of controls are normal. In simulations
    with skewed values (``benchmarks/simulated_lesions.py``) .03 to .05 of true null hypotheses
    were rejected on average, .07 at most.

    Args:
        case: of the lesion.
        control: a number for each seed; five seeds or more, each with a number.
        limits: the least and largest possible value of a control: the interval ends at x less
            these.

    >>> controls = {str(n): Estimate(value) for n, value in enumerate((1.0, 2.0, 3.0, 4.0, 5.0))}
    >>> found = one_against_controls(Estimate(8.0), controls)
    >>> found.value, round(found.interval.low, 3), round(found.p, 4)
    (5.0, 0.191, 0.0447)
    """
    given = [one.value for one in control.values() if one.value is not None]
    n, left_out = len(given), len(control) - len(given) + (case.value is None)
    if case.value is None or not n:
        reason = NO_SEED if case.value is None else "no control has a value"
        return SeedTest(None, int(case.value is not None), n, left_out, ONE_CASE, reason=reason)
    middle = fsum(given) / n
    difference = case.value - middle
    variance = _variance(given, abs(case.value)) if n > 1 else 0.0
    reason = (
        f"fewer than {LEAST_SEEDS} controls" if n < LEAST_SEEDS
        else f"{left_out} of {n + left_out} controls left out (the others may differ from them)"
        if left_out
        else "" if variance else EQUAL_CONTROLS
    )  # fmt: skip
    if reason:
        return SeedTest(difference, 1, n, left_out, ONE_CASE, reason=reason)
    error = math.sqrt(variance * (n + 1) / n)
    half = t_quantile(UPPER, n - 1) * error
    ends = case.value - limits[1], case.value - limits[0]
    interval = Interval(max(ends[0], difference - half), min(ends[1], difference + half))
    p = 2 * t_tail(abs(difference) / error, n - 1)
    return SeedTest(difference, 1, n, 0, ONE_CASE, interval, n - 1, p)


def _tested(
    values: Sequence[float],
    left_out: int,
    method: str,
    *,
    limits: tuple[float, float] = UNBOUNDED,
    largest: float = 0.0,
    extra: tuple[float, float] = (0.0, math.inf),
    n_control: int = 0,
) -> SeedTest:
    """Return the t test of a mean."""
    n = len(values)
    if not n:
        return SeedTest(None, n, n_control, left_out, method, reason=NO_SEED)
    mean = fsum(values) / n
    if n < LEAST_SEEDS:
        return SeedTest(mean, n, n_control, left_out, method, reason=FEW_SEEDS)
    if left_out:
        return SeedTest(
            mean, n, n_control, left_out, method, reason=f"{left_out} of {n + left_out} {LEFT_OUT}"
        )
    own, (other, other_df) = _variance(values, largest) / n, extra
    variance = own + other
    # Of Welch's two sides one may be constant, as a lesion that leaves nothing.
    if not own and not (method == WELCH and other):
        return SeedTest(mean, n, n_control, left_out, method, reason=EQUAL_SEEDS)
    df = variance**2 / (own**2 / (n - 1) + other**2 / other_df)
    error = math.sqrt(variance)
    half = t_quantile(UPPER, df) * error
    interval = Interval(max(limits[0], mean - half), min(limits[1], mean + half))
    p = 2 * t_tail(abs(mean) / error, df)
    return SeedTest(mean, n, n_control, left_out, method, interval, df, p)


def _variance(values: Sequence[float], largest: float = 0.0) -> float:
    """Return the variance of a sample, 0 where values differ by rounding alone."""
    found = sum_of_squares(values) / (len(values) - 1)
    return 0.0 if found <= (ROUNDING * max(largest, *map(abs, values))) ** 2 else found
