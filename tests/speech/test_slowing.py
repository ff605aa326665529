"""Slow playback keeps the pitch: the frequency of a tone, read from its spectrum, stays."""

from __future__ import annotations

import numpy as np
import pytest

from tabwb.speech.slowing import slowed

RATE = 16_000


@pytest.mark.parametrize("hertz", [110, 440])
def test_a_tone_lasts_longer_and_sounds_the_same(hertz: int) -> None:
    at = np.arange(RATE) / RATE
    tone = (0.5 * np.sin(2 * np.pi * hertz * at)).astype(np.float32)
    made = slowed(tone, RATE, 0.75)
    spectrum = np.abs(np.fft.rfft(made * np.hanning(len(made))))
    assert len(made) == round(RATE / 0.75)
    assert np.argmax(spectrum) * RATE / len(made) == pytest.approx(hertz, abs=RATE / len(made))
    middle = made[2000:-2000]
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.5 / np.sqrt(2), rel=0.02)


def test_a_speed_of_one_changes_nothing_and_others_are_refused() -> None:
    clip = np.linspace(-1, 1, 4000, dtype=np.float32)
    assert np.array_equal(slowed(clip, RATE, 1.0), clip)
    with pytest.raises(ValueError, match=r"a speed of 1\.5 is not between"):
        slowed(clip, RATE, 1.5)
