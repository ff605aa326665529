"""Active speech level: the level of speech without its pauses (ITU-T P.56, method B)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.speech.files import Samples
from tabwb.speech.level import FLOOR_DBFS

TIME_CONSTANT_S = 0.03
HANGOVER_S = 0.2
MARGIN_DB = 15.9
"""How far the threshold of activity lies below the active level."""
THRESHOLDS = 24
"""Powers of one half below full scale."""
LONGEST_RESPONSE = 25
"""Time constants after which the envelope's response to an impulse is cut off: below 1e-9."""


@dataclass(frozen=True, slots=True)
class ActiveLevel:
    """The active level of a signal.

    Attributes:
        dbov: relative to the overload point: 0 dBov is the RMS of a square wave at full scale, a
            sine at full scale has -3.01 dBov. -144 for silence.
        activity: share of the time in which the signal is active, 0 to 1.
    """

    dbov: float
    activity: float


def active_speech_level(samples: Samples, rate: int) -> ActiveLevel:
    """Return the active speech level by method B of ITU-T P.56 (12/2011, section 7).

    The envelope is the absolute value smoothed twice by an exponential average of 30 ms. For each
    threshold c (full scale divided by powers of 2) a(c) counts the samples at which the envelope is
    at c or was there in the last 0.2 s. With s the sum of squares, A(c) = 10 log10(s / a(c)) falls
    with the threshold's fall; the level is A where A(c) - 20 log10 c = 15.9 dB, interpolated
    between two thresholds.

    Args:
        samples: one channel, float32 in [-1, 1].
        rate: in Hz.

    >>> sine = np.sin(2 * np.pi * 500 * np.arange(32_000) / 16_000).astype(np.float32)
    >>> found = active_speech_level(sine, 16_000)
    >>> round(found.dbov, 1), round(found.activity, 1)
    (-3.0, 1.0)
    """
    x = samples.astype(np.float64)
    energy = float(np.square(x).sum())
    if energy <= 0.0:
        return ActiveLevel(FLOOR_DBFS, 0.0)
    envelope = _envelope(np.abs(x), rate)
    hangover = math.ceil(HANGOVER_S * rate)
    before: tuple[float, float] | None = None
    for power in range(THRESHOLDS):
        threshold = 2.0**-power
        active = _active(envelope >= threshold, hangover)
        if active == 0:
            continue
        level = 10.0 * math.log10(energy / active)
        above = level - 20.0 * math.log10(threshold) - MARGIN_DB
        if above >= 0.0:
            if before is not None:
                # Both straight lines in the threshold's logarithm between the two thresholds.
                share = before[1] / (before[1] - above)
                level = before[0] + share * (level - before[0])
            activity = energy / x.size / 10.0 ** (level / 10.0)
            return ActiveLevel(max(level, FLOOR_DBFS), min(activity, 1.0))
        before = level, above
    level = 10.0 * math.log10(energy / x.size)
    return ActiveLevel(max(level, FLOOR_DBFS), 1.0)


def _envelope(x: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    """Return two exponential averages after each other: convolution with (1-g)^2 (n+1) g^n."""
    g = math.exp(-1.0 / (rate * TIME_CONSTANT_S))
    n = np.arange(math.ceil(LONGEST_RESPONSE * TIME_CONSTANT_S * rate))
    response = (1.0 - g) ** 2 * (n + 1) * g**n
    size = 1 << (x.size + n.size - 1).bit_length()
    spectrum = np.fft.rfft(x, size) * np.fft.rfft(response, size)
    smoothed: NDArray[np.float64] = np.fft.irfft(spectrum, size)[: x.size]
    return np.maximum(smoothed, 0.0)


def _active(above: NDArray[np.bool_], hangover: int) -> int:
    """Count the samples that are above, or were in the last ``hangover`` samples.

    >>> _active(np.array([0, 1, 0, 0, 0, 1, 0], dtype=bool), 2)
    5
    """
    at = np.flatnonzero(above)
    if not at.size:
        return 0
    ends = np.append(at[1:], above.size)
    return int(np.minimum(ends - at, hangover + 1).sum())
