"""The waveform of a response: seconds, marks, moving and zooming by keys and by the mouse."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual.message import Message

from tabwb.speech.envelope import Envelope
from tabwb.workbench.shell.sound import (
    AttemptSpan,
    OnsetMark,
    Sound,
    TimedPhoneme,
    Waveform,
)
from tests.workbench.seat import Stage as OneWidget

SOUND = Sound(
    Envelope(10.0, 14.0, (-60.0,) * 100 + (-6.0,) * 100 + (-60.0,) * 200),
    (10.0, 13.0),
    picture_s=10.0,
    limit_s=13.5,
    onset=OnsetMark(11.0, 1.0, 0.05, "energy"),
    attempts=(AttemptSpan(11.0, 12.0),),
    marks=((12.5, "c1"),),
    examiner=((12.75, 12.95),),
    phonemes=(
        TimedPhoneme(11.0, 11.5, "D", (("SUB", "K"),)),
        TimedPhoneme(11.5, 12.0, "AO", (("EQ", "AO"),)),
    ),
)


class Stage(OneWidget):
    """A waveform, and what it says of itself."""

    CSS = "Waveform { height: 9; }"

    def __init__(self) -> None:
        self.waveform = Waveform()
        self.moved: list[Message] = []
        super().__init__(self.waveform)

    def on_waveform_onset_moved(self, message: Waveform.OnsetMoved) -> None:
        self.moved.append(message)

    def on_waveform_limits_moved(self, message: Waveform.LimitsMoved) -> None:
        self.moved.append(message)


async def test_seconds_cue_examiner_limit_attempts_and_phonemes_stand_where_they_lie() -> None:
    app = Stage()
    async with app.run_test(size=(80, 12)) as pilot:
        app.waveform.show(SOUND)
        assert app.waveform.stretch == (10.0, 13.1), "the response, with a little around it"
        app.waveform.action_zoom(2)
        await pilot.pause()
        marks, *_, marker, attempts, said, steps, axis = app.text.split("\n")
        assert marks[0] == "[" and marks.index("c1") == 50 and marks.index("x") == 55
        assert (marks.index("]"), marks.index("┊ limit")) == (60, 70)
        assert marker.index("┃ onset 1.00 s after picture ±0.05") == 20
        assert (attempts.index("╰"), attempts.index("╯")) == (20, 40)
        assert (said.index("d"), said.index("ɔ")) == (20, 30)
        assert (steps.index("~k"), steps.index("=")) == (20, 30)
        assert [axis.index(tick) for tick in ("╵0.0 s", "╵1.0", "╵2.0", "╵3.0")] == [0, 20, 40, 60]
        app.waveform.ipa = False
        app.waveform.show(replace(SOUND, limits=None, onset=None))
        await pilot.pause()
        assert "D         AO" in app.text and "onset" not in app.text


async def test_arrows_move_the_onset_and_the_limits_and_many_steps_are_one_correction() -> None:
    app = Stage()
    async with app.run_test(size=(80, 12)) as pilot:
        waveform = app.waveform
        waveform.show(SOUND)
        waveform.focus()
        await pilot.press("right", "right", "shift+right", "left")
        await pilot.pause()
        assert "onset 1.06 s after picture, set by you" in app.text
        assert app.moved == []
        waveform.keep()
        await pilot.press("right")
        waveform.show(replace(SOUND, onset=OnsetMark(11.06)))
        waveform.keep()  # what was moved while the move before was being saved
        await pilot.press("o", "o", "shift+right")
        assert "the response ends at 3.05 s" in app.text
        waveform.keep()
        await pilot.press("o", "shift+left")
        waveform.show(replace(SOUND, onset=OnsetMark(10.02)))
        await pilot.press("shift+left", "shift+left")
        waveform.keep()
        await pilot.pause()
        onset, further, limits, least = app.moved
        assert isinstance(onset, Waveform.OnsetMoved) and onset.at_s == 11.06
        assert isinstance(further, Waveform.OnsetMoved) and further.at_s == 11.07
        assert isinstance(limits, Waveform.LimitsMoved)
        assert (limits.start_s, limits.end_s) == (10.0, 13.05)
        assert isinstance(least, Waveform.OnsetMoved) and least.at_s == 10.0, "not before it"


async def test_the_mouse_drags_a_mark_and_the_wheel_and_keys_zoom() -> None:
    app = Stage()
    async with app.run_test(size=(80, 12)) as pilot:
        waveform = app.waveform
        waveform.show(SOUND)
        waveform.action_zoom(2)
        await pilot.pause()
        await pilot.mouse_down(Waveform, (60, 2))
        await pilot.hover(Waveform, (64, 2))
        await pilot.mouse_up(Waveform, (64, 2))
        await pilot.pause()
        (limits,) = app.moved
        assert isinstance(limits, Waveform.LimitsMoved)
        assert (limits.start_s, round(limits.end_s, 2)) == (10.0, 13.2)
        waveform.show(replace(SOUND, limits=(10.0, 13.2), response="moved"))
        waveform.focus()
        await pilot.press("minus", "plus", "plus")
        assert waveform.stretch == pytest.approx((10.75, 11.75)), "around the onset"
        await pilot.press("ctrl+right", "minus", "minus", "minus")
        assert waveform.stretch == (10.0, 14.0), "never more than there is"


async def test_what_is_played_is_shown_until_it_is_over() -> None:
    app = Stage()
    async with app.run_test(size=(80, 12)) as pilot:
        waveform = app.waveform
        waveform.show(SOUND)
        heard: float | None = 11.0
        waveform.follow(lambda: heard)
        async with asyncio.timeout(60):
            for heard in (11.0, 11.5, None):
                while waveform._played_s != heard:
                    await pilot.pause(0.02)
        assert waveform._following is None
