"""The interval of an error rate between transcribers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tabwb.agreement.intervals import ratio_interval

EDITS = np.array([0, 1, 0, 2, 0, 0, 1, 0])
PHONEMES = np.array([3, 4, 5, 6, 3, 4, 5, 4])


def test_the_limits_are_those_of_the_formula() -> None:
    n, s, t = 8, 4, 34
    variance = n / (n - 1) * sum((e - s / t * m) ** 2 for e, m in zip(EDITS, PHONEMES, strict=True))
    phi = max(0.5, variance / s)
    q = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, n - 1)) ** 2 / phi
    found = ratio_interval(EDITS, PHONEMES)
    assert found is not None
    assert found.low == pytest.approx(stats.chi2.ppf(0.025, 2 * s * q) / (2 * t * q))
    assert found.high == pytest.approx(stats.chi2.ppf(0.975, 2 * s * q + 2) / (2 * t * q))


def test_responses_of_one_speaker_are_one_unit() -> None:
    speakers = np.array([7, 7, 3, 3, 4, 5, 6, 6])
    found = ratio_interval(EDITS, PHONEMES, speakers=speakers)
    assert found == ratio_interval(np.array([2, 0, 0, 1, 1]), np.array([11, 3, 4, 9, 7]))
    assert ratio_interval(EDITS, PHONEMES, speakers=np.arange(8) // 2) is None


def test_no_edit_has_an_upper_limit_and_no_phoneme_no_interval() -> None:
    found = ratio_interval(np.zeros(5), np.full(5, 4))
    assert found is not None
    assert found.low == 0.0
    assert 0 < found.high < 1
    assert ratio_interval(np.zeros(5), np.zeros(5)) is None
    assert ratio_interval(np.ones(4), np.full(4, 4)) is None
