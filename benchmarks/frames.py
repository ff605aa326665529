"""Measure the delays of the workbench's event loop while a model loads and streams, and while many
responses are read.

A periodic timer on the loop measures its delays by the clock, and the main thread's CPU time, which
other programs do not affect.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.fill import fill
from benchmarks.measure import Cost
from benchmarks.rows import Result
from tabwb.store.store import Store

BEAT_S = 0.002
PHASES = {
    "load": "longest frame while a model loads",
    "stream": "longest frame while a model streams, auto-run of 20 items",
    "stream 99 %": "99 % of these frames are shorter than",
    "results": "the frame in which the results appear",
    "by model": "longest frame while 112,000 responses are read, model by model",
    "by model 99 %": "99 % of these frames are shorter than",
}


async def _watched(folder: Path) -> dict[str, list[tuple[float, float]]]:
    import time

    from tabwb.workbench.app import make_workbench
    from tabwb.workbench.engine.threads import settle

    (folder / "memory.json").write_text('{"notice_seen": true}', encoding="utf-8")
    app = make_workbench(
        location=str(folder / "tabwb.db"),
        memory=folder / "memory.json",
        offline=True,
        battery="tab",
        model="bundled",
        when_ready=settle,
    )
    beats: dict[str, list[tuple[float, float]]] = {
        "open": [],
        "load": [],
        "stream": [],
        "results": [],
    }
    phase, watching_over = "open", False

    async def heart() -> None:
        last, spent = time.perf_counter(), time.thread_time()
        while not watching_over:
            await asyncio.sleep(BEAT_S)
            now, used = time.perf_counter(), time.thread_time()
            over = app.desk.page == "results"
            beats["results" if over else phase].append((now - last - BEAT_S, used - spent))
            last, spent = now, used

    async with app.run_test(size=(160, 48)) as pilot:
        while not app.screen.query("#begin"):
            await asyncio.sleep(0.05)
        watching = asyncio.create_task(heart())
        await pilot.press("enter")
        while app.desk.work is None:
            await asyncio.sleep(0.01)
        phase = "load"
        while not app.desk.work.facts or app.desk.work.loading:
            await asyncio.sleep(0.01)
        phase = "stream"  # the press waits until the workbench is idle, which can be after the run
        await pilot.press("a")
        while app.desk.page != "results":
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        watching_over = True
        await watching
    return beats


async def _surveyed(folder: Path, store: Path) -> dict[str, list[tuple[float, float]]]:
    import time

    from tabwb.workbench.app import make_workbench
    from tabwb.workbench.comparison.page import ModelsPage
    from tabwb.workbench.engine.threads import settle

    memory = folder / "memory.json"
    memory.write_text('{"notice_seen": true}', encoding="utf-8")
    app = make_workbench(location=str(store), memory=memory, offline=True, when_ready=settle)
    beats: list[tuple[float, float]] = []
    async with app.run_test(size=(160, 48)) as pilot:
        while not app.desk.catalogue:
            await asyncio.sleep(0.05)
        await pilot.press("m")
        last, spent = time.perf_counter(), time.thread_time()
        while not app.desk.query_one(ModelsPage).done:
            await asyncio.sleep(BEAT_S)
            now, used = time.perf_counter(), time.thread_time()
            beats.append((now - last - BEAT_S, used - spent))
            last, spent = now, used
        app.desk.close_worker()
    return {"by model": beats}


def _once(store: Path | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TABWB_CONFIG_DIR"] = os.environ["TABWB_DATA_DIR"] = folder
        watched = _watched(Path(folder)) if store is None else _surveyed(Path(folder), store)
        beats = asyncio.run(watched)
    for phase in PHASES.keys() & beats.keys():
        clock = sorted(late for late, _ in beats[phase])
        cpu = sorted(used for _, used in beats[phase])
        print(phase, clock[-1], cpu[-1])
        if f"{phase} 99 %" in PHASES:
            place = int(len(clock) * 0.99) - 1
            print(f"{phase} 99 %", clock[place], cpu[place])


def frames(rounds: int) -> Iterator[Result]:
    """Yield the longest delays of the event loop, each the median of several whole runs."""
    taken: dict[str, list[tuple[float, float]]] = {phase: [] for phase in PHASES}
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.db"
        with Store.open(large) as store:
            fill(store)
        for _ in range(rounds):
            for arguments in ([], [str(large)]):
                command = [sys.executable, "-m", "benchmarks.frames", *arguments]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                for line in done.stdout.splitlines():
                    phase, clock, cpu = line.rsplit(" ", 2)
                    taken[phase].append((float(clock), float(cpu)))
    for phase, what in PHASES.items():
        clocks, cpus = (sorted(side) for side in zip(*taken[phase], strict=True))
        middle = len(clocks) // 2
        yield Result(
            what, "" if phase == "results" else "50 ms", Cost(clocks[middle], cpus[middle])
        )


if __name__ == "__main__":
    _once(Path(sys.argv[1]) if sys.argv[1:] else None)
