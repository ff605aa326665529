"""Onset of speech by energy, with its uncertainty, for description and not for psychophysics.

Like every voice key it detects vowels better than fricatives: "f" and "th" can be as weak as the
noise of the room. So each onset has an uncertainty, and a person can move it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.records.words import plural
from tabwb.speech.files import Samples
from tabwb.speech.level import FLOOR_DBFS

HOP_S = 0.005
WINDOW_S = 0.010
HELD_S = 0.060
"""Seconds for which the energy has to stay high: clicks and lip smacks are shorter."""
HELD_SHARE = 0.8
RISE_DB = 15.0
"""Decibels above the noise that are certainly speech."""
FOOT_DB = 6.0
"""Decibels above the noise at which the sound began."""
LONGEST_FOOT_S = 0.200
LEAST_DBFS = -60.0
"""Lower limit of the level of speech, however silent the room."""
BELOW_PEAK_DB = 30.0
"""Lower limit relative to the loudest part of the clip."""
KEY_GUARD_S = 0.060
METHOD = "energy-1"


@dataclass(frozen=True, slots=True)
class Onset:
    """The onset of speech.

    Attributes:
        s: seconds from the beginning of the samples.
        uncertainty_s: to either side, in seconds.
        method: its name, version and what was left out, for the reader of a latency.
    """

    s: float
    uncertainty_s: float
    method: str


def onset(samples: Samples, rate: int, ignore: Iterable[tuple[float, float]] = ()) -> Onset | None:
    """Return the beginning of the first sound that is loud and long enough to be speech.

    The level of 10 ms windows, 5 ms apart, of the signal above about 100 Hz is compared with the
    noise of the clip (the 10th percentile of its windows). Speech is where it is 15 dB above the
    noise in 80% of 60 ms; from there the onset is walked back to where the level rose 6 dB above
    the noise, at most 200 ms.

    Args:
        samples: one channel, float32.
        rate: in Hz.
        ignore: stretches in seconds in which nothing begins: key presses, the examiner's voice.

    Returns:
        The onset, or None where no speech was found. Its uncertainty is half of what lies between
        the certain and the first rise and one window more; where the walk back ended at an ignored
        stretch, also that whole stretch, for speech may have begun inside it.
    """
    levels = window_levels(samples, rate)
    if levels.size == 0:
        return None
    stretches = tuple(ignore)
    heard = np.ones(levels.size, dtype=bool)
    at = np.arange(levels.size) * HOP_S
    for start, end in stretches:
        heard &= (at + WINDOW_S <= start) | (at >= end)
    if not heard.any():
        return None
    noise = float(np.percentile(levels[heard], 10.0))
    loudest = float(levels[heard].max())
    certain = max(noise + RISE_DB, LEAST_DBFS, loudest - BELOW_PEAK_DB)
    foot = min(max(noise + FOOT_DB, LEAST_DBFS - (RISE_DB - FOOT_DB)), certain)
    up = (levels >= certain) & heard
    held = round(HELD_S / HOP_S)
    share = np.convolve(up, np.ones(held), mode="full")[held - 1 :] / held
    candidates = np.flatnonzero(up & (share >= HELD_SHARE))
    if not candidates.size:
        return None
    sure = int(candidates[0])
    first = sure
    furthest = max(sure - round(LONGEST_FOOT_S / HOP_S), 0)
    while first > furthest and heard[first - 1] and levels[first - 1] >= foot:
        first -= 1
    # A window that just reaches the level holds the onset at its end rather than at its beginning.
    s = first * HOP_S + WINDOW_S / 2
    uncertainty = WINDOW_S + (sure - first) * HOP_S / 2
    touching = [end - start for start, end in stretches if start <= s and s - end <= WINDOW_S]
    method = f"{METHOD}: +{RISE_DB:g} dB for {HELD_S * 1000:g} ms, walked back to +{FOOT_DB:g} dB"
    if stretches:
        method += f"; {plural(len(stretches), 'stretch', 'stretches')} ignored"
    return Onset(round(s, 4), round(uncertainty + max(touching, default=0.0), 4), method)


def key_presses(times_s: Iterable[float]) -> tuple[tuple[float, float], ...]:
    """Return the stretches within 60 ms of key presses, in which a key may be heard.

    >>> key_presses([1.0])
    ((0.94, 1.06),)
    """
    return tuple((at - KEY_GUARD_S, at + KEY_GUARD_S) for at in times_s)


def window_levels(samples: Samples, rate: int) -> NDArray[np.float64]:
    """Level in dBFS of 10 ms windows, 5 ms apart, of the signal above about 100 Hz.

    Args:
        samples: one channel, float32.
        rate: in Hz.
    """
    hop, width = round(HOP_S * rate), round(WINDOW_S * rate)
    if hop == 0 or samples.size < width:
        return np.zeros(0)
    # Subtracting a running mean of 10 ms is a gentle high-pass against rumble and offsets.
    sums = np.cumsum(np.pad(samples.astype(np.float64), (width // 2, width - width // 2), "edge"))
    x = samples - (sums[width:] - sums[:-width])[: samples.size] / width
    energy = np.concatenate(([0.0], np.cumsum(np.square(x))))
    starts = np.arange(0, samples.size - width + 1, hop)
    mean = (energy[starts + width] - energy[starts]) / width
    levels: NDArray[np.float64] = 10.0 * np.log10(np.maximum(mean, 10.0 ** (FLOOR_DBFS / 10.0)))
    return levels
