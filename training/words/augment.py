"""Random effects of a microphone and a room on a clip."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from training.words.recordings import RATE, Samples

Generator = np.random.Generator


def change_speed(samples: Samples, factor: float) -> Samples:
    """Return a clip played ``factor`` times as fast, with changed pitch.

    >>> len(change_speed(np.zeros(1000, dtype="f4"), 1.25))
    800
    """
    places = np.arange(0, len(samples) - 1, factor)
    out: Samples = np.interp(places, np.arange(len(samples)), samples).astype(np.float32)
    return out


def room(rng: Generator) -> Samples:
    """Draw the impulse response of a room and a microphone.

    The direct sound and an exponentially fading tail, then a smooth random frequency response.
    """
    seconds = rng.uniform(0.08, 0.5)
    times = np.arange(int(seconds * RATE)) / RATE
    tail = rng.standard_normal(len(times)) * np.exp(-6.9 * times / seconds)
    tail *= 10 ** (-rng.uniform(0, 12) / 20) / np.sqrt(np.sum(tail**2))
    tail[: int(rng.uniform(0.001, 0.01) * RATE)] = 0
    tail[0] = 1
    spectrum = np.fft.rfft(tail)
    octaves = np.log2(np.linspace(62.5, 8000, len(spectrum)) / 62.5)
    gains = np.interp(octaves, range(8), rng.normal(0, 5, 8))  # dB, one an octave
    out = np.fft.irfft(spectrum * 10 ** (gains / 20), len(tail))
    return np.roll(out, RATE // 200).astype(np.float32)  # else what comes before 0 is at the end


def coloured_noise(rng: Generator, length: int) -> Samples:
    """Draw noise whose power falls with the frequency to a power between 0 and 2."""
    size = 1 << max(length - 1, 1).bit_length()
    white = rng.standard_normal(size // 2 + 1) + 1j * rng.standard_normal(size // 2 + 1)
    shape = np.maximum(np.arange(size // 2 + 1), 20 * size / RATE) ** (-rng.uniform(0, 2) / 2)
    return np.fft.irfft(white * shape, size)[:length].astype(np.float32)


def hum(rng: Generator, length: int) -> Samples:
    """Draw mains hum: 50 or 60 Hz and some harmonics."""
    times = np.arange(length) / RATE
    base = rng.choice((50.0, 60.0))
    parts = [
        rng.uniform(0, 1) / k * np.sin(2 * np.pi * (base * k * times + rng.uniform()))
        for k in range(1, 8)
    ]
    out: Samples = np.sum(parts, axis=0).astype(np.float32)
    return out


def clicks(rng: Generator, length: int) -> Samples:
    """Draw a few short impact sounds, as of a mouse, a cup or a chair."""
    out = np.zeros(length, dtype=np.float32)
    for _ in range(rng.integers(1, 4)):
        size = min(int(rng.uniform(0.005, 0.08) * RATE), length)
        start = rng.integers(0, length - size + 1)
        knock = coloured_noise(rng, size) * np.exp(-np.linspace(0, 6, size))
        out[start : start + size] += (knock / (np.abs(knock).max() + 1e-9)).astype(np.float32)
    return out


class Background:
    """Noise of any length: recorded background, coloured noise, hum, impact sounds.

    It is cut from noise that is drawn once: new noise would take longer than the rest of an
    example.
    """

    _SECONDS = 5
    _KINDS = 240

    def __init__(self, recorded: Sequence[Samples], seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._bank = [self._make(rng, recorded) for _ in range(self._KINDS)]
        self.rooms = [room(rng) for _ in range(self._KINDS)]

    def _make(self, rng: Generator, recorded: Sequence[Samples]) -> Samples:
        length = self._SECONDS * RATE
        if recorded and rng.random() < 0.5:
            clip = change_speed(recorded[int(rng.integers(len(recorded)))], rng.uniform(0.9, 1.1))
            out = np.resize(clip, length)
        else:
            out = coloured_noise(rng, length)
        out = out / (np.sqrt(np.mean(out**2)) + 1e-9)
        if rng.random() < 0.15:
            out = out + rng.uniform(0.2, 2) * hum(rng, length)
        if rng.random() < 0.15:
            out = out + rng.uniform(1, 10) * clicks(rng, length)
        made: Samples = (out / (np.sqrt(np.mean(out**2)) + 1e-9)).astype(np.float32)
        return made

    def draw(self, rng: Generator, length: int) -> Samples:
        """Draw noise of ``length`` samples with a root mean square near 1."""
        noise = self._bank[rng.integers(self._KINDS)]
        start = rng.integers(0, max(len(noise) - length, 0) + 1)
        return np.resize(noise[start : start + length], length)


def warp_frequency(mel: torch.Tensor, factor: float) -> torch.Tensor:
    """Stretch a log-mel spectrogram (frames, bins) along the bins: another vocal tract length."""
    bins = mel.shape[1]
    places = (torch.arange(bins) * factor).clamp(0, bins - 1.001)
    low = places.long()
    share = places - low
    return mel[:, low] * (1 - share) + mel[:, low + 1] * share


def mask(features: torch.Tensor, rng: Generator, mels: int) -> torch.Tensor:
    """SpecAugment on stacked features: hide up to two bands and up to two stretches of time."""
    out = features.clone().view(len(features), -1, mels)
    for _ in range(rng.integers(0, 3)):
        low, width = int(rng.integers(0, mels - 14)), int(rng.integers(1, 14))
        out[:, :, low : low + width] = 0
    for _ in range(rng.integers(0, 3)):
        width = int(rng.integers(1, 4))
        start = int(rng.integers(0, max(len(out) - width, 1)))
        out[start : start + width] = 0
    return out.view(len(features), -1)
