"""The conditioned copies that a model is trained on, and which of them make a batch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabwb.records.errors import TabwbError
from tabwb.records.files import make_private_folder
from tabwb.speech.condition import METHOD, RATE, condition
from tabwb.speech.files import Samples, read_clip, write_wav
from tabwb.speech.finding import find_speech
from tabwb_psst.train.perturb import perturbed
from tabwb_psst.train.sources import LEAST_S, Example

AROUND_S = 0.3
"""Sound that is kept before and after a stretch where a long recording is cut [ours]."""


def copy_of(folder: Path, example: Example, impulses: Path | None) -> Path:
    """Return where the conditioned copy of an example lies; the name tells all that it is from."""
    path = Path(example.path)
    status = path.stat()
    made_of = (
        METHOD, example.path, status.st_size, status.st_mtime_ns, example.start_s, example.end_s,
        example.change, example.value, example.number,
        impulses if example.change == "room" else None,
    )  # fmt: skip
    return folder / f"{hashlib.sha256(repr(made_of).encode()).hexdigest()[:24]}.wav"


def prepare(
    folder: Path, examples: Sequence[Example], impulses: Path | None, longest_s: float = 0.0
) -> Iterator[tuple[int, tuple[Example, ...] | TabwbError]]:
    """Make the copies that are not there yet; yield each example's number and what it became.

    An example then names its copy. Of unlabelled recordings longer than ``longest_s`` it is one for
    each part between two pauses.
    """
    make_private_folder(folder)
    for number, example in enumerate(examples):
        try:
            yield number, tuple(_prepared(folder, example, impulses, longest_s))
        except TabwbError as error:
            if error.where and Path(error.where).is_relative_to(folder):
                raise  # no copy can be written, of the others neither
            yield number, error
        except OSError as error:
            yield number, TabwbError(f"cannot be read: {error.strerror}", where=example.path)


def _prepared(
    folder: Path, example: Example, impulses: Path | None, longest_s: float
) -> Iterator[Example]:
    copy = copy_of(folder, example, impulses)
    cut = example.labels is None and 0 < longest_s < example.seconds
    if cut or not copy.exists():
        samples, rate = read_clip(example.path, example.start_s, example.end_s)
        if not samples.size:
            raise TabwbError("there is no sound", where=example.path)
    if cut:
        for number, (start, end) in enumerate(_parts(samples, rate, longest_s)):
            part = copy.with_name(f"{copy.stem}-{number:04}.wav")
            if not part.exists():
                _write(part, samples[round(start * rate) : round(end * rate)], rate)
            yield _as_copy(replace(example, id=f"{example.id}-{number:04}"), part, end - start)
        return
    if not copy.exists():
        if example.change:
            kind, value = example.change, example.value
            samples = perturbed(samples, rate, kind, value, example.number, impulses)
        _write(copy, samples, rate)
    yield _as_copy(example, copy, example.seconds)


def _as_copy(example: Example, copy: Path, seconds: float) -> Example:
    return replace(example, path=str(copy), start_s=0.0, end_s=None, seconds=seconds)


def _write(path: Path, samples: Samples, rate: int) -> None:
    """Write a clip as ``transcribe`` conditions it."""
    write_wav(path, condition(samples, rate, find_speech(samples, rate).speech).samples, RATE)


def _parts(samples: Samples, rate: int, longest_s: float) -> Iterator[tuple[float, float]]:
    """Yield stretches of speech, joined while they last no longer than this."""
    start = end = None
    for stretch in find_speech(samples, rate).speech:
        low, high = max(stretch.start_s - AROUND_S, 0.0), stretch.end_s + AROUND_S
        if start is not None and high - start <= longest_s:
            end = high
            continue
        if start is not None and end is not None:
            yield start, end
        start, end = (low, high) if LEAST_S < high - low <= longest_s else (None, None)
    if start is not None and end is not None:
        yield start, end


def batches(seconds: Sequence[float], most_s: float, seed: int) -> Iterator[list[int]]:
    """Yield the numbers of the examples of one update after another, for ever.

    Each epoch has an order of its own; an update takes what comes next until it has ``most_s``
    seconds, one example at least.

    >>> order = batches([1.0, 2.0, 3.0], 4.0, 0)
    >>> sorted(next(order) + next(order))
    [0, 1, 2]
    """
    epoch = 0
    while True:
        batch: list[int] = []
        total = 0.0
        for number in np.random.default_rng([seed, epoch]).permutation(len(seconds)).tolist():
            if batch and total + seconds[number] > most_s:
                yield batch
                batch, total = [], 0.0
            batch.append(number)
            total += seconds[number]
        yield batch
        epoch += 1


def micro_batches(batch: Sequence[int], seconds: Sequence[float], most_s: float) -> list[list[int]]:
    """Return what is computed at once: similar lengths, at most ``most_s`` with the padding.

    >>> micro_batches([0, 1, 2, 3], [1.0, 5.0, 1.1, 4.9], 6.0)
    [[0, 2], [3], [1]]
    """
    made: list[list[int]] = []
    for number in sorted(batch, key=lambda one: (seconds[one], one)):
        if made and seconds[number] * (len(made[-1]) + 1) <= most_s:
            made[-1].append(number)
        else:
            made.append([number])
    return made
