"""Active speech level by a second derivation of ITU-T P.56, method B, sample by sample."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tabwb.speech.files import Samples, read_clip
from tabwb.speech.level import active_speech_level

CLIPS = Path(__file__).parents[1] / "data" / "speech"


def by_the_text(samples: Samples, rate: int) -> float:
    """P.56 section 7.2 as it is written: two recursions, a counter of hangover, 15 thresholds.

    The crossing is found by halving the interval, as ITU's Software Tool Library does it.
    """
    g = math.exp(-1.0 / (rate * 0.03))
    hangover = math.ceil(0.2 * rate)
    thresholds = [0.5**power for power in range(15, -1, -1)]
    counts, since = [0] * len(thresholds), [hangover] * len(thresholds)
    p = q = squares = 0.0
    for x in samples.tolist():
        squares += x * x
        p = g * p + (1 - g) * abs(x)
        q = g * q + (1 - g) * p
        for j, c in enumerate(thresholds):
            if q >= c:
                counts[j] += 1
                since[j] = 0
            elif since[j] < hangover:
                counts[j] += 1
                since[j] += 1
    levels = [10 * math.log10(squares / a) if a else None for a in counts]
    for j in range(len(thresholds) - 1):
        low, high = levels[j], levels[j + 1]
        if low is None or high is None:
            break
        c_low, c_high = (20 * math.log10(thresholds[k]) for k in (j, j + 1))
        if low - c_low >= 15.9 >= high - c_high:
            for _ in range(60):
                middle, c_middle = (low + high) / 2, (c_low + c_high) / 2
                if middle - c_middle >= 15.9:
                    low, c_low = middle, c_middle
                else:
                    high, c_high = middle, c_middle
            return low
    raise AssertionError("no crossing")


@pytest.mark.parametrize("name", ["house_6e916de8_0", "cat_83957201_0", "three_8c0e5970_0"])
@pytest.mark.parametrize("gain", [1.0, 0.05])
def test_the_level_of_words_is_that_of_the_recommendation(name: str, gain: float) -> None:
    samples, rate = read_clip(CLIPS / f"{name}.flac")
    samples = (gain * samples).astype(np.float32)
    assert active_speech_level(samples, rate).dbov == pytest.approx(
        by_the_text(samples, rate), abs=0.01
    )


def test_the_length_of_pauses_does_not_change_the_level() -> None:
    tone = (0.1 * np.sin(np.arange(16_000) * 0.4)).astype(np.float32)
    short, long = (
        active_speech_level(np.concatenate([tone, np.zeros(n * 16_000, np.float32)]), 16_000)
        for n in (2, 40)
    )
    assert short.dbov == pytest.approx(long.dbov, abs=1e-6)
    assert short.dbov == pytest.approx(-23.01 - 1.0, abs=0.3)  # 0.2 s of hangover belong to it
    assert short.activity * 3 == pytest.approx(long.activity * 41)


@pytest.mark.parametrize("dbov", [-10.0, -30.0, -60.0])
@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_a_tone_has_the_level_of_its_rms(dbov: float, rate: int) -> None:
    t = np.arange(3 * rate) / rate
    tone = (10 ** (dbov / 20) * math.sqrt(2) * np.sin(2 * np.pi * 440 * t)).astype(np.float32)
    assert active_speech_level(tone, rate).dbov == pytest.approx(dbov, abs=0.1)


def test_silence_has_no_level() -> None:
    for samples in (np.zeros(0, np.float32), np.zeros(16_000, np.float32)):
        assert (active_speech_level(samples, 16_000).dbov) == -144.0
