"""The likelihood of accepted forms, against every path of labels written out."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_wav2vec2.reading import Reader
from tabwb_wav2vec2.vocabulary import Vocabulary

from tests.plugins.test_wav2vec2_ctc import drawn, read

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
