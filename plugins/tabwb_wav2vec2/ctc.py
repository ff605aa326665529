"""Connectionist temporal classification in numpy: decoding, alignment and likelihood.

Every function takes natural log probabilities, float of shape (frames, outputs), each frame's
summing to 1 when exponentiated, and the number of the output that stands for blank. A path names
one output per frame; it reads as its runs, each once, without the blanks (Graves et al. 2006).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

LogProbs = NDArray[np.floating]
Labels = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive frames with one label.

    Attributes:
        label: the output's number.
        first, last: frames, both included.
    """

    label: int
    first: int
    last: int


def greedy(log_probs: LogProbs, blank: int = 0) -> tuple[Run, ...]:
    """Return the runs of the best label of every frame.

    >>> p = np.log([[0.1, 0.8, 0.1], [0.2, 0.7, 0.1], [0.9, 0.05, 0.05], [0.1, 0.6, 0.3]])
    >>> [(run.label, run.first, run.last) for run in greedy(p)]
    [(1, 0, 1), (1, 3, 3)]
    """
    if not len(log_probs):
        return ()
    best = log_probs.argmax(axis=1)
    starts = np.flatnonzero(np.diff(best, prepend=best[0] - 1))
    ends = np.append(starts[1:], len(best)) - 1
    return tuple(
        Run(int(best[first]), int(first), int(last))
        for first, last in zip(starts, ends, strict=True)
        if best[first] != blank
    )


def beam(log_probs: LogProbs, width: int, blank: int = 0) -> Labels:
    """Return the likeliest labels by prefix beam search (Hannun et al. 2014, without a model).

    Of every prefix the probability of ending in a blank and in its last label are kept apart, so
    that paths which read alike are added up, as greedy decoding does not.

    >>> p = np.log([[0.4, 0.6 / 2, 0.6 / 2], [0.4, 0.6 * 0.9, 0.6 * 0.1]])
    >>> [run.label for run in greedy(p)], beam(p, 4)
    ([1], (1,))
    >>> beam(np.log([[0.6, 0.4], [0.6, 0.4]]), 4)
    (1,)
    """
    kept: dict[Labels, tuple[float, float]] = {(): (0.0, -math.inf)}
    nothing = (-math.inf, -math.inf)
    for frame in log_probs.tolist():
        order = sorted(range(len(frame)), key=frame.__getitem__, reverse=True)
        candidates = [label for label in order[: width + 1] if label != blank][:width]
        grown: defaultdict[Labels, tuple[float, float]] = defaultdict(lambda: nothing)
        for prefix, (in_blank, in_label) in kept.items():
            both = _add(in_blank, in_label)
            last = prefix[-1] if prefix else None
            old_blank, old_label = grown[prefix]
            again = in_label + frame[last] if last is not None else -math.inf
            grown[prefix] = (_add(old_blank, both + frame[blank]), _add(old_label, again))
            for label in candidates:
                longer = (*prefix, label)
                old_blank, old_label = grown[longer]
                before = in_blank if label == last else both
                grown[longer] = (old_blank, _add(old_label, before + frame[label]))
        best = sorted(grown.items(), key=lambda item: _add(*item[1]), reverse=True)
        kept = dict(best[:width])
    return max(kept, key=lambda prefix: _add(*kept[prefix]))


def log_probability(log_probs: LogProbs, labels: Sequence[int], blank: int = 0) -> float:
    """Return the natural log of the probability of ``labels``, summed over all paths.

    The forward variables of Graves et al. 2006 over blank, label, blank, ... label, blank.

    >>> p = np.log([[0.5, 0.5], [0.5, 0.5]])
    >>> round(math.exp(log_probability(p, [1])), 12), round(math.exp(log_probability(p, [])), 12)
    (0.75, 0.25)
    """
    states, skips = _states(labels, blank)
    if not len(log_probs):
        return 0.0 if not labels else -math.inf
    emitted = np.asarray(log_probs, dtype=np.float64)[:, states]
    forward = np.full(len(states), -np.inf)
    forward[:2] = emitted[0, :2]
    for frame in emitted[1:]:
        stepped = np.logaddexp(forward, np.concatenate(([-np.inf], forward[:-1])))
        skipped = np.concatenate(([-np.inf, -np.inf], forward[:-2]))[: len(states)]
        forward = np.logaddexp(stepped, np.where(skips, skipped, -np.inf)) + frame
    return float(np.logaddexp.reduce(forward[-2:]))


def align(log_probs: LogProbs, labels: Sequence[int], blank: int = 0) -> tuple[Run, ...] | None:
    """Return the run of each label on the likeliest path of ``labels`` (Viterbi).

    >>> p = np.log([[0.1, 0.8, 0.1], [0.2, 0.7, 0.1], [0.8, 0.1, 0.1], [0.1, 0.6, 0.3]])
    >>> [(run.label, run.first, run.last) for run in align(p, [1, 2])]
    [(1, 0, 1), (2, 3, 3)]
    """
    states, skips = _states(labels, blank)
    frames = len(log_probs)
    repeats = sum(a == b for a, b in pairwise(labels))
    if frames < len(labels) + repeats:
        return None
    if not labels:
        return ()
    emitted = np.asarray(log_probs, dtype=np.float64)[:, states]
    score = np.full(len(states), -np.inf)
    score[:2] = emitted[0, :2]
    steps = np.zeros((frames, len(states)), dtype=np.int8)
    for number in range(1, frames):
        shifted = np.concatenate(([-np.inf], score[:-1]))
        skipped = np.where(skips, np.concatenate(([-np.inf, -np.inf], score[:-2])), -np.inf)
        choices = np.stack((score, shifted, skipped))
        steps[number] = choices.argmax(axis=0)
        score = choices.max(axis=0) + emitted[number]
    state = len(states) - 1 if score[-1] >= score[-2] else len(states) - 2
    path = [state]
    for number in range(frames - 1, 0, -1):
        state -= int(steps[number, state])
        path.append(state)
    places: dict[int, list[int]] = defaultdict(list)
    for number, state in enumerate(reversed(path)):
        places[state].append(number)
    return tuple(
        Run(label, places[2 * index + 1][0], places[2 * index + 1][-1])
        for index, label in enumerate(labels)
    )


def _states(labels: Sequence[int], blank: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return blank, label, blank ... blank, and the labels that may follow without a blank."""
    states = np.full(2 * len(labels) + 1, blank, dtype=np.intp)
    states[1::2] = labels
    skips = np.zeros(len(states), dtype=np.bool_)
    skips[3::2] = states[3::2] != states[1:-2:2]
    return states, skips


def _add(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))
