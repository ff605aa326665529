"""Time several commands or calls in one run: interleaved, medians, clock and CPU time.

What simulations print, and write into the docs, is here too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians of several runs: seconds of clock and CPU, peak memory of whole processes."""

    clock_s: float
    cpu_s: float
    peak_mb: float = 0.0


METER = """
import os, sys, time
began = time.perf_counter()
number = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(number, 0)
clock, cpu = time.perf_counter() - began, used.ru_utime + used.ru_stime
sys.stderr.write(f"\\n{os.waitstatus_to_exitcode(status)} {clock} {cpu} {used.ru_maxrss}")
"""
"""Starts a process from one that is small: a process begins with the peak memory of its parent."""


def process(arguments: Sequence[str], *, environment: dict[str, str] | None = None) -> Cost:
    """Return the cost of one run of a whole process, from start to end, with its children."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", METER, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
        check=True,
    )
    errors, _, measured = done.stderr.rpartition("\n")
    status, clock, cpu, peak = map(float, measured.split())
    if status:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{errors}")
    return Cost(clock, cpu, peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


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
            statistics.median(cost.peak_mb for cost in costs),
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


PAGE = Path(__file__).parents[1] / "docs" / "uncertainty.md"


def simulated(
    name: str,
    doc: str | None,
    table: Callable[[int, int], Iterable[str]],
    studies: int,
    *flags: str,
) -> None:
    """Print a table of a simulation; with ``--write`` also into the docs, between its marks.

    ``table`` takes the number of studies in each cell and of processes.
    """
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--studies", type=int, default=studies, help="per cell")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    lines = []
    for line in table(options.studies, options.workers):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        page = PAGE.read_text(encoding="utf-8")
        made = "\n".join((begin, *lines, end))
        PAGE.write_text(page.split(begin)[0] + made + page.split(end)[1], encoding="utf-8")
