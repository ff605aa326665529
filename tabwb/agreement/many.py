"""Many raters with gaps: Krippendorff's alpha and Fleiss' kappa."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.intervals import DRAWS, PRIOR, SEED, drawn_sums, few_speakers
from tabwb.agreement.pairs import Counts, divided
from tabwb.agreement.verdicts import ABSENT, PRESENT, Floats, Verdicts

Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(ratings: Floats, level: Level = "nominal") -> float:
    """Return Krippendorff's alpha, 1 - observed / expected disagreement; NaN where undefined.

    With o the coincidence matrix (every ordered pair of ratings of a unit that has m of them counts
    1/(m - 1)), n_c its margins and n their sum, alpha = 1 - (n - 1) sum(o d) / sum(n_c n_k d). d is
    0 or 1 (nominal), (c - k)^2 (interval), or the squared number of ratings between the middles of
    both categories (ordinal). Units with fewer than two ratings do not count. Undefined where all
    remaining ratings are equal. Source: Krippendorff 2011, Computing Krippendorff's
    alpha-reliability.

    Ratings are float64 of shape (raters, units), NaN where there is none.

    >>> alpha = krippendorff_alpha(np.array([[1.0, 2, 3, 3], [1, 2, 3, 2]]))
    >>> round(alpha, 4)
    0.6667
    """
    given = ~np.isnan(ratings)
    values, codes = np.unique(ratings[given], return_inverse=True)
    if not values.size:
        return float("nan")
    units = np.zeros((ratings.shape[1], values.size))
    np.add.at(units, (np.nonzero(given)[1], codes), 1)
    sizes = units.sum(axis=1)
    units = units[sizes >= 2]
    share = units / (sizes[sizes >= 2, None] - 1)
    coincidences = units.T @ share - np.diag(share.sum(axis=0))
    return _alpha(coincidences, _distance(values, coincidences.sum(axis=0), level))


def binary_alpha(verdicts: Verdicts) -> Floats:
    """Return Krippendorff's nominal alpha of each feature, NaN where undefined.

    >>> binary_alpha(np.array([[[1], [0], [0]], [[1], [1], [0]]], np.int8)).round(4).tolist()
    [0.4444]
    """
    return alpha_of_sums(*(part.sum(axis=0) for part in binary_sums(verdicts)))


def binary_sums(verdicts: Verdicts) -> tuple[Floats, Floats, Floats]:
    """Return what alpha needs of samples: float64 of shape (samples, features); all add up.

    Ratings of present and of absent, and the coincidences of one with the other (present x absent /
    (ratings - 1)); 0 for samples with fewer than two ratings.
    """
    present = (verdicts == PRESENT).sum(axis=0, dtype=np.int16).astype(np.float64)
    absent = (verdicts == ABSENT).sum(axis=0, dtype=np.int16).astype(np.float64)
    total = present + absent
    pairable = total >= 2
    unlike = np.divide(present * absent, total - 1, out=np.zeros_like(total), where=pairable)
    return present * pairable, absent * pairable, unlike


def alpha_of_sums(present: Floats, absent: Floats, unlike: Floats) -> Floats:
    """Return alpha, 1 - (n - 1) unlike / (present x absent), from sums over samples."""
    by_chance = present * absent
    return np.asarray(1 - divided((present + absent - 1) * unlike, by_chance))


def alpha_intervals(
    verdicts: Verdicts,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    speakers: NDArray[np.integer] | None = None,
) -> Floats:
    """Return the ends of the interval of alpha for each feature; NaN where alpha is undefined.

    So they are where the samples with two verdicts are of fewer than five speakers. Binary alpha is
    above -1 and at most 1, and its ends are no further out.

    Samples get exponential weights, and four samples of two raters are added, one for each pair of
    verdicts, with gamma(1/2) weights: the method of :mod:`tabwb.agreement.intervals`.

    Verdicts are int8 of shape (raters, samples, features), the ends (features, 2).
    """
    columns = np.stack(binary_sums(verdicts), axis=-1)
    n, features, parts = columns.shape
    paired = np.asarray(columns.any(axis=-1))
    few = np.array([few_speakers(speakers, np.asarray(paired[:, at])) for at in range(features)])
    if few.all():
        return np.full((features, 2), np.nan)
    estimate = alpha_of_sums(*columns.sum(axis=0).T)
    sums = drawn_sums(columns.reshape(n, -1), draws=draws, seed=seed, speakers=speakers)
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    both, neither, first, second = generator.standard_gamma(PRIOR, (4, draws, features))
    differ = first + second
    pseudo = np.stack([2 * both + differ, 2 * neither + differ, differ], axis=-1)
    drawn = alpha_of_sums(*np.moveaxis(sums.reshape(draws, features, parts) + pseudo, -1, 0))
    low, high = np.clip(np.quantile(drawn, (0.025, 0.975), axis=0), -1.0, 1.0)
    ends: Floats = np.stack([np.fmin(low, estimate), np.fmax(high, estimate)], axis=-1)
    ends[np.isnan(estimate) | few] = np.nan
    return ends


def fleiss_kappa(counts: Counts) -> float:
    """Return Fleiss' kappa, (P - Pe) / (1 - Pe); NaN where undefined.

    P is the mean over samples of the share of agreeing pairs of ratings, Pe the sum of the squared
    shares of categories. Undefined where samples have unequal numbers of ratings or fewer than two
    (use alpha), and where all ratings are equal. Source: Fleiss 1971, Psychol. Bull. 76, 378.

    Args:
        counts: int64 of shape (samples, categories): ratings by category. Samples without any
            rating are left out.

    >>> round(fleiss_kappa(np.array([[2, 0], [1, 1], [0, 2]])), 4)
    0.3333
    """
    counts = counts[counts.sum(axis=1) > 0]
    sizes = np.unique(counts.sum(axis=1))
    if len(sizes) != 1 or sizes[0] < 2:
        return float("nan")
    m, n = int(sizes[0]), len(counts)
    # In whole numbers: n and m as common denominators.
    agreeing = int((counts * (counts - 1)).sum()) * n * m
    by_chance = int((counts.sum(axis=0) ** 2).sum()) * (m - 1)
    most = n * n * m * m * (m - 1)
    return (agreeing - by_chance) / (most - by_chance) if most > by_chance else float("nan")


def binary_counts(verdicts: Verdicts) -> Counts:
    """Return ratings of absent and present of each sample: int64 of (samples, features, 2)."""
    found: Counts = np.stack(
        [(verdicts == value).sum(axis=0, dtype=np.int64) for value in (ABSENT, PRESENT)], axis=-1
    )
    return found


def _alpha(coincidences: Floats, distance: Floats) -> float:
    margins = coincidences.sum(axis=0)
    n = float(margins.sum())
    observed = float((coincidences * distance).sum())
    expected = float((margins[:, None] * margins * distance).sum())
    return 1 - (n - 1) * observed / expected if expected > 0 else float("nan")


def _distance(values: Floats, margins: Floats, level: Level) -> Floats:
    if level == "nominal":
        return np.asarray(values[:, None] != values, np.float64)
    if level == "interval":
        return np.asarray((values[:, None] - values) ** 2)
    if level == "ordinal":
        middles = np.cumsum(margins) - margins / 2
        return np.asarray((middles[:, None] - middles) ** 2)
    raise ValueError(f"the level is nominal, ordinal or interval, not {level!r}")
