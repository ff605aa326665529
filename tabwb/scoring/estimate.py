"""Estimates and intervals that may be missing with a reason, and accuracy with its baselines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from tabwb.records.states import Protocol
from tabwb.scoring.distributions import beta_quantile, incomplete_beta


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, or None with the reason why there is none. Undefined is never 0.

    >>> Estimate(0.5).defined, Estimate(None, "no items").defined
    (True, False)
    """

    value: float | None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("an estimate without a value needs a reason")

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None


def ratio(numerator: float, denominator: float, reason: str) -> Estimate:
    """Return ``numerator / denominator``, undefined where the denominator is 0.

    >>> ratio(1, 4, "nothing counted")
    Estimate(value=0.25, reason='')
    >>> ratio(0, 0, "nothing counted")
    Estimate(value=None, reason='nothing counted')
    """
    return Estimate(numerator / denominator) if denominator else Estimate(None, reason)


def item_mean(
    totals: Sequence[float],
    sizes: Sequence[int],
    reason: str,
    items: Sequence[Hashable] | None = None,
) -> Estimate:
    """Return the mean of the item means: items weigh the same; those without values are left out.

    ``items``: of each total, where several are of one item (of pooled speakers).

    >>> item_mean([2, 1, 0], [2, 4, 0], "nothing counted").value
    0.625
    >>> item_mean([3, 0, 0], [3, 1, 1], "nothing counted", "abb").value
    0.5
    """
    if items is not None:
        totals, sizes = by_item(totals, sizes, items)
    given = [(total, n) for total, n in zip(totals, sizes, strict=True) if n]
    if len({n for _, n in given}) < 2:  # the quotient of the sums, without rounding in between
        return ratio(sum(total for total, _ in given), sum(n for _, n in given), reason)
    return ratio(math.fsum(total / n for total, n in given), len(given), reason)


