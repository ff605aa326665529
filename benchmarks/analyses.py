"""Simulate intervals and tests of items, positions, foils, groups and sessions.

``python -m benchmarks.analyses [--studies N] [--write]``: prints, for intervals, the coverage (95 %
is nominal), and for tests, how often they reject a true null hypothesis (5 % is nominal): the mean
and the worst over the cells of each method. ``--write`` puts the table into
``docs/uncertainty.md``. It calls the program's own functions.

Generators, not fitted to any data:

- *Items*: abilities are standard normal; items have difficulties drawn from normal (0, 1) and
  discriminations from lognormal (0, 0.3), or 1.2 for the Rasch model. The true correlation of an
  item with the rest is that of 100,000 examinees.
- *Positions*: six options in all rotations, 1 or 5 replicates. The right option of an item is
  named with a probability drawn on the logit scale (sd 1), wrong ones with Dirichlet shares. Under
  *prompts like these* each item also prefers positions of its own (sd 0.7), with no preference on
  average.
- *Foils*: five wrong options, one of a kind; under *prompts like these* the share of the kind is
  drawn for each item from Beta(2, 8), mean 0.2.
- *Groups*: seven groups and a baseline, items with sd 1, group by item sd 0.7; in half the cells
  three groups differ by 1.5 logits and only the others count.
- *Sessions*: items with sd 1.5 on the logit scale, no change; the form of the day adds normal (0,
  0.25) or (0, 0.5) to all items of a session.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabwb.scoring.foil_choice import WrongOption, foil_choices
from tabwb.scoring.intervals import Z
from tabwb.scoring.item_analysis import discrimination_interval
from tabwb.scoring.item_response import Model, compare_models, fit_model
from tabwb.scoring.participant_tests import (
    compare_sets,
    mcnemar,
    rate_of_change_weights,
    trend_weights,
    weighted_test,
)
from tabwb.scoring.permutation import holm, paired_permutation, sign_flip_max_t
from tabwb.scoring.position_bias import Shown, position_bias

Floats = NDArray[np.float64]
Generator = np.random.Generator
STUDIES = 80
SEED = 20260
LEVEL = 0.05
OPTIONS = tuple("abcdef")
FORMS = (0.0, 0.25, 0.5)
"""Standard deviations of the form of the day, in logits."""


@dataclass(frozen=True)
class Row:
    """One method: the share of studies in which something held, in each cell."""

    method: str
    cells: tuple[float, ...]
    nominal: float

    @property
    def mean(self) -> float:
        """Return the mean over cells."""
        return float(np.mean(self.cells))

    @property
    def worst(self) -> float:
        """Return the least coverage, or the most rejections."""
        return min(self.cells) if self.nominal > 0.5 else max(self.cells)


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


def fit_range(n: int, k: int, studies: int, rng: Generator) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % points of infit where the Rasch model holds."""
    infits = [
        item.infit
        for _ in range(studies)
        for item in fit_model(
            draw_answers(n, *draw_items(k, "rasch", rng), rng).tolist(), "rasch"
        ).items
        if item.infit is not None
    ]
    low, high = np.quantile(infits, [0.025, 0.975])
    return float(low), float(high)


def likelihood_ratio(n: int, k: int, studies: int, rng: Generator) -> float:
    """Return how often the Rasch model is rejected where it holds."""
    found = []
    for _ in range(studies):
        answers = draw_answers(n, *draw_items(k, "rasch", rng), rng).tolist()
        made = compare_models(fit_model(answers, "rasch"), fit_model(answers, "2pl"))
        if made is not None:
            found.append(made.p < LEVEL)
    return float(np.mean(found))


def correlation(n: int, k: int, studies: int, rng: Generator) -> float:
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
    return float(np.mean(held))


def positions(k: int, r: int, spread: float, studies: int, rng: Generator) -> tuple[float, float]:
    """Return how often choices are called biased: on these prompts, for prompts like these."""
    rejected = np.zeros(2)
    for _ in range(studies):
        given: list[Shown] = []
        for item in range(k):
            right = expit(rng.normal(0, 1, 1))[0]
            shares = np.concatenate([[right], (1 - right) * rng.dirichlet(np.ones(5))])
            own = np.exp(rng.normal(0, spread, 6)) if spread else np.ones(6)
            for turn in range(6):
                order = OPTIONS[turn:] + OPTIONS[:turn]
                p = np.array([shares[OPTIONS.index(name)] for name in order]) * own
                chosen = rng.choice(6, size=r, p=p / p.sum()).tolist()
                given += [Shown(str(item), order, "a", order[x], order[x] == "a") for x in chosen]
        found = position_bias(given)
        assert found is not None
        likes = [place.p_chosen for place in found.positions if place.p_chosen is not None]
        rejected += [(found.choices.p or 1.0) < LEVEL, min(likes, default=1.0) < LEVEL]
    return float(rejected[0] / studies), float(rejected[1] / studies)


