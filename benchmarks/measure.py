"""Time several commands or calls in one run: interleaved, medians, clock and CPU time."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """Median seconds of several runs: clock and CPU."""

    clock_s: float
    cpu_s: float


def process(arguments: Sequence[str], *, environment: dict[str, str] | None = None) -> Cost:
    """Return the cost of one run of a whole process, from start to end, with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    clock = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr.decode()}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(clock, cpu)


def call(function: Callable[[], object], times: int) -> Cost:
    """Return the cost of one call, as the mean over ``times`` calls in a row."""
    clock, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        function()
    return Cost((time.perf_counter() - clock) / times, (time.process_time() - cpu) / times)


def interleaved(*runs: Callable[[], Cost], rounds: int = 5) -> list[Cost]:
    """Return the medians of several calls measured in turn, so that load affects all.

    The first round fills the file cache and is not counted.
    """
    taken: list[list[Cost]] = [[] for _ in runs]
    for round_number in range(rounds + 1):
        for index, one in enumerate(runs):
            cost = one()
            if round_number:
                taken[index].append(cost)
    return [
        Cost(
            statistics.median(cost.clock_s for cost in costs),
            statistics.median(cost.cpu_s for cost in costs),
        )
        for costs in taken
    ]


def python(code: str) -> list[str]:
    """Return the command that runs ``code`` with this interpreter."""
    return [sys.executable, "-c", code]


def tabwb(*arguments: str) -> list[str]:
    """Return the command that runs tabwb like its entry point."""
    start = "import sys; from tabwb.start import main; sys.exit(main())"
    return [*python(start), *arguments]
