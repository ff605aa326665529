"""Remarks on a recording's quality, made while it can still be repeated; thresholds are ours."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.speech.files import Samples
from tabwb.speech.finding import find_speech
from tabwb.speech.level import FLOOR_DBFS, active_speech_level, dbfs, full_scale_runs, rms

FRAME_S = 0.025
SHORT_S = 0.25
"""Shorter recordings hardly hold a word."""
QUIET_DBOV = -45.0
"""Speech with an active level below this leaves little above the noise of a sound card."""
LEAST_ABOVE_NOISE_DB = 20.0
"""Of the active level over the noise floor: with less, noise covers weak consonants."""
QUIET_PERCENTILE = 10.0
MAINS_HZ = (50.0, 60.0)
HARMONICS = 4
HUM_DB = 15.0
"""Decibels of mains lines above neighbouring frequencies."""
HUM_DBFS = -75.0
"""Weaker hum is not worth a remark."""
HUM_SEGMENT_S = 1.0
HUM_MOST_SEGMENTS = 120
"""Of a long recording, evenly spread."""
HUM_BINS = 260
HUM_SHORTEST_S = 2.0
"""Shortest recording in which steady hum can be distinguished from a voice."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Quality of a recording.

    Attributes:
        clipped: in how many places 3 or more samples in a row are at full scale.
        peak_dbfs: of the largest sample.
        rms_dbfs: of the whole recording.
        noise_floor_dbfs: RMS of its quiet frames (10th percentile of 25 ms frames).
        speech_dbov: active level of the speech that was found (ITU-T P.56); None where there is
            none.
        hum: 50 or 60 Hz where the mains hum; None where they do not, or where the recording is
            too short to tell (below 2 s).
        seconds: how long it is.
        remarks: what to look at, as sentences; none where nothing was found.
    """

    clipped: int
    peak_dbfs: float
    rms_dbfs: float
    noise_floor_dbfs: float
    speech_dbov: float | None
    hum: float | None
    seconds: float
    remarks: tuple[str, ...]


def quality(samples: Samples, rate: int) -> Quality:
    """Return the quality of a recording."""
    seconds = samples.size / rate
    runs = full_scale_runs(samples)
    frames = _frame_levels(samples, rate)
    peak = dbfs(float(np.abs(samples).max(initial=0.0)))
    floor = float(np.percentile(frames, QUIET_PERCENTILE)) if frames.size else FLOOR_DBFS
    speech = _speech_level(samples, rate)
    found_hum = hum(samples, rate)
    remarks = []
    if seconds < SHORT_S:
        remarks.append(f"short: {seconds:.2f} s")
    if len(runs):
        first = int(runs[0, 0]) / rate
        places = "1 place" if len(runs) == 1 else f"{len(runs)} places"
        remarks.append(f"clipped in {places}, first at {first:.2f} s: turn the input down")
    if peak <= FLOOR_DBFS:
        remarks.append("no signal at all: muted, or not allowed to this terminal by the system?")
    else:
        remarks += _level_remarks(speech, floor)
    if found_hum is not None:
        remarks.append(f"hum of the mains at {found_hum:.0f} Hz")
    return Quality(
        len(runs), peak, dbfs(rms(samples)), floor, speech, found_hum, seconds, tuple(remarks)
    )


def _speech_level(samples: Samples, rate: int) -> float | None:
    """Return the active level in dBov (ITU-T P.56, method B) of the stretches of speech, if any."""
    stretches = find_speech(samples, rate).speech
    if not stretches:
        return None
    spoken = [
        samples[int(stretch.start_s * rate) : int(stretch.end_s * rate)] for stretch in stretches
    ]
    return active_speech_level(np.concatenate(spoken), rate).dbov


def _level_remarks(speech: float | None, floor: float) -> list[str]:
    """Return a remark on the level of speech in dBov over the noise floor in dBFS, or empty.

    >>> _level_remarks(None, -70.0), _level_remarks(-25.0, -70.0)
    (['no speech found'], [])
    >>> _level_remarks(-50.0, -80.0)
    ['quiet: speech at -50 dBov; move closer or raise the input level']
    """
    if speech is None:
        return ["no speech found"]
    above = speech - floor
    if above < LEAST_ABOVE_NOISE_DB:
        return [f"noise floor {floor:.0f} dBFS, only {above:.0f} dB below the speech"]
    if speech < QUIET_DBOV:
        return [f"quiet: speech at {speech:.0f} dBov; move closer or raise the input level"]
    return []


def _frame_levels(samples: Samples, rate: int) -> NDArray[np.float64]:
    """Return the RMS of each complete 25 ms in dBFS; one frame for a shorter signal.

    >>> _frame_levels(np.full(2_000, 0.1, dtype=np.float32), 16_000).round(1).tolist()
    [-20.0, -20.0, -20.0, -20.0, -20.0]
    """
    width = min(round(FRAME_S * rate), samples.size)
    if width == 0:
        return np.zeros(0)
    framed = samples[: samples.size // width * width].reshape(-1, width)
    amplitude = np.sqrt(np.einsum("ij,ij->i", framed, framed, dtype=np.float64) / width)
    levels: NDArray[np.float64] = 20.0 * np.log10(np.maximum(amplitude, 10.0 ** (FLOOR_DBFS / 20)))
    return levels


def hum(samples: Samples, rate: int) -> float | None:
    """Return the frequency of mains hum: 50 or 60 Hz, or None.

    Power spectra of 1 s (Hann, 1 Hz apart, half overlapping); at each frequency the lower quartile
    over time, for hum stays while a voice moves and pauses. A line hums when it is 15 dB above
    the median of what lies 3 to 8 Hz beside it. Mains hum when their fundamental does, or two of
    their first four harmonics, and the lines together are above -75 dBFS.
    """
    width = round(HUM_SEGMENT_S * rate)
    if samples.size < HUM_SHORTEST_S * rate:
        return None
    starts = range(0, samples.size - width + 1, width // 2)
    window = np.hanning(width + 1)[:-1]
    spectra = []
    for start in starts[:: math.ceil(len(starts) / HUM_MOST_SEGMENTS)]:
        x = samples[start : start + width].astype(np.float64)
        spectra.append(np.abs(np.fft.rfft((x - x.mean()) * window)[:HUM_BINS]) ** 2)
    spectrum = np.stack(spectra)
    # Scaled so that the bins of a sine's main lobe add up to its mean square.
    power = np.percentile(spectrum, 25.0, axis=0) * 2.0 / (width * np.square(window).sum())
    best: tuple[float, float] | None = None
    for mains in MAINS_HZ:
        lines = [_line(power, round(mains * k * HUM_SEGMENT_S)) for k in range(1, HARMONICS + 1)]
        standing = [line for line, above in lines if above >= HUM_DB]
        fundamental = lines[0][1] >= HUM_DB
        total = sum(standing)
        if (fundamental or len(standing) >= 2) and 10 * np.log10(total + 1e-20) >= HUM_DBFS:
            best = max(best or (0.0, 0.0), (total, mains))
    return None if best is None else best[1]


def _line(power: NDArray[np.float64], at: int) -> tuple[float, float]:
    """Power of a spectral line, and how many dB its largest bin is above its neighbours'."""
    if at + 8 >= power.size:
        return 0.0, 0.0
    beside = np.concatenate((power[at - 8 : at - 2], power[at + 3 : at + 9]))
    around = max(float(np.median(beside)), 1e-20)
    peak = float(power[at - 1 : at + 2].max())
    return float(power[at - 2 : at + 3].sum()), 10.0 * float(np.log10(max(peak, 1e-20) / around))
