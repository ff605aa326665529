"""A naming battery is given in the workbench, key by key."""

from __future__ import annotations

import pytest

from tabwb.records.states import AdministrationStatus, TrialState
from tests.extend.conftest import install  # noqa: F401 - a fixture
from tests.workbench.conftest import SIZES
from tests.workbench.naming_seat import Name, matcher, name_aloud  # noqa: F401 - fixtures

both_sizes = pytest.mark.parametrize("size", SIZES)
Size = tuple[int, int]


@both_sizes
async def test_a_whole_battery_by_keyboard(name_aloud: Name, size: Size) -> None:  # noqa: F811
    async with name_aloud(size) as given:
        seat = given.seat
        await seat.reads("space opens the microphone")
        await given.ready()
        await seat.reads("ready: space shows the first picture")
        assert "REC 00:00" in seat.text
        await given.give("dog", key="1")
        await seat.reads("accepted D AO G")
        await given.heard()
        await seat.reads("correct-any")
        await given.give("dog", key="3")
        await given.give("three", key="3")
        await given.show()
        given.speaker.wait(3.0)
        await seat.press("4", "s")
        await seat.until(lambda: given.now.score == "no-response")
        await seat.reads("1 of 4 right" if size[0] == 80 else "1 of 4")
        await seat.press("space")
        await seat.until(lambda: seat.work.status is AdministrationStatus.DONE)
    one, trials = seat.stored()
    assert one.status is AdministrationStatus.DONE
    assert {trial.state for trial in trials} == {TrialState.ANSWERED}
