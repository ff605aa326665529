"""Where somebody speaks: recorded words in silence and noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabwb.records.speech import Stretch
from tabwb.speech.finding import stretches_of_speech, windows

soundfile = pytest.importorskip("soundfile")
CLIPS = Path(__file__).parents[1] / "data" / "speech"
RATE = 16_000


def _clip(name: str) -> np.ndarray:
    samples, _ = soundfile.read(CLIPS / name, dtype="float32")
    return np.asarray(samples)


def _noise(seconds: float, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (3e-4 * rng.standard_normal(round(seconds * RATE))).astype(np.float32)


@pytest.mark.parametrize("name", ["dog_d1a4fb3f_0.flac", "cat_4620dc14_0.flac"])
def test_two_words_with_a_pause_are_two_stretches(name: str) -> None:
    word = _clip(name)
    sound = np.concatenate([_noise(1.0), word, _noise(1.5), word, _noise(2.0)])
    first, second = stretches_of_speech(sound, RATE)
    assert 1.0 <= first.start_s < first.end_s <= 2.05
    assert second.start_s - first.start_s == pytest.approx(2.5, abs=0.03)
    assert second.end_s - first.end_s == pytest.approx(2.5, abs=0.08)


@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.5, 4.0])
def test_nothing_stands_out_of_steady_noise_or_silence(seconds: float) -> None:
    assert stretches_of_speech(_noise(seconds), RATE) == ()
    assert stretches_of_speech(np.zeros(round(seconds * RATE), np.float32), RATE) == ()


def test_a_click_is_no_stretch() -> None:
    sound = _noise(2.0)
    sound[RATE : RATE + 80] = 0.5
    assert stretches_of_speech(sound, RATE) == ()


def test_the_gain_changes_nothing() -> None:
    sound = np.concatenate([_noise(1.0), _clip("dog_d1a4fb3f_0.flac"), _noise(1.0)])
    quieter = (sound * 0.3).astype(np.float32)
    loud, soft = stretches_of_speech(sound, RATE), stretches_of_speech(quieter, RATE)
    assert [round(each.start_s, 2) for each in loud] == [round(each.start_s, 2) for each in soft]


def test_windows_are_long_enough_and_do_not_reach_into_each_other() -> None:
    stretches = [Stretch(0.1, 0.5), Stretch(1.0, 1.3), Stretch(5.0, 7.0)]
    first, second, third = windows(stretches, 7.5, 1.0, 0.15)
    assert first.start_s == 0.0
    assert first.end_s == second.start_s == 0.75
    assert second.end_s - second.start_s == pytest.approx(1.0)
    assert (third.start_s, third.end_s) == (4.85, 7.15)
    for window, stretch in zip((first, second, third), stretches, strict=True):
        assert window.start_s <= stretch.start_s
        assert window.end_s >= stretch.end_s
