"""Speech detection before transcription: by a model of voice activity, and by energy.

A word is a small part of a long recording. So the transcriber is given only the stretches found
here, and its input level is set on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabwb.records.speech import Stretch
from tabwb.speech import stretches, voice
from tabwb.speech.files import Samples
from tabwb.speech.level import dbfs, rms
from tabwb.speech.stretches import stretches_of_speech

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
        return FoundSpeech(energetic, (), stretches.METHOD, seconds)
    if not voice.is_available():
        return FoundSpeech(energetic, (), f"{stretches.METHOD} ({WITHOUT_MODEL})", seconds)
    method = f"{voice.METHOD} {voice.BEGINS:g}/{voice.ENDS:g}, {stretches.METHOD}"
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
