"""Simulate intervals and tests of items, positions, foils, groups, sessions, lesions, profiles.

``python -m benchmarks.analyses [--studies N] [--workers N] [--write]``: prints, for intervals, the
coverage (95 % is nominal), and for tests, how often they reject a true null hypothesis (5 % is
nominal) or, under *power*, a false one: the mean and the worst over the cells of each method.
``--write`` puts the table into ``docs/uncertainty.md``. It calls the program's own functions. Each
cell has its own seed, so that the number of workers does not change a figure.

The generators are described in :mod:`benchmarks.simulated_items`,
:mod:`benchmarks.simulated_choices`, :mod:`benchmarks.simulated_groups` and
:mod:`benchmarks.simulated_lesions`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from benchmarks import simulated_choices as choices
from benchmarks import simulated_groups as groups
from benchmarks import simulated_items as items
from benchmarks import simulated_lesions as lesions
from benchmarks.measure import simulated
from tabwb.scoring.item_response import Model

STUDIES = 200
SEED = 20260
INTERVAL, TEST, POWER = (
    "interval | mean coverage",
    "test | mean rejections",
    "power | mean rejections",
)
KINDS = {INTERVAL: "least", TEST: "most", POWER: "least"}
FORMS = (0.0, 0.25, 0.5)
"""Standard deviations of the form of the day, in logits."""
UNEQUAL = ((6, 1, 20), (12, 1, 20), (12, 4, 20), (12, 16, 20), (12, 20, 20))
"""Items, and replicates of two sides."""


@dataclass(frozen=True)
class Row:
    """One method: the share of studies in which something held, in each cell."""

    kind: str
    method: str
    cells: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Return the mean over cells."""
        return float(np.mean(self.cells))

    @property
    def worst(self) -> float:
        """Return the least coverage or power, or the most rejections."""
        return max(self.cells) if self.kind == TEST else min(self.cells)


@dataclass(frozen=True)
class Cell:
    """One simulation, and the rows to which its figures go."""

    simulate: Callable[[int, np.random.Generator], Mapping[str, float]]
    rows: Mapping[str, tuple[str, str]]
    effort: float = 1.0


def _of_items() -> Iterator[Cell]:
    sizes: dict[Model, Sequence[int]] = {"rasch": (30, 60, 200), "2pl": (200, 500)}
    names: dict[Model, str] = {"rasch": "Rasch", "2pl": "2-PL"}
    for model, name in names.items():
        slope = "common slope" if model == "rasch" else "discrimination"
        for n, k in product(sizes[model], (5, 10, 20)):
            yield Cell(
                partial(items.parameters, model, n, k),
                {
                    "difficulty": (INTERVAL, f"{name} difficulty ± 1.96 SE, {n} examinees"),
                    "discrimination": (INTERVAL, f"{name} {slope} ± 1.96 SE, {n} examinees"),
                },
                0.2,
            )
    for n, k in product((5, 8, 15, 30, 100), (5, 15)):
        row = INTERVAL, f"discrimination (correlation), {n} examinees"
        yield Cell(partial(items.correlation, n, k), {"coverage": row})
    for n in (200, 500):
        row = TEST, f"Rasch within 2-PL, likelihood ratio, {n} examinees"
        yield Cell(partial(items.likelihood_ratio, n, 8), {"rejected": row})


def _of_positions() -> Iterator[Cell]:
    like = ("choices", "choices by position"), ("accuracy", "accuracy by position")
    shown = [
        choices.Items(design, k, m, r, spread, repeated)
        for design, k, m in product(choices.DESIGNS, (3, 5, 10), (2, 3, 6, 0))
        for r, spread, repeated in ((1, 0.7, 0.0), (5, 1.5, 0.9))
        if not m or m ** (1 - k) <= choices.LEVEL  # fewer items cannot reject
    ]
    for given in shown:
        if given.repeated == 0:
            row = TEST, "choices by position, these prompts"
            yield Cell(partial(choices.positions, replace(given, spread=0.0)), {"these": row}, 0.5)
    for given in shown:
        name = choices.DESIGNS[given.design]
        rows = {key: (TEST, f"{what}, prompts like these: {name}") for key, what in like}
        yield Cell(partial(choices.positions, given), rows)
    others = {"t": "t with Bonferroni's correction", "hotelling": "F"}
    for k, r, m in product((3, 5, 10), (1, 5), (2, 3, 6)):
        true = choices.Items("rotations", k, m, r, 0.7)
        false = replace(true, bias=1.0)
        label = f"choices by position, {k} items, 1 logit"
        yield Cell(partial(choices.positions, false), {"choices": (POWER, label)}, 0.5)
        rows = {key: (POWER, f"{label}: {name} (not in tabwb)") for key, name in others.items()}
        yield Cell(partial(choices.other_tests, false), rows)
        rows = {
            key: (TEST, f"choices by position, {k} items: {name} (not in tabwb)")
            for key, name in others.items()
            if key == "t" or k > m
        }
        yield Cell(partial(choices.other_tests, true), rows)


