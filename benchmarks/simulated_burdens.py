"""Simulate the interval of a burden where features come together, responses miss, items cluster.

``python -m benchmarks.simulated_burdens [--quick] [--write]``: prints, for each group of cells and
both estimands, the mean and the least coverage (95 % is nominal), the cells below .93, and the
median ratio of widths to an interval that takes features as independent (rho = 0). ``--write`` puts
the table into ``docs/uncertainty.md``; ``--quick`` has fewer cells and studies. Everything is
seeded. It calls the program's own functions on totals by item.

The generator, not fitted to any battery. The number of features in a response is binomial of F with
a rate that varies:

- *independent*: the rate is that of the item.
- *correlated*: the rate of a response is drawn from a beta distribution around that of its item, so
  that two features of a response correlate by .1 or .3 (*strongly*: .5).
- *collapsing*: 1, 3 or 10 % of the responses have each feature with .5 (*whole*: .9), the others
  have none, or (*on a background*) features with rate .03 or .1.
- Items have one rate, or logits with sd .8 around it; *unlike items*: a beta distribution with
  correlation .05; *one item in five*: a fifth of all prompts have nearly all of the features.
- *skewed items*: rates are exponential, squared (most items near 0, few high).
- *missing*: a response is unusable with a probability that rises with its item's rate
  (*moderate*: up to .5; *strong*: up to .9); the true value is the mean over all prompts, or these
  prompts, of all responses. The estimate is item-weighted; *response-weighted* is the former one.
- *clusters*: items come in fours with a common effect, sd 1 on the logit scale; *taken as items*
  leaves the clusters out of account.
- *unequal numbers*: items have 1 to 8 responses, whatever their rate.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage import expit
from benchmarks.measure import simulated
from tabwb.scoring.estimate import Estimand, Interval
from tabwb.scoring.intervals import (
    Totals,
    by_cluster,
    former_interval,
    interval_of_totals,
    korn_graubard,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Generator = np.random.Generator
SEED = 20261
STUDIES, QUICK_STUDIES = 300, 40
LIKE, THESE = Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS
LOWEST = 0.93
"""Coverage below which a cell is counted as too low."""


@dataclass(frozen=True)
class Study:
    """One simulated study: numbers of features by item, and the true means.

    Attributes:
        values: of each item the number of features in each response that is usable.
        like, these: the true mean over all prompts, and of these ones.
        clusters: of each item; None: each item is one.
    """

    values: Sequence[Ints]
    like: float
    these: float
    clusters: Sequence[int] | None = None


Draw = Callable[[int, int, int, Generator], Study]
"""Features, items, replicates, generator: to a study."""


def together(rates: Floats, features: int, rho: float, rng: Generator) -> Ints:
    """Return numbers of features of responses whose two features correlate by rho."""
    if rho:
        size = (1 - rho) / rho
        low = np.clip(rates, 1e-9, 1 - 1e-9)
        rates = rng.beta(low * size, (1 - low) * size)
    return rng.binomial(features, rates).astype(np.int64)


def item_rates(rate: float, items: str, k: int, rng: Generator) -> tuple[Floats, float]:
    """Return the rates of k items, and their mean over all prompts."""
    if items == "normal":
        shift = np.log(rate / (1 - rate))
        nodes, weights = np.polynomial.hermite_e.hermegauss(41)
        mean = float(expit(shift + 0.8 * nodes) @ weights / weights.sum())
        return expit(shift + 0.8 * rng.standard_normal(k)), mean
    if items == "unlike":
        size = 0.95 / 0.05
        return rng.beta(rate * size, (1 - rate) * size, k), rate
    if items == "five":
        high = min(0.95, 4.9 * rate)
        return np.where(rng.random(k) < 0.2, high, (rate - 0.2 * high) / 0.8), rate
    if items == "skewed":
        # Of e, exponential: min(1, rate e^2 / 2) with the mean over e by integration.
        e = (np.arange(20_000) + 0.5) / 1000
        mean = float(np.sum(np.minimum(1.0, rate * e * e / 2) * np.exp(-e)) / 1000)
        return np.minimum(1.0, rate * rng.exponential(1, k) ** 2 / 2), mean
    return np.full(k, rate), rate


def plain(rate: float, rho: float, items: str = "one") -> Draw:
    """Return a study of features that correlate by rho within a response."""

    def draw(features: int, k: int, r: int, rng: Generator) -> Study:
        rates, mean = item_rates(rate, items, k, rng)
        found = together(np.repeat(rates[:, None], r, 1), features, rho, rng)
        return Study(list(found), features * mean, features * float(rates.mean()))

    return draw


def collapsing(share: float, hit: float, background: float = 0.0, items: str = "one") -> Draw:
    """Return a study in which a share of responses has each feature with ``hit``."""

    def draw(features: int, k: int, r: int, rng: Generator) -> Study:
        rates, mean = item_rates(background, items, k, rng) if background else (np.zeros(k), 0.0)
        collapsed = rng.random((k, r)) < share
        found = rng.binomial(features, np.where(collapsed, hit, rates[:, None])).astype(np.int64)
        extra = hit * share
        like, these = ((1 - share) * own + extra for own in (mean, float(rates.mean())))
        return Study(list(found), features * like, features * these)

    return draw


def missing(rate: float, rho: float, most: float, *, unequal: bool = False) -> Draw:
    """Return a study in which items with higher rates lose more responses, or any of them do."""

    def draw(features: int, k: int, r: int, rng: Generator) -> Study:
        rates, mean = item_rates(rate, "normal", k, rng)
        found = together(np.repeat(rates[:, None], r, 1), features, rho, rng)
        if unequal:
            sizes = rng.integers(1, r + 1, k)
            values = [item[:n] for item, n in zip(found, sizes, strict=True)]
        else:
            lost = rng.random((k, r)) < (most * np.minimum(1, rates / (3 * rate)))[:, None]
            values = [item[~gone] for item, gone in zip(found, lost, strict=True)]
        kept = np.array([len(item) > 0 for item in values])
        these = float(rates[kept].mean()) if kept.any() else 0.0
        return Study(values, features * mean, features * these)

    return draw


def clustered(rate: float, rho: float, *, known: bool) -> Draw:
    """Return a study of items in fours with a common effect."""

    def draw(features: int, k: int, r: int, rng: Generator) -> Study:
        themes = np.repeat(np.arange(-(-k // 4)), 4)[:k]
        sd, own = 1.0, 0.4
        shift = np.log(rate / (1 - rate))
        logits = shift + sd * rng.standard_normal(themes[-1] + 1)[themes]
        rates = expit(logits + own * rng.standard_normal(k))
        nodes, weights = np.polynomial.hermite_e.hermegauss(61)
        mean = float(expit(shift + np.hypot(sd, own) * nodes) @ weights / weights.sum())
        found = together(np.repeat(rates[:, None], r, 1), features, rho, rng)
        clusters = themes.tolist() if known else None
        return Study(list(found), features * mean, features * float(rates.mean()), clusters)

    return draw


@dataclass
class Tally:
    """Coverage and widths of one cell."""

    cell: str
    held: int = 0
    made: int = 0
    ratios: list[float] = field(default_factory=list)

    @property
    def coverage(self) -> float:
        """Return the share of intervals that contain the true value."""
        return self.held / self.made


@dataclass(frozen=True)
class Group:
    """Cells that make one row of the table.

    Attributes:
        draws: the studies, with words for each.
        items, replicates, features: of the designs.
        estimands: which intervals are tallied.
        former: by the rule of versions before 0.2.0: weighted by responses, with rho = 0.
    """

    name: str
    draws: Sequence[tuple[str, Draw]]
    items: Sequence[int] = (5, 10, 20)
    replicates: Sequence[int] = (1, 3, 10)
    features: Sequence[int] = (7, 19)
    estimands: Sequence[Estimand] = (LIKE, THESE)
    former: bool = False

    def designs(self, *, quick: bool) -> Iterator[tuple[int, int, int, str, Draw]]:
        """Yield features, items, replicates, words, study."""
        draws, items = (self.draws[::2], self.items[:2]) if quick else (self.draws, self.items)
        for features, k, r, (words, draw) in product(self.features, items, self.replicates, draws):
            yield features, k, r, words, draw


def grid(
    rhos: Sequence[float], rates: Sequence[float], items: Sequence[str]
) -> list[tuple[str, Draw]]:
    """Return studies of all combinations."""
    return [
        (f"rate {rate:g}, correlation {rho:g}, {which} items", plain(rate, rho, which))
        for rho, rate, which in product(rhos, rates, items)
    ]


RATES = (0.01, 0.03, 0.1, 0.3)
COLLAPSES = (0.01, 0.03, 0.1)
FEW, SOME, MANY = (4, 6, 8), (10, 12, 15), (20, 30)
LOSSES = [(0.05, 0.1), (0.1, 0.1), (0.1, 0.3), (0.2, 0.1)]
WITHOUT = "one item in five"


def groups() -> Iterator[Group]:
    """Yield the rows of the table."""
    both = ("one", "normal")
    yield Group("independent features", grid((0.0,), RATES, both))
    yield Group("correlated features (.1, .3)", grid((0.1, 0.3), RATES, both))
    again = grid((0.1, 0.3), RATES, both)
    yield Group("correlated features (.1, .3), former rule", again, former=True)
    yield Group("strongly correlated features (.5)", grid((0.5,), RATES[:3], ("one",)))
    yield Group(
        "collapsing responses (1, 3, 10 %)",
        [(f"{share:.0%} collapse", collapsing(share, 0.5)) for share in COLLAPSES],
    )
    yield Group(
        "collapsing responses, former rule",
        [(f"{share:.0%} collapse", collapsing(share, 0.5)) for share in COLLAPSES],
        former=True,
    )
    yield Group(
        "wholly collapsing responses (.9 of the features)",
        [(f"{share:.0%} collapse", collapsing(share, 0.9)) for share in COLLAPSES],
    )
    yield Group(
        "collapsing responses on a background",
        [
            (f"{share:.0%} collapse, else {rate:g}", collapsing(share, 0.5, rate, which))
            for share, (rate, which) in product(COLLAPSES, ((0.03, "one"), (0.1, "normal")))
        ],
    )
    yield Group("unlike items", grid((0.0, 0.1, 0.3), RATES, ("unlike",)))
    yield Group("skewed items", grid((0.0, 0.1), RATES[:3], ("skewed",)))
    for words, items in (("4 to 8", FEW), ("10 to 15", SOME), ("20 or 30", MANY)):
        yield Group(f"{WITHOUT}, {words} items", grid((0.0, 0.1, 0.3), RATES, ("five",)), items)
    for name, most in (("moderate", 0.5), ("strong", 0.9)):
        draws = [
            (f"rate {rate:g}, correlation {rho:g}", missing(rate, rho, most))
            for rate, rho in LOSSES
        ]
        for former in (False, True):
            weighted = "response-weighted (former rule)" if former else "item-weighted"
            yield Group(
                f"missing, {name}, {weighted}", draws, (5, 10, 20), (5, 10, 20), former=former
            )
    yield Group(
        "unequal numbers of responses",
        [(f"rate {a:g}, correlation {b:g}", missing(a, b, 0, unequal=True)) for a, b in LOSSES],
        (5, 10, 20, 30),
        (8,),
    )
    for known in (True, False):
        yield Group(
            f"clusters of four items{'' if known else ' taken as items'}",
            [(f"rate {a:g}, correlation {b:g}", clustered(a, b, known=known)) for a, b in LOSSES],
            (20, 40, 80),
            (1, 5),
            estimands=(LIKE,),
        )


def totals(values: Ints) -> Totals:
    """Return the totals of one item."""
    return Totals(len(values), float(values.sum()), float((values * values).sum()))


def independent(items: Sequence[Totals], features: int, study: Study) -> Interval:
    """Return the interval for prompts like these that takes features as independent."""
    given = [item for item in items if item.n]
    means, sizes = [item.mean for item in given], [item.n for item in given]
    clusters = None
    if study.clusters is not None:
        clusters = [c for c, item in zip(study.clusters, items, strict=True) if item.n]
        if len(by_cluster(means, clusters)) < 2:
            clusters = None
    return korn_graubard(means, sizes, features, 0.0, clusters)


def tallied(group: Group, *, studies: int, quick: bool) -> dict[Estimand, list[Tally]]:
    """Return the coverage of the cells of a group."""
    found: dict[Estimand, list[Tally]] = {estimand: [] for estimand in group.estimands}
    for features, k, r, words, draw in group.designs(quick=quick):
        rng = np.random.default_rng([SEED, features, k, r, *f"{group.name} {words}".encode()])
        cell = f"{features} features, {k} items x {r}, {words}"
        own = {estimand: Tally(cell) for estimand in group.estimands if estimand is LIKE or r > 1}
        for n in range(studies):
            study = draw(features, k, r, rng)
            items = [totals(values) for values in study.values]
            for estimand, tally in own.items():
                if group.former:
                    made = former_interval(items, features, estimand)
                else:
                    made = interval_of_totals(
                        items, features, estimand, clusters=study.clusters
                    ).interval
                if made is None:
                    continue
                truth = study.like if estimand is LIKE else study.these
                tally.made += 1
                tally.held += made.low - 1e-12 <= truth <= made.high + 1e-12
                if estimand is LIKE and n < 40 and not group.former:
                    other = independent(items, features, study)
                    tally.ratios.append((made.high - made.low) / (other.high - other.low))
        for estimand, tally in own.items():
            if tally.made:
                found[estimand].append(tally)
    return found


def row(name: str, estimand: Estimand, cells: Sequence[Tally]) -> str:
    """Return a row of the table."""
    coverage = np.array([cell.coverage for cell in cells])
    worst = cells[int(coverage.argmin())]
    ratios = np.concatenate([cell.ratios for cell in cells])
    width = f"{np.median(ratios):.2f}" if len(ratios) else "-"
    low = int((coverage < LOWEST).sum())
    return (
        f"| {name} | {estimand} | {coverage.mean():.3f} | {coverage.min():.2f} | {low} of "
        f"{len(cells)} | {width} | {worst.cell} |"
    )


def rows_of(at: int, studies: int, quick: bool) -> list[str]:
    """Return the rows of one group, by its place."""
    group = list(groups())[at]
    found = tallied(group, studies=studies, quick=quick)
    return [row(group.name, estimand, cells) for estimand, cells in found.items()]


def table(studies: int, workers: int, *, quick: bool) -> Iterator[str]:
    """Yield the lines of the table; each cell has its own seed, whatever the number of workers."""
    yield (
        "| responses | interval for | mean coverage | least | cells below .93 | median width / "
        "independent | cell with the least |"
    )
    yield "|---|---|---:|---:|---:|---:|---|"
    made = partial(rows_of, studies=studies, quick=quick)
    with ProcessPoolExecutor(workers) as pool:
        for rows in pool.map(made, range(len(list(groups())))):
            yield from rows
    yield f"\n{studies} studies per cell, seed {SEED}."


def main() -> None:
    """Simulate and print; with ``--write`` also into the docs."""
    quick = "--quick" in sys.argv
    made = partial(table, quick=quick)
    simulated("burdens", __doc__, made, QUICK_STUDIES if quick else STUDIES, "--quick")


if __name__ == "__main__":
    main()
