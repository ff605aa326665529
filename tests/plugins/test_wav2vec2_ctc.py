"""CTC against all paths written out, and against torch."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_wav2vec2 import ctc
from tabwb_wav2vec2.reading import Reader
from tabwb_wav2vec2.vocabulary import Vocabulary

seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int, frames: int, outputs: int, sharpness: float = 1.0) -> ctc.LogProbs:
    """Log probabilities drawn at random."""
    scores = np.random.default_rng(seed).normal(size=(frames, outputs)) * sharpness
    normalised: ctc.LogProbs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return normalised


def read(path: tuple[int, ...], blank: int = 0) -> tuple[int, ...]:
    return tuple(label for label, _ in itertools.groupby(path) if label != blank)


def every_path(log_probs: ctc.LogProbs) -> dict[tuple[int, ...], float]:
    """The probability of every reading, by writing out every path."""
    frames, outputs = log_probs.shape
    found: dict[tuple[int, ...], float] = defaultdict(float)
    for path in itertools.product(range(outputs), repeat=frames):
        found[read(path)] += math.exp(sum(log_probs[t, label] for t, label in enumerate(path)))
    return found


@given(seeds, st.integers(1, 6))
def test_probabilities_of_readings_are_those_of_all_their_paths(seed: int, frames: int) -> None:
    log_probs = drawn(seed, frames, 3)
    for reading, probability in every_path(log_probs).items():
        assert ctc.log_probability(log_probs, reading) == pytest.approx(math.log(probability))


@given(seeds)
def test_probabilities_of_all_readings_add_up_to_one(seed: int) -> None:
    log_probs = drawn(seed, 4, 3)
    readings = {read(path) for path in itertools.product(range(3), repeat=4)}
    total = sum(math.exp(ctc.log_probability(log_probs, reading)) for reading in readings)
    assert total == pytest.approx(1.0)


@given(seeds, st.lists(st.integers(1, 5), max_size=8))
def test_probabilities_are_torchs(seed: int, labels: list[int]) -> None:
    torch = pytest.importorskip("torch")
    log_probs = drawn(seed, 20, 6)
    loss = torch.nn.functional.ctc_loss(
        torch.tensor(log_probs)[:, None],
        torch.tensor([labels], dtype=torch.long),
        torch.tensor([20]),
        torch.tensor([len(labels)]),
        blank=0,
        reduction="sum",
    )
    assert ctc.log_probability(log_probs, labels) == pytest.approx(-float(loss))


def test_any_output_may_be_blank() -> None:
    log_probs = drawn(3, 9, 4)
    moved = log_probs[:, [1, 2, 3, 0]]
    assert ctc.log_probability(moved, [0, 1, 1], blank=3) == pytest.approx(
        ctc.log_probability(log_probs, [1, 2, 2])
    )


def test_too_few_frames_are_impossible() -> None:
    log_probs = drawn(1, 2, 3)
    assert ctc.log_probability(log_probs, [1, 1]) == -math.inf
    assert ctc.align(log_probs, [1, 1]) is None
    assert ctc.log_probability(log_probs[:0], []) == 0.0
    assert ctc.greedy(log_probs[:0]) == ()


@given(seeds, st.integers(2, 6))
def test_a_wide_beam_finds_the_likeliest_reading(seed: int, frames: int) -> None:
    log_probs = drawn(seed, frames, 3)
    readings = every_path(log_probs)
    best = max(readings.values())
    assert readings[ctc.beam(log_probs, 200)] == pytest.approx(best)


@given(seeds)
def test_the_alignment_is_the_best_path_of_its_reading(seed: int) -> None:
    log_probs = drawn(seed, 6, 3)
    paths: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(3), repeat=6):
        score = float(sum(log_probs[t, label] for t, label in enumerate(path)))
        paths[read(path)] = max(score, paths.get(read(path), -math.inf))
    for reading, best in paths.items():
        runs = ctc.align(log_probs, reading)
        assert runs is not None
        path_labels = [0] * 6
        for run in runs:
            path_labels[run.first : run.last + 1] = [run.label] * (run.last + 1 - run.first)
        score = sum(log_probs[t, label] for t, label in enumerate(path_labels))
        assert score == pytest.approx(best)
        assert read(tuple(path_labels)) == reading


@given(seeds)
def test_greedy_runs_are_the_best_labels_of_the_frames(seed: int) -> None:
    log_probs = drawn(seed, 12, 4)
    best = tuple(int(label) for label in log_probs.argmax(axis=1))
    runs = ctc.greedy(log_probs)
    assert tuple(run.label for run in runs) == read(best)
    frames = {t: run.label for run in runs for t in range(run.first, run.last + 1)}
    assert tuple(frames.get(t, 0) for t in range(12)) == best


LABELS = ("<pad>", "ə", "ʌ", "əl", "l", "<sil>", "y")
READS_AS = {1: ("AH",), 2: ("AH",), 3: ("AH", "L"), 4: ("L",), 6: ("?",)}
"""Output: its phonemes; padding and silence stand for no sound."""


def classes(path: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    """What a path reads as, labels that read alike being one."""
    alike = tuple(0 if label == 5 else 1 if label == 2 else label for label in path)
    return tuple(READS_AS[label] for label in read(alike))


@given(st.integers(0, 2**32 - 1))
def test_the_likelihood_of_a_form_is_that_of_every_path_that_reads_as_it(seed: int) -> None:
    log_probs = drawn(seed, 4, len(LABELS), sharpness=2.0)
    forms: dict[tuple[str, ...], float] = defaultdict(float)
    sequences: dict[tuple[tuple[str, ...], ...], float] = defaultdict(float)
    for path in itertools.product(range(len(LABELS)), repeat=4):
        probability = math.exp(sum(log_probs[t, label] for t, label in enumerate(path)))
        found = classes(path)
        sequences[found] += probability
        forms[tuple(itertools.chain.from_iterable(found))] += probability
    by_class = np.stack(
        [
            np.logaddexp(log_probs[:, 0], log_probs[:, 5]),
            np.logaddexp(log_probs[:, 1], log_probs[:, 2]),
            log_probs[:, 3],
            log_probs[:, 4],
            log_probs[:, 6],
        ]
    )
    best = tuple([0, 1, 3, 4, 6][number] for number in by_class.argmax(axis=0))
    free = math.log(sequences[classes(best)])
    reader = Reader(Vocabulary(LABELS, 0), "espeak-ipa", 0.02)
    wanted = [("AH", "L"), ("L",), ("AH", "AH"), ("AH", "L", "AH")]
    for form in wanted:
        assert reader.accepted_likelihood(log_probs, [form]) == pytest.approx(
            math.log(forms[form]) - free
        )
    assert reader.accepted_likelihood(log_probs, wanted) == pytest.approx(
        max(math.log(forms[form]) for form in wanted) - free
    )


def test_a_clear_clip_prefers_the_form_that_was_said() -> None:
    frames = np.full((6, len(LABELS)), 0.01)
    for frame, label in enumerate((4, 4, 0, 1, 5, 0)):
        frames[frame, label] = 0.94
    reader = Reader(Vocabulary(LABELS, 0), "espeak-ipa", 0.02)
    assert [each.phoneme for each in reader.hear(np.log(frames)).segments] == ["L", "AH"]
    said = reader.accepted_likelihood(np.log(frames), [("L", "AH")])
    other = reader.accepted_likelihood(np.log(frames), [("AH", "L")])
    assert said == pytest.approx(0.0) and other is not None and other < -5


def test_a_form_that_does_not_fit_into_the_clip_has_no_likelihood() -> None:
    reader = Reader(Vocabulary(LABELS, 0), "espeak-ipa", 0.02)
    log_probs = drawn(1, 2, len(LABELS))
    assert reader.accepted_likelihood(log_probs, [("L", "L", "L")]) is None
    assert reader.accepted_likelihood(log_probs, [("K",)]) is None
    assert reader.accepted_likelihood(log_probs, []) is None
