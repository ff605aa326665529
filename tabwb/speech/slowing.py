"""Slow playback at the same pitch: waveform-similarity overlap-add (WSOLA)."""

from __future__ import annotations

import numpy as np

from tabwb.speech.files import Samples

WINDOW_S = 0.030
"""Length of the windows that are moved apart: some periods of a low voice [ours]."""
SEARCH_S = 0.010
"""How far a window is moved for the best fit: one period of 100 Hz [ours]."""


def slowed(samples: Samples, rate: int, speed: float) -> Samples:
    """Return a copy that lasts ``1 / speed`` times as long, at the same pitch.

    Windows of 30 ms (Hann, half overlapping) are taken from the clip every ``15 ms x speed`` and
    added every 15 ms. Each is moved by up to 10 ms to where it continues the one before best, by
    the normalised cross-correlation (Verhelst & Roelands 1993, ICASSP, "An overlap-add technique
    based on waveform similarity").

    Args:
        samples: shape (frames,), float32 in [-1, 1].
        rate: frames per second.
        speed: above 0 and at most 1; 1 changes nothing.

    >>> slowed(np.zeros(16_000, dtype=np.float32), 16_000, 0.75).shape
    (21333,)
    """
    if not 0 < speed <= 1:
        raise ValueError(f"a speed of {speed} is not between 0 and 1")
    length = round(len(samples) / speed)
    half = max(round(WINDOW_S * rate / 2), 1)
    if speed == 1 or len(samples) < 2 * half:
        return samples.copy()
    search = round(SEARCH_S * rate)
    window = np.hanning(2 * half + 1)[:-1]
    padded = np.concatenate(
        (np.zeros(search), samples.astype(np.float64), np.zeros(4 * half + 2 * search))
    )
    made = np.zeros(length + 4 * half)
    weight = np.zeros_like(made)
    taken = 0
    for start in range(0, length + half, half):
        ideal = min(round(start * speed), len(samples))
        if start:
            follows = padded[search + taken + half : search + taken + 3 * half]
            region = padded[ideal : ideal + 2 * search + 2 * half]
            taken = ideal - search + _best(region, follows)
        made[start : start + 2 * half] += (
            window * padded[search + taken : search + taken + 2 * half]
        )
        weight[start : start + 2 * half] += window
    made /= np.maximum(weight, 1e-3)
    return np.clip(made[:length], -1, 1).astype(np.float32)


def _best(region: np.ndarray, follows: np.ndarray) -> int:
    """Return where in a region the stretch lies that is most like another one."""
    products = np.correlate(region, follows, "valid")
    squares = np.concatenate(([0.0], np.cumsum(region**2)))
    energies = squares[len(follows) :] - squares[: -len(follows)]
    return int(np.argmax(products / np.sqrt(np.maximum(energies, 1e-9))))
