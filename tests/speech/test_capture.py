"""The watchdog on sound whose times are made up; with a real microphone see test_recorder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tabwb.speech.capture import Taking
from tabwb.speech.wav import WavWriter

RATE = 1_000
BLOCK = bytes(3 * RATE // 10)
"""A tenth of a second."""


class Tape:
    """A recording that is fed by hand, and what it told."""

    def __init__(self, folder: Path) -> None:
        self.told: list[Mapping[str, Any]] = []
        self.taking = Taking(
            WavWriter(folder / "a.wav", RATE, 1), "Mic", RATE, 1, 0.1, self.told.append
        )

    def feed(self, *times: float) -> None:
        """Blocks that came at these seconds, each looked at as it came."""
        for at in times:
            self.taking.take((BLOCK, at))
            self.taking.watch(at, False, "")

    @property
    def alarms(self) -> list[str | None]:
        return [each["alarm"] for each in self.told if each["event"] == "alarm"]


@pytest.fixture
def tape(tmp_path: Path) -> Tape:
    return Tape(tmp_path)


def steadily(start: float, end: float, step: float = 0.1) -> list[float]:
    return [start + i * step for i in range(round((end - start) / step))]


def test_sound_on_time_gives_no_alarm(tape: Tape) -> None:
    tape.feed(*steadily(0.1, 20.0))
    assert tape.alarms == []


def test_a_clock_that_is_a_little_off_gives_no_alarm(tape: Tape) -> None:
    tape.feed(*steadily(0.1, 400.0, 0.1 * 1.0009))
    assert tape.alarms == []


def test_a_burst_of_late_sound_is_not_missing(tape: Tape) -> None:
    tape.feed(*steadily(0.1, 5.0), *[8.0 + i / 1000 for i in range(30)], *steadily(8.1, 12.0))
    assert not any("missing" in alarm for alarm in tape.alarms if alarm)


def test_a_gap_is_missing_sound(tape: Tape) -> None:
    tape.feed(*steadily(0.1, 5.0), *steadily(7.0, 9.0))
    assert tape.alarms == ["2.0 s of sound are missing: the computer is too busy, or the device"]


def test_gaps_that_add_up_are_missing_sound(tape: Tape) -> None:
    # One block in twenty is lost: no gap is long, and a minute lacks three seconds.
    times = [at for i, at in enumerate(steadily(0.1, 60.0)) if i % 20]
    tape.feed(*times)
    assert tape.alarms and tape.alarms[0] is not None and "are missing" in tape.alarms[0]


def test_more_sound_than_time_is_another_rate(tape: Tape) -> None:
    tape.feed(*steadily(0.1, 10.0, 0.05))
    assert tape.alarms == ["Mic sends more sound than fits its rate of 1000 Hz"]


def test_silence_of_the_device_is_told(tape: Tape) -> None:
    tape.feed(*steadily(0.1, 1.0))
    tape.taking.watch(1.3, False, "")
    assert tape.alarms == []
    tape.taking.watch(1.5, False, "")
    assert tape.alarms[-1] == "no sound comes from Mic any more"


def test_a_position_is_that_of_the_promptest_block(tape: Tape) -> None:
    tape.feed(0.10, 0.23, 0.31, 0.49)
    # The first came just as its tenth ended; half of the latency of 0.1 s is taken off.
    assert tape.taking.position()["zero_s"] == pytest.approx(0.0 - 0.05)
    assert tape.taking.position()["frames"] == 400
