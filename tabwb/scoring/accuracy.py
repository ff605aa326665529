"""Accuracy with what belongs beside it: exact interval, baselines, chance correction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tabwb.records.states import Protocol
from tabwb.scoring.estimate import Estimate, ratio

LEVEL = 0.95
MUST_CHOOSE = frozenset({Protocol.ENFORCED, Protocol.LIKELIHOOD})
"""Protocols under which every answer is one of the options, so that a guess can be right."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, its ends included."""

    low: float
    high: float


@lru_cache(maxsize=4096)
def clopper_pearson(correct: int, n: int, level: float = LEVEL) -> Interval | None:
    """The exact (Clopper-Pearson) interval of a share; None where nothing was counted.

    With alpha = 1 - level: the low end is the alpha/2 quantile of Beta(k, n-k+1) and 0 for k = 0,
    the high end the 1-alpha/2 quantile of Beta(k+1, n-k) and 1 for k = n.
    Source: Clopper and Pearson, Biometrika 26 (1934), 404.

    Args:
        correct: successes k, 0 to n.
        n: independent trials. Replicates of few items are not independent: the true interval is
            wider then.
        level: coverage, between 0 and 1.

    Raises:
        ValueError: ``correct`` is not within 0 to ``n``.

    >>> round(clopper_pearson(0, 5).high, 12)
    0.521823750105
    >>> clopper_pearson(0, 0) is None
    True
    """
    if not 0 <= correct <= n:
        raise ValueError(f"{correct} of {n} is no share")
    if n == 0:
        return None
    tail = (1 - level) / 2
    # At the ends the quantiles have a closed form: I_x(1, n) = 1 - (1 - x)^n.
    if correct == 0:
        return Interval(0.0, -math.expm1(math.log(tail) / n))
    if correct == n:
        return Interval(tail ** (1 / n), 1.0)
    return Interval(
        beta_quantile(tail, correct, n - correct + 1),
        beta_quantile(1 - tail, correct + 1, n - correct),
    )


def beta_quantile(share: float, a: float, b: float) -> float:
    """The x at which the regularised incomplete beta function I_x(a, b) equals ``share``.

    Newton steps on I, whose derivative is the density, kept within a bracket by bisection.

    Args:
        share: between 0 and 1, both excluded.
        a: first shape, above 0.
        b: second shape, above 0.

    >>> round(beta_quantile(0.5, 2, 2), 12)
    0.5
    """
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        off = incomplete_beta(x, a, b) - share
        low, high = (low, x) if off > 0 else (x, high)
        log_density = (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta
        step = off / math.exp(log_density) if log_density > -700 else math.inf
        following = x - step if low < x - step < high else (low + high) / 2
        if abs(following - x) <= 1e-13 * x or following in (low, high):
            return following
        x = following
    return x


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction.

    Lentz's algorithm, on the side where the fraction converges fast; I_x(a,b) = 1 - I_{1-x}(b,a).
    Source: NIST Digital Library of Mathematical Functions, 8.17.22.

    >>> incomplete_beta(0.25, 1, 1)
    0.25
    """
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(1.0 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    tiny = 1e-300
    c, d = 1.0, 1.0 / ((1.0 - (a + b) * x / (a + 1)) or tiny)
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / ((1.0 + term * d) or tiny)
            c = (1.0 + term / c) or tiny
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return front * fraction / a


def guessing_rate(n_options: Iterable[int]) -> Estimate:
    """Share right by guessing among the options shown: the mean of 1 / options over the trials.

    >>> guessing_rate([6, 6, 2]).value
    0.27777777777777773
    """
    counts = [count for count in n_options if count]
    return ratio(sum(1 / count for count in counts), len(counts), "no item with options")


def always_first(trials: Iterable[tuple[str, Sequence[str]]]) -> Estimate:
    """Share right by always naming the first option shown, over (expected, options shown).

    >>> always_first([("lion", ["lion", "drum"]), ("drum", ["lion", "drum"])]).value
    0.5
    """
    hits = [options[0] == expected for expected, options in trials if options]
    return ratio(sum(hits), len(hits), "no item with options")


def always_yes(expected: Iterable[str], yes: str = "Yes") -> Estimate:
    """Share right by always saying Yes.

    >>> always_yes(["Yes", "No", "No", "Yes", "Yes"]).value
    0.6
    """
    answers = list(expected)
    return ratio(answers.count(yes), len(answers), "no item answered")


def chance_corrected(p: Estimate, c: Estimate, protocol: Protocol | None) -> Estimate:
    """Accuracy above guessing: ``(p - c) / (1 - c)``, not clipped (below 0 is below chance).

    Only where a guess must land on an option, protocols ``enforced`` and ``likelihood``; a free
    answer need not be an option, and nothing is "corrected" there (SCORING 1).

    Args:
        p: share correct.
        c: share right by guessing.
        protocol: how the answers were obtained; None where several protocols are mixed.

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
