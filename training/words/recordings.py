"""The recorded words and the speakers held out of the training."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import soundfile
from numpy.typing import NDArray

RATE = 16_000
# The first number that leaves clips of all six words of the naming demonstration, and at most one
# of the four clips of "dog", with the speakers who are kept out.
SPLIT_SEED = 170
TEST_SHARE = 0.20
DEV_SHARE = 0.08

Split = Literal["train", "dev", "test"]
Samples = NDArray[np.float32]


@dataclass(frozen=True)
class Recording:
    """A recorded word: path, requested word, speaker."""

    path: Path
    word: str
    speaker: str


def split_of(speaker: str) -> Split:
    """Return the side of the split of a speaker, the same for all clips of the speaker.

    >>> split_of("0c540988") == split_of("0c540988")
    True
    """
    digest = hashlib.sha256(f"{SPLIT_SEED}:{speaker}".encode()).hexdigest()
    place = int(digest[:8], 16) / 2**32
    if place < TEST_SHARE:
        return "test"
    return "dev" if place < TEST_SHARE + DEV_SHARE else "train"


def read_recordings(folder: Path) -> list[Recording]:
    """Read ``words/manifest.tsv`` of a folder of recorded words, in its order."""
    words = folder / "words"
    with (words / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [Recording(words / row["file"], row["word"], row["speaker"]) for row in rows]


def of_split(recordings: Sequence[Recording], split: Split) -> list[Recording]:
    """Return the recordings of one side of the split."""
    return [r for r in recordings if split_of(r.speaker) == split]


def silence_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the recordings of background noise for training, and the two held out."""
    files = sorted((folder / "silence").glob("*.flac"))
    return files[2:], files[:2]


def read_samples(path: Path) -> Samples:
    """Read a clip: float32, mono, in [-1, 1], at `RATE`."""
    samples, rate = soundfile.read(path, dtype="float32")
    if rate != RATE or samples.ndim != 1:
        raise ValueError(f"{path}: expected mono at {RATE} Hz, got {samples.ndim} at {rate} Hz")
    return np.asarray(samples, dtype=np.float32)
