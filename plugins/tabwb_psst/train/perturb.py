"""Perturbed copies of a clip: pitch, speed, noise, rooms. Each is exact in what it states.

A clip is float32 of shape (samples,), full scale at -1 and 1.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import TabwbError
from tabwb.records.system import need
from tabwb.speech.files import Samples, read_clip, sound_files

SOUND_M_S = 343.0
"""Speed of sound in air at 20 degrees, in m/s."""
ROOM_M = ((3.0, 7.0), (3.0, 6.0), (2.4, 3.5))
"""Length, width and height that simulated rooms are drawn between, in m [ours]."""
AWAY_M = 0.5
"""The least distance of speaker and microphone from walls and from each other, in m [ours]."""


def perturbed(
    samples: Samples, rate: int, kind: str, value: float, seed: int, impulses: Path | None = None
) -> Samples:
    """Return a perturbed copy; the same arguments give the same copy."""
    rng = np.random.default_rng(seed)
    if kind == "pitch":
        return shifted(samples, rate, value)
    if kind == "time":
        return stretched(samples, rate, value)
    if kind == "noise":
        return noisy(samples, value, rng)
    if impulses is not None:
        files = sound_files([impulses])
        heard, its_rate = read_clip(files[int(rng.integers(len(files)))])
        if its_rate != rate:
            heard = need("soxr", "resampling").resample(heard, its_rate, rate)
        return reverberant(samples, heard.astype(np.float64))
    return reverberant(samples, drawn_room(rng, rate, value))


def shifted(samples: Samples, rate: int, semitones: float) -> Samples:
    """Return a copy of another pitch that lasts as long.

    Stretched by 2^(n/12) and resampled by the same factor: the pitch is exact.
    """
    factor = 2.0 ** (semitones / 12)
    longer = stretched(samples, rate, 1 / factor)
    moved = need("soxr", "resampling").resample(longer, rate * factor, rate)
    return _fitted(np.asarray(moved, dtype=np.float32), samples.size)


def stretched(samples: Samples, rate: int, speed: float) -> Samples:
    """Return a copy that lasts ``1 / speed`` times as long, at the same pitch."""
    stretch = need("python_stretch", "perturbing recordings", extra="psst").Signalsmith.Stretch()
    stretch.preset(1, rate)
    stretch.setTimeFactor(speed)
    return np.asarray(stretch.process(samples[np.newaxis, :])[0], dtype=np.float32)


def noisy(samples: Samples, ratio_db: float, rng: np.random.Generator) -> Samples:
    """Return a copy with Gaussian noise at a ratio of the clip's to the noise's power, in dB."""
    noise = rng.standard_normal(samples.size)
    power = float(np.mean(np.square(samples, dtype=np.float64)))
    scale = math.sqrt(power / 10 ** (ratio_db / 10) / max(float(np.mean(noise**2)), 1e-30))
    return (samples + scale * noise).astype(np.float32)


def reverberant(samples: Samples, impulse: NDArray[np.float64]) -> Samples:
    """Return a copy heard through an impulse response: as long, as loud, without its delay."""
    if not impulse.size or not impulse.any():
        raise TabwbError("an impulse response is silent")
    signal = need("scipy.signal", "reverberation")
    direct = int(np.abs(impulse).argmax())
    heard = signal.fftconvolve(samples.astype(np.float64), impulse)[direct : direct + samples.size]
    before, after = (float(np.mean(np.square(x, dtype=np.float64))) for x in (samples, heard))
    scale = math.sqrt(before / max(after, 1e-30))
    return np.asarray(heard * scale, dtype=np.float32)


def drawn_room(rng: np.random.Generator, rate: int, reverberation_s: float) -> NDArray[np.float64]:
    """Return the impulse response of a room, with speaker and microphone placed at random."""
    size = np.array([rng.uniform(low, high) for low, high in ROOM_M])
    speaker, microphone = (rng.uniform(AWAY_M, size - AWAY_M) for _ in range(2))
    while np.linalg.norm(speaker - microphone) < AWAY_M:
        microphone = rng.uniform(AWAY_M, size - AWAY_M)
    return image_source(size, speaker, microphone, reverberation_s, rate)


def image_source(
    size: NDArray[np.float64],
    speaker: NDArray[np.float64],
    microphone: NDArray[np.float64],
    reverberation_s: float,
    rate: int,
) -> NDArray[np.float64]:
    """Return the impulse response of a rectangular room (Allen and Berkley 1979, JASA 65, 943).

    A wall mirrors the speaker; the image that was mirrored k times, at distance d, adds
    ``b^k / (4 pi d)`` after ``d / c``. The reflection ``b`` follows from the reverberation time by
    Eyring: ``T = 0.161 V / (-S ln(1 - a))``, ``b = sqrt(1 - a)``.

    ``size``, ``speaker`` and ``microphone`` have shape (3,) and are in m. The response lasts
    ``reverberation_s``. Between parallel walls sound lasts longer than in Eyring's diffuse field.
    """
    volume = float(np.prod(size))
    surface = 2 * float(size[0] * size[1] + size[1] * size[2] + size[0] * size[2])
    reflection = math.exp(-0.161 * volume / (2 * surface * reverberation_s))
    reach = SOUND_M_S * reverberation_s
    along, mirrored = [], []
    for length, source, ear in zip(size, speaker, microphone, strict=True):
        rooms = np.arange(-math.ceil(reach / (2 * length)), math.ceil(reach / (2 * length)) + 1)
        along.append(
            np.concatenate([2 * rooms * length + source, 2 * rooms * length - source]) - ear
        )
        mirrored.append(np.concatenate([2 * np.abs(rooms), np.abs(rooms - 1) + np.abs(rooms)]))
    x, y, z = np.meshgrid(*along, indexing="ij", sparse=True)
    i, j, k = np.meshgrid(*mirrored, indexing="ij", sparse=True)
    distance = np.sqrt(x**2 + y**2 + z**2)
    near = distance < reach
    orders, distance = (i + j + k)[near], distance[near]
    heard = np.exp(orders * math.log(reflection)) / (4 * math.pi * distance)
    places = distance / SOUND_M_S * rate
    whole = places.astype(np.int64)
    part = places - whole
    impulse = np.zeros(math.ceil(reverberation_s * rate) + 2)
    np.add.at(impulse, whole, heard * (1 - part))
    np.add.at(impulse, whole + 1, heard * part)
    return impulse


def _fitted(samples: Samples, length: int) -> Samples:
    return np.pad(samples[:length], (0, max(length - samples.size, 0)))
