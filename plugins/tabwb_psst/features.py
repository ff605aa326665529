"""Loudness, spectral flux and confidence of a response: the features of Tran (2022) for task B.

The PSST paper (section 5.2) names the features, not how they are computed. Frames are those of
GeMAPS (Eyben et al. 2016): 20 ms every 10 ms, multiplied by a Hamming window w, of sound at 16 kHz
as it is stored. A clip that is not whole frames has its last samples in none.

- Loudness of a frame: ``N = (I / I0) ** 0.3`` with the intensity ``I = sum(w x^2) / sum(w)`` of
  samples in [-1, 1] and ``I0 = 1e-6`` [ours]: loudness grows with the power 0.3 of the intensity
  (Stevens 1957). Its unit is that of a frame of intensity I0; a full-scale sine has 51.
- Spectral flux of two frames that follow each other: ``F = sum_k (m_t[k] - m_{t-1}[k])^2``, where m
  is the magnitude of the Fourier transform of ``w x`` (161 values, 50 Hz apart), normalised
  (Tzanetakis and Cook 2002), here to ``sum_k m[k]^2 = 1`` [ours]. 0: the same spectrum, 2: nothing
  in common.

Means and standard deviations (of the frames, divided by their number) are over all frames with
sound: frames of zeros have no spectrum and are left out. A clip without such frames has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabwb.plugin_api import Segment
from tabwb.records.system import need

RATE = 16_000
WIDTH, HOP = 320, 160
"""Samples of a frame, and from one frame to the next: 20 ms and 10 ms."""
EXPONENT, INTENSITY = 0.3, 1e-6
WINDOW = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(WIDTH) / WIDTH)

Values = NDArray[np.float64]


class Features(NamedTuple):
    """The features of one response; None where it is undefined."""

    loudness_mean: float | None = None
    loudness_sd: float | None = None
    flux_mean: float | None = None
    flux_sd: float | None = None
    confidence_mean: float | None = None
    confidence_max: float | None = None


def features(samples: NDArray[np.float32], rate: int, segments: Sequence[Segment] = ()) -> Features:
    """Return the features of a clip and of the segments of its transcript.

    A segment without a confidence counts in neither of the two values.

    Args:
        samples: one channel in [-1, 1], shape (samples,).
        rate: in Hz; other rates than 16 kHz are converted.
        segments: phonemes, or words, with confidences.
    """
    framed = frames(samples, rate)
    given = [one.confidence for one in segments if one.confidence is not None]
    return Features(
        *_mean_and_sd(loudness(framed)),
        *_mean_and_sd(flux(framed)),
        float(np.mean(given)) if given else None,
        max(given, default=None),
    )


def frames(samples: NDArray[np.float32], rate: int) -> Values:
    """Return the frames of a clip, without the window: shape (frames, 320)."""
    x = samples.astype(np.float64)
    if rate != RATE and x.size:
        x = need("soxr", "a feature of sound").resample(x, rate, RATE, quality="HQ")
    if x.size < WIDTH:
        return np.zeros((0, WIDTH))
    return np.lib.stride_tricks.sliding_window_view(x, WIDTH)[::HOP]


def loudness(framed: Values) -> Values:
    """Return the loudness of each frame with sound."""
    intensity = np.square(framed) @ (WINDOW / WINDOW.sum())
    found: Values = (intensity[intensity > 0] / INTENSITY) ** EXPONENT
    return found


def flux(framed: Values) -> Values:
    """Return the spectral flux of each two frames with sound that follow each other."""
    magnitude = np.abs(np.fft.rfft(framed * WINDOW, axis=1))
    length = np.sqrt(np.square(magnitude).sum(1))
    both = (length[1:] > 0) & (length[:-1] > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = magnitude / length[:, None]
    found: Values = np.square(unit[1:] - unit[:-1]).sum(1)[both]
    return found


def _mean_and_sd(values: Values) -> tuple[float | None, float | None]:
    if not values.size:
        return None, None
    return float(values.mean()), float(values.std())
