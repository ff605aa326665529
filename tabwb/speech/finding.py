"""Speech detection before transcription: by a model of voice activity, and by energy.

A word is a small part of a long recording. So the transcriber is given only the stretches found
here, and its input level is set on them. Energy separates sound from silence, not speech from other
sounds, and it may cut off a weak consonant; so each stretch is extended on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabwb.records.speech import Stretch
from tabwb.speech import voice
from tabwb.speech.files import Samples
from tabwb.speech.level import dbfs, rms
from tabwb.speech.onset import HOP_S, LEAST_DBFS, WINDOW_S, window_levels

ENERGY = "energy-2"
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


Finding = Literal["speech", "energy"]
"""``speech``: by the model where it is installed, checked against energy; ``energy``: alone."""
GIVEN_DBFS = -26.0
"""RMS of the loud stretches that the model is given [ours]."""
MOST_GAIN_DB = 40.0
WITHOUT_MODEL = "energy alone; with onnxruntime other sounds are told from speech"


@dataclass(frozen=True, slots=True)
class FoundSpeech:
    """What was found in a recording.

    Attributes:
        speech: where somebody speaks, in order; what a transcriber is given.
        sounds: other sounds that stand out from the noise (coughs, breaths, slams), in order: they
            are written ``<spn>``.
        method: how it was found.
        seconds: how long the recording is.
    """

    speech: tuple[Stretch, ...]
    sounds: tuple[Stretch, ...]
    method: str
    seconds: float


def find_speech(samples: Samples, rate: int, finding: Finding = "speech") -> FoundSpeech:
    """Find the stretches of speech.

    With the model: its stretches are speech, and energy that touches none of them is another sound.
    Where the model finds nothing but energy does, the stretches of energy count as speech.

    Args:
        samples: one channel, float32 in [-1, 1].
        rate: in Hz.
        finding: ``energy`` leaves the model out; it is also left out where onnxruntime is missing,
            and the method says so.
    """
    seconds = samples.size / rate
    energetic = stretches_of_speech(samples, rate)
    if finding == "energy":
        return FoundSpeech(energetic, (), ENERGY, seconds)
    if not voice.is_available():
        return FoundSpeech(energetic, (), f"{ENERGY} ({WITHOUT_MODEL})", seconds)
    method = f"{voice.METHOD} {voice.BEGINS:g}/{voice.ENDS:g}, {ENERGY}"
    probabilities = voice.voice_probabilities(_for_the_model(samples, rate, energetic))
    voiced = voice.stretches_of_voice(probabilities, seconds)
    spoken = tuple(_trimmed(each, energetic) for each in voiced if _touches(each, energetic))
    if not spoken:
        return FoundSpeech(energetic, (), method, seconds)
    sounds = tuple(each for each in energetic if not _touches(each, spoken))
    return FoundSpeech(spoken, sounds, method, seconds)


def _for_the_model(samples: Samples, rate: int, energetic: tuple[Stretch, ...]) -> Samples:
    """Return the recording at 16 kHz, its loud stretches at -26 dBFS, without clipping."""
    loud = [samples[int(each.start_s * rate) : int(each.end_s * rate)] for each in energetic]
    level = dbfs(rms(np.concatenate(loud) if loud else samples))
    gain = 10.0 ** (min(GIVEN_DBFS - level, MOST_GAIN_DB) / 20.0)
    x = np.asarray(samples * gain, dtype=np.float32)
    if rate != voice.RATE and x.size:
        from tabwb.speech.needs import need

        x = need("soxr", "finding speech").resample(x, rate, voice.RATE)
    return np.clip(x, -1.0, 1.0)


def _touches(one: Stretch, others: Sequence[Stretch]) -> bool:
    return any(one.start_s < each.end_s and each.start_s < one.end_s for each in others)


def _trimmed(one: Stretch, energetic: Sequence[Stretch]) -> Stretch:
    """Return a stretch of the model trimmed to its energy, because the model ends words late.

    >>> _trimmed(Stretch(1.0, 2.0), [Stretch(1.1, 1.3), Stretch(1.5, 2.2)])
    Stretch(start_s=1.1, end_s=2.0)
    """
    inside = [each for each in energetic if _touches(each, (one,))]
    return Stretch(max(one.start_s, inside[0].start_s), min(one.end_s, inside[-1].end_s))
