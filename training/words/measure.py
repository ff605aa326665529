"""Error rates of transcripts, with intervals over speakers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabwb.phonology.batch import Scores, score
from training.words.pronunciations import RECORDED_WORDS, Phonemes

_DRAWS = 2000


@dataclass(frozen=True)
class Figure:
    """A rate with its 95 % interval, as fractions, and its number of clips."""

    value: float
    low: float
    high: float
    clips: int


def nearest_words(heard: Sequence[Phonemes]) -> list[str]:
    """Return the recorded words with the nearest pronunciations.

    Nearest is by phoneme edits over the longer of both lengths, then by feature distance over the
    same, then by the alphabet. On the dev speakers this found more words than feature distance
    alone, for which a deleted phoneme counts as much as several changed ones. An empty transcript
    has no nearest word: "".

    >>> nearest_words([("TH", "R", "IY"), ("D", "AO", "K"), ("L", "EH", "F"), ()])
    ['three', 'dog', 'left', '']
    """
    words = sorted(RECORDED_WORDS)
    refs = [RECORDED_WORDS[word] for _ in heard for word in words]
    hyps = [got for got in heard for _ in words]
    found = score(refs, hyps)
    longer = np.array([max(len(r), len(h)) for r, h in zip(refs, hyps, strict=True)])
    order = np.lexsort(
        [(v / longer).reshape(-1, len(words)) for v in (found.quarters, found.edits)], axis=-1
    )
    return [words[i] if got else "" for i, got in zip(order[:, 0].tolist(), heard, strict=True)]


def error_rate(said: Sequence[Phonemes], heard: Sequence[Phonemes]) -> float:
    """Return the phoneme error rate: edits over phonemes spoken, both summed over all clips.

    >>> error_rate([("AH", "P"), ("N", "OW")], [("AH", "P"), ("N",)])
    0.25
    """
    per = score(said, heard).per
    if per is None:
        raise ValueError("nothing was said")
    return per


def over_speakers(
    above: Sequence[float], below: Sequence[float], speakers: Sequence[str], seed: int = 0
) -> Figure:
    """Return the ratio of two sums, with a percentile interval from resampled speakers.

    Clips of one speaker are alike, so that an interval over clips would be too narrow.

    >>> over_speakers([1.0, 1.0], [2.0, 2.0], ["a", "b"])
    Figure(value=0.5, low=0.5, high=0.5, clips=2)
    """
    names = sorted(set(speakers))
    row = np.array([names.index(s) for s in speakers])
    sums = [np.bincount(row, weights=np.asarray(v, dtype=float)) for v in (above, below)]
    drawn = np.random.default_rng(seed).integers(0, len(names), (_DRAWS, len(names)))
    ratios = sums[0][drawn].sum(axis=1) / sums[1][drawn].sum(axis=1)
    low, high = np.quantile(ratios, (0.025, 0.975)).tolist()
    return Figure(float(sums[0].sum() / sums[1].sum()), low, high, len(row))


def rates(scores: Scores, speakers: Sequence[str]) -> tuple[Figure, Figure]:
    """Return phoneme and feature error rate of clips, with intervals over their speakers."""
    phonemes = scores.phonemes.astype(float)
    per = over_speakers(scores.edits.astype(float).tolist(), phonemes.tolist(), speakers)
    features = (phonemes * scores.costs.features).tolist()
    fer = over_speakers((scores.quarters / 4.0).tolist(), features, speakers)
    return per, fer