def foils(k: int, r: int, varies: bool, studies: int, rng: Generator) -> tuple[float, float, float]:
    """Return rejections on these prompts and for prompts like these, and coverage of the share."""
    kinds = ("kind", *["other"] * 4)
    these, like, held = [], [], []
    for _ in range(studies):
        given = []
        for item in range(k):
            share = rng.beta(2, 8) if varies else 0.2
            n = rng.binomial(r, expit(rng.normal(0, 1, 1))[0])
            given += [
                WrongOption(str(item), "kind" if hit else "other", kinds)
                for hit in rng.random(n) < share
            ]
        found = foil_choices(given, ["kind", "other"])[0]
        these.append((1.0 if found.p_these is None else found.p_these) < LEVEL)
        like.append((1.0 if found.p_like is None else found.p_like) < LEVEL)
        if found.like.interval is not None:
            held.append(found.like.interval.low <= 0.2 <= found.like.interval.high)
    return float(np.mean(these)), float(np.mean(like)), float(np.mean(held))


def groups(k: int, r: int, effect: float, studies: int, rng: Generator) -> tuple[float, float]:
    """Return how often any true null hypothesis of seven groups is rejected: maxT, Holm."""
    rejected = np.zeros(2)
    for _ in range(studies):
        own = rng.normal(rng.choice([-2, 0, 2]), 1, k) + rng.normal(0, 0.7, (8, k))
        own[1:4] += effect
        means = rng.binomial(r, expit(own)) / r
        d = means[1:] - means[0]
        null = slice(3, None) if effect else slice(None)
        together = sign_flip_max_t(d.tolist())
        alone = [paired_permutation([(x, 0.0) for x in row]) for row in d.tolist()]
        assert together is not None
        single = holm([one.p if one is not None else 1.0 for one in alone])
        rejected += [min(p[null]) < LEVEL for p in (together.p, single)]
    return float(rejected[0] / studies), float(rejected[1] / studies)


Contrast = Callable[[Floats], float]
"""Answers (items, sessions) to a p value."""


def sessions(n: int, t: int, form: float, test: Contrast, studies: int, rng: Generator) -> float:
    """Return how often a test rejects without any change."""
    rejected = 0
    for _ in range(studies):
        logits = rng.normal(0, 1.5, (n, 1)) + (rng.normal(0, form, (1, t)) if form else 0.0)
        rejected += test((rng.random((n, t)) < expit(logits)).astype(float)) < LEVEL
    return rejected / studies


def _exact(answers: Floats) -> float:
    return mcnemar(answers[:, 0].tolist(), answers[:, -1].tolist()).p


def _mid(answers: Floats) -> float:
    return mcnemar(answers[:, 0].tolist(), answers[:, -1].tolist()).mid_p


def _trend(answers: Floats) -> float:
    p = weighted_test(answers.tolist(), trend_weights(answers.shape[1])).p
    return 1.0 if p is None else p


def _rate(answers: Floats) -> float:
    p = weighted_test(answers.tolist(), rate_of_change_weights(2, answers.shape[1])).p
    return 1.0 if p is None else p


def _sets(answers: Floats) -> float:
    half = len(answers) // 2
    rows = answers.tolist()
    p = compare_sets(rows[:half], rows[half:], trend_weights(answers.shape[1])).p
    return 1.0 if p is None else p


