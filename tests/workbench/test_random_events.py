"""Random keys, clicks, wheels, pastes and sizes."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from pathlib import Path
from random import Random

import pytest
from textual import events, screen
from textual.driver import Driver
from textual.geometry import Size
from textual.keys import _character_to_key

from tests.workbench.rating_parts import secret_set
from tests.workbench.seat import Seat, Sit
from tests.workbench.stocked import stock

EVENTS = int(os.environ.get("TABWB_TORTURE_EVENTS", "500"))
FIRST = int(os.environ.get("TABWB_TORTURE_SEED", "0"))
SESSION = 500
"""Events of one session; each has a store of its own."""
FRAME_S = 0.3
"""Seconds between two drawings; most of the processor's time is drawing."""
IDLE = 0.04
"""How often the screen is waited for after an event."""
COMMON = "enter escape tab shift+tab up down left right home end pageup pagedown space "
USUAL = "ctrl+o ctrl+p f1 f10 backspace delete ctrl+u ctrl+home ctrl+end shift+right "
RARE = "f2 f3 f4 f5 f6 f7 f8 f9 f11 ctrl+a ctrl+v ctrl+k ctrl+w ctrl+s ctrl+r alt+f"
NAMED = (COMMON * 4 + USUAL * 2 + RARE).split()
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?/;:.,-+*[]{}<>%é\u0301猫 "
SOUGHT = "export results judge lesion rate administer help theme open item compare import"
ROUTES = """
ctrl+o z z z z
ctrl+o a s
escape escape escape r wait enter wait enter wait a n enter
escape escape b wait
escape escape m wait
escape escape n wait enter
escape escape escape f1 f1 f1
ctrl+p escape ctrl+p escape ctrl+p escape escape
f10 right down enter enter
"""
FOUND = [
    *(("ctrl+p", *word, "wait", "enter", "enter", "enter") for word in SOUGHT.split()),
    *map(str.split, ROUTES.strip().splitlines()),
]
PASTES = ("", "a\nb\r\n\tc", "x" * 5000, "\x1b[2J\x00", "1e999", "../../x", "\u202e\ud83d\ude00")


class Hand:
    """Sends random events."""

    def __init__(self, seat: Seat, random: Random) -> None:
        self.seat, self.random = seat, random
        self.sent: deque[str] = deque(maxlen=40)
        self.count = 0

    @property
    def driver(self) -> Driver:
        assert self.seat.app._driver is not None
        return self.seat.app._driver

    async def act(self) -> None:
        """Send one event or a few that belong together, and let the screen follow or not."""
        draw = self.random.random()
        if draw < 0.08:
            for name in self.random.choice(FOUND):
                await (self.idle() if name == "wait" else self.key(name))
        elif draw < 0.55:
            name = self.random.choice(NAMED)
            for _ in range(self.random.choice((1, 1, 1, 2, 4))):
                await self.key(name)
        elif draw < 0.75:
            await self.key(self.random.choice(LETTERS))
        elif draw < 0.92:
            self.click()
        elif draw < 0.96:
            self.resize()
        else:
            self.send(events.Paste(self.random.choice(PASTES)))
        if self.random.random() < IDLE:
            await self.idle()
        else:
            await asyncio.sleep(0)

    async def idle(self) -> None:
        await self.seat.pilot.pause()

    def send(self, event: events.Event) -> None:
        event.set_sender(self.seat.app)
        self.sent.append(repr(event)[:80])
        self.count += 1
        self.driver.send_message(event)

    async def key(self, name: str) -> None:
        key = _character_to_key(name) if len(name) == 1 and not name.isalnum() else name
        letter = name if len(name) == 1 else None
        self.send(events.Key(key, " " if key == "space" else letter))

    def click(self) -> None:
        size = self.seat.app.size
        x, y = self.random.randrange(max(size.width, 1)), self.random.randrange(max(size.height, 1))
        kinds = [events.MouseMove, events.MouseDown, events.MouseUp]
        if self.random.random() < 0.2:
            kinds = [self.random.choice([events.MouseScrollUp, events.MouseScrollDown])]
        for kind in kinds * self.random.choice((1, 1, 2)):
            self.send(kind(None, x, y, 0, 0, 1, False, False, False, x, y))

    def resize(self) -> None:
        if self.random.random() < 0.15:
            size = Size(self.random.randint(20, 220), self.random.randint(5, 60))
        else:
            size = Size(self.random.randint(80, 110), self.random.randint(24, 33))
        self.driver._size = size
        self.send(events.Resize(size, size))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + max(EVENTS // SESSION, 1)))
async def test_random_events(
    sit: Sit, tmp_path: Path, lesionable: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(screen, "UPDATE_PERIOD", FRAME_S)
    stock(tmp_path / "store.db")
    secret_set(tmp_path / "store.db")
    random, done = Random(seed), 0
    while done < SESSION:
        async with sit((80, 24), drawn=True) as seat:
            hand = Hand(seat, random)
            while hand.count + done < SESSION and not seat.app._exit:
                await hand.act()
            await hand.idle()
            assert seat.app._exception is None, f"seed {seed}, event {hand.count}: {[*hand.sent]}"
        done += hand.count