def by_item(
    totals: Sequence[Any], sizes: Sequence[int], items: Sequence[Hashable]
) -> tuple[list[Any], list[int]]:
    """Return the sums over all parts of each item, items in the order in which they come first.

    >>> by_item([3, 0, 1], [3, 1, 2], "abb")
    ([3, 1], [3, 3])
    """
    sums: dict[Hashable, list[Any]] = {}
    for total, n, item in zip(totals, sizes, items, strict=True):
        own = sums.setdefault(item, [0, 0])
        own[0] += total
        own[1] += n
    return [total for total, _ in sums.values()], [n for _, n in sums.values()]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, its ends included."""

    low: float
    high: float


class Estimand(StrEnum):
    """The quantity that an interval is for. Every printed interval names it.

    Attributes:
        PROMPTS_LIKE_THESE: the mean over all prompts of this kind. The items are a sample, so the
            interval includes how much items differ from each other. The default.
        THESE_PROMPTS: the mean over exactly these items, each answered infinitely often. The
            interval includes only how much new draws of the same prompts vary.
    """

    PROMPTS_LIKE_THESE = "prompts like these"
    THESE_PROMPTS = "these prompts"


DETERMINISTIC = "deterministic"
"""Nothing was drawn: another run of these prompts gives the same answers."""
ONE_ITEM = "one item: how much items differ is unknown"
NO_VALUE = "no item has a value"
ONE_RESPONSE = "one response per item: how much draws differ is unknown"


def missing_reason(estimand: Estimand, sizes: Sequence[int], deterministic: bool) -> str:
    """Return why items have no interval, or empty where they have one."""
    if not sizes:
        return NO_VALUE
    if estimand is Estimand.PROMPTS_LIKE_THESE:
        return ONE_ITEM if len(sizes) < 2 else ""
    if deterministic:
        return DETERMINISTIC
    return ONE_RESPONSE if max(sizes) < 2 else ""


@dataclass(frozen=True, slots=True)
class EstimatedInterval:
    """A 95 % interval with its estimand, or the reason why there is none.

    ``p``: of a difference, the two-sided p that the interval's own method gives to 0.

    >>> EstimatedInterval(Estimand.THESE_PROMPTS, None, DETERMINISTIC).deterministic
    True
    """

    estimand: Estimand
    interval: Interval | None
    reason: str = ""
    p: float | None = None

    def __post_init__(self) -> None:
        if (self.interval is None) != bool(self.reason):
            raise ValueError("an interval is missing exactly when there is a reason")

    @property
    def deterministic(self) -> bool:
        """Whether there is no interval because nothing was drawn."""
        return self.reason == DETERMINISTIC


LEVEL = 0.95
ALPHA = 0.05
LOWER, UPPER = (1 - LEVEL) / 2, (1 + LEVEL) / 2
"""The quantiles at the ends of an interval; the upper one is also that of a test at .05."""
MUST_CHOOSE = frozenset({Protocol.ENFORCED, Protocol.LIKELIHOOD})
"""Protocols under which every answer is one of the options, so that a guess can be right."""


@lru_cache(maxsize=4096)
def clopper_pearson(correct: float, n: float) -> Interval | None:
    """Return the exact (Clopper-Pearson) 95 % interval of a share; None where nothing was counted.

    With alpha = 0.05: the low end is the alpha/2 quantile of Beta(k, n-k+1) and 0 for k = 0,
    the high end the 1-alpha/2 quantile of Beta(k+1, n-k) and 1 for k = n.
    k and n may be fractions. Source: Clopper and Pearson, Biometrika 26 (1934), 404.

    >>> round(clopper_pearson(0, 5).high, 12)
    0.521823750105
    >>> clopper_pearson(0, 0) is None
    True
    """
    if not 0 <= correct <= n:
        raise ValueError(f"{correct} of {n} is not a valid share")
    if n == 0:
        return None
    tail = (1 - LEVEL) / 2
    # At the ends the quantiles have a closed form: I_x(1, n) = 1 - (1 - x)^n.
    if correct == 0:
        return Interval(0.0, -math.expm1(math.log(tail) / n))
    if correct == n:
        return Interval(tail ** (1 / n), 1.0)
    return Interval(
        beta_quantile(tail, correct, n - correct + 1),
        beta_quantile(1 - tail, correct + 1, n - correct),
    )


def guessing_rate(n_options: Iterable[int]) -> Estimate:
    """Return the share right by guessing: the mean of 1 / options shown, over the trials.

    A ``Counter`` of numbers of options is taken as so many trials with each.

    >>> guessing_rate([6, 6, 2]).value
    0.2777777777777778
    """
    trials = {count: n for count, n in Counter(n_options).items() if count}
    common = math.lcm(*trials)
    right = sum(n * (common // count) for count, n in trials.items())
    return ratio(right, common * sum(trials.values()), "no item with options")


def always_first(trials: Iterable[tuple[str, tuple[str, ...]]]) -> Estimate:
    """Share right by always naming the first option shown, over (expected, options shown).

    A ``Counter`` is taken as so many trials of each kind.

    >>> always_first([("lion", ("lion", "drum")), ("drum", ("lion", "drum"))]).value
    0.5
    """
    shown = {trial: n for trial, n in Counter(trials).items() if trial[1]}
    hits = sum(n for (expected, options), n in shown.items() if options[0] == expected)
    return ratio(hits, sum(shown.values()), "no item with options")


def always_yes(expected: Iterable[str], yes: str = "Yes") -> Estimate:
    """Return the share right by always saying Yes.

    >>> always_yes(["Yes", "No", "No", "Yes", "Yes"]).value
    0.6
    """
    answers = Counter(expected)
    return ratio(answers[yes], answers.total(), "no item answered")


def chance_corrected(p: Estimate, c: Estimate, protocol: Protocol | None) -> Estimate:
    """Return accuracy above guessing: ``(p - c) / (1 - c)``, not clipped (below 0 is below chance).

    Only under protocols where a guess is one of the options, ``enforced`` and ``likelihood``.

    >>> chance_corrected(Estimate(0.4), Estimate(0.5), Protocol.ENFORCED).value
    -0.19999999999999996
    >>> chance_corrected(Estimate(0.4), Estimate(0.5), Protocol.GENERATE).reason
    'protocol generate: an answer need not be one of the options'
    """
    if protocol not in MUST_CHOOSE:
        name = "mixed" if protocol is None else protocol.value
        return Estimate(None, f"protocol {name}: an answer need not be one of the options")
    if p.value is None:
        return p
    if c.value is None:
        return c
    return ratio(p.value - c.value, 1 - c.value, "guessing is always right")


def quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile of a sample, interpolated between its values.

    With x_0 <= ... <= x_{n-1} and h = (n - 1) share: x_floor(h) + (h - floor(h)) (x_{floor(h)+1} -
    x_floor(h)). Source: Hyndman and Fan 1996, The American Statistician 50, definition 7.

    >>> quantile([4.0, 1.0, 2.0, 3.0], 0.5), quantile([1.0, 2.0], 0.25)
    (2.5, 1.25)
    """
    if not values:
        raise ValueError("no values, no quantile")
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def median_interval(values: Sequence[float]) -> Interval | None:
    """Return the exact 95 % interval of a median; None below six values, which have none.

    It goes from the k-th smallest to the k-th largest value, k the largest number for which
    P[Bin(n, 1/2) < k] <= 0.025, so that it covers at least 0.95 whatever the distribution.
    Values are taken as independent. Source: Thompson 1936, Ann. Math. Stat. 7, 122.

    >>> median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    True
    >>> median_interval([float(n) for n in range(1, 11)])
    Interval(low=2.0, high=9.0)
    """
    n, tail = len(values), (1 - LEVEL) / 2
    k, above = 0, n // 2 + 1
    while above - k > 1:
        middle = (k + above) // 2
        # P[Bin(n, p) < k] = I_{1-p}(n - k + 1, k)
        if incomplete_beta(0.5, n - middle + 1, middle) <= tail:
            k = middle
        else:
            above = middle
    if k == 0:
        return None
    ordered = sorted(values)
    return Interval(ordered[k - 1], ordered[n - k])
