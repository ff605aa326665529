"""Detection of speech by energy: stretches of sound above the noise.

Energy separates sound from silence, not speech from other sounds, and it may cut off a weak
consonant; so each stretch is extended on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabwb.records.speech import Stretch
from tabwb.speech.files import Samples
from tabwb.speech.onset import HOP_S, LEAST_DBFS, WINDOW_S, window_levels

METHOD = "energy-2"
NOISE_PERCENTILE = 10.0
LOUD_WINDOW = 20
"""Loud is the level of the 20th largest window: 0.1 s of speech exceeds it, however long the
recording is. A share of the windows would lose a word in a long recording."""
STANDS_OUT_DB = 9.0
"""With a smaller difference between loud and quiet windows no stretch is found."""
SURE_DB, SURE_BELOW_LOUD_DB = 10.0, 25.0
"""Decibels above the noise, and below the loud level, of certain speech."""
FOOT_DB, FOOT_BELOW_LOUD_DB = 5.0, 35.0
"""Adjacent windows above this level belong to the stretch."""
SHORTEST_S = 0.08
LEAST_GAP_S = 0.30
"""Shorter silences are within a word: the closure of a stop, a weak consonant."""


def stretches_of_speech(samples: Samples, rate: int) -> tuple[Stretch, ...]:
    """Return the stretches of speech in order; none where nothing exceeds the noise.

    Thresholds are ours. Noise is the 10th percentile of the levels of 10 ms windows (5 ms apart),
    loud the 20th largest of them.

    Args:
        samples: one channel, float32.
        rate: in Hz.

    >>> rng = np.random.default_rng(1)
    >>> quiet = 1e-4 * rng.standard_normal(32_000)
    >>> quiet[8_000:16_000] += 0.1 * np.sin(np.arange(8_000) * 0.4)
    >>> [(round(a, 1), round(b, 1)) for a, b in stretches_of_speech(quiet.astype("f4"), 16_000)]
    [(0.5, 1.0)]
    """
    levels = window_levels(samples, rate)
    if levels.size == 0:
        return ()
    noise = np.percentile(levels, NOISE_PERCENTILE)
    loud = np.partition(levels, -min(LOUD_WINDOW, levels.size))[-min(LOUD_WINDOW, levels.size)]
    if loud - noise < STANDS_OUT_DB or loud < LEAST_DBFS:
        return ()
    sure = levels >= max(noise + SURE_DB, loud - SURE_BELOW_LOUD_DB)
    foot = levels >= max(noise + FOOT_DB, loud - FOOT_BELOW_LOUD_DB)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], foot.astype(np.int8), [0]))))
    merged: list[Stretch] = []
    for first, after in zip(edges[::2], edges[1::2], strict=True):
        if not sure[first:after].any():
            continue
        start, end = int(first) * HOP_S, int(after - 1) * HOP_S + WINDOW_S
        if merged and start - merged[-1].end_s < LEAST_GAP_S:
            merged[-1] = Stretch(merged[-1].start_s, end)
        else:
            merged.append(Stretch(start, end))
    return tuple(stretch for stretch in merged if stretch.end_s - stretch.start_s >= SHORTEST_S)


def windows(
    stretches: Sequence[Stretch], seconds: float, least_s: float, around_s: float
) -> tuple[Stretch, ...]:
    """Return each stretch extended on both sides, at most to the middle between neighbours.

    Args:
        stretches: in order.
        seconds: how long the recording is.
        least_s: shortest window, where there is room.
        around_s: before and after each stretch, where there is room.

    >>> windows([Stretch(1.0, 1.4), Stretch(3.0, 3.5)], 4.0, 1.0, 0.2)
    (Stretch(start_s=0.7, end_s=1.7), Stretch(start_s=2.75, end_s=3.75))
    """
    cut: list[Stretch] = []
    for at, stretch in enumerate(stretches):
        room = max((least_s - (stretch.end_s - stretch.start_s)) / 2, around_s)
        low = 0.0 if at == 0 else (stretches[at - 1].end_s + stretch.start_s) / 2
        high = seconds
        if at + 1 < len(stretches):
            high = (stretch.end_s + stretches[at + 1].start_s) / 2
        start, end = stretch.start_s - room, stretch.end_s + room
        # The rest of a side without room is added to the other side.
        start, end = min(start, high - least_s), max(end, low + least_s)
        cut.append(Stretch(round(max(start, low), 6), round(min(end, high), 6)))
    return tuple(cut)
