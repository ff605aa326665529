"""Simulate the coverage of the intervals of :mod:`tabwb.scoring`.

``python -m benchmarks.coverage [--studies N] [--write]``: prints mean and least coverage over the
cells of each method, and the share of intervals of zero width; ``--write`` puts the table into
``docs/uncertainty.md``. It calls the program's own functions. 95 % is the nominal coverage.

The generator, not fitted to the published battery:

- A *burden* has F features. Feature f of item i in response j is present with probability
  ``expit(a_f + u_i + e_fi + w_ij)``: the base rates ``expit(a_f)`` fall geometrically (ratio 0.8)
  and are scaled to a mean sum; ``u_i`` (all features of an item), ``e_fi`` (one feature of an
  item) and ``w_ij`` (all features of a response) are normal. The spread of items is mild (sd of u
  0.3, of e 0.5) or strong (0.8 and 1.0); the sd of w is 0.6.
- A *rate* is one such feature without w, with base rates .05, .2, .5, .9 and sd of items 0.5 or
  1.5.
- The true value for *prompts like these* is the mean over u, e and w by Gauss-Hermite quadrature;
  for *these prompts* it is the mean over w at the items drawn.
- *Paired* differences: item effects of two examinees correlate by .6; the second's base rates are
  the same, or 1.6 times as high in odds.
- *Missing*: each item loses its responses with its own probability, uniform in 0 to 0.6; items
  that lose all are left out, of the true value for *these prompts* too.
- *One prompt in five*: the feature is present with probability .8 on a fifth of all prompts and .01
  on the others; a burden of 19 features has each with .24 and .01.
- *Families by items*: effects of family, item and rest with sd (0.4, 0.4, 0.3), (0.6, 0.2, 0.3) or
  (0.4, 0, 0.1), normal, or exponential less their mean.
- *One side greedy*: the second examinee's response to each item is drawn once and has no error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import simulated
from tabwb.scoring.differences import difference_interval, family_interval
from tabwb.scoring.estimate import Estimand, EstimatedInterval, Interval
from tabwb.scoring.intervals import burden_interval, rate_interval

Floats = NDArray[np.float64]
STUDIES = 600
SEED = 20260
ITEMS, REPLICATES = (5, 10, 20), (1, 2, 10, 50)
LIKE, THESE = Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS
SPREADS = ((0.3, 0.5), (0.8, 1.0))
"""Standard deviations of u and e."""
WITHIN = 0.6
"""Standard deviation of w."""
RATIO = 0.8
CORRELATION = 0.6
ODDS = 1.6
FAMILY_SPREADS = ((0.4, 0.4, 0.3), (0.6, 0.2, 0.3), (0.4, 0.0, 0.1))
"""Standard deviations of family, item and rest."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def expit(x: Floats) -> Floats:
    """Return the logistic function."""
    return np.asarray(1 / (1 + np.exp(-x)), dtype=np.float64)


def averaged(logits: Floats, sd: float) -> Floats:
    """Return the mean of expit over a normal effect with this sd, by quadrature."""
    return np.asarray(expit(logits[..., None] + sd * _NODES) @ _WEIGHTS, dtype=np.float64)


@dataclass(frozen=True)
class Population:
    """The distribution of items and responses.

    Attributes:
        logits: a_f of the features: float64, (F,).
        items, features, within: standard deviations of u, e and w.
    """

    logits: Floats
    items: float
    features: float
    within: float

    @property
    def mean(self) -> float:
        """Return the true mean over all prompts like these."""
        sd = float(np.sqrt(self.items**2 + self.features**2 + self.within**2))
        return float(averaged(self.logits, sd).sum())

    def draw_items(self, k: int, rng: np.random.Generator, size: int = 1) -> Floats:
        """Return logits of items: float64, (size, k, F)."""
        f = len(self.logits)
        u = rng.normal(0, self.items, (size, k, 1)) if self.items else np.zeros((size, k, 1))
        return np.asarray(self.logits + u + rng.normal(0, self.features, (size, k, f)))

    def these(self, logits: Floats) -> float:
        """Return the true mean of given items, (k, F)."""
        return float(averaged(logits, self.within).sum(axis=-1).mean())

    def draw(self, logits: Floats, r: int, rng: np.random.Generator) -> Floats:
        """Return counts of features in r responses to each item: (..., k, r)."""
        w = rng.normal(0, self.within, (*logits.shape[:-1], r, 1)) if self.within else 0.0
        p = expit(logits[..., None, :] + w)
        shape = (*logits.shape[:-1], r, logits.shape[-1])
        return np.asarray((rng.random(shape) < p).sum(axis=-1), dtype=np.float64)


