"""How precise agreement will be, before anybody has rated: expected widths of intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabwb.agreement.compare import compare
from tabwb.agreement.verdicts import MISSING, Verdicts

STUDIES = 40
DRAWS = 400
SEED = 20260


@dataclass(frozen=True, slots=True)
class ExpectedWidth:
    """The interval that a design will give for one feature.

    Attributes:
        kappa: expected width of the interval of kappa; None where fewer than half of the studies
            have one.
        ac1: the same of AC1.
        with_interval: share of simulated studies in which kappa has an interval; the others have
            too few samples with or without the feature.
    """

    kappa: float | None
    ac1: float | None
    with_interval: float


def expected_width(
    samples: int,
    prevalence: float,
    kappa: float,
    *,
    raters: int = 2,
    per_sample: int = 2,
    studies: int = STUDIES,
    seed: int = SEED,
) -> ExpectedWidth:
    """Return the expected widths of the intervals of kappa and AC1 over all pairs of raters.

    Simulates studies: a sample's probability of *present* has a beta distribution with the mean
    ``prevalence`` and the variance kappa p (1 - p), so that each two raters have this kappa; each
    sample is rated by ``per_sample`` raters, all sets of raters in turn. Widths are medians.

    Args:
        samples: that several raters rate.
        prevalence: share of samples that a rater calls present, between 0 and 1, both excluded.
        kappa: assumed, from 0 to below 1.
        raters: in all.
        per_sample: raters of each sample, 2 to ``raters``.
        studies: simulated.
        seed: of the simulation.

    Raises:
        ValueError: an argument is out of its range.

    >>> expected_width(80, 0.3, 0.4).kappa < expected_width(20, 0.3, 0.4).kappa
    True
    """
    if not 0 < prevalence < 1:
        raise ValueError(f"the prevalence lies between 0 and 1, not {prevalence:g}")
    if not 0 <= kappa < 1:
        raise ValueError(f"the assumed kappa is at least 0 and below 1, not {kappa:g}")
    if not 2 <= per_sample <= raters:
        raise ValueError(f"each sample has 2 to {raters} raters, not {per_sample}")
    if samples < 1:
        return ExpectedWidth(None, None, 0.0)
    generator = np.random.Generator(np.random.PCG64(seed))
    widths: dict[str, list[float]] = {"kappa": [], "ac1": []}
    for number in range(studies):
        verdicts = _simulated(samples, prevalence, kappa, raters, per_sample, generator)
        pairs = [(verdicts[a], verdicts[b]) for a in range(raters) for b in range(a)]
        found = compare(pairs, None, draws=DRAWS, seed=seed + number).intervals
        for name, of in widths.items():
            if not np.isnan(found[name][0, 0]):
                of.append(float(found[name][0, 1] - found[name][0, 0]))
    middle = {
        name: float(np.median(of)) if 2 * len(of) >= studies else None
        for name, of in widths.items()
    }
    return ExpectedWidth(middle["kappa"], middle["ac1"], len(widths["kappa"]) / studies)


def _simulated(
    samples: int,
    prevalence: float,
    kappa: float,
    raters: int,
    per_sample: int,
    generator: np.random.Generator,
) -> Verdicts:
    size = 1 / kappa - 1 if kappa else np.inf
    share = (
        generator.beta(prevalence * size, (1 - prevalence) * size, samples)
        if kappa
        else np.full(samples, prevalence)
    )
    verdicts = (generator.random((raters, samples)) < share).astype(np.int8)
    turn = np.arange(samples) % raters
    first = (np.arange(raters)[:, None] - turn) % raters
    verdicts[first >= per_sample] = MISSING
    return verdicts[..., None]
