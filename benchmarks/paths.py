"""Counts how much of our code one response passes through, and how deep the code is.

``python -m benchmarks paths [--list]`` drives the workbench without a terminal, as the tests do:

- *Typed item*: TAB given to a person who types, from the key that submits the answer until the
  score panel, which the participant's view covers, has it; of an item with options and of a
  connected text, which a judge rates.
- *Naming response*: a picture-naming battery with recorded words and a transcriber, from the key
  that shows the picture, through score and transcript, until the code dialog is open.

The first item of each administration is not counted: it imports modules and opens files. Of the
two items after it the one with fewer functions counts, as a timer of the screen may add a few.
Counted are the distinct functions entered in any thread, and the files that hold them, under
``tabwb/`` and ``plugins/``; module bodies, class bodies, lambdas and comprehensions are not.
``--list`` names them. The static figures are the longest chains of classes in the workbench and
the places that name a :class:`~tabwb.records.states.ResponseKind`. ``python -m benchmarks sizes``
counts lines.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import importlib
import os
import pkgutil
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OURS = (f"{ROOT / 'tabwb'}{os.sep}", f"{ROOT / 'plugins'}{os.sep}")
SIZE = (160, 48)
TEXT = "We went to the sea. The water was cold and the children swam all day."
N_CONNECTED_TEXTS = 5  # of TAB, before its items with options
NOT_COUNTED = {"<module>", "<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


class Trace:
    """Records the functions of ours that are entered while it is on, in every thread.

    It has to be installed before the threads start that it shall watch.
    """

    def __init__(self) -> None:
        self.codes: set[CodeType] = set()
        self._on = False

    def install(self) -> None:
        """Watch this thread and those that start from now on."""
        threading.settrace(self._entered)
        sys.settrace(self._entered)

    def remove(self) -> None:
        """Watch no further thread."""
        threading.settrace(None)
        sys.settrace(None)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what is entered until the end of the block; keep it if it is less than before."""
        earlier, self.codes = self.codes, set()
        self._on = True
        try:
            yield
        finally:
            self._on = False
            if earlier and len(earlier) <= len(self.codes):
                self.codes = earlier

    def holds(self, condition: Callable[[], object]) -> bool:
        """Check a condition of the measurement's own, which is not recorded in this thread."""
        sys.settrace(None)
        try:
            return bool(condition())
        finally:
            sys.settrace(self._entered)

    def _entered(self, frame: FrameType, event: str, _: object) -> None:
        # Returning None: lines are not traced.
        if self._on and event == "call":
            self.codes.add(frame.f_code)

    def functions(self) -> dict[str, set[str]]:
        """Return the functions of ours by file, both relative to the repository."""
        by_file: dict[str, set[str]] = defaultdict(set)
        for code in self.codes:
            if code.co_filename.startswith(OURS) and _is_function(code):
                path = Path(code.co_filename).relative_to(ROOT).as_posix()
                by_file[path].add(f"{code.co_qualname}:{code.co_firstlineno}")
        return dict(by_file)


def _is_function(code: CodeType) -> bool:
    # A class body has no optimised local variables.
    return code.co_name not in NOT_COUNTED and bool(code.co_flags & 0x1)


