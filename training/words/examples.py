"""Training examples: recorded and synthesised words in noise, alone, in pairs, or none."""

from __future__ import annotations

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
from training.words.features import MELS, STRIDE, log_mel, normalise, pad
from training.words.pronunciations import Phonemes, encode
from training.words.recordings import RATE, Samples

Clip = tuple[Samples, Phonemes]
Generator = np.random.Generator
_POOL = 8  # batches drawn together and sorted by length
_DIGITAL_SILENCE = 0.25  # nothing but zeros around the word, as a virtual microphone gives them
_CROPPED = 0.75  # the share of recorded clips that lose the silence around the word
_TIMES = 2  # how often the sound of an example is used, each time disguised anew


@dataclass(frozen=True)
class Batch:
    """Features (clips, frames, bins), mask (clips, frames), labels in a row, and their lengths."""

    features: torch.Tensor
    mask: torch.Tensor
    labels: torch.Tensor
    lengths: torch.Tensor


def spoken_part(samples: Samples) -> tuple[int, int]:
    """Say where a clip is louder than its background, with 80 ms on both sides.

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
    """Turn weights into the ends of stretches of [0, 1) that are as long as the weights tell.

    >>> shares([1, 3]).tolist()
    [0.25, 1.0]
    """
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    return np.asarray(ends / ends[-1])


class Examples(IterableDataset[Batch]):
    """Batches of augmented examples without end."""

    def __init__(
        self,
        recorded: Sequence[Clip],
        synthesised: Sequence[Clip],
        background: Background,
        seed: int,
        size: int,
        synthetic_share: float,
    ) -> None:
        counts = Counter(phonemes for _, phonemes in recorded)
        # A word with 4 clips is heard half as often as one with 200, not a fiftieth.
        self._ends = shares([counts[phonemes] ** -0.8 for _, phonemes in recorded])
        self._made_ends = shares([2.0 if p in counts else 1.0 for _, p in synthesised])
        self._recorded, self._synthesised = recorded, synthesised
        self._spoken = [spoken_part(samples) for samples, _ in recorded]
        self._background, self._seed, self._size = background, seed, size
        self._share = synthetic_share

    def _word(self, rng: Generator) -> Clip:
        if rng.random() < self._share:
            return self._synthesised[int(np.searchsorted(self._made_ends, rng.random()))]
        place = int(np.searchsorted(self._ends, rng.random()))
        samples, phonemes = self._recorded[place]
        if rng.random() < _CROPPED:
            start, end = self._spoken[place]
            samples = samples[start:end]
        return samples, phonemes

    def _speech(self, rng: Generator) -> tuple[list[Samples], Phonemes]:
        """Draw the words of one example, each at its own loudness and speed, with pauses."""
        count = rng.choice((0, 1, 2), p=(0.04, 0.78, 0.18))
        parts: list[Samples] = []
        phonemes: list[str] = []
        for number in range(count):
            samples, said = self._word(rng)
            factor = float(rng.uniform(0.86, 1.17)) if rng.random() < 0.7 else 1.0
            samples = change_speed(samples, factor) if factor != 1 else samples
            rms = np.sqrt(np.mean(samples**2)) + 1e-6
            if number:
                parts.append(np.zeros(int(rng.uniform(0.05, 0.9) * RATE), dtype=np.float32))
            parts.append((samples / rms * 10 ** (rng.normal(0, 3) / 20)).astype(np.float32))
            phonemes.extend(said)
        return parts, tuple(phonemes)

    def sound(self, rng: Generator) -> Clip:
        """Draw one example as sound."""
        parts, phonemes = self._speech(rng)
        longest = 2.0 if rng.random() < 0.12 else 0.2
        before, after = (int(rng.uniform(0.02, longest) * RATE) for _ in range(2))
        if not parts:
            before = int(rng.uniform(0.4, 1.5) * RATE)
        silence = [np.zeros(n, dtype=np.float32) for n in (before, after)]
        samples = np.concatenate([silence[0], *parts, silence[1]])
        if phonemes and rng.random() < 0.3:
            response = self._background.rooms[rng.integers(len(self._background.rooms))]
            samples = fftconvolve(samples, response)[: len(samples)]
        if phonemes and rng.random() < _DIGITAL_SILENCE:
            return (samples * 0.05).astype(np.float32), phonemes
        loudness = -rng.uniform(5, 40) if rng.random() < 0.75 else -rng.uniform(40, 70)
        noise = self._background.draw(rng, len(samples)) * 10 ** (loudness / 20)
        return ((samples + noise) * 0.05).astype(np.float32), phonemes

    def spectrogram(self, rng: Generator) -> tuple[torch.Tensor, Phonemes]:
        """Draw an example as `log_mel`; one too short for its phonemes is drawn again."""
        samples, phonemes = self.sound(rng)
        mel = log_mel(samples)
        needed = len(phonemes) + sum(a == b for a, b in pairwise(phonemes))
        return (mel, phonemes) if needed < len(mel) // STRIDE else self.spectrogram(rng)

    def __iter__(self) -> Iterator[Batch]:
        worker = torch.utils.data.get_worker_info()
        rng = np.random.default_rng((self._seed, worker.id if worker else 0))
        while True:
            drawn = [self.spectrogram(rng) for _ in range(_POOL * self._size)]
            drawn.sort(key=lambda example: len(example[0]))
            for place in rng.permutation(np.tile(np.arange(_POOL), _TIMES)):
                chosen = drawn[place * self._size : (place + 1) * self._size]
                yield collate([(disguise(mel, rng), phonemes) for mel, phonemes in chosen])


def disguise(mel: torch.Tensor, rng: Generator) -> torch.Tensor:
    """Turn a spectrogram into features as of another throat, with parts hidden."""
    if rng.random() < 0.6:
        mel = warp_frequency(mel, float(rng.uniform(0.88, 1.13)))
    return mask(normalise(mel), rng, MELS)


def collate(examples: Sequence[tuple[torch.Tensor, Phonemes]]) -> Batch:
    """Put examples into one batch."""
    features, attention = pad([features for features, _ in examples])
    labels = [encode(phonemes) for _, phonemes in examples]
    return Batch(
        features,
        attention,
        torch.tensor([number for row in labels for number in row], dtype=torch.long),
        torch.tensor([len(row) for row in labels]),
    )
