"""Draw answers to items and fit them: difficulties, discriminations, infit, the test of Rasch.

Abilities are standard normal; items have difficulties drawn from normal (0, 1) and discriminations
from lognormal (0, 0.3), or 1.2 for the Rasch model. The true correlation of an item with the rest
is that of 100,000 examinees. Not fitted to any data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabwb.scoring.intervals import Z
from tabwb.scoring.item_response import Model, compare_models, discrimination_interval, fit_model

Floats = NDArray[np.float64]
Generator = np.random.Generator
LEVEL = 0.05


def expit(x: Floats) -> Floats:
    """Return the logistic function."""
    return np.asarray(1 / (1 + np.exp(-x)))


def draw_answers(n: int, a: Floats, b: Floats, rng: Generator) -> Floats:
    """Return answers of n examinees, 1 right and 0 wrong: (n, items)."""
    p = expit(a * (rng.normal(size=(n, 1)) - b))
    return np.asarray((rng.random(p.shape) < p).astype(float))


def draw_items(k: int, model: Model, rng: Generator) -> tuple[Floats, Floats]:
    """Return discriminations and difficulties of k items."""
    a = np.full(k, 1.2) if model == "rasch" else np.exp(rng.normal(0, 0.3, k))
    return a, rng.normal(0, 1, k)


def parameters(model: Model, n: int, k: int, studies: int, rng: Generator) -> dict[str, float]:
    """Return the coverage of difficulty and discrimination, and the share without a fit."""
    held: dict[str, list[bool]] = {"difficulty": [], "discrimination": []}
    failed = 0
    for _ in range(studies):
        a, b = draw_items(k, model, rng)
        fitted = fit_model(draw_answers(n, a, b, rng).tolist(), model)
        failed += not fitted.items
        for item, slope, place in zip(fitted.items, a, b, strict=False):
            if item.difficulty is None or item.difficulty_se is None:
                continue
            held["difficulty"].append(abs(item.difficulty - place) <= Z * item.difficulty_se)
            if item.discrimination is not None and item.discrimination_se is not None:
                off = abs(item.discrimination - slope)
                held["discrimination"].append(off <= Z * item.discrimination_se)
    return {**{name: float(np.mean(each)) for name, each in held.items()},
            "without": failed / studies}  # fmt: skip


def fit_range(n: int, k: int, studies: int, rng: Generator) -> dict[str, float]:
    """Return infit where the Rasch model holds: 2.5 % and 97.5 % points; and both fits' means."""
    fits = [
        (item.infit, item.outfit)
        for _ in range(studies)
        for item in fit_model(
            draw_answers(n, *draw_items(k, "rasch", rng), rng).tolist(), "rasch"
        ).items
        if item.infit is not None and item.outfit is not None
    ]
    low, high = np.quantile([infit for infit, _ in fits], [0.025, 0.975])
    infit, outfit = np.mean(fits, axis=0)
    return {"low": low, "high": high, "infit": infit, "outfit": outfit}


def likelihood_ratio(n: int, k: int, studies: int, rng: Generator) -> dict[str, float]:
    """Return how often the Rasch model is rejected where it holds."""
    found = []
    for _ in range(studies):
        answers = draw_answers(n, *draw_items(k, "rasch", rng), rng).tolist()
        made = compare_models(fit_model(answers, "rasch"), fit_model(answers, "2pl"))
        if made is not None:
            found.append(made.p < LEVEL)
    return {"rejected": float(np.mean(found))}


def correlation(n: int, k: int, studies: int, rng: Generator) -> dict[str, float]:
    """Return the coverage of the interval of an item's discrimination."""
    held = []
    for _ in range(10):
        a, b = draw_items(k, "2pl", rng)
        many = draw_answers(100_000, a, b, rng)
        truth = [
            np.corrcoef(many[:, at], np.delete(many, at, axis=1).mean(axis=1))[0, 1]
            for at in range(3)
        ]
        for _ in range(max(1, studies // 10)):
            rows = draw_answers(n, a, b, rng).tolist()
            for at in range(3):
                found = discrimination_interval(rows, at)
                if found is not None:
                    held.append(found.low <= truth[at] <= found.high)
    return {"coverage": float(np.mean(held))}
