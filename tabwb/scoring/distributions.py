"""Quantiles and tails of the beta, gamma, t and noncentral t distributions, without scipy.

Shapes and degrees of freedom are above 0 and need not be whole; shares are between 0 and 1, both
excluded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

_TINY = 1e-300


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), by its continued fraction.

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
    c, d = 1.0, 1.0 / ((1.0 - (a + b) * x / (a + 1)) or _TINY)
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / ((1.0 + term * d) or _TINY)
            c = (1.0 + term / c) or _TINY
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return front * fraction / a


@lru_cache(maxsize=4096)
def beta_quantile(share: float, a: float, b: float) -> float:
    """Return the x at which I_x(a, b) equals ``share``.

    Newton steps on I, whose derivative is the density, kept within a bracket by bisection. Where
    the first shape is below 1 the search starts from the leading term of I, x^a / (a B(a, b)).

    Returns:
        The quantile; 0.0 where it is below 1e-300.

    >>> round(beta_quantile(0.5, 2, 2), 12)
    0.5
    """
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    x = a / (a + b)
    if a < 1:
        log_start = (math.log(share) + math.log(a) + log_beta) / a
        if log_start < -690:
            return 0.0
        x = min(math.exp(log_start), x)

    def density(at: float) -> float:
        return (a - 1) * math.log(at) + (b - 1) * math.log1p(-at) - log_beta

    return _root(lambda at: incomplete_beta(at, a, b) - share, density, x, 1.0)


def incomplete_gamma(x: float, a: float) -> float:
    """Return the regularised lower incomplete gamma function P(a, x).

    The power series below a + 1, else 1 minus the continued fraction of Q (Lentz). Source: NIST
    Digital Library of Mathematical Functions, 8.11.4 and 8.9.2.

    >>> round(incomplete_gamma(1.0, 1.0), 12) == round(1 - math.exp(-1), 12)
    True
    """
    return _gamma_tails(x, a)[0]


def chi2_tail(x: float, df: float) -> float:
    """Return P(X > x) of the chi-squared distribution, Q(df / 2, x / 2), also where it is tiny.

    >>> math.isclose(chi2_tail(200.0, 2), math.exp(-100))
    True
    """
    return _gamma_tails(x / 2, df / 2)[1]


def _gamma_tails(x: float, a: float) -> tuple[float, float]:
    """Return P(a, x) and Q(a, x), the one that is computed first without rounding to 0 or 1."""
    if x <= 0:
        return 0.0, 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1.0 / a
        for n in range(1, 100_000):
            term *= x / (a + n)
            total += term
            if term < total * 1e-16:
                break
        return front * total, 1.0 - front * total
    b = x + 1.0 - a
    c, d = 1.0 / _TINY, 1.0 / b
    fraction = d
    for n in range(1, 100_000):
        part = -n * (n - a)
        b += 2.0
        d = 1.0 / ((part * d + b) or _TINY)
        c = (b + part / c) or _TINY
        fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return 1.0 - front * fraction, front * fraction


@lru_cache(maxsize=4096)
def chi2_quantile(share: float, df: float) -> float:
    """Return the quantile of the chi-squared distribution: 2 x the gamma quantile at df / 2.

    >>> round(chi2_quantile(0.95, 2), 10) == round(-2 * math.log(0.05), 10)
    True
    """
    a = df / 2
    # Wilson and Hilferty 1931; the leading term of the series where that is not above 0.
    from statistics import NormalDist  # here, because most commands need no quantile

    cube = 1 - 1 / (9 * a) + NormalDist().inv_cdf(share) / (3 * math.sqrt(a))
    log_leading = (math.log(share) + math.lgamma(a + 1)) / a
    if log_leading < -690:
        return 0.0
    x = a * cube**3 if cube > 0 and a > 0.5 else math.exp(min(log_leading, 700.0))

    def density(at: float) -> float:
        return (a - 1) * math.log(at) - at - math.lgamma(a)

    return 2 * _root(lambda at: incomplete_gamma(at, a) - share, density, x, math.inf)


def _root(
    off: Callable[[float], float], log_density: Callable[[float], float], x: float, high: float
) -> float:
    """Return where an increasing function on (0, high) with the given log slope crosses 0."""
    low = 0.0
    for _ in range(400):
        here = off(x)
        if here == 0:
            return x
        low, high = (low, x) if here > 0 else (x, high)
        log_slope = log_density(x)
        step = here / math.exp(log_slope) if -700 < log_slope < 700 else math.inf
        if math.isinf(high):
            middle = 2 * x
        elif low > 0 and high > 4 * low:
            # Far apart: halve the distance in the logarithm. low * high could be 0.
            middle = math.sqrt(low) * math.sqrt(high)
        else:
            middle = (low + high) / 2
        following = x - step if low < x - step < high else middle
        if abs(following - x) <= 1e-14 * x or following in (low, high):
            return following
        x = following
    return x


def t_tail(t: float, df: float) -> float:
    """Return P(T > t) of Student's t: for t above 0 ``I_{df/(df+t^2)}(df/2, 1/2) / 2``.

    Close to 0, where that loses digits, the same as ``(1 - I_{t^2/(df+t^2)}(1/2, df/2)) / 2``.

    >>> t_tail(0.0, 4), round(t_tail(1.0, 1), 12)
    (0.5, 0.25)
    """
    square = t * t
    tail = (
        (1 - incomplete_beta(square / (df + square), 0.5, df / 2)) / 2
        if square < df
        else incomplete_beta(df / (df + square), df / 2, 0.5) / 2
    )
    return tail if t >= 0 else 1 - tail


@lru_cache(maxsize=4096)
def t_quantile(share: float, df: float) -> float:
    """Return the quantile of Student's t: ``t^2 = df x / (1 - x)``, x of Beta(1/2, df/2).

    >>> round(t_quantile(0.975, 4), 4)
    2.7764
    """
    if share == 0.5:
        return 0.0
    rest = beta_quantile(1 - 2 * min(share, 1 - share), 0.5, df / 2)
    t = math.sqrt(df * rest / (1 - rest))
    return t if share > 0.5 else -t


def noncentral_t_tail(t: float, df: float, shift: float, steps: int = 2000) -> float:
    """Return P(T > t) where T = (Z + shift) / sqrt(chi2_df / df), t above 0 and df from 1.

    The integral of Phi(shift - t sqrt(s / df)) over the chi-squared density of s, by Simpson's
    rule over sqrt(s), whose density is smooth for df of 1 and more. Where Phi is below 1e-18 the
    integral ends: of a large t the rest is a small part of the density's range.

    >>> round(noncentral_t_tail(2.0, 10, 0.0), 6) == round(t_tail(2.0, 10), 6)
    True
    """
    log_norm = (1 - df / 2) * math.log(2) - math.lgamma(df / 2)
    middle = math.sqrt(df)
    low, high = max(0.0, middle - 9), min(middle + 9, (shift + 9) * middle / t if t else math.inf)
    if high <= low:
        return 0.0
    width = (high - low) / steps
    total = 0.0
    for at in range(steps + 1):
        root = low + at * width
        if root == 0.0:
            log_density = log_norm if df == 1 else -math.inf
        else:
            log_density = log_norm + (df - 1) * math.log(root) - root * root / 2
        weight = 1 if at in (0, steps) else 4 if at % 2 else 2
        phi = math.erfc((t * root / middle - shift) / math.sqrt(2)) / 2
        total += weight * math.exp(log_density) * phi
    return total * width / 3
