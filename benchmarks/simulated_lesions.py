"""Simulate lesions over seeds, and profiles of features, for :mod:`benchmarks.analyses`.

**Lesions.** An intact model is right on an item with the logit ``1 + e_i``, e normal (sd 1.5). A
seed takes ``rate_s d exp(0.7 z_si)`` off it at the amount d: the rate of a seed is lognormal (so
skewed), z of a seed and an item normal. Masks of one seed are nested, so both are the same at all
amounts. *Greedy* answers are right where the logit is above 0. *Drawn* ones are right with the
probability of the logit; every reply of the program has a random stream that depends on run seed,
item and replicate, not on the lesion, so that all conditions of a sweep share the streams.

Of the five amounts (0.1 to 0.5) a text is usable while the damage is below a limit, and its burden
is Poisson with a mean that grows with the damage (at most 7), so that the worst seeds drop out.

**Profiles.** A feature is present where a threshold is below the sum of an effect of the item
(sd 0.7) and of a response (sd 1), all normal; the two of a pair are correlated.

Nothing was fitted to data. The truth of a cell is the mean over 20,000 seeds with the same items,
since intervals over seeds are for these prompts, or over 200,000 items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.doses import Measured, error_of, less_intact, shared_error
from tabwb.scoring.differences import draw_variance
from tabwb.scoring.dose import (
    LEAST_SEEDS,
    SeedTest,
    against_controls,
    area,
    mean_over_seeds,
    one_against_controls,
    slope,
)
from tabwb.scoring.estimate import Estimate, Interval
from tabwb.scoring.profiles import cosine, phi, phi_interval, similarity_interval, spearman

Floats = NDArray[np.float64]
AMOUNTS = (0.1, 0.2, 0.3, 0.4, 0.5)
MIDDLE = 2
"""Place of the amount at which single values are looked at."""
SEEDS, ITEMS = 20_000, 200_000
"""Behind a true value."""
LEVEL = 0.05


@dataclass(frozen=True)
class Design:
    """A sweep.

    Attributes:
        seeds: of each lesion.
        items: that all conditions share.
        replicates: 0 for greedy answers.
        spread: standard deviation of the logarithm of a seed's rate.
        rate: median logits lost at the amount 1.
        shared: whether all conditions draw with the same streams.
        together: correlation of the logarithms of the rates of lesion and control.
    """

    seeds: int
    items: int
    replicates: int = 0
    spread: float = 0.5
    rate: float = 6.0
    shared: bool = True
    together: float = 0.5


class Tally:
    """Counts how often an interval holds the truth, and how often a test rejects."""

    def __init__(self) -> None:
        self.held: Counter[str] = Counter()
        self.given: Counter[str] = Counter()

    def add(self, name: str, held: bool) -> None:
        """Count one study."""
        self.given[name] += 1
        self.held[name] += held

    def interval(self, name: str, found: Interval | None, truth: float) -> None:
        """Count an interval, if there is one."""
        if found is not None:
            self.add(name, bool(found.low - 1e-12 <= truth <= found.high + 1e-12))

    def test(self, name: str, found: SeedTest) -> None:
        """Count a test; without one nothing is rejected."""
        self.add(name, found.p is not None and found.p < LEVEL)

    def shares(self) -> dict[str, float]:
        """Return the share of studies in which each held."""
        return {name: self.held[name] / n for name, n in self.given.items()}


def damage(design: Design, log_rates: Floats, rng: np.random.Generator) -> Floats:
    """Return the logits that each seed loses of each item at each amount."""
    n = len(log_rates)
    own = np.exp(0.7 * rng.standard_normal((n, 1, design.items)))
    rates = design.rate * np.exp(log_rates)[:, None, None]
    return np.asarray(rates * np.array(AMOUNTS)[None, :, None] * own, np.float64)


def chances(design: Design, logits: Floats, lost: Floats) -> Floats:
    """Return the chance that an answer is right: (seeds, amounts, items)."""
    left = np.clip(logits - lost, -500, 500)
    return (left > 0).astype(np.float64) if not design.replicates else 1 / (1 + np.exp(-left))


def answers(design: Design, chance: Floats, streams: Floats, rng: np.random.Generator) -> Floats:
    """Return which answers are right: (..., items, replicates)."""
    if not design.replicates:
        return chance[..., None]
    drawn = streams if design.shared else rng.random((*chance.shape[:-1], *streams.shape))
    return np.asarray(drawn < chance[..., None], np.float64)


def _numbers(lines: Floats, kind: str) -> list[float]:
    made = slope if kind == "slope" else area
    return [made(dict(zip(AMOUNTS, line.tolist(), strict=True))) for line in lines]


def over_seeds(design: Design, studies: int, rng: np.random.Generator) -> Mapping[str, float]:
    """Return the coverage of value, slope, height, and of the difference to the intact model.

    Those called *alone* leave out the error of drawn answers that all seeds share.
    """
    logits = 1 + 1.5 * rng.standard_normal(design.items)
    lost = damage(design, design.spread * rng.standard_normal(SEEDS), rng)
    true = chances(design, logits, lost).mean(axis=(0, 2))
    whole = chances(design, logits, np.zeros(design.items))
    truth = {kind: _numbers(true[None], kind)[0] for kind in ("slope", "height")}
    truth["value"] = float(true[MIDDLE])
    tally = Tally()
    for _ in range(studies):
        streams = rng.random((design.items, max(design.replicates, 1)))
        lost = damage(design, design.spread * rng.standard_normal(design.seeds), rng)
        right = answers(design, chances(design, logits, lost), streams, rng)
        lines = right.mean(axis=(-2, -1))
        errors = {
            amount: shared_error([_measured(one) for one in right[:, at]])
            for at, amount in enumerate(AMOUNTS)
        }
        values = {kind: _numbers(lines, kind) for kind in ("slope", "height")}
        values["value"] = lines[:, MIDDLE].tolist()
        for kind, own in values.items():
            error = errors[AMOUNTS[MIDDLE]] if kind == "value" else error_of(kind, errors)
            limits = (-np.inf, np.inf) if kind == "slope" else (0.0, 1.0)
            assert error is not None
            tally.interval(kind, mean_over_seeds(own, limits, error).interval, truth[kind])
            tally.interval(f"{kind} alone", mean_over_seeds(own, limits).interval, truth[kind])
        intact = _measured(answers(design, whole, streams, rng))
        less = less_intact(values["value"], intact, (0.0, 1.0))
        tally.interval("intact", less.interval, truth["value"] - float(whole.mean()))
    return tally.shares()


def _measured(right: Floats) -> Measured:
    """Return a share right with the error of its draws: (items, replicates)."""
    error = draw_variance(right.tolist(), None, deterministic=right.shape[1] == 1)
    return Measured(Estimate(float(right.mean())), largest=1.0, error=error)


def controls(
    design: Design, effect: float, studies: int, rng: np.random.Generator
) -> Mapping[str, float]:
    """Return rejections and coverage of lesions less controls: paired, and with other seeds.

    Args:
        design: the sweep.
        effect: how much higher the logarithm of the lesion's rate is.
        studies: how many.
        rng: generator.
    """
    logits = 1 + 1.5 * rng.standard_normal(design.items)
    true = []
    for extra in (effect, 0.0):
        lost = damage(design, extra + design.spread * rng.standard_normal(SEEDS), rng)
        true.append(chances(design, logits, lost).mean(axis=(0, 2)))
    tally = Tally()
    for _ in range(studies):
        streams = rng.random((design.items, max(design.replicates, 1)))
        z = rng.standard_normal((3, design.seeds))
        beside = design.together * z[0] + np.sqrt(1 - design.together**2) * z[1]
        sides = []
        for extra, own in ((effect, z[0]), (0.0, beside), (0.0, z[2])):
            lost = damage(design, extra + design.spread * own, rng)
            right = answers(design, chances(design, logits, lost), streams, rng)
            sides.append(right.mean(axis=(-2, -1)))
        for kind in ("slope", "height", "value"):
            lesion, paired, other = (
                side[:, MIDDLE].tolist() if kind == "value" else _numbers(side, kind)
                for side in sides
            )
            ends = [
                one[MIDDLE] if kind == "value" else _numbers(one[None], kind)[0] for one in true
            ]
            for name, control, first in (("paired", paired, 0), ("welch", other, 100)):
                found = against_controls(_named(lesion), _named(control, first))
                tally.interval(f"{name} {kind} coverage", found.interval, ends[0] - ends[1])
                tally.test(f"{name} {kind}", found)
    return tally.shares()


def one_case(design: Design, studies: int, rng: np.random.Generator) -> Mapping[str, float]:
    """Return how often a lesion without draws is told from controls that it is one of.

    The null hypothesis is that its units do what random ones do: it is one seed more. That is also
    how often the interval of its difference to one more control does not hold this difference.
    """
    logits = 1 + 1.5 * rng.standard_normal(design.items)
    tally = Tally()
    for _ in range(studies):
        streams = rng.random((design.items, max(design.replicates, 1)))
        lost = damage(design, design.spread * rng.standard_normal(design.seeds + 2), rng)
        right = answers(design, chances(design, logits, lost), streams, rng)
        lines = right.mean(axis=(-2, -1))
        for kind in ("slope", "height", "value"):
            case, more, *controls = (
                lines[:, MIDDLE].tolist() if kind == "value" else _numbers(lines, kind)
            )
            limits = (-np.inf, np.inf) if kind == "slope" else (0.0, 1.0)
            found = one_against_controls(Estimate(case), _named(controls), limits)
            tally.test(kind, found)
            tally.interval(f"{kind} more", found.interval, case - more)
    return tally.shares()


def _named(values: Sequence[float], first: int = 0) -> dict[str, Estimate]:
    return {str(seed): Estimate(value) for seed, value in enumerate(values, first)}


def dropout(design: Design, studies: int, rng: np.random.Generator) -> Mapping[str, float]:
    """Return the coverage of a mean burden where the worst texts and seeds drop out.

    The truth is the mean over all seeds of the burden of their usable texts. ``rest``: the interval
    over the seeds that are left, at the largest amount at which five or more are left and one is
    not. ``all``: at the largest amount at which no seed dropped out. ``slope``: over the amounts
    at which no seed dropped out. ``share of slope``: that slope as a share of the slope that all
    texts would have, usable or not.
    """

    def texts(log_rates: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        lost = damage(design, log_rates, rng)
        mean = np.minimum(7.0, 0.3 + 0.5 * lost)
        usable = lost < 3.5
        with np.errstate(invalid="ignore"):
            burden = np.where(usable, np.minimum(rng.poisson(mean), 7), 0).sum(axis=2)
            return mean.mean(axis=2), burden / usable.sum(axis=2), usable.mean(axis=2) >= 0.5

    every, seen, _ = texts(design.spread * rng.standard_normal(SEEDS))
    true, whole = np.nanmean(seen, axis=0), every.mean(axis=0)
    tally = Tally()
    shares: list[float] = []
    for _ in range(studies):
        _, lines, kept = texts(design.spread * rng.standard_normal(design.seeds))
        complete = [at for at in range(len(AMOUNTS)) if kept[:, at].all()]
        some = [
            at
            for at in range(len(AMOUNTS))
            if kept[:, at].sum() >= LEAST_SEEDS and at not in complete
        ]
        for name, chosen in (("rest", some), ("all", complete)):
            if chosen:
                at = chosen[-1]
                found = mean_over_seeds(lines[kept[:, at], at].tolist(), (0.0, 7.0))
                tally.interval(name, found.interval, true[at])
        if len(complete) > 1:
            own = [AMOUNTS[at] for at in complete]
            mean, shown, sought = (
                [slope(dict(zip(own, line[complete].tolist(), strict=True))) for line in some_lines]
                for some_lines in (lines, true[None], whole[None])
            )
            tally.interval("slope", mean_over_seeds(mean).interval, shown[0])
            shares.append(float(np.mean(mean)) / sought[0])
    return tally.shares() | {"share of slope": float(np.mean(shares))}


def features_together(
    items: int, replicates: int, correlated: float, high: tuple[float, float], studies: int,
    rng: np.random.Generator,
) -> Mapping[str, float]:  # fmt: skip
    """Return the coverage of the interval of phi.

    Args:
        items: of a study.
        replicates: responses to each.
        correlated: of the effects of items, and of responses.
        high: the thresholds of the two features.
        studies: how many.
        rng: generator.
    """
    matrix = np.array([[1, correlated], [correlated, 1]])

    def drawn(k: int, r: int) -> NDArray[np.bool_]:
        of_items = rng.multivariate_normal([0, 0], 0.49 * matrix, k)
        own = rng.multivariate_normal([0, 0], matrix, (k, r))
        return np.asarray(of_items[:, None] + own > np.array(high))

    def counts(given: NDArray[np.bool_]) -> tuple[int, int, int, int]:
        one, two = given[..., 0].ravel(), given[..., 1].ravel()
        return int((one & two).sum()), int(one.sum()), int(two.sum()), one.size

    true = phi(*counts(drawn(ITEMS, 1))).value
    assert true is not None
    tally = Tally()
    for _ in range(studies):
        found = drawn(items, replicates)
        interval, _ = phi_interval([counts(one) for one in found])
        tally.add("given", interval is not None)
        tally.interval("coverage", interval, true)
    return tally.shares()


@dataclass(frozen=True)
class Profile:
    """A profile of features beside a reference.

    Attributes:
        items: of each side.
        replicates: responses to each item.
        features: how many.
        sampled: whether the reference is a sample too, else its rates are given.
        alike: correlation of the thresholds of both.
        rare: added to all thresholds.
    """

    items: int
    replicates: int
    features: int = 7
    sampled: bool = False
    alike: float = 0.5
    rare: float = 0.5


def similarities(given: Profile, studies: int, rng: np.random.Generator) -> Mapping[str, float]:
    """Return the coverage of the intervals of rank correlation and cosine."""
    z = np.linspace(-1.2, 1.2, given.features)
    other = given.alike * z + np.sqrt(1 - given.alike**2) * rng.permutation(z)
    highs = [given.rare + one for one in (z, other)]

    def drawn(high: Floats, k: int, r: int) -> Floats:
        at = 0.7 * rng.standard_normal((k, 1, given.features))
        present = at + rng.standard_normal((k, r, given.features)) > high
        every = np.full((k, 1), float(r))
        return np.concatenate([present.sum(axis=1).astype(np.float64), every], axis=1)

    rates = [drawn(high, ITEMS, 1)[:, :-1].mean(axis=0) for high in highs]
    tally = Tally()
    for measure in (spearman, cosine):
        true = measure(rates[0], rates[1]).value
        assert true is not None
        for _ in range(studies):
            first = drawn(highs[0], given.items, given.replicates)
            second = drawn(highs[1], given.items, given.replicates) if given.sampled else None
            interval, _ = similarity_interval(first, second, rates[1], measure)
            tally.add(f"{measure.__name__} given", interval is not None)
            tally.interval(measure.__name__, interval, true)
    return tally.shares()
