"""Draw the five main pages of the workbench in large windows and print how many rows are blank.

``python -m benchmarks.blank_rows [--store FILE] [--sizes 160x48,220x60] [--text FOLDER]``. Without
a store one is filled: TAB given to the bundled model under several conditions, with and without a
lesion, and to models that repeat. Naming is given to recorded words of the tests. A row of the
middle is blank where it holds nothing but blanks and frames.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.workbench.seat import Seat

SIZES = "160x48,220x60"
MOST = 0.45
"""No page has a larger share of blank rows: the budget."""
FRAMES = frozenset(" │┃─━╭╮╰╯┏┓┗┛┌┐└┘├┤┬┴┼▏▕▌▐▁▔╌")
RUNS: tuple[tuple[str, ...], ...] = (
    ("--model", "bundled"),
    ("--model", "bundled", "--seed", "2", "--replicates", "3", "--temperature", "0.8"),
    ("--model", "bundled", "--lesion", "mlp.down:zero:0.3@seed=7"),
    ("--model", "bundled", "--lesion", "mlp.down:zero:0.6@seed=7"),
    ("--model", "echo"),
    ("--model", "echo@text=Yes"),
    *(("--model", "echo", "--seed", str(seed)) for seed in range(2, 12)),
)
SETTLE_S = 1.5
"""Seconds until a page has read and drawn what it shows."""


def blank_share(lines: Sequence[str]) -> float:
    """Return the share of lines that hold nothing but blanks and frames.

    >>> blank_share(["│ words │", "│       │", "╰───────╯", " 0.83 ├──●──┤"])
    0.5
    """
    return sum(not set(line) - FRAMES for line in lines) / len(lines) if lines else 0.0


def middle(seat: Seat) -> list[str]:
    """Return the rows of the page in the middle, without docks, title bar and footer."""
    region = seat.desk.query_one("#pages").region
    strips = seat.app.screen._compositor.render_strips()
    return [strips[y].crop(region.x, region.right).text for y in range(region.y, region.bottom)]


async def drawn(folder: Path, size: tuple[int, int]) -> AsyncIterator[tuple[str, list[str]]]:
    """Yield each page's name and rows."""
    from tests.workbench.naming_seat import naming

    async with naming(folder, size, transcriber="bundled-words") as given:
        seat = given.seat
        await given.ready()
        await given.give("dog", key="1")
        await given.give("three", key="3")
        await given.show()
        given.speaker.say("tree")
        await seat.pilot.pause(SETTLE_S)
        yield "naming", middle(seat)
        await given.score("1")
        await seat.press("f8")
        await seat.until(lambda: seat.desk.page == "home")
        await seat.pilot.pause(SETTLE_S)
        yield "home", middle(seat)
        await seat.begin(battery="tab", model="bundled", seed="5")
        for _ in range(8):
            await seat.next()
        yield "trial", middle(seat)
        await seat.press("f8")
        await seat.until(lambda: seat.desk.page == "home")
        seat.show_results(2)
        await seat.until(lambda: seat.desk.page == "results")
        await seat.pilot.pause(SETTLE_S)
        yield "results", middle(seat)
        await seat.press("f8")
        await seat.until(lambda: seat.desk.page == "home")
        await seat.press("m")
        await seat.until(lambda: seat.desk.page == "models")
        await seat.pilot.pause(SETTLE_S)
        yield "by model", middle(seat)


def filled(store: Path) -> None:
    """Fill a store with the command line, as a user would."""
    for run in RUNS:
        command = [sys.executable, "-m", "tabwb", "run", "tab", *run, "--store", str(store)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def _print_pages(store: Path, size: tuple[int, int], text: Path | None) -> bool:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(store, folder / "store.db")
        within = True
        async for page, lines in drawn(folder, size):
            share = blank_share(lines)
            within = within and share <= MOST
            print(f"{size[0]}x{size[1]}  {page:<10} {share:6.1%}", flush=True)
            if text is not None:
                path = text / f"{page.replace(' ', '-')}-{size[0]}x{size[1]}.txt"
                path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return within


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the share of blank rows of each page; return 1 where one has more than the budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="a store to draw instead; it is copied")
    parser.add_argument("--sizes", default=SIZES, help=f"default {SIZES}")
    parser.add_argument("--text", type=Path, help="write each page as text into this folder")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        os.environ["TABWB_CONFIG_DIR"] = os.environ["TABWB_DATA_DIR"] = name
        store = asked.store or Path(name, "filled.db")
        if asked.store is None:
            filled(store)
        if asked.text is not None:
            asked.text.mkdir(parents=True, exist_ok=True)
        sizes = [tuple(map(int, size.split("x"))) for size in asked.sizes.split(",")]
        within = [
            asyncio.run(_print_pages(store, (columns, lines), asked.text))
            for columns, lines in sizes
        ]
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
