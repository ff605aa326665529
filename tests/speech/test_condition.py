"""Conditioning: each number of PSST's appendix B.2 by a second derivation."""

from __future__ import annotations

import math
import time
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
    slowed,
)
from tabwb.speech.files import Samples, read_clip
from tabwb.speech.level import (
    CLIP_RUN,
    FLOOR_DBFS,
    Meter,
    active_speech_level,
    full_scale_runs,
    level,
)
from tabwb.speech.playback import Playback
from tests.builders import DOG, SPEECH
from tests.speech.recording import likeness, recording
from tests.speech.virtual_microphone import RATE as PLAYED_HZ
from tests.speech.virtual_microphone import VirtualMicrophone

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


def test_the_high_pass_is_a_butterworth_of_second_order_at_100_hz() -> None:
    # |H|^2 = 1 / (1 + (fc/f)^2n), n = 2: the formula of the analogue filter, not the code's own.
    measured = {hz: gain_db(hz) for hz in (12.5, 25.0, 50.0, 100.0, 200.0, 1000.0)}
    for hz, db in measured.items():
        assert db == pytest.approx(-10 * np.log10(1 + (100 / hz) ** 4), abs=0.02)
    assert measured[25.0] - measured[12.5] == pytest.approx(12.04, abs=0.1)


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


@pytest.mark.parametrize(
    ("samples", "loudness", "gain"),
    [
        *((sine(440.0, -20.0, seconds), "too short", 0.0) for seconds in (0.0, 0.001, 0.1, 0.399)),
        (sine(440.0, -20.0, 0.4), "normalised", None),
        (np.zeros(48_000, dtype=np.float32), "silent", None),
        (sine(440.0, -66.0), "at most gain", 40.0),
    ],
)
def test_what_has_no_loudness_or_nearly_none_is_left_and_this_is_said(
    samples: Samples, loudness: str, gain: float | None
) -> None:
    conditioned = condition(samples, 48_000)
    told = conditioned.parameters
    assert told["loudness"] == loudness
    assert gain in (None, told["gain_db"])
    assert ("loudness_lufs" in told) is (loudness in ("normalised", "at most gain"))
    assert len(conditioned.samples) == pytest.approx(len(samples) * RATE / 48_000, abs=2)
    assert loudness != "silent" or not conditioned.samples.any()


def test_what_the_limiter_did_is_told() -> None:
    samples = sine(440.0, -30.0)
    samples[48_000:48_040] = 0.9
    told = condition(samples, 48_000).parameters
    assert isinstance(told["limited_s"], float) and 0.0 < told["limited_s"] < 0.1
    assert isinstance(told["limited_db"], float) and told["limited_db"] > 3.0
    assert condition(sine(440.0, -30.0), 48_000).parameters["limited_s"] == 0.0


def test_a_copy_is_written_and_the_original_stays(tmp_path: Path) -> None:
    source, out = tmp_path / "take.wav", tmp_path / "copy.wav"
    soundfile.write(source, np.column_stack([sine(440.0, -40.0)] * 2), 48_000, subtype="PCM_24")
    before = source.read_bytes()
    with pytest.raises(TabwbError, match="no sound from 5 s on"):
        condition_file(source, out, 5.0, 6.0)
    assert not out.exists()
    told, _ = condition_file(source, out, 1.0, 3.0)
    assert source.read_bytes() == before
    assert out.stat().st_mode & 0o777 == 0o600
    copy, rate = read_clip(out)
    assert (rate, len(copy)) == (RATE, 2 * RATE)
    assert told["source_rate_hz"] == 48_000
    measured = pyloudnorm.Meter(RATE).integrated_loudness(copy.astype(np.float64))
    assert measured == pytest.approx(LOUDNESS_LUFS, abs=0.15)
    with pytest.raises(TabwbError, match="too low a rate"):
        condition(np.zeros(100, dtype=np.float32), 1_000)


def array(*values: float) -> Samples:
    return np.array(values, dtype=np.float32)


def test_a_sine_at_full_scale_has_an_rms_of_minus_3_01_and_silence_a_level() -> None:
    t = np.arange(48_000) / 48_000
    told = level(np.sin(2 * np.pi * 1_000 * t).astype(np.float32))
    assert told.peak_dbfs == pytest.approx(0.0, abs=1e-3)
    assert told.rms_dbfs == pytest.approx(10 * np.log10(0.5), abs=1e-3)
    told = level(np.zeros(100, dtype=np.float32))
    assert (told.peak_dbfs, told.rms_dbfs, told.clipped) == (FLOOR_DBFS, FLOOR_DBFS, False)
    for samples in (np.zeros(0, np.float32), np.zeros(16_000, np.float32)):
        assert (active_speech_level(samples, 16_000).dbov) == -144.0