def _of_varied_positions() -> Iterator[Cell]:
    for k, m in product((5, 10), (3, 6)):
        bias = choices.BALANCED[m]
        given = choices.Items("rotations", k, m, 5, 0.3, bias=bias, varied=1.5)
        row = TEST, f"choices by position, one position varies more, {k} items"
        yield Cell(partial(choices.positions, given), {"choices": row}, 2)


def _of_foils() -> Iterator[Cell]:
    for k, r, of_kind, rho in product((5, 10, 20), (5, 50), (1, 3), (0.0, 0.09, 0.3)):
        rows = {"like": (TEST, "share of a foil by chance, prompts like these")}
        if rho:
            rows["coverage"] = INTERVAL, "share of a foil, prompts like these"
        else:
            rows["these"] = TEST, "share of a foil by chance, these prompts"
        yield Cell(partial(choices.foils, k, r, of_kind, rho), rows)


def _of_groups() -> Iterator[Cell]:
    for (k, *replicates), middle, apart, burden in product(
        UNEQUAL, (-2.0, 0.0), (0.0, 0.7), (False, True)
    ):
        label = f"two sides, {k} items, {replicates[0]} and {replicates[1]} replicates"
        for difference in (0.0, 1.0):
            rows = {"coverage": (INTERVAL, label)}
            if not difference:
                rows["made"] = TEST, f"{label}: as tabwb tests"
                rows["flipped"] = TEST, f"{label}: sign flips"
            both = replicates[0], replicates[1]
            yield Cell(partial(groups.two_sides, k, both, middle, apart, burden, difference), rows)
    for k, r, effect in product((8, 12, 15), (1, 5, 20), (0.0, 1.5)):
        rows = {
            key: (TEST, f"seven groups against one, {name} over sign flips")
            for key, name in (("together", "maxT"), ("alone", "Holm"))
        }
        yield Cell(partial(groups.groups, k, r, effect), rows)


def _of_sessions() -> Iterator[Cell]:
    tests: Sequence[tuple[str, groups.Contrast, Sequence[int]]] = (
        ("McNemar, exact", groups.exact, (2,)),
        ("McNemar, mid-p", groups.mid, (2,)),
        ("trend, sign flips over items", groups.trend, (4, 8)),
        ("rate of change, sign flips over items", groups.rate, (4, 8)),
        ("trend of one set less another's", groups.sets, (4, 8)),
    )
    for name, test, lengths in tests:
        for form, n, t in product(FORMS, (5, 10, 20, 40, 80), lengths):
            row = TEST, f"{name}{f', form of the day {form:g}' if form else ''}"
            yield Cell(
                partial(groups.sessions, n, t, form, test),
                {"rejected": row},
                1 if test in (groups.trend, groups.rate) else 10,
            )


def _of_lesions() -> Iterator[Cell]:
    kinds = ("value", "slope", "height", "intact")
    for n, k, r, spread, rate in product((5, 10), (5, 20), (0, 10), (0.5, 1.0), (2.0, 6.0)):
        for shared in (True, False) if r else (True,):
            drawn = "greedy" if not r else "shared streams" if shared else "own streams"
            names = {kind: kind for kind in kinds} | {"intact": "less intact"}
            rows = {kind: (INTERVAL, f"seeds, {names[kind]}, {drawn}") for kind in kinds}
            if r and shared:
                rows |= {
                    f"{kind} alone": (INTERVAL, f"seeds, {kind}, {drawn}: t alone (not in tabwb)")
                    for kind in kinds[:3]
                }
            design = lesions.Design(n, k, r, spread, rate, shared)
            yield Cell(partial(lesions.over_seeds, design), rows)
    for n, k, r, spread in product((5, 10), (5, 20), (0, 10), (0.5, 1.0)):
        design = lesions.Design(n, k, r, spread)
        for effect, kind in ((0.0, TEST), (0.7, INTERVAL)):
            rows = {
                f"{test} {what}{' coverage' if effect else ''}": (
                    kind, f"lesion less control, {test}, {what}"
                )
                for test, what in product(("paired", "welch"), ("slope", "height", "value"))
            }  # fmt: skip
            yield Cell(partial(lesions.controls, design, effect), rows)
    for n, k, spread in product((5, 10), (5, 20), (0.25, 0.5, 1.0)):
        rows = {
            "all": (INTERVAL, "burden over seeds of which none dropped out"),
            "slope": (INTERVAL, "slope of the burden over amounts at which no seed dropped out"),
        }
        if n > 5:
            what = "burden over the seeds that did not drop out (not in tabwb)"
            rows["rest"] = INTERVAL, what
        design = lesions.Design(n, k, 0, spread, 5.0)
        yield Cell(partial(lesions.dropout, design), rows)


