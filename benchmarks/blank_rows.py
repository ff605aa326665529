"""Draw the pages of the workbench in large windows and print how many of their rows are blank.

``python -m benchmarks.blank_rows [--pages REGEX] [--sizes 160x48,220x60] [--text FOLDER]``. The
pages are those of the golden drawings, over their stores; administrations and a job are begun over
copies of them. A row of the middle is blank where it holds nothing but blanks and frames.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
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
DIALOGS = {"new", "import", "judge-dialog", "export-dialog", "menu", "models", "keys"}
"""Drawings of what lies over a page."""
MORE = {
    "disputed": ("sets", "r;down;d"),
    "given item": ("models", "b;space"),
    "rating": ("sets", "r;enter;down;enter"),
}
"""Pages that have no golden drawing."""
STILL_S = 0.15
"""A page that shows the same so long and four times is read whole."""


def blank_share(lines: Sequence[str]) -> float:
    """Return the share of lines that hold nothing but blanks and frames.

    >>> blank_share(["│ words │", "│       │", "╰───────╯", " 0.83 ├──●──┤"])
    0.5
    """
    return sum(not set(line) - FRAMES for line in lines) / len(lines) if lines else 0.0


def middle(seat: Seat) -> list[str]:
    """Return the rows of the page, or of what lies over it, without docks, title bar and footer."""
    screen = seat.app.screen
    area = screen.query("#pages") or screen.query("#rating-body") or screen.query(".dialog")
    region = area.first().region
    strips = screen._compositor.render_strips()
    return [strips[y].crop(region.x, region.right).text for y in range(region.y, region.bottom)]


async def still(seat: Seat) -> list[str]:
    """Return the rows of a page once they no longer change."""
    before: list[str] = []
    equal = 0
    while equal < 4:
        await seat.pilot.pause(STILL_S)
        now = middle(seat)
        equal = equal + 1 if now == before and "… reading" not in "".join(now) else 0
        before = now
    return before


async def at_sizes(seat: Seat, sizes: Sequence[tuple[int, int]]) -> list[list[str]]:
    """Return the rows of a page at each size, the first of which it has."""
    pages = [await still(seat)]
    for size in (*sizes[1:], *sizes[:1]):
        await seat.pilot.resize_terminal(*size)
        pages.append(await still(seat))
    return pages[: len(sizes)]


async def drawn(
    sizes: Sequence[tuple[int, int]], wanted: re.Pattern[str]
) -> AsyncIterator[tuple[str, list[list[str]]]]:
    """Yield each page's name and its rows at each size."""
    from tests.golden.freeze import STORES, unpacked
    from tests.golden.interfaces import PAGES
    from tests.workbench.seat import workbench

    async for name, seat in given(sizes[0], wanted):
        yield name, await at_sizes(seat, sizes)
    pages = {name: one for name, one in (PAGES | MORE).items() if wanted.search(name)}
    for store in STORES:
        here = [(name, keys) for name, (of, keys) in pages.items() if of == store]
        for name, keys in here:
            if name in DIALOGS:
                continue
            with tempfile.TemporaryDirectory() as folder:
                unpacked(store, Path(folder))
                async with workbench(Path(folder), sizes[0]) as seat:
                    for key in keys.split(";"):
                        await still(seat)
                        await seat.press(*(key and [key]))
                    if name == "jobs":
                        await begin_job(seat)
                    yield name, await at_sizes(seat, sizes)


async def begin_job(seat: Seat) -> None:
    """Let the rules judge an administration again in the background."""
    from tabwb.operations.judge import JudgeRun

    seat.desk.sessions.jobs.begin(JudgeRun(ids=("1",), judge=("rules",), again=True))
    await seat.pilot.pause(1.0)


async def given(size: tuple[int, int], wanted: re.Pattern[str]) -> AsyncIterator[tuple[str, Seat]]:
    """Yield the pages while pictures are named, and while a model is given items."""
    from tests.workbench.naming_seat import naming
    from tests.workbench.seat import workbench

    if wanted.search("naming session, naming responses"):
        with tempfile.TemporaryDirectory() as folder:
            async with naming(Path(folder), size, transcriber="bundled-words") as one:
                await one.ready()
                await one.give("dog", key="1")
                await one.give("three", key="3")
                await one.show()
                one.speaker.say("tree")
                yield "naming session", one.seat
                await one.score("1")
                await one.seat.press("f8", at="home")
                one.seat.show_results(1)
                await one.seat.at("results")
                await one.seat.press("t")
                yield "naming responses", one.seat
    if wanted.search("trial"):
        with tempfile.TemporaryDirectory() as folder:
            async with workbench(Path(folder), size) as seat:
                await seat.begin(battery="tab", model="bundled", seed="5")
                for _ in range(8):
                    await seat.next()
                yield "trial", seat


async def _print_pages(
    sizes: Sequence[tuple[int, int]], wanted: re.Pattern[str], text: Path | None
) -> bool:
    print(f"| page | {' | '.join(f'{columns}x{rows}' for columns, rows in sizes)} |")
    print(f"|---|{'---:|' * len(sizes)}")
    within = True
    async for page, drawings in drawn(sizes, wanted):
        shares = [blank_share(lines) for lines in drawings]
        within = within and max(shares) <= MOST
        cells = " | ".join(f"{share:.0%}".replace("%", " %") for share in shares)
        print(f"| {page.replace('-', ' ')} | {cells} |", flush=True)
        for (columns, rows), lines in zip(sizes, drawings, strict=True):
            if text is not None:
                path = text / f"{page.replace(' ', '-')}-{columns}x{rows}.txt"
                path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return within


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the share of blank rows of each page; return 1 where one has more than the budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", default="", help="only pages whose name this pattern finds")
    parser.add_argument("--sizes", default=SIZES, help=f"default {SIZES}")
    parser.add_argument("--text", type=Path, help="write each page as text into this folder")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        os.environ["TABWB_CONFIG_DIR"] = os.environ["TABWB_DATA_DIR"] = name
        if asked.text is not None:
            asked.text.mkdir(parents=True, exist_ok=True)
        sizes = [tuple(map(int, size.split("x"))) for size in asked.sizes.split(",")]
        pairs = [(columns, rows) for columns, rows in sizes]
        return 0 if asyncio.run(_print_pages(pairs, re.compile(asked.pages), asked.text)) else 1


if __name__ == "__main__":
    sys.exit(main())
