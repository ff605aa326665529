"""Simulate the coverage of calibrated rates and burdens.

``python -m benchmarks.simulated_calibration [--studies N] [--write]``: for each kind of responses
the mean of the estimate over its true value, that of the judge's own burden, and the coverage of
the intervals for prompts like these and for these prompts over all cells. ``--write`` puts the
table into ``docs/uncertainty.md``. Everything is seeded.

:data:`F` features are there in a share of responses; items differ by a normal term on the logit (sd
:data:`SD`), shared by all features of an item. The judge finds what is there with the probability
*sensitivity*, and says absent of what is not there with *specificity*. Samples of other prompts of
the same kind are judged and have people's consensus, which is taken as the truth. A feature with
fewer than ten samples of a verdict is left out, as in the program. The kinds of responses:

- *independent*: given the item, features are independent.
- *correlated*: the rate of a response is drawn from a beta distribution around that of its item, so
  that two features of a response correlate by .3.
- *collapsing*: 3 % of the responses have each feature with .5, the others have them less often.
- *clusters*: as independent, but the normal term is common to four items, with sd 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage import averaged, expit
from benchmarks.measure import simulated
from benchmarks.simulated_burdens import LOWEST
from tabwb.scoring.calibrated import (
    Calibration,
    calibrated_burden_interval,
    calibrated_rate_interval,
    calibrated_rates,
)
from tabwb.scoring.estimate import Estimand

SD, CLUSTER_SD, OF_CLUSTER = 0.5, 1.0, 4
TOGETHER, COLLAPSES, COLLAPSED = 0.3, 0.03, 0.5
DESIGNS, F = ((5, 10), (20, 1), (20, 10)), 7
CELLS = {
    (0.10, 0.8, 0.9): (100, 300),
    (0.30, 0.7, 0.95): (100, 300),
    (0.03, 0.6, 0.98): (300, 1000),
}
"""Share of responses with the feature, sensitivity, specificity, to numbers of samples."""
KINDS = ("independent", "correlated", "collapsing", "clusters")
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Cell = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Found:
    """Of one cell: means over the true value, and coverage by what is estimated.

    Attributes:
        cell: in words.
        coverage: by interval; studies in which no feature was calibrated are left out.
    """

    cell: str
    estimate: float
    judge: float
    coverage: dict[str, float]
    without_width: float


@dataclass(frozen=True, slots=True)
class Population:
    """Responses of one kind, with features of one rate."""

    kind: str
    rate: float

    @property
    def sd(self) -> float:
        """Of the normal term."""
        return CLUSTER_SD if self.kind == "clusters" else SD

    @property
    def collapses(self) -> float:
        """The share of responses that collapse."""
        return COLLAPSES if self.kind == "collapsing" else 0.0

    @property
    def base(self) -> float:
        """The logit at which the mean of the responses that do not collapse is right."""
        wanted = (self.rate - self.collapses * COLLAPSED) / (1 - self.collapses)
        return _logit(wanted, self.sd)

    def draw(self, items: int, replicates: int, rng: np.random.Generator) -> tuple[Bools, Floats]:
        """Return which features responses have (items, replicates, F), and the items' rates."""
        effects = rng.standard_normal(items)
        if self.kind == "clusters":
            effects = np.repeat(effects, OF_CLUSTER)[:items]
        rates = expit(self.base + self.sd * effects)
        each = np.repeat(rates[:, None], replicates, 1)
        if self.kind == "correlated":
            size = (1 - TOGETHER) / TOGETHER
            each = rng.beta(each * size, (1 - each) * size)
        each = np.where(rng.random(each.shape) < self.collapses, COLLAPSED, each)
        there = rng.random((items, replicates, F)) < each[..., None]
        return there, (1 - self.collapses) * rates + self.collapses * COLLAPSED