def _of_profiles() -> Iterator[Cell]:
    for k, r, together, high in product(
        (5, 10, 20), (5, 20), (-0.5, 0.0, 0.6), ((0.4, 0.8), (1.0, 1.3))
    ):
        rows = {"coverage": (INTERVAL, "phi of two features")}
        yield Cell(partial(lesions.features_together, k, r, together, high), rows)
    for k, r, n, sampled, alike in product(
        (5, 10, 20), (4, 20), (4, 7, 19), (False, True), (0.0, 0.5, 0.95)
    ):
        of = "a sampled" if sampled else "a known"
        rows = {
            "spearman": (INTERVAL, f"rank correlation with {of} profile"),
            "cosine": (INTERVAL, f"cosine with {of} profile"),
        }
        given = lesions.Profile(k, r, n, sampled, alike)
        yield Cell(partial(lesions.similarities, given), rows, 0.5)


def _of_single_lesions() -> Iterator[Cell]:
    for n, k, r, spread in product((5, 10, 20), (5, 20), (0, 10), (0.5, 1.0)):
        rows = {
            f"{what}{more}": (kind, f"one lesion against controls, {what}")
            for what in ("slope", "height", "value")
            for more, kind in (("", TEST), (" more", INTERVAL))
        }
        yield Cell(partial(lesions.one_case, lesions.Design(n, k, r, spread)), rows, 2)


def cells() -> list[Cell]:
    """Return every simulation, in the order of the table."""
    every = (
        _of_items, _of_positions, _of_foils, _of_groups, _of_sessions, _of_varied_positions,
        _of_lesions, _of_profiles, _of_single_lesions,
    )  # fmt: skip
    return [cell for some in every for cell in some()]


def _run(task: tuple[int, Cell, int]) -> Mapping[str, float]:
    number, cell, studies = task
    rng = np.random.default_rng([SEED, number])
    return cell.simulate(max(20, round(cell.effort * studies)), rng)


def table(studies: int = STUDIES, workers: int = 1) -> list[Row]:
    """Return a row for each method."""
    every = cells()
    rows: dict[tuple[str, str], list[float]] = {}
    with ProcessPoolExecutor(workers) as pool:
        tasks = ((number, cell, studies) for number, cell in enumerate(every))
        for number, (cell, found) in enumerate(zip(every, pool.map(_run, tasks), strict=True), 1):
            for name, row in cell.rows.items():
                if name in found:  # in no study there was such an interval
                    rows.setdefault(row, []).append(found[name])
            if number % 20 == 0:
                print(f"{number} of {len(every)} cells", file=sys.stderr, flush=True)
    return [Row(kind, method, tuple(found)) for (kind, method), found in rows.items()]


def infits(studies: int) -> str:
    """Return what the docs say about infit and outfit where the Rasch model holds."""
    rng = np.random.default_rng([SEED, SEED])
    found = {n: items.fit_range(n, 10, max(20, studies // 4), rng) for n in (30, 100, 500)}
    ends = ", ".join(f"{of['low']:.2f} to {of['high']:.2f} at {n}" for n, of in found.items())
    means = [of[name] for of in found.values() for name in ("infit", "outfit")]
    return (
        f"Where the Rasch model holds, 95 % of infits of 10 items are {ends} examinees; the means "
        f"of infit and outfit are {min(means):.2f} to {max(means):.2f}."
    )


def markdown(rows: Sequence[Row], studies: int, said: Sequence[str] = ()) -> str:
    """Return the tables of the docs."""
    lines: list[str] = []
    for kind, worst in KINDS.items():
        lines += [f"| {kind} | {worst} | cells |", "|---|---:|---:|---:|"]
        lines += [
            f"| {row.method} | {row.mean:.3f} | {row.worst:.2f} | {len(row.cells)} |"
            for row in rows
            if row.kind == kind
        ]
        lines.append("")
    shares = {cell.effort for cell in cells()}
    few, many = (max(20, round(share * studies)) for share in (min(shares), max(shares)))
    return "\n".join([*lines, *said, "", f"{few} to {many} studies per cell, seed {SEED}."])


def main() -> None:
    """Simulate and print; with ``--write`` also into the docs."""
    simulated("analyses", __doc__, lambda n, w: [markdown(table(n, w), n, [infits(n)])], STUDIES)


if __name__ == "__main__":
    main()
