"""Training examples: recorded and synthesised words in noise, alone, in pairs, or none."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from torch.utils.data import IterableDataset

from training.words.augment import Background, change_speed, mask, warp_frequency
from training.words.features import FRAME_SECONDS, MELS, STRIDE, log_mel, normalise, pad
from training.words.pronunciations import Phonemes, encode
from training.words.recordings import RATE, Samples

Clip = tuple[Samples, Phonemes]
Span = tuple[int, int]
Example = tuple[torch.Tensor, Phonemes, tuple[Span, ...]]
Generator = np.random.Generator
_POOL = 8  # batches drawn together and sorted by length
_DIGITAL_SILENCE = 0.25  # nothing but zeros around the word, as a virtual microphone gives them
_CROPPED = 0.5  # the share of recorded clips that lose the silence around the word
_TIMES = 3  # how often the sound of an example is used, each time disguised anew


@dataclass(frozen=True)
class Batch:
    """Features (clips, frames, bins), mask (clips, frames), labels in a row, and their lengths.

    ``spoken`` (clips, frames) marks the frames with speech: only there is a phoneme right.
    """

    features: torch.Tensor
    mask: torch.Tensor
    spoken: torch.Tensor
    labels: torch.Tensor
    lengths: torch.Tensor


@dataclass(frozen=True)
class Sound:
    """Samples, the phonemes of all words, and the start and end of each word."""

    samples: Samples
    phonemes: Phonemes
    spans: tuple[Span, ...]


def spoken_part(samples: Samples) -> Span:
    """Return the part of a clip louder than its background, with 80 ms on both sides.

    Louder: more than three times the quietest fifth of the 20 ms stretches, and 5 % of the loudest.

    >>> clip = np.concatenate([np.full(8000, 0.001), np.ones(1600), np.full(6400, 0.001)])
    >>> spoken_part(clip.astype("f4"))
    (6720, 10880)
    """
    size = RATE // 50
    rms = np.sqrt(np.mean(samples[: len(samples) // size * size].reshape(-1, size) ** 2, axis=1))
    loud = np.flatnonzero(rms > max(3 * np.quantile(rms, 0.2), 0.05 * rms.max()))
    if len(loud) == 0:
        return 0, len(samples)
    margin = 4 * size
    return max(int(loud[0]) * size - margin, 0), min(
        int(loud[-1] + 1) * size + margin, len(samples)
    )


def shares(weights: Sequence[float]) -> NDArray[np.float64]:
    """Return the ends of intervals of [0, 1) with lengths proportional to the weights.

    >>> shares([1, 3]).tolist()
    [0.25, 1.0]
    """
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    return np.asarray(ends / ends[-1])


class Examples(IterableDataset[Batch]):
    """Batches of augmented examples without end.

    Those of two ranks, the processes of a run, differ, but have similar lengths at the same time.
    """

    def __init__(
        self,
        recorded: Sequence[Clip],
        synthesised: Sequence[Clip],
        background: Background,
        seed: int,
        size: int,
        synthetic_share: float,
        rank: int = 0,
    ) -> None:
        counts = Counter(phonemes for _, phonemes in recorded)
        # A word with 4 clips is heard a fifth as often as one with 200, not a fiftieth.
        self._ends = shares([counts[phonemes] ** -0.6 for _, phonemes in recorded])
        self._made_ends = shares([2.0 if p in counts else 1.0 for _, p in synthesised])
        self._recorded, self._synthesised = recorded, synthesised
        self._spoken = [spoken_part(samples) for samples, _ in recorded]
        self._background, self._seed, self._size = background, seed, size
        self._share, self._rank = synthetic_share, rank

    def _word(self, rng: Generator) -> tuple[Samples, Phonemes, Span]:
        if rng.random() < self._share:
            samples, phonemes = self._synthesised[
                int(np.searchsorted(self._made_ends, rng.random()))
            ]
            return samples, phonemes, spoken_part(samples)
        place = int(np.searchsorted(self._ends, rng.random()))
        samples, phonemes = self._recorded[place]
        start, end = self._spoken[place]
        if rng.random() < _CROPPED:
            return samples[start:end], phonemes, (0, end - start)
        return samples, phonemes, (start, end)

    def _speech(self, rng: Generator) -> Sound:
        """Draw the words of one example, each at its own loudness and speed, with pauses."""
        count = rng.choice((0, 1, 2), p=(0.04, 0.84, 0.12))
        parts: list[Samples] = [np.zeros(0, dtype=np.float32)]
        phonemes: list[str] = []
        spans: list[Span] = []
        for number in range(count):
            samples, said, (start, end) = self._word(rng)
            factor = float(rng.uniform(0.82, 1.22)) if rng.random() < 0.7 else 1.0
            samples = change_speed(samples, factor) if factor != 1 else samples
            rms = np.sqrt(np.mean(samples**2)) + 1e-6
            if number:
                parts.append(np.zeros(int(rng.uniform(0.05, 0.9) * RATE), dtype=np.float32))
            before = sum(map(len, parts))
            spans.append((before + int(start / factor), before + int(end / factor)))
            parts.append((samples / rms * 10 ** (rng.normal(0, 3) / 20)).astype(np.float32))
            phonemes.extend(said)
        return Sound(np.concatenate(parts), tuple(phonemes), tuple(spans))

    def sound(self, rng: Generator) -> Sound:
        """Draw one example as sound."""
        speech = self._speech(rng)
        longest = 2.0 if rng.random() < 0.08 else 0.2
        before, after = (int(rng.uniform(0.02, longest) * RATE) for _ in range(2))
        if not speech.phonemes:
            before = int(rng.uniform(0.4, 1.5) * RATE)
        samples = np.pad(speech.samples, (before, after))
        spans = tuple((start + before, end + before) for start, end in speech.spans)
        if speech.phonemes and rng.random() < 0.4:
            response = self._background.rooms[rng.integers(len(self._background.rooms))]
            samples = fftconvolve(samples, response)[: len(samples)]
        if not speech.phonemes or rng.random() >= _DIGITAL_SILENCE:
            loudness = -rng.uniform(5, 40) if rng.random() < 0.75 else -rng.uniform(40, 70)
            noise = self._background.draw(rng, len(samples)) * 10 ** (loudness / 20)
            samples = samples + noise
        return Sound((samples * 0.05).astype(np.float32), speech.phonemes, spans)

    def spectrogram(self, rng: Generator) -> Example:
        """Draw an example as `log_mel`, with the frames of its words.

        An example with too few frames for its phonemes is drawn again.
        """
        sound = self.sound(rng)
        mel = log_mel(sound.samples)
        spans = tuple(frames_of(span) for span in sound.spans)
        needed = len(sound.phonemes) + sum(a == b for a, b in pairwise(sound.phonemes))
        frames = min(len(mel) // STRIDE, sum(end - start for start, end in spans))
        if sound.phonemes and needed >= frames:
            return self.spectrogram(rng)
        return mel, sound.phonemes, spans

    def __iter__(self) -> Iterator[Batch]:
        rng, order = np.random.default_rng((self._seed, self._rank)), random.Random(self._seed)
        while True:
            drawn = [self.spectrogram(rng) for _ in range(_POOL * self._size)]
            drawn.sort(key=lambda example: len(example[0]))
            for place in order.sample([*range(_POOL)] * _TIMES, _POOL * _TIMES):
                chosen = drawn[place * self._size : (place + 1) * self._size]
                yield collate([(disguise(mel, rng), said, spans) for mel, said, spans in chosen])


def frames_of(span: Span) -> Span:
    """Convert samples to frames, plus one: phonemes are recognised at their end.

    >>> frames_of((4800, 9600))
    (10, 21)
    """
    size = FRAME_SECONDS * RATE
    return int(span[0] / size), int(np.ceil(span[1] / size)) + 1


def disguise(mel: torch.Tensor, rng: Generator) -> torch.Tensor:
    """Convert a spectrogram to features with another vocal tract length and masked parts."""
    if rng.random() < 0.6:
        mel = warp_frequency(mel, float(rng.uniform(0.85, 1.17)))
    return mask(normalise(mel), rng, MELS)


def collate(examples: Sequence[Example]) -> Batch:
    """Put examples into one batch."""
    features, attention = pad([features for features, _, _ in examples])
    spoken = torch.zeros_like(attention, dtype=torch.bool)
    for row, (_, _, spans) in zip(spoken, examples, strict=True):
        for start, end in spans:
            row[start:end] = True
    labels = [encode(phonemes) for _, phonemes, _ in examples]
    return Batch(
        features,
        attention,
        spoken,
        torch.tensor([number for row in labels for number in row], dtype=torch.long),
        torch.tensor([len(row) for row in labels]),
    )
