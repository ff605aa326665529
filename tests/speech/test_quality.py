"""What is remarked about recordings that are known to be flawed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tabwb.speech.files import Samples, read_clip
from tabwb.speech.quality import hum, quality
from tests.builders import SPEECH

RATE = 16_000


def words(*names: str) -> Samples:
    """Recorded words in a row."""
    return np.concatenate([read_clip(SPEECH / f"{name}.flac")[0] for name in names])


def session() -> Samples:
    return words("bed_ca4d5368_0", "dog_d1a4fb3f_0", "house_e1469561_0", "one_7257420c_0")


def tone(hz: float, dbfs: float, count: int) -> NDArray[np.float64]:
    sine: NDArray[np.float64] = np.sin(2 * np.pi * hz * np.arange(count) / RATE)
    sine *= 10 ** (dbfs / 20) * np.sqrt(2)
    return sine


def test_a_good_recording_gets_no_remark() -> None:
    found = quality(session(), RATE)
    assert found.remarks == ()
    assert (found.clipped, found.hum, found.seconds) == (0, None, 4.0)


def test_clipping_is_counted_and_its_first_place_named() -> None:
    loud = np.clip(session() * 8, -1, 1)
    found = quality(loud, RATE)
    assert found.clipped > 10
    assert found.remarks[0].startswith(f"clipped in {found.clipped} places, first at ")


def test_two_samples_at_full_scale_are_no_clipping() -> None:
    samples = session() * 0.5
    samples[100:102] = 1.0
    assert quality(samples, RATE).clipped == 0
    samples[102] = 1.0
    found = quality(samples, RATE)
    assert found.clipped == 1
    assert "clipped in 1 place, first at 0.01 s" in found.remarks[0]


def test_a_long_recording_of_a_good_word_gets_no_remark() -> None:
    word = words("dog_d1a4fb3f_0")
    noise = np.random.default_rng(1).standard_normal(40 * RATE) * 10 ** (-75 / 20)
    noise[20 * RATE : 20 * RATE + word.size] += word
    found = quality(noise.astype(np.float32), RATE)
    assert found.remarks == ()
    assert found.speech_dbov == pytest.approx(quality(word, RATE).speech_dbov, abs=1.0)


def test_a_recording_without_speech_is_told() -> None:
    noise = np.random.default_rng(1).standard_normal(4 * RATE) * 10 ** (-65 / 20)
    found = quality(noise.astype(np.float32), RATE)
    assert (found.speech_dbov, found.remarks) == (None, ("no speech found",))


@pytest.mark.parametrize("name", sorted(p.stem for p in SPEECH.glob("*.flac")))
def test_no_recorded_word_is_quiet(name: str) -> None:
    assert not any(each.startswith("quiet") for each in quality(words(name), RATE).remarks)


def test_digital_silence_is_a_muted_microphone() -> None:
    assert "muted" in quality(np.zeros(RATE, dtype=np.float32), RATE).remarks[0]


def test_the_noise_floor_is_the_level_of_the_noise() -> None:
    noise = np.random.default_rng(1).standard_normal(4 * RATE) * 10 ** (-35 / 20)
    found = quality((session() + noise).astype(np.float32), RATE)
    assert found.noise_floor_dbfs == pytest.approx(-35.0, abs=1.0)
    assert any(remark.startswith("noise floor -35 dBFS") for remark in found.remarks)


@pytest.mark.parametrize("mains", [50.0, 60.0])
@pytest.mark.parametrize("harmonics", [(1,), (1, 2, 3), (2, 4)])
def test_hum_under_speech_is_told_by_its_mains(mains: float, harmonics: tuple[int, ...]) -> None:
    speech = session()
    hummed = speech + sum(tone(mains * k, -45.0, len(speech)) for k in harmonics)
    found = quality(hummed.astype(np.float32), RATE)
    assert found.hum == mains
    assert found.remarks[-1] == f"hum of the mains at {mains:.0f} Hz"


@pytest.mark.parametrize("hz", [55.0, 70.0, 130.0, 997.0])
def test_other_tones_are_no_hum(hz: float) -> None:
    speech = session()
    assert hum((speech + tone(hz, -40.0, len(speech))).astype(np.float32), RATE) is None


def test_all_recorded_words_together_do_not_hum() -> None:
    names = sorted(p.stem for p in SPEECH.glob("*.flac"))
    for start in range(0, len(names) - 3, 4):
        assert hum(words(*names[start : start + 4]), RATE) is None


def test_hum_is_told_in_a_recording_of_many_minutes() -> None:
    speech = np.tile(session(), 50)  # more than are looked at
    assert hum(speech, RATE) is None
    assert hum((speech + tone(60.0, -50.0, len(speech))).astype(np.float32), RATE) == 60.0


def test_what_is_too_short_is_told_and_its_hum_not_guessed() -> None:
    short = tone(50.0, -20.0, RATE // 5).astype(np.float32)
    found = quality(short, RATE)
    assert found.remarks[0] == "short: 0.20 s"
    assert found.hum is None


def test_nothing_at_all_has_a_quality_too() -> None:
    found = quality(np.zeros(0, dtype=np.float32), RATE)
    assert (found.seconds, found.clipped) == (0.0, 0)
    assert found.remarks[0] == "short: 0.00 s"