async def _until(trace: Trace, condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while not trace.holds(condition):
        if asyncio.get_running_loop().time() > end:
            raise TimeoutError("the workbench did not come to the end of the path")
        await asyncio.sleep(0.004)


async def typed_choice(folder: Path) -> Trace:
    """Trace one item of TAB that has options."""
    return await _typed(folder, before=N_CONNECTED_TEXTS + 1)


async def typed_text(folder: Path) -> Trace:
    """Trace one connected text of TAB."""
    return await _typed(folder, before=1)


async def _typed(folder: Path, before: int) -> Trace:
    """Answer ``before`` items of TAB, then trace the next answers."""
    from tabwb.workbench.shell.frame import ScoreSheet
    from tabwb.workbench.trial.transcript import LiveView
    from tests.workbench.seat import workbench

    trace = Trace()
    trace.install()
    try:
        async with workbench(folder, SIZE) as seat:
            await seat.begin(
                battery="tab", kind="speaker", speaker="S-014", research_protocol="IRB-7"
            )

            async def write() -> None:
                await seat.press("space")
                await seat.until(lambda: getattr(seat.app.focused, "id", "") == "answer")
                await seat.type(TEXT)
                await seat.pilot.pause()

            def shown() -> int:
                shown = seat.desk.query_one(ScoreSheet).shown
                assert shown is not None and isinstance(shown.view, LiveView)
                return sum(subtest.given for subtest in shown.view.scores.subtests)

            for _ in range(before):
                await write()
                await seat.press("enter")
                await seat.until(lambda: not seat.work.awaiting)
            await seat.press("escape", "h")  # the panel has verdicts
            await seat.until(lambda: shown() == before)
            for given in range(before, before + 2):
                await write()
                is_shown = partial(lambda count: not seat.work.awaiting and shown() > count, given)
                with trace.recording():
                    await seat.pilot.press("enter")
                    await _until(trace, is_shown)
    finally:
        trace.remove()
    return trace


@asynccontextmanager
async def _naming(folder: Path) -> AsyncIterator[Any]:
    from tests.plugin_api.conftest import write_plugin
    from tests.workbench.naming_seat import TRANSCRIBER, known_words, naming

    site = folder / "site"
    site.mkdir()
    write_plugin(site, "matcher", TRANSCRIBER)
    sys.path.insert(0, str(site))
    words = known_words(folder / "known")
    try:
        async with naming(folder, SIZE, transcriber=words) as given:
            yield given
    finally:
        sys.path.remove(str(site))


async def naming_response(folder: Path) -> Trace:
    """Trace one naming response."""
    trace = Trace()
    trace.install()
    try:
        async with _naming(folder) as given:
            seat = given.seat
            await given.ready()
            await given.give("dog", key="3")
            await given.heard()
            await seat.press("k")
            await seat.until(lambda: seat.asked)
            for _ in range(2):
                await seat.press("escape")
                await seat.until(lambda: not seat.asked)
                await seat.pilot.pause()
                with trace.recording():
                    await seat.pilot.press("space")
                    await _until(trace, lambda: given.now.waits)
                    sys.settrace(None)
                    given.speaker.say("dog")
                    trace.install()
                    await seat.pilot.press("3")
                    await _until(trace, lambda: not given.now.waits and given.now.score)
                    await _until(trace, lambda: given.now.machine)
                    await seat.pilot.press("k")
                    await _until(trace, lambda: seat.asked)
    finally:
        trace.remove()
    return trace


def chains() -> list[tuple[str, ...]]:
    """Return the classes of the workbench, each with its longest line of bases of ours."""
    package = importlib.import_module("tabwb.workbench")
    classes: set[type] = set()
    for module in pkgutil.walk_packages(package.__path__, "tabwb.workbench."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and value.__module__.startswith("tabwb.workbench."):
                classes.add(value)
    return sorted((_chain(cls) for cls in classes), key=lambda chain: (-len(chain), chain))


def _chain(cls: type) -> tuple[str, ...]:
    ours = (base for base in cls.__bases__ if base.__module__.startswith("tabwb."))
    longest = max((_chain(base) for base in ours), key=len, default=())
    return (*longest, cls.__name__)


def response_kinds() -> dict[str, int]:
    """Return how often each file of ``tabwb/`` names a member of ``ResponseKind``."""
    sites: dict[str, int] = {}
    for path in sorted((ROOT / "tabwb").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        count = sum(
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "ResponseKind"
            for node in ast.walk(tree)
        )
        if count:
            sites[path.relative_to(ROOT).as_posix()] = count
    return sites


def _print_path(what: str, trace: Trace, *, names: bool) -> None:
    by_file = trace.functions()
    total = sum(map(len, by_file.values()))
    print(f"{what}: {len(by_file)} of our files, {total} functions", flush=True)
    if not names:
        return
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in sorted(by_file):
        by_folder[path.rpartition("/")[0]].append(path)
    for folder, paths in sorted(by_folder.items()):
        print(f"  {folder}: {len(paths)} files, {sum(len(by_file[p]) for p in paths)} functions")
        for path in paths:
            listed = ", ".join(_by_line(by_file[path]))
            print(f"    {path.rpartition('/')[2]}: {listed}")


def _by_line(functions: Iterable[str]) -> list[str]:
    return sorted(functions, key=lambda name: int(name.rpartition(":")[2]))


def main(arguments: list[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks paths", description=__doc__)
    parser.add_argument("--list", action="store_true", help="name files and functions")
    options = parser.parse_args(arguments)
    measured = {
        "one typed item with options, from key to score panel": typed_choice,
        "one connected text with its judge, from key to score panel": typed_text,
        "a naming response, from picture to code dialog": naming_response,
    }
    for what, traced in measured.items():
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TABWB_CONFIG_DIR"] = os.environ["TABWB_DATA_DIR"] = folder
            trace = asyncio.run(traced(Path(folder)))
        _print_path(what, trace, names=options.list)
    found = chains()
    deep = [chain for chain in found if len(chain) > 2]
    print(f"classes of the workbench: {len(found)}, deepest chain {len(found[0])} of ours")
    print(f"  with more than one class of ours above them: {len(deep)}")
    for chain in deep if options.list else deep[:5]:
        print(f"    {' -> '.join(chain)}")
    sites = response_kinds()
    print(f"ResponseKind: {sum(sites.values())} sites in {len(sites)} files")
    if options.list:
        for path, count in sites.items():
            print(f"    {path}: {count}")


if __name__ == "__main__":
    main()
