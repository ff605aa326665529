"""Onsets of words that were put at a known second."""

from __future__ import annotations

import numpy as np
import pytest

from tabwb.administer.naming.views import with_onset
from tabwb.records.naming import Take
from tabwb.speech.files import Samples, read_clip
from tabwb.speech.level import key_presses, onset, window_levels
from tests.builders import SPEECH

RATE = 16_000


def room(seconds: float, dbfs: float = -60.0, seed: int = 0) -> Samples:
    noise = np.random.default_rng(seed).standard_normal(round(seconds * RATE))
    return (noise * 10 ** (dbfs / 20)).astype(np.float32)


def with_vowel(at_s: float, seconds: float = 3.0, noise_dbfs: float = -60.0) -> Samples:
    """A room with a sound of 0.3 s that begins at once: a sawtooth of 120 Hz."""
    samples = room(seconds, noise_dbfs)
    t = np.arange(round(0.3 * RATE)) / RATE
    start = round(at_s * RATE)
    samples[start : start + len(t)] += (0.2 * (2 * ((120 * t) % 1) - 1)).astype(np.float32)
    return samples


def click(samples: Samples, at_s: float) -> Samples:
    """A key press: 5 ms of loud noise."""
    start = round(at_s * RATE)
    samples[start : start + 80] += 0.5 * np.random.default_rng(7).standard_normal(80)
    return samples


@pytest.mark.parametrize("at_s", [0.2, 0.5, 1.0, 1.2345, 2.5])
@pytest.mark.parametrize("noise_dbfs", [-70.0, -50.0, -40.0])
def test_a_sudden_sound_is_found_within_the_uncertainty(at_s: float, noise_dbfs: float) -> None:
    found = onset(with_vowel(at_s, noise_dbfs=noise_dbfs), RATE)
    assert found is not None
    assert abs(found.s - at_s) <= found.uncertainty_s
    assert found.uncertainty_s <= 0.03


@pytest.mark.parametrize("name", ["bed_ca4d5368_0", "dog_d1a4fb3f_0", "tree_4620dc14_0"])
def test_a_recorded_word_moves_its_onset_with_it(name: str) -> None:
    word, _ = read_clip(SPEECH / f"{name}.flac")
    alone = onset(word, RATE)
    later = onset(np.concatenate((room(1.5, -60.0), word)), RATE)
    assert alone is not None and later is not None
    assert later.s - alone.s == pytest.approx(1.5, abs=0.02)


def test_a_slow_rise_is_walked_back_and_is_less_certain() -> None:
    samples = with_vowel(1.0)
    start = round(0.9 * RATE)  # a weak fricative before the vowel
    hiss = np.random.default_rng(3).standard_normal(round(0.1 * RATE)) * 10 ** (-51 / 20)
    samples[start : start + len(hiss)] += hiss.astype(np.float32)
    found = onset(samples, RATE)
    assert found is not None
    assert found.s == pytest.approx(0.9, abs=0.02)
    assert found.uncertainty_s > 0.04


@pytest.mark.parametrize("samples", [room(2.0), np.zeros(RATE, dtype=np.float32)])
def test_where_nobody_speaks_there_is_no_onset(samples: Samples) -> None:
    assert onset(samples, RATE) is None


def test_no_samples_have_no_onset() -> None:
    assert onset(np.zeros(0, dtype=np.float32), RATE) is None


def test_a_click_is_too_short_to_be_speech() -> None:
    found = onset(click(with_vowel(2.0), 0.5), RATE)
    assert found is not None
    assert found.s == pytest.approx(2.0, abs=0.02)


def test_what_begins_within_60_ms_of_a_key_press_is_ignored() -> None:
    samples = with_vowel(2.0)
    start = round(0.48 * RATE)
    samples[start : start + round(0.1 * RATE)] += with_vowel(0.0, 0.3)[: round(0.1 * RATE)]
    assert onset(samples, RATE).s == pytest.approx(0.48, abs=0.02)  # type: ignore[union-attr]
    found = onset(samples, RATE, key_presses([0.53]))
    assert found is not None
    assert found.s == pytest.approx(2.0, abs=0.02)
    assert "1 stretch ignored" in found.method


def test_speech_that_comes_out_of_an_ignored_stretch_is_as_uncertain_as_that_is_long() -> None:
    found = onset(with_vowel(1.0), RATE, key_presses([1.05]))
    assert found is not None
    assert abs(found.s - 1.0) <= found.uncertainty_s
    assert found.uncertainty_s > 0.12


def test_when_everything_is_ignored_nothing_is_found() -> None:
    assert onset(with_vowel(1.0), RATE, [(0.0, 3.0)]) is None


def test_the_method_is_named() -> None:
    found = onset(with_vowel(1.0), RATE)
    assert found is not None
    assert found.method.startswith("energy-1: +15 dB for 60 ms")


WEAK = (
    "five_893705bb_8", "follow_893705bb_9", "forward_893705bb_4", "four_b49caed3_0",
    "house_e1469561_0", "seven_964e8cfd_1", "six_964e8cfd_2", "three_6736bc64_2",
    "visual_ca4d5368_5", "zero_893705bb_3",
)  # fmt: skip
"""Recordings with 45 dB between the noise and the loudest part, so that their onsets are known."""


@pytest.mark.parametrize("over_noise_db", [20.0, 30.0, 40.0])
def test_the_stated_uncertainty_holds_for_weak_first_sounds_in_noise(over_noise_db: float) -> None:
    late, stated = [], []
    for seed, name in enumerate(WEAK * 3):
        word, rate = read_clip(SPEECH / f"{name}.flac")
        clean = onset(word, rate)
        loudest = float(window_levels(word, rate).max())
        in_room = room(1.0 + len(word) / rate, loudest - over_noise_db, seed)[: rate + len(word)]
        in_room[rate:] += word
        found = onset(in_room, rate)
        assert clean is not None
        if found is not None:
            late.append(found.s - 1.0 - clean.s)
            stated.append(with_onset(Take("r", 0.0, 2.0), found).onset_uncertainty_s)
    assert len(late) == 30
    within = np.abs(late) <= np.array(stated)
    assert within.mean() >= 0.95
    # What was stated before, the uncertainty of the rise alone, is not true of them.
    assert np.median(late) > 0.02 or over_noise_db == 40.0


def test_in_a_silent_room_little_is_hidden() -> None:
    found = onset(with_vowel(1.0, noise_dbfs=-90.0), RATE)
    assert found is not None
    assert found.margin_s == pytest.approx(0.05)