def table(studies: int = STUDIES, seed: int = SEED) -> Iterator[Row]:
    """Yield a row for each method; the same seed gives the same table."""
    rng = np.random.default_rng(seed)
    few = max(20, studies // 4)
    sizes: dict[Model, Sequence[int]] = {"rasch": (30, 60, 200), "2pl": (200, 500)}
    names: dict[Model, str] = {"rasch": "Rasch", "2pl": "2-PL"}
    for model, name in names.items():
        of = {n: [parameters(model, n, k, few, rng) for k in (5, 10, 20)] for n in sizes[model]}
        for measure in ("difficulty", "discrimination"):
            for n, found in of.items():
                label = (
                    "common slope" if (model, measure) == ("rasch", "discrimination") else measure
                )
                cells = tuple(cell[measure] for cell in found)
                yield Row(f"{name} {label} ± 1.96 SE, {n} examinees", cells, 0.95)
    for n in (10, 30, 100):
        cells = tuple(correlation(n, k, studies, rng) for k in (5, 15))
        yield Row(f"discrimination (correlation), {n} examinees", cells, 0.95)
    of_foils = [
        [foils(k, r, varies, studies, rng) for k in (5, 10, 20) for r in (2, 10, 50)]
        for varies in (False, True)
    ]
    yield Row("share of a foil, prompts like these", tuple(x[2] for x in of_foils[1]), 0.95)
    cells = tuple(likelihood_ratio(n, 8, studies, rng) for n in (200, 500))
    yield Row("Rasch within 2-PL, likelihood ratio, 200 or 500 examinees", cells, LEVEL)
    for spread, place, name in ((0.0, 0, "these prompts"), (0.7, 1, "prompts like these")):
        cells = tuple(positions(k, r, spread, few, rng)[place] for k in (5, 10, 20) for r in (1, 5))
        yield Row(f"choices by position, {name}", cells, LEVEL)
    yield Row("share of a foil by chance, these prompts", tuple(x[0] for x in of_foils[0]), LEVEL)
    yield Row(
        "share of a foil by chance, prompts like these", tuple(x[1] for x in of_foils[1]), LEVEL
    )
    made = [
        groups(k, r, effect, studies, rng)
        for k in (8, 12, 15) for r in (1, 5, 20) for effect in (0.0, 1.5)
    ]  # fmt: skip
    yield Row("seven groups against one, maxT over sign flips", tuple(x[0] for x in made), LEVEL)
    yield Row("seven groups against one, Holm over sign flips", tuple(x[1] for x in made), LEVEL)
    tests: Sequence[tuple[str, Contrast, Sequence[int]]] = (
        ("McNemar, exact", _exact, (2,)),
        ("McNemar, mid-p", _mid, (2,)),
        ("trend over items, one-sided", _trend, (4, 8)),
        ("rate of change over items, one-sided", _rate, (4, 8)),
        ("trend of one set less another's, one-sided", _sets, (4, 8)),
    )
    for name, test, lengths in tests:
        for form in FORMS:
            cells = tuple(
                sessions(n, t, form, test, 10 * studies, rng) for n in (20, 40, 80) for t in lengths
            )
            yield Row(f"{name}{f', form of the day {form:g}' if form else ''}", cells, LEVEL)


def markdown(rows: Sequence[Row], studies: int, ranges: Sequence[str] = ()) -> str:
    """Return the tables of the docs."""
    lines: list[str] = []
    for nominal, what, worst in ((0.95, "interval | mean coverage", "least"),
                                 (LEVEL, "test | mean rejections", "most")):  # fmt: skip
        lines += [f"| {what} | {worst} | cells |", "|---|---:|---:|---:|"]
        lines += [
            f"| {row.method} | {row.mean:.3f} | {row.worst:.2f} | {len(row.cells)} |"
            for row in rows
            if row.nominal == nominal
        ]
        lines.append("")
    return "\n".join(
        [
            *lines,
            *ranges,
            f"{max(20, studies // 4)} to {10 * studies} studies per cell, seed {SEED}.",
        ]
    )


BEGIN, END = "<!-- analyses: begin -->", "<!-- analyses: end -->"
PAGE = Path(__file__).parents[1] / "docs" / "uncertainty.md"


def main() -> None:
    """Simulate and print; with ``--write`` also into the docs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analyses", description=__doc__)
    parser.add_argument("--studies", type=int, default=STUDIES, help="per cell")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    options = parser.parse_args()
    rng = np.random.default_rng([SEED, 1])
    ends = {n: fit_range(n, 10, max(20, options.studies // 4), rng) for n in (30, 100, 500)}
    said = ", ".join(f"{low:.2f} to {high:.2f} at {n}" for n, (low, high) in ends.items())
    ranges = [f"Where the Rasch model holds, 95 % of infits of 10 items are {said} examinees.", ""]
    rows = []
    for row in table(options.studies):
        print(f"{row.method}: {row.mean:.3f} ({row.worst:.2f})", file=sys.stderr, flush=True)
        rows.append(row)
    made = markdown(rows, options.studies, ranges)
    print(made)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
