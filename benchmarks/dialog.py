"""Measure how long the new-administration dialog takes to open, beside a dialog of one button.

Both are opened in the same workbench. The time is that in which the main thread works on what the
key has caused, without the waiting between; its CPU time is not affected by other programs.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from textual.app import ComposeResult
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Button

from benchmarks.measure import Cost
from benchmarks.rows import Result

BEAT_S = 0.002
BUSY_S = 0.001
"""CPU between two beats from which the main thread works."""
QUIET_S = 0.5
"""So long nothing is worked on once a dialog is open."""
KINDS = ("first", "again", "trivial")


class Trivial(ModalScreen[None]):
    """One button."""

    def compose(self) -> ComposeResult:
        """Yield it."""
        yield Button("Close")


async def _until_quiet() -> Cost:
    """Return clock and CPU of what the main thread works on until it has nothing to do."""
    at = worked = time.perf_counter()
    spent, clock, cpu = time.thread_time(), 0.0, 0.0
    while at - worked < QUIET_S:
        await asyncio.sleep(BEAT_S)
        now, used = time.perf_counter(), time.thread_time()
        if used - spent >= BUSY_S:
            worked, clock, cpu = now, clock + now - at - BEAT_S, cpu + used - spent
        at, spent = now, used
    return Cost(clock, cpu)


async def _opened(folder: Path) -> dict[str, Cost]:
    from tabwb.workbench.app import make_workbench
    from tabwb.workbench.engine.threads import settle

    memory = folder / "memory.json"
    memory.write_text('{"notice_seen": true}', encoding="utf-8")
    app = make_workbench(
        location=str(folder / "tabwb.db"), memory=memory, offline=True, when_ready=settle
    )

    async def cost_of(do: Callable[[], Any]) -> Cost:
        do()
        taken = await _until_quiet()
        app.screen.dismiss()
        await _until_quiet()
        return taken

    def press() -> None:
        app.post_message(Key("n", "n"))

    async with app.run_test(size=(160, 48)):
        while not app.desk.catalogue:
            await asyncio.sleep(0.05)
        await _until_quiet()
        costs = {"first": await cost_of(press), "again": await cost_of(press)}
        await cost_of(lambda: app.push_screen(Trivial()))
        costs["trivial"] = await cost_of(lambda: app.push_screen(Trivial()))
        app.desk.close_worker()
    return costs


def _once() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TABWB_CONFIG_DIR"] = os.environ["TABWB_DATA_DIR"] = folder
        for kind, cost in asyncio.run(_opened(Path(folder))).items():
            print(kind, cost.clock_s, cost.cpu_s)


def dialog(rounds: int) -> Iterator[Result]:
    """Yield what the dialog takes to open, first and again, each the median of several runs."""
    taken: dict[str, list[Cost]] = {kind: [] for kind in KINDS}
    for _ in range(rounds):
        command = [sys.executable, "-m", "benchmarks.dialog"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            kind, clock, cpu = line.split()
            taken[kind].append(Cost(float(clock), float(cpu)))
    first, again, trivial = (
        Cost(
            statistics.median(cost.clock_s for cost in taken[kind]),
            statistics.median(cost.cpu_s for cost in taken[kind]),
        )
        for kind in KINDS
    )
    against = (("a dialog of one button", trivial),)
    yield Result("new-administration dialog, opened first", "100 ms CPU", first, against)
    yield Result("the same, opened again", "100 ms CPU", again, against)


if __name__ == "__main__":
    _once()
