"""The interval of an error rate between two transcribers: a ratio of sums over responses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.verdicts import Floats
from tabwb.scoring.distributions import chi2_quantile, t_quantile
from tabwb.scoring.estimate import Interval

LEAST_DISPERSION = 0.5
"""Of the variance of edits, as a multiple of their number; ours."""
FEWEST = 5
"""With fewer responses or speakers the limits say nothing: with two the upper one is above 20."""
_UPPER, _Z = 0.975, 1.959963984540054


def ratio_interval(
    counts: NDArray[np.generic],
    sizes: NDArray[np.generic],
    *,
    speakers: NDArray[np.integer] | None = None,
) -> Interval | None:
    """Return the 95 % interval of sum(counts) / sum(sizes), for example of a PER.

    Poisson limits with a dispersion. With n responses (or speakers), S the sum of counts, T of
    sizes, r = S / T: V = n/(n - 1) sum (counts - r sizes)^2, phi = max(1/2, V / S), and
    q = (1.96 / t_{n-1})^2 / phi the limits are chi2_{.025}(2 S q) / (2 T q) and
    chi2_{.975}(2 S q + 2) / (2 T q). Source: Garwood 1936, Biometrika 28, 437; the dispersion is
    that of the linearised ratio (Cochran 1977, Sampling Techniques, 6.3).

    Args:
        counts: of each response, for example edits.
        sizes: of each response, for example phonemes of the reference.
        speakers: the speaker of each response, integers from 0, who are independent; None: the
            responses are.

    Returns:
        None with fewer than five responses or speakers, and where the sizes add up to 0.

    >>> found = ratio_interval(np.array([0, 0, 2, 0, 1, 0]), np.array([3, 4, 4, 5, 6, 3]))
    >>> round(found.low, 3), round(found.high, 3)
    (0.007, 0.549)
    """
    of = np.arange(len(counts)) if speakers is None else np.unique(speakers, return_inverse=True)[1]
    above: Floats = np.bincount(of, weights=counts.astype(np.float64)).astype(np.float64)
    below: Floats = np.bincount(of, weights=sizes.astype(np.float64)).astype(np.float64)
    n, s, t = len(above), float(above.sum()), float(below.sum())
    if n < FEWEST or not t:
        return None
    variance = n / (n - 1) * float(((above - s / t * below) ** 2).sum())
    phi = max(LEAST_DISPERSION, variance / s) if s else 1.0
    q = (_Z / t_quantile(_UPPER, n - 1)) ** 2 / phi
    low = chi2_quantile(1 - _UPPER, 2 * s * q) / (2 * t * q) if s else 0.0
    return Interval(low, chi2_quantile(_UPPER, 2 * s * q + 2) / (2 * t * q))
