"""What tests of recording share: a word, a recorder that runs, how alike two sounds are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soxr

from tabwb.speech.files import Samples, read_clip
from tabwb.speech.process import pick
from tabwb.speech.recorder import Recorder
from tests.builders import DOG
from tests.speech.virtual_microphone import VirtualMicrophone
from tests.waiting import until


def recording(path: Path, device: str | None = None) -> Recorder:
    recorder = Recorder(pick(device), path)
    recorder.start()
    return recorder


def likeness(heard: Samples, rate: int, played: Path) -> tuple[float, float]:
    """Greatest correlation of a played word with a recording, and at which second of it."""
    original, original_rate = read_clip(played)
    word = soxr.resample(original, original_rate, rate).astype(np.float64)
    size = len(heard) + len(word)
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(word, size))
    products = np.fft.irfft(spectrum, size)[: len(heard)]
    sums = np.concatenate(([0.0], np.cumsum(np.square(heard.astype(np.float64)))))
    ends = np.minimum(np.arange(len(heard)) + len(word), len(heard))
    energy = np.maximum(sums[ends] - sums[: len(heard)], 1e-9)
    match = products / np.sqrt(energy * np.square(word).sum())
    return float(match.max()), int(match.argmax()) / rate


def spoken(microphone: VirtualMicrophone, path: Path) -> float:
    """Speak a word until a growing recording has it whole."""

    def is_whole() -> bool:
        microphone.speak(DOG).wait()
        return likeness(*read_clip(path), DOG)[0] > 0.99

    until(is_whole, "a word without a gap")
    return likeness(*read_clip(path), DOG)[1]
