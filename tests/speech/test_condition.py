"""Conditioning: each number of PSST's appendix B.2 by a second derivation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyloudnorm
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.errors import TabwbError
from tabwb.speech.condition import (
    LIMIT_DBFS,
    LOUDNESS_LUFS,
    RATE,
    condition,
    condition_file,
    high_pass,
    limit,
)
from tabwb.speech.files import Samples, read_clip

SPEECH = Path(__file__).parents[1] / "data" / "speech"
LIMIT = 10 ** (LIMIT_DBFS / 20)


def sine(hz: float, dbfs: float, seconds: float = 5.0, rate: int = 48_000) -> Samples:
    t = np.arange(round(seconds * rate)) / rate
    return (10 ** (dbfs / 20) * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def gain_db(hz: float, rate: int = 48_000) -> float:
    """What the high-pass does to a sine, measured on samples once it has settled."""
    tone = sine(hz, -6.0, 4.0, rate).astype(np.float64)
    passed = high_pass(tone.astype(np.float32), rate)
    half = len(tone) // 2
    return float(10 * np.log10(np.square(passed[half:]).mean() / np.square(tone[half:]).mean()))


@pytest.mark.parametrize("hz", [12.5, 25.0, 50.0, 100.0, 200.0, 1000.0])
def test_the_high_pass_is_a_butterworth_of_second_order_at_100_hz(hz: float) -> None:
    # |H|^2 = 1 / (1 + (fc/f)^2n), n = 2: the formula of the analogue filter, not the code's own.
    assert gain_db(hz) == pytest.approx(-10 * np.log10(1 + (100 / hz) ** 4), abs=0.02)


def test_it_rolls_off_by_12_db_per_octave() -> None:
    assert gain_db(25.0) - gain_db(12.5) == pytest.approx(12.04, abs=0.1)
    assert gain_db(100.0) == pytest.approx(-3.01, abs=0.02)


def test_an_offset_of_the_sound_card_is_no_click() -> None:
    assert np.abs(high_pass(np.full(1_000, 0.5, dtype=np.float32), 16_000)).max() < 1e-6


def test_a_sine_of_997_hz_at_minus_20_measures_minus_23_lufs() -> None:
    # ITU-R BS.1770-5: 997 Hz at 0 dBFS in one channel reads -3.01 LKFS.
    conditioned = condition(sine(997.0, -20.0), 48_000)
    measured = conditioned.parameters["loudness_lufs"]
    assert measured == pytest.approx(-23.01, abs=0.05)
    assert conditioned.parameters["gain_db"] == pytest.approx(0.01, abs=0.05)


@pytest.mark.parametrize("dbfs", [-50.0, -35.0, -20.0, -8.0])
@pytest.mark.parametrize("rate", [16_000, 22_050, 44_100, 48_000])
def test_every_level_and_rate_comes_out_at_minus_23_lufs(dbfs: float, rate: int) -> None:
    conditioned = condition(sine(440.0, dbfs, 3.0, rate), rate)
    measured = pyloudnorm.Meter(RATE).integrated_loudness(conditioned.samples.astype(np.float64))
    assert measured == pytest.approx(LOUDNESS_LUFS, abs=0.15)
    assert conditioned.parameters["loudness"] == "normalised"
    assert len(conditioned.samples) == pytest.approx(3.0 * RATE, abs=2)


def test_what_lies_above_8_khz_is_discarded() -> None:
    both = sine(440.0, -20.0) + sine(12_000.0, -20.0)
    spectrum = np.abs(np.fft.rfft(condition(both, 48_000).samples))
    hz = np.fft.rfftfreq(2 * (len(spectrum) - 1), 1 / RATE)
    assert spectrum[hz > 1_000].max() < 1e-3 * spectrum.max()


def test_a_bump_is_held_below_minus_6_dbfs_and_the_rest_is_left_alone() -> None:
    quiet = sine(300.0, -30.0, 2.0, RATE).astype(np.float64)
    bumped = quiet.copy()
    bumped[RATE : RATE + 40] = 0.98
    limited, gains = limit(bumped, RATE)
    assert np.abs(limited).max() <= LIMIT
    assert np.abs(limited).max() == pytest.approx(LIMIT, rel=1e-3)
    far = np.r_[0 : RATE - 400, RATE + 440 : 2 * RATE]
    assert (gains[far] == pytest.approx(1.0)) and np.allclose(limited[far], quiet[far])


def test_a_loud_sine_is_turned_down_and_not_cut_off() -> None:
    # A clipped sine of 1 kHz has its third harmonic at about -20 dB; a limited one has none.
    loud = sine(1_000.0, -0.1, 1.0, RATE).astype(np.float64)
    limited, _ = limit(loud, RATE)
    middle = limited[4_000:12_000]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    assert spectrum[1_500] < 1e-3 * spectrum[500]


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=600), st.floats(0.1, 8.0))
def test_nothing_ever_passes_the_limiter(values: list[float], factor: float) -> None:
    limited, gains = limit(np.array(values) * factor, RATE)
    assert np.abs(limited).max() <= LIMIT
    assert ((gains > 0) & (gains <= 1 + 1e-12)).all()


@pytest.mark.parametrize("name", ["house_6e916de8_0", "cat_83957201_0", "three_8c0e5970_0"])
def test_no_sample_of_a_conditioned_word_is_above_the_limit(name: str) -> None:
    samples, rate = read_clip(SPEECH / f"{name}.flac")
    conditioned = condition(samples, rate)
    assert np.abs(conditioned.samples).max() <= np.float32(LIMIT)
    assert conditioned.samples.dtype == np.float32


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.1, 0.399])
def test_below_400_ms_the_level_is_left_and_this_is_said(seconds: float) -> None:
    conditioned = condition(sine(440.0, -20.0, seconds), 48_000)
    assert conditioned.parameters["loudness"] == "too short"
    assert conditioned.parameters["gain_db"] == 0.0
    assert "loudness_lufs" not in conditioned.parameters
    assert len(conditioned.samples) == pytest.approx(seconds * RATE, abs=2)


def test_at_400_ms_there_is_a_loudness() -> None:
    assert condition(sine(440.0, -20.0, 0.4), 48_000).parameters["loudness"] == "normalised"


def test_silence_stays_silence_and_this_is_said() -> None:
    conditioned = condition(np.zeros(48_000, dtype=np.float32), 48_000)
    assert conditioned.parameters["loudness"] == "silent"
    assert not conditioned.samples.any()


def test_nearly_nothing_is_not_blown_up_without_end() -> None:
    conditioned = condition(sine(440.0, -66.0), 48_000)
    assert conditioned.parameters["loudness"] == "at most gain"
    assert conditioned.parameters["gain_db"] == 40.0


def test_what_the_limiter_did_is_told() -> None:
    samples = sine(440.0, -30.0)
    samples[48_000:48_040] = 0.9
    told = condition(samples, 48_000).parameters
    assert isinstance(told["limited_s"], float) and 0.0 < told["limited_s"] < 0.1
    assert isinstance(told["limited_db"], float) and told["limited_db"] > 3.0
    assert condition(sine(440.0, -30.0), 48_000).parameters["limited_s"] == 0.0


def test_a_rate_too_low_for_speech_is_refused() -> None:
    with pytest.raises(TabwbError, match="too low a rate"):
        condition(np.zeros(100, dtype=np.float32), 1_000)


def test_a_copy_is_written_and_the_original_stays(tmp_path: Path) -> None:
    source, out = tmp_path / "take.wav", tmp_path / "copy.wav"
    soundfile.write(source, np.column_stack([sine(440.0, -40.0)] * 2), 48_000, subtype="PCM_24")
    before = source.read_bytes()
    told, _ = condition_file(source, out, 1.0, 3.0)
    assert source.read_bytes() == before
    assert out.stat().st_mode & 0o777 == 0o600
    copy, rate = read_clip(out)
    assert (rate, len(copy)) == (RATE, 2 * RATE)
    assert told["source_rate_hz"] == 48_000
    measured = pyloudnorm.Meter(RATE).integrated_loudness(copy.astype(np.float64))
    assert measured == pytest.approx(LOUDNESS_LUFS, abs=0.15)


def test_a_stretch_without_sound_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "take.wav"
    soundfile.write(source, sine(440.0, -40.0, 1.0), 48_000)
    with pytest.raises(TabwbError, match="no sound from 5 s on"):
        condition_file(source, tmp_path / "copy.wav", 5.0, 6.0)
    assert not (tmp_path / "copy.wav").exists()
