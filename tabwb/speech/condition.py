"""Conditioning of speech for a transcriber (PSST, appendix B.2): always a derived copy.

High-pass at 100 Hz with 12 dB per octave; loudness after EBU R128 to -23 LUFS; 16 kHz; a look-ahead
limiter at -6 dBFS. The limiter comes last, since a change of rate moves peaks: so no sample of the
copy lies above -6 dBFS. Loudness is measured on the stretches of speech, where they are known
[ours], so that long pauses do not change it. Where the paper says "dynamically", the gain here is
one number for the clip, which leaves the loudness of its sounds to each other as it was.

Another copy is for listeners: slow playback at the same pitch, by waveform-similarity overlap-add.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import TabwbError
from tabwb.records.speech import Stretch
from tabwb.records.system import need
from tabwb.speech.files import Samples, read_clip, write_wav
from tabwb.speech.finding import Finding, FoundSpeech, find_speech

METHOD = "psst-b2-2"
"""Name and version of the conditioning; a changed number makes ``psst-b2-3``. Version 1 measured
the loudness of the whole clip."""
RATE = 16_000
HIGHPASS_HZ = 100.0
HIGHPASS_ORDER = 2
"""Order of the Butterworth filter: 6 dB per octave each."""
LOUDNESS_LUFS = -23.0
MOST_GAIN_DB = 40.0
"""Largest gain of a clip [ours]: beyond it there is only noise."""
LIMIT_DBFS = -6.0
LOOK_AHEAD_S = 0.010
SHORTEST_S = 0.400
"""One gating block of EBU R128; below it there is no integrated loudness."""

Parameters = Mapping[str, float | str]
Signal = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Conditioned:
    """A conditioned clip.

    Attributes:
        samples: 16 kHz, one channel, no sample above -6 dBFS.
        parameters: what was done, to be stored beside what is derived from it. ``loudness`` is
            ``normalised``, ``too short``, ``silent``, or ``at most gain``; ``loudness_of`` is
            ``speech`` or ``clip``; ``loudness_lufs`` was measured after the high-pass, and is
            absent where it could not be; ``gain_db``; ``limited_s`` and ``limited_db``: for how
            long the limiter was at work and how far.
    """

    samples: Samples
    parameters: Parameters


def condition(samples: Samples, rate: int, speech: Sequence[Stretch] = ()) -> Conditioned:
    """Condition a clip (PSST, appendix B.2)."""
    if rate < 4_000:
        raise TabwbError(f"{rate} Hz is too low a rate for speech", allowed="4000 Hz and more")
    filtered = high_pass(samples, rate)
    measured, loudness = _loudness(_spoken(filtered, rate, speech), rate)
    gain_db = 0.0
    if measured is not None:
        gain_db = min(LOUDNESS_LUFS - measured, MOST_GAIN_DB)
        loudness = "normalised" if gain_db < MOST_GAIN_DB else "at most gain"
    resampled = _resample(filtered * 10.0 ** (gain_db / 20.0), rate)
    limited, gains = limit(resampled, RATE)
    parameters: dict[str, float | str] = {
        "method": METHOD,
        "source_rate_hz": rate,
        "rate_hz": RATE,
        "highpass_hz": HIGHPASS_HZ,
        "highpass_db_per_octave": 6.0 * HIGHPASS_ORDER,
        "loudness": loudness,
        "loudness_of": "speech" if speech else "clip",
        "loudness_target_lufs": LOUDNESS_LUFS,
        "gain_db": round(gain_db, 3),
        "limit_dbfs": LIMIT_DBFS,
        "limited_s": round(float((gains < 1.0 - 1e-9).sum()) / RATE, 4),
        "limited_db": round(20.0 * math.log10(1.0 / float(gains.min(initial=1.0))), 3),
    }
    if measured is not None:
        parameters["loudness_lufs"] = round(measured, 3)
    return Conditioned(limited.astype(np.float32), parameters)


def condition_file(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    start_s: float = 0.0,
    end_s: float | None = None,
    finding: Finding = "speech",
) -> tuple[Parameters, FoundSpeech]:
    """Write the conditioned copy of a stretch of a sound file: 16-bit WAV, mode 0600."""
    samples, rate = read_clip(source, start_s, end_s)
    if samples.size == 0:
        raise TabwbError(
            f"there is no sound from {start_s:g} s on",
            where=os.fspath(source),
            allowed="a stretch inside the file",
        )
    speech_found = find_speech(samples, rate, finding)
    conditioned = condition(samples, rate, speech_found.speech)
    write_wav(out, conditioned.samples, RATE)
    return {**conditioned.parameters, "speech_by": speech_found.method}, speech_found


def high_pass(samples: Samples, rate: int) -> Signal:
    """Return the signal after a second-order Butterworth high-pass at 100 Hz (12 dB per octave).

    |H(f)|^2 = 1 / (1 + (100/f)^4) for f far below the rate. It begins as if the first sample had
    lasted for ever, so that an offset of the sound card does not become a click.
    """
    signal = need("scipy.signal", "conditioning")
    x: Signal = samples.astype(np.float64)
    if x.size == 0:
        return x
    sections = signal.butter(HIGHPASS_ORDER, HIGHPASS_HZ, "highpass", fs=rate, output="sos")
    filtered: Signal
    filtered, _ = signal.sosfilt(sections, x, zi=signal.sosfilt_zi(sections) * x[0])
    return filtered


def _loudness(x: Signal, rate: int) -> tuple[float | None, str]:
    """Integrated loudness in LUFS of one channel (EBU R128), or None and why not."""
    if x.size < SHORTEST_S * rate:
        return None, "too short"
    pyloudnorm = need("pyloudnorm", "conditioning")
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # silence has the logarithm of 0
        measured = float(pyloudnorm.Meter(rate).integrated_loudness(x))
    return (measured, "") if math.isfinite(measured) else (None, "silent")


def _spoken(x: Signal, rate: int, speech: Sequence[Stretch]) -> Signal:
    """Return the samples of the stretches, short ones with more of their surroundings.

    >>> _spoken(np.arange(2_000.0), 1_000, [Stretch(1.0, 1.2)])[[0, -1]].tolist()
    [900.0, 1299.0]
    """
    if not speech:
        return x
    lacking = SHORTEST_S - sum(stretch.end_s - stretch.start_s for stretch in speech)
    around = max(lacking, 0.0) / (2 * len(speech))
    spoken = np.zeros(x.size, dtype=bool)
    for stretch in speech:
        first = max(round((stretch.start_s - around) * rate), 0)
        spoken[first : math.ceil((stretch.end_s + around) * rate)] = True
    chosen: Signal = x[spoken]
    return chosen if chosen.size >= SHORTEST_S * rate else x


def _resample(x: Signal, rate: int) -> Signal:
    if rate == RATE or x.size == 0:
        return x
    resampled: Signal = need("soxr", "conditioning").resample(x, rate, RATE, quality="HQ")
    return resampled


def limit(x: Signal, rate: int) -> tuple[Signal, Signal]:
    """Return the samples limited to -6 dBFS with look-ahead, without clipping waves.

    The gain that each sample needs, min(1, T/|x|), is held for 10 ms to both sides as its minimum
    and then smoothed by a window of the same width. Each smoothed gain is a weighted mean of
    minima that all took the sample itself into account, so it is never above what it needs.
    """
    threshold = 10.0 ** (LIMIT_DBFS / 20.0) * (1.0 - 1e-6)  # rounding stays below the limit too
    magnitude = np.abs(x)
    if not magnitude.size or magnitude.max() <= threshold:
        return x, np.ones_like(x)
    ndimage = need("scipy.ndimage", "conditioning")
    needed = np.minimum(1.0, threshold / np.maximum(magnitude, threshold))
    width = 2 * round(LOOK_AHEAD_S * rate) + 1
    held = ndimage.minimum_filter1d(needed, width, mode="nearest")
    window = np.hanning(width + 2)[1:-1]
    gains: Signal = ndimage.convolve1d(held, window / window.sum(), mode="nearest")
    return x * gains, gains


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