def burden_population(burden: float, n_features: int, spread: tuple[float, float]) -> Population:
    """Return a population whose base rates add up to ``burden``."""
    shape = RATIO ** np.arange(n_features)
    rates = np.minimum(shape * burden / shape.sum(), 0.9)
    return Population(np.log(rates / (1 - rates)), *spread, WITHIN)


def rate_population(rate: float, sd: float) -> Population:
    """Return a population of one feature."""
    return Population(np.array([np.log(rate / (1 - rate))]), 0.0, sd, 0.0)


@dataclass
class Tally:
    """The coverage of the intervals of one cell."""

    held: int = 0
    made: int = 0
    without_width: int = 0

    def add(self, found: Interval | None, truth: float) -> None:
        """Count one interval; a missing one is not counted."""
        if found is not None:
            self.made += 1
            self.held += found.low <= truth <= found.high
            self.without_width += found.high <= found.low

    @property
    def coverage(self) -> float:
        """Return the share of intervals that contain the true value."""
        return self.held / self.made


@dataclass(frozen=True)
class Row:
    """One method with its cells."""

    method: str
    cells: tuple[Tally, ...]

    @property
    def mean(self) -> float:
        """Return the mean coverage over cells."""
        return float(np.mean([cell.coverage for cell in self.cells]))

    @property
    def least(self) -> float:
        """Return the coverage of the worst cell."""
        return min(cell.coverage for cell in self.cells)

    @property
    def without_width(self) -> float:
        """Return the share of intervals of zero width."""
        return sum(c.without_width for c in self.cells) / sum(c.made for c in self.cells)


Study = Callable[[Population, int, int, np.random.Generator], tuple[Interval | None, float]]
"""Population, items, replicates, generator: to an interval and the true value."""


def burden_study(estimand: Estimand, n_features: int, *, missing: bool = False) -> Study:
    """Return a study of one examinee's burden."""

    def study(
        population: Population, k: int, r: int, rng: np.random.Generator
    ) -> tuple[Interval | None, float]:
        items = population.draw_items(k, rng)[0]
        values, held = kept(population.draw(items, r, rng), missing, rng)
        truth = population.mean if estimand is LIKE else population.these(items[held])
        return burden_interval(values, n_features, estimand).interval, truth

    return study


def bootstrap_study(
    population: Population, k: int, r: int, rng: np.random.Generator
) -> tuple[Interval | None, float]:
    """Return a study with the former percentile bootstrap over items, for comparison."""
    items = population.draw_items(k, rng)[0]
    means = population.draw(items, r, rng).mean(axis=1)
    drawn = means[rng.integers(0, k, (1000, k))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(low), float(high)), population.mean


def rate_study(estimand: Estimand, *, missing: bool = False) -> Study:
    """Return a study of one rate."""

    def study(
        population: Population, k: int, r: int, rng: np.random.Generator
    ) -> tuple[Interval | None, float]:
        items = population.draw_items(k, rng)[0]
        values, held = kept(population.draw(items, r, rng), missing, rng)
        hits, sizes = [int(sum(item)) for item in values], [len(item) for item in values]
        truth = population.mean if estimand is LIKE else population.these(items[held])
        return rate_interval(hits, sizes, estimand).interval, truth

    return study


def one_in_five(
    population: Population, k: int, r: int, rng: np.random.Generator
) -> tuple[Interval | None, float]:
    """Return a study in which one prompt in five elicits the feature almost alone."""
    p = np.where(rng.random(k) < 0.2, 0.8, 0.01)
    hits = rng.binomial(r, p)
    return rate_interval(hits.tolist(), [r] * k).interval, 0.2 * 0.8 + 0.8 * 0.01