def simulate(
    cell: Cell,
    samples: int,
    design: tuple[int, int],
    studies: int,
    seed: int,
    kind: str = "independent",
) -> Found:
    """Return what came out in one cell of the simulation."""
    rate, *quality = cell
    items, replicates = design
    rng = np.random.default_rng(seed)
    population = Population(kind, rate)
    clusters = [at // OF_CLUSTER for at in range(items)] if kind == "clusters" else None
    covered: Counter[str] = Counter()
    made: Counter[str] = Counter()
    estimates, judged, narrow = [], [], 0
    for _ in range(studies):
        known = _calibrations(population, quality, samples, rng)
        there, shares = population.draw(items, replicates, rng)
        found = _judged(there, quality, rng)
        if not known:
            continue
        profiles = [
            Counter(frozenset(known).intersection(map(str, np.flatnonzero(row))) for row in item)
            for item in found
        ]
        first = min(known)
        hits = found[..., int(first)].sum(axis=1).tolist()
        estimates.append(sum(calibrated_rates(profiles, known).values()) / len(known))
        judged.append(found[..., [*map(int, known)]].mean())
        for estimand, own in (
            (Estimand.PROMPTS_LIKE_THESE, rate),
            (Estimand.THESE_PROMPTS, float(shares.mean())),
        ):
            burden = calibrated_burden_interval(
                profiles, known, estimand, clusters=clusters
            ).interval
            single = calibrated_rate_interval(
                hits, [replicates] * items, known[first], estimand, clusters=clusters
            ).interval
            wanted = ("burden", burden, own * len(known)), ("rate", single, own)
            for name, interval, truth in wanted:
                if interval is not None:
                    made[f"{name}, {estimand.value}"] += 1
                    covered[f"{name}, {estimand.value}"] += interval.low <= truth <= interval.high
                    narrow += interval.low >= interval.high
    words = f"rate {rate:g}, {samples} samples, {items} x {replicates}"
    return Found(
        words,
        float(np.mean(estimates)) / rate,
        float(np.mean(judged)) / rate,
        {name: covered[name] / n for name, n in made.items()},
        narrow,
    )


@lru_cache
def _logit(rate: float, sd: float) -> float:
    low, high = -9.0, 9.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        below = float(averaged(np.array([middle]), sd)[0]) < rate
        low, high = (middle, high) if below else (low, middle)
    return low


def _judged(there: Bools, quality: list[float], rng: np.random.Generator) -> Bools:
    sensitivity, specificity = quality
    found: Bools = rng.random(there.shape) < np.where(there, sensitivity, 1 - specificity)
    return found


def _calibrations(
    population: Population, quality: list[float], samples: int, rng: np.random.Generator
) -> dict[str, Calibration]:
    """Return what samples of other prompts tell of the features that can be calibrated."""
    # Of each cluster one item is sampled.
    scattered = population.draw(samples * OF_CLUSTER, 1, rng)[0][::OF_CLUSTER, 0]
    found = _judged(scattered, quality, rng)
    made = {}
    for at, (there, verdicts) in enumerate(zip(scattered.T, found.T, strict=True)):
        n = [int((verdicts == verdict).sum()) for verdict in (0, 1)]
        hits = [float(there[verdicts == verdict].sum()) for verdict in (0, 1)]
        one = Calibration((n[0], n[1]), (float(n[0]), float(n[1])), (hits[0], hits[1]))
        if one.complete:
            made[str(at)] = one
    return made


def found_of(kind: str, studies: int) -> list[Found]:
    """Return the cells of one kind of responses; each has its own seed."""
    return [
        simulate(cell, samples, design, studies, at, kind)
        for at, ((cell, samples), design) in enumerate(
            product(((cell, n) for cell, given in CELLS.items() for n in given), DESIGNS)
        )
        if kind != "clusters" or design[0] >= 5 * OF_CLUSTER
    ]


def rows(studies: int, workers: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        "| responses | estimate / truth | judge / truth | interval | mean coverage | least | cells "
        "below .93 | cell with the least |"
    )
    yield "|---|---:|---:|---|---:|---:|---:|---|"
    with ProcessPoolExecutor(workers) as pool:
        for kind, cells in zip(KINDS, pool.map(partial(found_of, studies=studies), KINDS),
                               strict=True):  # fmt: skip
            yield from _rows(kind, cells)
    yield f"\n{studies} studies per cell."


def _rows(kind: str, cells: list[Found]) -> Iterator[str]:
    estimate, judge = (
        f"{min(values):.2f} to {max(values):.2f}"
        for values in ([one.estimate for one in cells], [one.judge for one in cells])
    )
    for name, estimand in product(("rate", "burden"), Estimand):
        own = [one for one in cells if f"{name}, {estimand.value}" in one.coverage]
        coverage = np.array([one.coverage[f"{name}, {estimand.value}"] for one in own])
        low = int((coverage < LOWEST).sum())
        yield (
            f"| {kind} | {estimate} | {judge} | {name}, {estimand} | {coverage.mean():.3f} | "
            f"{coverage.min():.2f} | {low} of {len(own)} | {own[int(coverage.argmin())].cell} |"
        )


def main() -> None:
    """Simulate and print; with ``--write`` also into the docs."""
    simulated("calibration", __doc__, rows, 400)


if __name__ == "__main__":
    main()
