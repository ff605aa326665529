"""What a newcomer reaches by a few keys, counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.lesion.declared import PRESETS
from tabwb.store.store import Store
from tabwb.workbench.comparison.compare import CompareScreen
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.dialogs import PickScreen
from tests.workbench.seat import Sit


@pytest.mark.usefixtures("lesionable")
async def test_eight_keys_or_fewer_reach_a_stored_comparison_of_intact_and_lesioned(
    sit: Sit, battery: str, tmp_path: Path
) -> None:
    begun = {"battery": battery, "model": "lesionable"}
    settings.save(settings.Remembered(begun=begun), tmp_path / "memory.json")
    pressed = 0
    async with sit((100, 30)) as seat:

        async def press(*keys: str) -> None:
            nonlocal pressed
            pressed += len(keys)
            await seat.press(*keys)

        await seat.reads("I have read this")
        await press("enter")
        await seat.closed()
        await seat.until(lambda: seat.desk.started and seat.desk.saved, "the store")
        await press("n")
        await seat.dialog()
        await press("enter")
        await seat.until(lambda: seat.desk.work and not seat.work.loading, "the administration")
        await press("a")
        await seat.at("results")
        await seat.until(lambda: seat.results, "the results")
        await press("c")
        await seat.until(lambda: isinstance(seat.app.screen, PickScreen), "the list")
        await press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, CompareScreen), "the comparison")
        assert pressed == 6

        # From the list the stored one is compared, and nothing is given.
        await seat.press("escape")
        await seat.closed()
        await seat.until(
            lambda: seat.results and seat.results.administration.id == 2, "the other results"
        )
        await seat.press("c")
        await seat.until(lambda: isinstance(seat.app.screen, PickScreen), "the list")
        await seat.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, CompareScreen), "the comparison")
    with Store.open(seat.store) as store:
        lesions = [one.conditions.lesion for one in store.administrations()]
    assert lesions == [None, [*PRESETS][1]]


async def test_a_pane_is_enlarged_and_the_command_of_a_page_is_copied(
    sit: Sit, battery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    async with sit((120, 40)) as seat:
        monkeypatch.setattr(seat.app, "copy_to_clipboard", copied.append)
        await seat.begin(battery=battery, model="echo")
        await seat.press("a", at="results")
        await seat.until(lambda: seat.desk.query("#features-pane, #accuracy-pane"), "the panes")
        await seat.until(lambda: seat.app.focused, "the focus")
        await seat.press("y")
        await seat.until(lambda: copied, "the command")
        assert copied[0].startswith("tabwb results 1")
        await seat.press("plus")
        await seat.until(lambda: seat.desk.maximized, "the enlarged pane")
        await seat.press("plus")
        await seat.until(lambda: not seat.desk.maximized, "all panes")
