"""The workbench over the real engine, a store of its own, and models that answer at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import _wait
from textual.pilot import Pilot
from textual.widgets import Input, Select

from tabwb.records.trials import Administration, Trial
from tabwb.store.store import Store
from tabwb.workbench.engine.snapshots import Work
from tabwb.workbench.shell import remembered
from tabwb.workbench.shell.app import Workbench
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.trial.draft import default_draft

# Textual looks every 20 ms whether the application is idle, dozens of times in a test.
IDLE_S = 0.01
_wait.SLEEP_GRANULARITY = IDLE_S
_wait.SLEEP_IDLE = IDLE_S / 2
_wait.wait_for_idle.__defaults__ = (IDLE_S, 1)

SIZES = [(80, 24), (160, 48)]


class Seat:
    """A person at the workbench: presses keys and reads what stands there."""

    def __init__(self, app: Workbench, pilot: Pilot[int], store: Path) -> None:
        self.app = app
        self.pilot = pilot
        self.store = store

    @property
    def desk(self) -> Desk:
        return self.app.desk

    @property
    def work(self) -> Work:
        assert self.desk.work is not None
        return self.desk.work

    @property
    def text(self) -> str:
        """What can be read on the active screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def news(self) -> list[str]:
        """What toasts say."""
        return [one.message for one in self.app._notifications]

    @property
    def asked(self) -> bool:
        """Whether a dialog stands over the desk."""
        return self.app.screen is not self.desk

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, words: str) -> None:
        await self.press(*("space" if letter == " " else letter for letter in words))

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        for _ in range(600):
            if condition():
                await self.pilot.pause()
                return
            await self.pilot.pause(0.02)
        raise AssertionError(f"never came: {what or condition}\n{self.text}")

    async def reads(self, words: str) -> None:
        await self.until(lambda: words in self.text, words)

    async def dialog(self) -> None:
        await self.until(lambda: self.app.screen.query("#begin"), "the dialog")

    def fill(self, **fields: str) -> None:
        for name, value in fields.items():
            widget = self.app.screen.query_one(f"#{name}")
            assert isinstance(widget, Input | Select)
            widget.value = value

    async def begin(self, **fields: str) -> None:
        """Begin an administration as the dialog would, with these fields of a draft.

        The dialog has tests of its own; it takes longer than everything else in most tests.
        """
        assert self.desk.catalogue is not None
        earlier = self.desk.work and self.desk.work.administration.id
        draft = default_draft(self.desk.catalogue)
        self.desk.begin(replace(draft, **fields))  # type: ignore[arg-type]
        await self.until(
            lambda: (
                self.desk.work and self.work.administration.id != earlier and not self.work.loading
            ),
            "the administration",
        )

    async def next(self) -> None:
        """Give the next item to a model and wait for its answer."""
        place = self.work.item.place[0] if self.work.item else 0
        await self.press("space")
        await self.until(
            lambda: self.work.item and self.work.item.place[0] > place and not self.work.asking,
            f"the item after {place}",
        )

    async def words(self, words: str) -> None:
        """Answer the small dialog that asks for words."""
        await self.until(lambda: self.app.screen.query("#words"), "a field for words")
        await self.type(words)
        await self.press("enter")
        await self.until(lambda: not self.app.screen.query("#words"), "the dialog's end")

    def stored(self) -> tuple[Administration, tuple[Trial, ...]]:
        """The latest administration as another program would read it."""
        with Store.open(self.store) as store:
            one = store.administrations()[-1]
            return one, store.trials(one.id)


Sit = Callable[..., AbstractAsyncContextManager[Seat]]
Given = Sit


@pytest.fixture
def battery(battery_file: Path) -> str:
    """The small battery, as it is typed into a dialog."""
    return str(battery_file)


@pytest.fixture
def sit(tmp_path: Path) -> Sit:
    """Open the workbench; the first notice has been read unless ``new``."""

    @asynccontextmanager
    async def opened(
        size: tuple[int, int] = (80, 24), *, new: bool = False, **more: Any
    ) -> AsyncIterator[Seat]:
        store = tmp_path / "store.db"
        memory = tmp_path / "memory.json"
        if not new and not memory.exists():
            remembered.save(remembered.Remembered(notice_seen=True), memory)
        app = Workbench(location=str(store), offline=True, memory=memory, **more)
        app.animation_level = "none"
        async with app.run_test(size=size) as pilot:
            seat = Seat(app, pilot, store)
            await seat.until(lambda: app.desk.catalogue, "the catalogue")
            try:
                yield seat
            finally:
                app.desk.close_worker()

    return opened


@pytest.fixture
def given(sit: Sit, battery: str) -> Given:
    """Open the workbench, begin the small battery, give so many of its items."""

    @asynccontextmanager
    async def opened(
        size: tuple[int, int] = (80, 24), *, items: int = 0, model: str = "echo", **fields: str
    ) -> AsyncIterator[Seat]:
        async with sit(size) as seat:
            await seat.begin(battery=battery, model=model, **fields)
            for _ in range(items):
                await seat.next()
            yield seat

    return opened
