"""A person at the workbench, over the real engine and its own store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from pathlib import Path
from time import monotonic
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

from textual import _wait
from textual.app import App, ComposeResult
from textual.css.query import NoMatches
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from tabwb.records.trials import Administration, Trial
from tabwb.store.store import Store
from tabwb.workbench.app import make_workbench
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.results.actions import ResultsActions
from tabwb.workbench.results.stored import Results
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.app import Workbench
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import Selection
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
POLL_S = 0.01

_changes: WeakKeyDictionary[Screen[Any], int] = WeakKeyDictionary()
_texts: WeakKeyDictionary[Screen[Any], tuple[int, str]] = WeakKeyDictionary()
_REFRESH, _PARSE = Screen._compositor_refresh, Stylesheet._parse_rules
_rules: dict[Hashable, Any] = {}


def _only_count(screen: Screen[Any]) -> None:
    """Draw nothing: without a terminal Textual throws it away, after half of a test's time."""
    if screen is screen.app.screen:
        _changes[screen] = _changes.get(screen, 0) + 1
        screen._compositor._dirty_regions.clear()
        screen._dirty_widgets.clear()
        screen.app._update_mouse_over(screen)
    else:
        _REFRESH(screen)


def _parsed_once(sheet: Stylesheet, css: str, *more: Any, **named: Any) -> Any:
    """Parse styles once for all applications of a theme."""
    key = (css, more, *named.items(), *sheet._variables.items())
    if key not in _rules:
        _rules[key] = _PARSE(sheet, css, *more, **named)
    return _rules[key]


@contextmanager
def undrawn() -> Iterator[None]:
    """Open an application whose screen is drawn when a test reads it, and else never."""
    with (
        patch.object(Screen, "_compositor_refresh", _only_count),
        patch.object(Stylesheet, "_parse_rules", _parsed_once),
    ):
        yield


def text_of(app: App[Any]) -> str:
    """Draw the active screen and return what can be read on it."""
    screen = app.screen
    count = _changes.get(screen)
    if count is None or _texts.get(screen, (0, ""))[0] != count:
        strips = screen._compositor.render_strips()
        _texts[screen] = (count or 0, "\n".join(strip.text.rstrip() for strip in strips))
    return _texts[screen][1]


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
        return text_of(self.app)

    @property
    def news(self) -> list[str]:
        """What toasts say."""
        return [one.message for one in self.app._notifications]

    @property
    def asked(self) -> bool:
        """Whether a dialog stands over the desk."""
        return self.app.screen is not self.desk

    async def press(self, *keys: str, reads: str = "", at: str = "") -> None:
        """Press keys, then wait for words on the screen, or for a page."""
        await self.pilot.press(*keys)
        await self.pilot.pause()
        text_of(self.app)  # what follows a key can be drawn
        if at:
            await self.at(at)
        if reads:
            await self.reads(reads)

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

        def holds() -> object:
            try:
                return condition()
            except NoMatches:  # parts are made or removed at this moment
                return False

        end = monotonic() + LIMIT_S
        while not holds():
            if monotonic() > end:
                raise AssertionError(
                    f"not within {LIMIT_S:.0f} s: {what or condition}\n{self.text}"
                )
            if self.app._exception is not None:
                raise self.app._exception
            await asyncio.sleep(POLL_S)
        await self.pilot.pause()

    async def reads(self, *words: str) -> None:
        """Wait until all of these stand on the screen."""
        await self.until(lambda: all(one in self.text for one in words), str(words))

    async def at(self, page: str) -> None:
        await self.until(lambda: self.desk.page == page, f"the page {page}")

    async def has(self, part: str) -> None:
        """Wait until the screen has a part."""
        await self.until(lambda: self.app.screen.query(f"#{part}"), f"#{part}")

    async def focuses(self, part: str) -> None:
        """Wait until a part has the focus."""
        await self.until(lambda: self.app.focused and self.app.focused.id == part, f"#{part}")

    async def closed(self) -> None:
        """Wait until no dialog stands over the desk."""
        await self.until(lambda: not self.asked, "the end of the dialog")

    async def dialog(self) -> None:
        await self.has("begin")

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
    folder: Path,
    size: tuple[int, int] = (80, 24),
    *,
    new: bool = False,
    drawn: bool = False,
    **more: Any,
) -> AsyncIterator[Seat]:
    """Open the workbench over a store in ``folder``; ``drawn`` as a terminal has it."""
    store = folder / "store.db"
    memory = folder / "memory.json"
    if not new and not memory.exists():
        settings.save(settings.Remembered(notice_seen=True), memory)
    app = make_workbench(location=str(store), offline=True, memory=memory, **more)
    app.animation_level = "none"
    with nullcontext() if drawn else undrawn():
        async with app.run_test(size=size) as pilot:
            seat = Seat(app, pilot, store)
            await seat.until(lambda: app.desk.catalogue, "the catalogue")
            try:
                yield seat
            finally:
                app.desk.close_worker()
