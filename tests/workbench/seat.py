"""A person at the workbench, over the real engine and its own store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from textual import _wait
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input

from tabwb.records.trials import Administration, Trial
from tabwb.store.store import Store
from tabwb.workbench.app import make_workbench
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.results.actions import ResultsActions
from tabwb.workbench.results.presenter import Results
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.app import Workbench
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.fields import Selection
from tabwb.workbench.trial.actions import TrialActions
from tabwb.workbench.trial.draft import default_draft

# Textual checks every 20 ms whether the application is idle, dozens of times in a test.
IDLE_S = 0.01
_wait.SLEEP_GRANULARITY = IDLE_S
_wait.SLEEP_IDLE = IDLE_S / 2
_wait.wait_for_idle.__defaults__ = (IDLE_S, 1)

SIZES = [(80, 24), (160, 48)]
LIMIT_S = 60.0
"""How long a condition may take on a busy machine; a test that passes does not wait for it."""
POLL_S = 0.004


class Seat:
    """A person at the workbench: presses keys and reads the screen."""

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
    def results(self) -> Results | None:
        return self.desk.actions(ResultsActions).results

    def show_results(self, number: int) -> None:
        self.desk.request("results", "show", number)

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

    async def press_button(self, name: str) -> None:
        """Press a button by the keyboard, once it is no longer drawn as pressed."""
        button = self.app.screen.query_one(f"#{name}")
        await self.until(lambda: not button.has_class("-active"), f"the button {name}")
        button.focus()
        await self.press("enter")

    async def type(self, words: str) -> None:
        await self.press(*("space" if letter == " " else letter for letter in words))

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait until a condition holds."""
        end = monotonic() + LIMIT_S
        while not condition():
            if monotonic() > end:
                raise AssertionError(
                    f"not within {LIMIT_S:.0f} s: {what or condition}\n{self.text}"
                )
            await self.pilot.pause(POLL_S)
        await self.pilot.pause()

    async def reads(self, words: str) -> None:
        await self.until(lambda: words in self.text, words)

    async def dialog(self) -> None:
        await self.until(lambda: self.app.screen.query("#begin"), "the dialog")

    async def advanced(self) -> None:
        """Open the folded fields of the dialog."""
        self.app.screen.query_one("#advanced").focus()
        await self.press("enter")
        await self.until(lambda: self.app.screen.query("#part_limit"), "the folded fields")

    def fill(self, **fields: str) -> None:
        for name, value in fields.items():
            widget = self.app.screen.query_one(f"#{name}")
            assert isinstance(widget, Input | Selection)
            widget.value = value

    async def begin(self, **fields: str) -> None:
        """Begin an administration as the dialog would, with these fields of a draft."""
        assert self.desk.catalogue is not None
        earlier = self.desk.work and self.desk.work.administration.id
        draft = default_draft(self.desk.catalogue)
        self.desk.actions(TrialActions).begin(draft.filled(**fields))
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


class Stage(App[None]):
    """Widgets alone, in one of our themes."""

    def __init__(self, *widgets: Widget) -> None:
        super().__init__()
        for theme in settings.THEMES:
            self.register_theme(theme)
        self.theme = "dark"
        self.widgets = widgets

    def compose(self) -> ComposeResult:
        yield from self.widgets

    @property
    def text(self) -> str:
        strips = self.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips).rstrip()


Sit = Callable[..., AbstractAsyncContextManager[Seat]]
Given = Sit


@asynccontextmanager
async def workbench(
    folder: Path, size: tuple[int, int] = (80, 24), *, new: bool = False, **more: Any
) -> AsyncIterator[Seat]:
    """Open the workbench over a store in ``folder``."""
    store = folder / "store.db"
    memory = folder / "memory.json"
    if not new and not memory.exists():
        settings.save(settings.Remembered(notice_seen=True), memory)
    app = make_workbench(location=str(store), offline=True, memory=memory, **more)
    app.animation_level = "none"
    async with app.run_test(size=size) as pilot:
        seat = Seat(app, pilot, store)
        await seat.until(lambda: app.desk.catalogue, "the catalogue")
        try:
            yield seat
        finally:
            app.desk.close_worker()
