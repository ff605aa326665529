"""Simulate the coverage of the intervals of :mod:`tabwb.agreement`, and time its functions.

``python -m benchmarks.agreement [--studies N] [--workers N] [--write]``: prints the coverage of
each interval, mean and least over cells (95 % is nominal); ``--write`` puts the table into
``docs/uncertainty.md``. It calls the program's own functions. ``python -m benchmarks agreement``
times them. The generators are described in :mod:`benchmarks.simulated_raters`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product

import numpy as np

from benchmarks import simulated_raters as simulated
from benchmarks.measure import call, interleaved
from benchmarks.measure import simulated as simulate
from benchmarks.rows import Result
from tabwb.agreement.compare import compare
from tabwb.agreement.many import binary_alpha
from tabwb.agreement.verdicts import consensus

STUDIES = 100
SAMPLES = (40, 82, 200)
Cell = Callable[[int], simulated.Found]
LARGE = 112_000


def cells() -> list[Cell]:
    """Return a function for each cell that simulates one study, given its number."""
    designs = [
        simulated.Design(raters, per, agreement)
        for (raters, per), agreement in product(((2, 2), (3, 3), (5, 3)), simulated.RATES)
    ]
    found: list[Cell] = [
        partial(simulated.features, design, n) for design, n in product(designs, SAMPLES)
    ]
    by_speaker = simulated.Design(3, 3, speakers=True)
    found += [partial(simulated.features, by_speaker, n) for n in (100, 200)]
    found += [
        partial(simulated.rates, raters, prevalence, n, speakers)
        for raters, (prevalence, n), speakers in product(
            (3, 5), ((0.1, 200), (0.3, 100), (0.1, 561), (0.3, 561)), (False, True)
        )
    ]
    kinds = ((5, True), (4, False), (8, False), (16, False))
    found += [
        partial(simulated.scales, k, ordered, n) for (k, ordered), n in product(kinds, SAMPLES)
    ]
    found += [
        partial(simulated.error_rate, n, rate, speakers)
        for n, rate, speakers in product((20, 50, 100), (0.02, 0.1, 0.3, 0.6), (False, True))
    ]
    return found


def _cell(task: tuple[Cell, int]) -> dict[str, tuple[int, int]]:
    cell, studies = task
    counts: dict[str, tuple[int, int]] = {}
    for number in range(studies):
        for name, inside in cell(number):
            held, made = counts.get(name, (0, 0))
            counts[name] = held + inside, made + 1
    return counts


def table(studies: int, workers: int) -> str:
    """Return the table of the docs."""
    done = []
    with ProcessPoolExecutor(workers) as pool:
        for counts in pool.map(_cell, ((cell, studies) for cell in cells())):
            done.append(counts)
            print(f"{len(done)} of {len(cells())} cells", file=sys.stderr, flush=True)
    lines = ["| interval | mean coverage | least | cells |", "|---|---:|---:|---:|"]
    lines += [
        f"| {name} | {mean:.3f} | {least:.2f} | {number} |"
        for name, (mean, least, number) in simulated.worst(done).items()
    ]
    return "\n".join([*lines, "", f"{studies} studies per cell."])


def agreement(rounds: int) -> Iterator[Result]:
    """Yield how long 112,000 responses x 19 features x 3 raters take, also with intervals."""
    rng = np.random.default_rng(1)
    verdicts = (rng.random((3, LARGE, 19)) < rng.uniform(0.01, 0.4, 19)).astype(np.int8)
    labels = consensus(verdicts)
    pairs = [(verdicts[a], verdicts[b]) for a in range(3) for b in range(a)]

    def estimates() -> None:
        compare(pairs, consensus(verdicts), draws=0)
        binary_alpha(verdicts)

    def reading() -> None:
        verdicts.sum(dtype=np.int64)

    def intervals() -> None:
        compare(pairs, labels, draws=1_000)

    runs = [partial(call, function, 1) for function in (reading, estimates, intervals)]
    base, one, many = interleaved(*runs, rounds=rounds)
    what = f"{LARGE:,} x 19 x 3 verdicts"
    against = (("sum of the verdicts", base),)
    yield Result(f"kappa, AC1, alpha of {what}", "1 s", one, against)
    yield Result(f"1,000 joint resamples of {what}", "60 s", many, against)


def main() -> None:
    """Simulate and print; with ``--write`` also into the docs."""
    simulate("agreement", __doc__, lambda n, workers: [table(n, workers)], STUDIES)


if __name__ == "__main__":
    main()
