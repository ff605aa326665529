"""Draw choices among options whose position may matter, and wrong options of kinds; test them.

Generators, not fitted to any data:

- *Positions*: the right option of an item is named with a probability drawn on the logit scale (sd
  1), wrong ones with Dirichlet shares. Each item prefers its own positions (normal on the log
  scale, sd 0 under *these prompts*, 0.7 or 1.5 otherwise), with no preference on average. With
  *repeated* answers, those to one order are the first one with probability 0.9. *Power*: the first
  position is also preferred by 1 logit. *One position varies more*: the preference for the first
  position has an sd of 1.5, the others 0.3, and its mean is such that no share is expected to be
  larger than another (:data:`BALANCED`).
- *Designs of positions*: all rotations, given once or five times; a share of .3 of the answers
  missing; one order three times as often; the first half of the rotations; random orders; 1 to 10
  replicates, unequal between items.
- *Foils*: five wrong options, of which the kind has one, two or three; under *prompts like these*
  the share of the kind is drawn for each item from a beta distribution with the correlation rho.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.scoring.distributions import incomplete_beta, t_tail
from tabwb.scoring.position_bias import Shown, WrongOption, foil_choices, position_bias

Floats = NDArray[np.float64]
Generator = np.random.Generator
LEVEL = 0.05
DRAWS = 999
"""Assignments and shifts in each study: p is a multiple of 1/1000, so that the level is exact."""
NAMES = "abcdef"
BALANCED = {3: -0.20, 6: -0.41}
"""By options: the mean preference for a first position with an sd of 1.5 among others with an sd
of 0.3 at which the mean share of its choices is 1 of so many."""
DESIGNS = {
    "rotations": "all rotations",
    "missing": "rotations, answers missing",
    "one-more": "rotations, one order three times",
    "half": "half of the rotations",
    "shuffled": "random orders",
    "unequal": "rotations, unequal replicates",
}


@dataclass(frozen=True, slots=True)
class Items:
    """How items are shown and answered.

    Attributes:
        number: of items; options: of each, 0 for 2 to 6 at random.
        spread: sd of the preferences of items for positions.
        repeated: probability that an answer to an order is the first one to it.
        bias: of the first position, in logits.
        varied: sd of the preferences for the first position; None for that of the others.
    """

    design: str
    number: int
    options: int
    replicates: int
    spread: float = 0.0
    repeated: float = 0.0
    bias: float = 0.0
    varied: float | None = None


def _orders(design: str, m: int, r: int, rng: Generator) -> list[tuple[int, ...]]:
    turns = [tuple((at + by) % m for at in range(m)) for by in range(m)]
    if design == "missing":
        return [order for order in turns * r if rng.random() < 0.7]
    if design == "one-more":
        return turns * r + turns[:1] * (2 * r)
    if design == "half":
        return turns[: max(2, (m + 1) // 2)] * r
    if design == "shuffled":
        return [tuple(rng.permutation(m).tolist()) for _ in range(max(2, 3 * r))]
    return turns * (int(rng.integers(1, 2 * r + 1)) if design == "unequal" else r)


def draw_choices(items: Items, rng: Generator) -> list[Shown]:
    """Return the answers of one study."""
    given = []
    for item in range(items.number):
        m = items.options or int(rng.integers(2, 7))
        right = 1 / (1 + np.exp(-rng.normal()))
        shares = np.concatenate([[right], (1 - right) * rng.dirichlet(np.ones(m - 1))])
        own = np.exp(rng.normal(0, items.spread, m))
        if items.varied is not None:
            own[0] = np.exp(rng.normal(0, items.varied))
        own[0] *= np.exp(items.bias)
        key = int(rng.integers(m))
        first: dict[tuple[int, ...], int] = {}
        for order in _orders(items.design, m, items.replicates, rng):
            p = shares[(np.array(order) - key) % m] * own
            chosen = int(np.searchsorted(np.cumsum(p), rng.random() * p.sum()))
            if order in first and rng.random() < items.repeated:
                chosen = first[order]
            first.setdefault(order, chosen)
            options = tuple(NAMES[at] for at in order)
            name = options[min(chosen, m - 1)]
            given.append(Shown(str(item), options, NAMES[key], name, name == NAMES[key]))
    return given


def positions(items: Items, studies: int, rng: Generator) -> dict[str, float]:
    """Return how often a test rejects: choices on these prompts, and both for prompts like these.

    Studies in which fewer than two items were shown in several orders have no p and do not reject.
    """
    rejected = dict.fromkeys(("these", "choices", "accuracy"), 0)
    for _ in range(studies):
        found = position_bias(draw_choices(items, rng), draws=DRAWS)
        if found is None:
            continue
        rejected["these"] += found.choices.p is not None and found.choices.p <= LEVEL
        for name, p in (
            ("choices", [place.p_chosen for place in found.positions]),
            ("accuracy", [place.p_accuracy for place in found.positions]),
        ):
            rejected[name] += min([1.0, *(x for x in p if x is not None)]) <= LEVEL
    return {name: n / studies for name, n in rejected.items()}


def other_tests(items: Items, studies: int, rng: Generator) -> dict[str, float]:
    """Return how often tests that tabwb does not make reject; items have all rotations.

    With z the shares of choices less 1/m, by item: t by position with Bonferroni's correction, and
    Hotelling's T^2 of all but the last position, which is the F test of Korn and Graubard. The
    latter does not reject with fewer items than options or a singular covariance.
    """
    rejected = np.zeros(2)
    k, m = items.number, items.options
    for _ in range(studies):
        z = np.zeros((k, m))
        n = np.zeros(k)
        for answer in draw_choices(items, rng):
            z[int(answer.item), answer.options.index(str(answer.chosen))] += 1
            n[int(answer.item)] += 1
        z = z / n[:, None] - 1 / m
        mean, error = z.mean(axis=0), z.std(axis=0, ddof=1) / np.sqrt(k)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.nan_to_num(np.abs(mean) / error, nan=0.0, posinf=1e6)
        tests = 1 if m == 2 else m
        rejected[0] += 2 * tests * t_tail(float(t.max()), k - 1) <= LEVEL
        covariance = np.atleast_2d(np.cov(z[:, :-1].T)) / k
        if k >= m and np.linalg.matrix_rank(covariance) == m - 1:
            squared = float(mean[:-1] @ np.linalg.solve(covariance, mean[:-1]))
            f = squared * (k - m + 1) / ((m - 1) * (k - 1))
            df, rest = m - 1, k - m + 1
            rejected[1] += incomplete_beta(rest / (rest + df * f), rest / 2, df / 2) <= LEVEL
    return dict(zip(("t", "hotelling"), (rejected / studies).tolist(), strict=True))


def foils(
    k: int, r: int, of_kind: int, rho: float, studies: int, rng: Generator
) -> dict[str, float]:
    """Return rejections on these prompts and for prompts like these, and coverage of the share.

    Args:
        k: items.
        r: answers to each, of which those that are wrong count.
        of_kind: wrong options of the kind, of five.
        rho: correlation of two errors on an item; 0 for these prompts.
        studies: how many.
        rng: of the draws.
    """
    kinds = (*["kind"] * of_kind, *["other"] * (5 - of_kind))
    chance = of_kind / 5
    size = (1 - rho) / rho if rho else 0.0
    these, like, held = [], [], []
    for _ in range(studies):
        given = []
        for item in range(k):
            share = rng.beta(chance * size, (1 - chance) * size) if rho else chance
            n = rng.binomial(r, 1 / (1 + np.exp(-rng.normal())))
            given += [
                WrongOption(str(item), "kind" if hit else "other", kinds)
                for hit in rng.random(n) < share
            ]
        found = foil_choices(given, ["kind", "other"])[0]
        these.append(found.p_these is not None and found.p_these <= LEVEL)
        like.append(found.p_like is not None and found.p_like <= LEVEL)
        if found.like.interval is not None:
            held.append(found.like.interval.low <= chance <= found.like.interval.high)
    return {
        "these": float(np.mean(these)),
        "like": float(np.mean(like)),
        "coverage": float(np.mean(held)),
    }