def one_in_five_burden(
    population: Population, k: int, r: int, rng: np.random.Generator
) -> tuple[Interval | None, float]:
    """Return a study in which one prompt in five elicits nearly all features."""
    p = np.where(rng.random(k) < 0.2, 0.24, 0.01)
    values = rng.binomial(19, p[:, None], (k, r)).astype(float)
    return burden_interval(values.tolist(), 19).interval, 19 * (0.2 * 0.24 + 0.8 * 0.01)


def difference_study(
    estimand: Estimand, n_features: int | None, odds: float, *, one_greedy: bool = False
) -> Study:
    """Return a study of two examinees on the same items."""

    def study(
        population: Population, k: int, r: int, rng: np.random.Generator
    ) -> tuple[Interval | None, float]:
        other = Population(
            population.logits + np.log(odds),
            population.items,
            population.features,
            population.within,
        )
        first = population.draw_items(k, rng)[0]
        own = other.draw_items(k, rng)[0]
        keep = CORRELATION
        second = (
            other.logits
            + keep * (first - population.logits)
            + np.sqrt(1 - keep**2) * (own - other.logits)
        )
        drawn = population.draw(first, r, rng)
        compared = other.draw(second, 1 if one_greedy else r, rng)
        found: EstimatedInterval = difference_interval(
            drawn.tolist(),
            compared.tolist(),
            n_features,
            estimand,
            deterministic=(False, one_greedy),
        )
        truth = (
            population.mean - other.mean
            if estimand is LIKE
            else population.these(first)
            - (float(compared.mean()) if one_greedy else other.these(second))
        )
        return found.interval, truth

    return study


def kept(
    values: Floats, missing: bool, rng: np.random.Generator
) -> tuple[list[list[float]], NDArray[np.bool_]]:
    """Return the values by item without missing ones, and whether items kept any."""
    lost = rng.uniform(0, 0.6, len(values)) if missing else np.zeros(len(values))
    found = [
        [float(each) for each in item if not missing or rng.random() >= chance]
        for item, chance in zip(values, lost, strict=True)
    ]
    return found, np.array([bool(item) for item in found])


def tally(
    study: Study, population: Population, k: int, r: int, studies: int, rng: np.random.Generator
) -> Tally:
    """Return the tally of simulated studies."""
    found = Tally()
    for _ in range(studies):
        found.add(*study(population, k, r, rng))
    return found


def family_tally(
    families: int,
    k: int,
    spreads: tuple[float, float, float],
    skewed: bool,
    studies: int,
    rng: np.random.Generator,
) -> Tally:
    """Return the tally of intervals over families by items."""
    found = Tally()
    shapes = (families, 1), (1, k), (families, k)
    for _ in range(studies):
        effects = [
            sd * (rng.exponential(1, shape) - 1 if skewed else rng.normal(0, 1, shape))
            for sd, shape in zip(spreads, shapes, strict=True)
        ]
        differences = 0.3 + effects[0] + effects[1] + effects[2]
        found.add(family_interval(differences.tolist()).interval, 0.3)
    return found


BURDENS = [
    (burden_population(burden, f, spread), f)
    for burden, f in ((0.1, 19), (0.5, 19), (1.5, 19), (4.0, 19), (0.3, 7))
    for spread in SPREADS
]
RATES = [rate_population(rate, sd) for rate in (0.05, 0.2, 0.5, 0.9) for sd in (0.5, 1.5)]


