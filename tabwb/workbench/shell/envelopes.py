"""How loud the parts of a recording are, and that as bars of characters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

BARS = "▁▂▃▄▅▆▇█"
LEAST_DBFS = -60.0
"""The level meter and the bars of the waveform begin here; a quiet room lies about there."""
PARTS_S = 0.01
"""An envelope has one figure for so much of the response, at most :data:`MOST_PARTS` of them."""
MOST_PARTS = 3000
FLOOR_DBFS = -90.0


@dataclass(frozen=True, slots=True)
class Envelope:
    """How loud a stretch of the recording is.

    Attributes:
        peaks_dbfs: the largest sample in each of as many equal parts of it.
    """

    start_s: float
    end_s: float
    peaks_dbfs: tuple[float, ...]


def envelope_of(path: Path, start_s: float, end_s: float) -> Envelope:
    """Return how loud a stretch of a recording is: the peak of each part, dBFS."""
    import numpy as np

    from tabwb.speech.files import read_clip

    samples, _ = read_clip(path, start_s, end_s)
    count = max(1, min(MOST_PARTS, math.ceil((end_s - start_s) / PARTS_S)))
    if not len(samples):
        return Envelope(start_s, end_s, ())
    edges = np.linspace(0, len(samples), count + 1).astype(int)[:-1]
    peaks = np.maximum.reduceat(np.abs(samples), np.minimum(edges, len(samples) - 1))
    floor = 10 ** (FLOOR_DBFS / 20)
    return Envelope(start_s, end_s, tuple((20 * np.log10(np.maximum(peaks, floor))).tolist()))


def bars(envelope: Envelope, width: int, rows: int = 1) -> list[str]:
    """Return a bar for each column, as high as the loudest part; the lowest row comes last.

    >>> bars(Envelope(0.0, 1.0, (-60.0, -30.0, 0.0, -60.0)), 4)
    ['▁▄█▁']
    >>> bars(Envelope(0.0, 1.0, (-60.0, 0.0)), 4), bars(Envelope(0.0, 1.0, ()), 3)
    (['▁▁██'], ['▁▁▁'])
    >>> bars(Envelope(0.0, 1.0, (-60.0, -30.0, 0.0)), 3, 2)
    ['  █', '▁██']
    """
    peaks = envelope.peaks_dbfs or (LEAST_DBFS,)
    steps = len(BARS) * rows
    heights = []
    for column in range(width):
        first = column * len(peaks) // width
        last = max((column + 1) * len(peaks) // width, first + 1)
        share = (max(peaks[first:last]) - LEAST_DBFS) / -LEAST_DBFS
        heights.append(max(1, min(steps, round(share * steps))))
    cells = " " + BARS
    return [
        "".join(cells[max(0, min(len(BARS), height - row * len(BARS)))] for height in heights)
        for row in reversed(range(rows))
    ]