@pytest.mark.parametrize(
    ("values", "clipped"),
    [
        ((0.2, 1.0, 0.2), False),
        ((0.2, 1.0, 1.0, 0.2), False),
        ((0.2, 1.0, 1.0, 1.0, 0.2), True),
        ((0.2, *[1.0] * 9, 0.2), True),
        ((32767 / 32768,) * 3, True),  # the largest value of 16 bits is full scale
        ((0.999,) * 3, False),
        ((1.0, 1.0, -1.0, -1.0), False),  # a change of sign is no flat top
    ],
)
def test_three_samples_at_full_scale_light_the_clip_light(
    values: tuple[float, ...], clipped: bool
) -> None:
    assert level(array(*values)).clipped is clipped


@given(
    st.lists(st.sampled_from([0.0, 1.0, 1.0, -1.0]), max_size=40),
    st.lists(st.integers(0, 40), max_size=6),
)
def test_where_blocks_are_cut_does_not_change_how_often_it_clipped(
    values: list[float], cuts: list[int]
) -> None:
    whole = np.array(values, dtype=np.float32)
    meter = Meter()
    for block in np.split(whole, sorted(min(cut, len(values)) for cut in cuts)):
        meter.feed(block)
    # Counted a second way: by walking along the samples.
    expected = run = 0
    before = 0.0
    for value in values:
        run = run + 1 if value and value == before else int(bool(value))
        before = value
        expected += run == CLIP_RUN
    assert meter.clips == expected == len(full_scale_runs(whole))


def test_a_flat_top_across_two_blocks_lights_the_second() -> None:
    meter = Meter()
    assert not meter.feed(array(0.0, 1.0, 1.0)).clipped
    assert meter.feed(array(1.0, 0.0)).clipped
    assert not meter.feed(array(0.0, 1.0)).clipped
    assert meter.clips == 1


def by_the_text(samples: Samples, rate: int) -> float:
    """P.56 section 7.2 as it is written."""
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


@pytest.mark.parametrize(
    ("name", "gain"),
    [("house_6e916de8_0", 1.0), ("cat_83957201_0", 0.05), ("three_8c0e5970_0", 1.0)],
)
def test_the_level_of_words_is_that_of_the_recommendation(name: str, gain: float) -> None:
    samples, rate = read_clip(SPEECH / f"{name}.flac")
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


SLOWED_HZ = 16_000


def test_a_tone_lasts_longer_and_sounds_the_same() -> None:
    at = np.arange(SLOWED_HZ) / SLOWED_HZ
    for hertz in (110, 440):
        tone = (0.5 * np.sin(2 * np.pi * hertz * at)).astype(np.float32)
        made = slowed(tone, SLOWED_HZ, 0.75)
        assert len(made) == round(SLOWED_HZ / 0.75)
        strongest = np.argmax(np.abs(np.fft.rfft(made * np.hanning(len(made)))))
        step = SLOWED_HZ / len(made)
        assert strongest * step == pytest.approx(hertz, abs=step)
        assert np.sqrt(np.mean(made[2000:-2000] ** 2)) == pytest.approx(0.5 / np.sqrt(2), rel=0.02)
        assert np.array_equal(slowed(tone, SLOWED_HZ, 1.0), tone)
    with pytest.raises(ValueError, match=r"a speed of 1\.5 is not between"):
        slowed(np.linspace(-1, 1, 4000, dtype=np.float32), SLOWED_HZ, 1.5)


def test_what_is_played_is_heard(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    recorder = recording(tmp_path / "take.wav")
    playback = Playback(DOG)
    playback.start()
    assert playback.playing
    began = playback.played_s
    assert began is not None and 0.0 <= began < playback.seconds
    time.sleep(0.5)  # longer than the buffers
    later = playback.played_s
    assert later is None or later > began
    playback.wait()
    assert not playback.playing and playback.played_s is None
    made = recorder.stop()
    assert likeness(*read_clip(made.path), DOG)[0] > 0.99


def test_playing_stops_when_asked(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    long = tmp_path / "long.wav"
    soundfile.write(long, np.zeros(20 * PLAYED_HZ, dtype=np.float32), PLAYED_HZ)
    playback = Playback(long)
    playback.start()
    began = time.monotonic()
    playback.stop()
    assert time.monotonic() - began < 15.0
    assert not playback.playing
