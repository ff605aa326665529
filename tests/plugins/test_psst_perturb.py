"""Perturbed copies, listened to: pitch, duration, ratio of signal to noise, decay of a room."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tabwb_psst.made import SPEECH
from tabwb_psst.train.perturb import drawn_room, image_source, perturbed

from tabwb.speech.files import read_clip, write_wav
from tests.builders import needs

needs("python_stretch", "soxr", "scipy")
RATE = 16_000
Clip = NDArray[np.float32]


def vowel(hz: float = 140.0, seconds: float = 1.5) -> Clip:
    """Harmonics of a pitch under two formants."""
    time = np.arange(round(seconds * RATE)) / RATE
    made = np.zeros(time.size)
    for number in range(1, int(4000 / hz)):
        at = number * hz
        loud = 1 / (1 + ((at - 700) / 150) ** 2) + 1 / (1 + ((at - 1200) / 200) ** 2) + 0.02
        made += loud * np.sin(2 * np.pi * at * time + number)
    return np.asarray(0.2 * made / np.abs(made).max(), dtype=np.float32)


def pitch_hz(samples: Clip) -> float:
    """The pitch by the highest peak of the autocorrelation, interpolated."""
    middle = samples[samples.size // 4 : -samples.size // 4].astype(np.float64)
    spectrum = np.abs(np.fft.rfft(middle, 4 * middle.size)) ** 2
    correlation = np.fft.irfft(spectrum)[:400]
    low = 40
    at = low + int(correlation[low:].argmax())
    a, b, c = correlation[at - 1 : at + 2]
    return float(RATE / (at + 0.5 * (a - c) / (a - 2 * b + c)))


@pytest.mark.parametrize("semitones", [-3.0, -1.5, 2.0, 4.0])
def test_pitch_moves_by_semitones_and_time_stays(semitones: float) -> None:
    clip = vowel()
    moved = perturbed(clip, RATE, "pitch", semitones, 1)
    heard = 12 * np.log2(pitch_hz(moved) / pitch_hz(clip))
    assert heard == pytest.approx(semitones, abs=0.1)
    assert moved.size == pytest.approx(clip.size, rel=0.01)


@pytest.mark.parametrize("speed", [0.8, 0.9, 1.1, 1.25])
def test_speed_changes_time_and_pitch_stays(speed: float) -> None:
    clip = vowel()
    stretched = perturbed(clip, RATE, "time", speed, 1)
    assert stretched.size == pytest.approx(clip.size / speed, rel=0.01)
    assert 12 * np.log2(pitch_hz(stretched) / pitch_hz(clip)) == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("ratio_db", [0.0, 10.0, 30.0])
def test_noise_has_the_stated_ratio(ratio_db: float) -> None:
    clip, _ = read_clip(SPEECH / "zero_893705bb_3.flac")
    noise = perturbed(clip, RATE, "noise", ratio_db, 7).astype(np.float64) - clip
    heard = 10 * np.log10(np.mean(clip.astype(np.float64) ** 2) / np.mean(noise**2))
    assert heard == pytest.approx(ratio_db, abs=0.5)
    spectrum = np.abs(np.fft.rfft(noise)) ** 2
    low, high = np.array_split(spectrum, 2)
    assert 10 * np.log10(low.mean() / high.mean()) == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize("seconds", [0.3, 0.6])
def test_the_sound_of_a_room_decays(seconds: float) -> None:
    size, speaker, ear = map(np.array, ((6.0, 5.0, 3.0), (2.0, 1.5, 1.4), (4.0, 3.2, 1.6)))
    impulse = image_source(size, speaker, ear, seconds, RATE)
    direct = float(np.linalg.norm(speaker - ear))
    first = int(np.flatnonzero(impulse)[0])
    assert first == int(direct / 343 * RATE)
    # The first two samples hold the direct sound, 1 / (4 pi d).
    assert impulse[first : first + 2].sum() == pytest.approx(1 / (4 * np.pi * direct), rel=1e-6)
    left = np.cumsum(impulse[::-1] ** 2)[::-1] / np.sum(impulse**2)
    begin, end = (int((left < 10 ** (level / 10)).argmax()) for level in (-5, -25))
    # Eyring's formula is of a diffuse field; between parallel walls sound lasts longer.
    assert seconds < 3 * (end - begin) / RATE < 1.7 * seconds


def test_a_wall_mirrors_the_speaker() -> None:
    size, speaker, ear = map(np.array, ((5.0, 4.0, 3.0), (1.0, 2.0, 1.5), (3.0, 2.0, 1.5)))
    impulse = image_source(size, speaker, ear, 0.5, RATE)
    reflection = np.exp(-0.161 * 60 / (2 * 94 * 0.5))
    # Behind the wall x = 0 the image is 4 m from the ear, as is that of no other wall.
    at = int(4 / 343 * RATE)
    assert impulse[at : at + 2].sum() == pytest.approx(reflection / (16 * np.pi), rel=0.01)


def test_a_room_keeps_length_and_loudness_and_removes_the_delay(tmp_path) -> None:  # type: ignore[no-untyped-def]
    clip, _ = read_clip(SPEECH / "dog_d1a4fb3f_0.flac")
    heard = perturbed(clip, RATE, "room", 0.4, 3)
    assert heard.size == clip.size
    assert np.sqrt(np.mean(heard**2)) == pytest.approx(np.sqrt(np.mean(clip**2)), rel=0.01)
    late = np.zeros(2_000, dtype=np.float32)
    late[1_500] = 0.5
    write_wav(tmp_path / "late.wav", late, RATE)
    through = perturbed(clip, RATE, "room", 0.4, 3, tmp_path)
    assert np.corrcoef(through, clip)[0, 1] > 0.999


@pytest.mark.parametrize(("kind", "value"), [("pitch", 2.0), ("time", 1.1), ("noise", 20.0),
                                             ("room", 0.3)])  # fmt: skip
def test_a_seed_gives_one_copy(kind: str, value: float) -> None:
    clip = vowel(seconds=0.5)
    first, again = (perturbed(clip, RATE, kind, value, 5) for _ in range(2))
    assert np.array_equal(first, again)
    if kind in ("noise", "room"):
        assert not np.array_equal(first, perturbed(clip, RATE, kind, value, 6))


def test_drawn_rooms_differ_by_seed() -> None:
    one, other = (drawn_room(np.random.default_rng(seed), RATE, 0.3) for seed in (1, 2))
    assert not np.array_equal(one, other)
