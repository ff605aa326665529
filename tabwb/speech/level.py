"""Level of sound: peak, RMS and active speech level (ITU-T P.56, method B), clipping, and onset.

0 dBFS is a sample at full scale, for the peak and for the RMS alike; a sine that just reaches full
scale has an RMS of -3.01 dBFS. The onset of speech is found by energy, with its uncertainty, for
description and not for psychophysics: like every voice key it detects vowels better than
fricatives, for "f" and "th" can be as weak as the noise of the room.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.records.words import plural
from tabwb.speech.files import Samples

FLOOR_DBFS = -144.0
"""Level of digital silence and of anything below the last of 24 bits."""
FULL_SCALE = 0.9999
"""A sample at or above this is at full scale, also one of 16 bits (32767/32768) in 24."""
CLIP_RUN = 3
"""Samples at full scale in a row that show a clipped wave; a single one may be a true peak."""


@dataclass(frozen=True, slots=True)
class Level:
    """The level of one block of sound, and whether a wave was clipped at full scale in it."""

    peak_dbfs: float = FLOOR_DBFS
    rms_dbfs: float = FLOOR_DBFS
    clipped: bool = False


def dbfs(amplitude: float) -> float:
    """Return an amplitude as decibels below full scale: 20 log10(amplitude), at least -144.

    >>> dbfs(1.0), round(dbfs(0.5), 2), dbfs(0.0)
    (0.0, -6.02, -144.0)
    """
    return max(20.0 * math.log10(amplitude), FLOOR_DBFS) if amplitude > 0.0 else FLOOR_DBFS


def rms(samples: Samples) -> float:
    """Return the root of the mean square; 0 of nothing.

    >>> rms(np.array([0.5, -0.5], dtype=np.float32))
    0.5
    """
    if samples.size == 0:
        return 0.0
    return math.sqrt(float(np.einsum("i,i", samples, samples, dtype=np.float64)) / samples.size)


def full_scale_runs(samples: Samples) -> NDArray[np.int64]:
    """Return where a wave was cut off: each stretch of 3 or more full-scale samples of one sign.

    Returns:
        Shape (runs, 2): first sample and the one after the last.

    >>> full_scale_runs(np.array([0, 1, 1, 1, 0.2, -1, -1, 1, 1], dtype=np.float32)).tolist()
    [[1, 4]]
    """
    long_runs = []
    for sign in (1, -1):
        at = np.zeros(samples.size + 2, dtype=np.int8)
        at[1:-1] = sign * samples >= FULL_SCALE
        change = np.diff(at)
        runs = np.column_stack((np.flatnonzero(change == 1), np.flatnonzero(change == -1)))
        long_runs.append(runs[runs[:, 1] - runs[:, 0] >= CLIP_RUN])
    together = np.concatenate(long_runs).astype(np.int64)
    return together[np.argsort(together[:, 0])]


def level(samples: Samples) -> Level:
    """Return the level of one block.

    >>> level(np.array([0.5, -0.5, 0.5, -0.5], dtype=np.float32)).clipped
    False
    """
    if samples.size == 0:
        return Level()
    peak = float(np.abs(samples).max())
    return Level(dbfs(peak), dbfs(rms(samples)), len(full_scale_runs(samples)) > 0)


class Meter:
    """The level of block after block; ``clips`` counts clipped stretches, also across blocks."""

    def __init__(self) -> None:
        self.clips = 0
        self._carried: Samples = np.zeros(0, dtype=np.float32)

    def feed(self, samples: Samples) -> Level:
        """Return the level of the next block."""
        carried = self._carried
        whole = np.concatenate((carried, samples))
        runs = full_scale_runs(whole)
        here = runs[runs[:, 1] > carried.size]
        # One that was long enough before this block has been counted with an earlier one.
        self.clips += int((~((here[:, 0] == 0) & (carried.size == CLIP_RUN))).sum())
        self._carried = _trailing(whole)
        current = level(samples)
        return Level(current.peak_dbfs, current.rms_dbfs, len(here) > 0)


def _trailing(samples: Samples) -> Samples:
    """Return the samples at full scale, of one sign, at the very end; 3 at most."""
    for count in range(CLIP_RUN, 0, -1):
        tail = samples[-count:]
        if len(tail) == count and ((tail >= FULL_SCALE).all() or (tail <= -FULL_SCALE).all()):
            return tail
    return np.zeros(0, dtype=np.float32)


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
EARLIER_S = {20: 0.28, 25: 0.27, 30: 0.25, 35: 0.21, 40: 0.18, 45: 0.15, 50: 0.12, 60: 0.05}
"""How much earlier speech may have begun, by the decibels of the loudest window over the noise, for
words that begin with a weak sound: room noise was added to clean recordings (docs/recording.md)."""


@dataclass(frozen=True, slots=True)
class Onset:
    """The onset of speech, in seconds from the beginning, with its uncertainty to either side.

    ``method`` names the method, its version and what was left out. ``earlier_s`` is how much
    earlier speech may have begun: a weak first sound is hidden by the noise of the room.
    """

    s: float
    uncertainty_s: float
    method: str
    earlier_s: float = 0.0

    @property
    def margin_s(self) -> float:
        """To how many seconds the onset is known, whatever the first sound is."""
        return max(self.uncertainty_s, self.earlier_s)


def onset(samples: Samples, rate: int, ignore: Iterable[tuple[float, float]] = ()) -> Onset | None:
    """Return the beginning of the first sound that is loud and long enough to be speech.

    The level of 10 ms windows, 5 ms apart, of the signal above about 100 Hz is compared with the
    noise of the clip (the 10th percentile of its windows). Speech is where it is 15 dB above the
    noise in 80% of 60 ms; from there the onset is walked back to where the level rose 6 dB above
    the noise, at most 200 ms.
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
    over_noise = float(np.interp(loudest - noise, [*EARLIER_S], [*EARLIER_S.values()]))
    margin = round(uncertainty + max(touching, default=0.0), 4)
    return Onset(round(s, 4), margin, method, round(over_noise, 4))


def key_presses(times_s: Iterable[float]) -> tuple[tuple[float, float], ...]:
    """Return the stretches within 60 ms of key presses, in which a key may be heard.

    >>> key_presses([1.0])
    ((0.94, 1.06),)
    """
    return tuple((at - KEY_GUARD_S, at + KEY_GUARD_S) for at in times_s)


def window_levels(samples: Samples, rate: int) -> NDArray[np.float64]:
    """Level in dBFS of 10 ms windows, 5 ms apart, of the signal above about 100 Hz."""
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
