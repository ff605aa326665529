"""How loud a recording is over its length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

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