def table(studies: int = STUDIES, seed: int = SEED) -> Iterator[Row]:
    """Yield a row for each method; the same seed gives the same table."""
    again = tuple(r for r in REPLICATES if r > 1)

    def row(
        method: str,
        cells: Iterable[tuple[Study, Population]],
        replicates: Iterable[int] = REPLICATES,
        items: Iterable[int] = ITEMS,
        share: float = 1.0,
    ) -> Row:
        rng = np.random.default_rng([seed, *method.encode()])
        given = list(cells)
        return Row(
            method,
            tuple(
                tally(study, population, k, r, max(50, int(studies * share)), rng)
                for study, population in given
                for k in items
                for r in replicates
            ),
        )

    yield row(
        "burden, prompts like these: percentile bootstrap over items (former)",
        [(bootstrap_study, p) for p, _ in BURDENS],
        share=0.25,
    )
    yield row("burden, prompts like these", [(burden_study(LIKE, f), p) for p, f in BURDENS])
    yield row(
        "burden, prompts like these, responses missing",
        [(burden_study(LIKE, f, missing=True), p) for p, f in BURDENS],
        again,
        share=0.5,
    )
    yield row(
        "burden, these prompts",
        [(burden_study(THESE, f), p) for p, f in BURDENS],
        again,
    )
    yield row(
        "burden, these prompts, responses missing",
        [(burden_study(THESE, f, missing=True), p) for p, f in BURDENS],
        (10, 50),
        share=0.5,
    )
    yield row("rate, prompts like these", [(rate_study(LIKE), p) for p in RATES])
    yield row(
        "rate, prompts like these, responses missing",
        [(rate_study(LIKE, missing=True), p) for p in RATES],
        again,
        share=0.5,
    )
    yield row("rate, these prompts", [(rate_study(THESE), p) for p in RATES], again)
    yield row(
        "rate, these prompts, responses missing",
        [(rate_study(THESE, missing=True), p) for p in RATES],
        (10, 50),
        share=0.5,
    )
    yield row(
        "difference in burden, prompts like these",
        [(difference_study(LIKE, f, odds), p) for p, f in BURDENS for odds in (1.0, ODDS)],
        share=0.5,
    )
    yield row(
        "difference in burden, these prompts",
        [(difference_study(THESE, f, odds), p) for p, f in BURDENS for odds in (1.0, ODDS)],
        again,
        share=0.5,
    )
    yield row(
        "difference of rates, prompts like these",
        [(difference_study(LIKE, None, odds), p) for p in RATES for odds in (1.0, ODDS)],
        share=0.5,
    )
    yield row(
        "difference of rates, these prompts",
        [(difference_study(THESE, None, odds), p) for p in RATES for odds in (1.0, ODDS)],
        again,
        share=0.5,
    )
    for label, n_features, population in (
        ("burden", 19, BURDENS[2:6]),
        ("rates", None, [(p, 1) for p in RATES]),
    ):
        yield row(
            f"difference ({label}), these prompts, one side greedy",
            [
                (difference_study(THESE, n_features, ODDS, one_greedy=True), p)
                for p, _ in population
            ],
            again,
            share=0.5,
        )
    for skewed in (False, True):
        rng = np.random.default_rng([seed, 1, skewed])
        yield Row(
            f"families by items, {'skewed' if skewed else 'normal'} effects",
            tuple(
                family_tally(families, k, spreads, skewed, studies, rng)
                for spreads in FAMILY_SPREADS
                for families in (3, 5, 8)
                for k in (5, 10, 20)
            ),
        )
    for k in ITEMS:
        yield row(
            f"rate where one prompt in five elicits a feature almost alone, {k} items",
            [(one_in_five, RATES[0])],
            (2, 10, 50),
            (k,),
        )
    for k in ITEMS:
        yield row(
            f"burden where one prompt in five elicits nearly all features, {k} items",
            [(one_in_five_burden, RATES[0])],
            REPLICATES,
            (k,),
        )


def markdown(rows: Iterable[Row], studies: int) -> str:
    """Return the table of the docs."""
    lines = [
        "| interval | mean coverage | least | cells | zero width |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.method} | {row.mean:.3f} | {row.least:.2f} | {len(row.cells)} "
        f"| {row.without_width:.1%} |"
        for row in rows
    ]
    return "\n".join([*lines, "", f"Up to {studies} studies per cell, seed {SEED}."])


def main() -> None:
    """Simulate and print; with ``--write`` also into the docs."""
    simulated("coverage", __doc__, lambda n, _: [markdown(table(n), n)], STUDIES)


if __name__ == "__main__":
    main()
