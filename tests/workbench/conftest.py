"""The workbench over the real engine, its own store, and models that answer at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.plugin_api.conftest import Install, install  # noqa: F401 - a fixture
from tests.workbench.naming_seat import TRANSCRIBER, Name, known_words, naming
from tests.workbench.seat import Given, Seat, Sit, workbench


@pytest.fixture
def battery(battery_file: Path) -> str:
    """The small battery, as it is typed into a dialog."""
    return str(battery_file)


@pytest.fixture
def sit(tmp_path: Path) -> Sit:
    """Open the workbench over a store of the test's own."""
    return partial(workbench, tmp_path)


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


@pytest.fixture
def matcher(install: Install, tmp_path: Path) -> str:  # noqa: F811
    """The spec of a transcriber that finds the recorded words."""
    install("matcher", TRANSCRIBER)
    return known_words(tmp_path / "known")


@pytest.fixture
def name_aloud(matcher: str, tmp_path: Path) -> Name:
    """Open the workbench and begin a naming battery."""
    return partial(naming, tmp_path, transcriber=matcher)
