"""The correlation of an item with the rest of the test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tabwb.scoring.item_response import (
    FEW_CORRELATED,
    REST_ALIKE,
    discrimination,
    discrimination_interval,
)


def test_is_the_point_biserial_correlation_with_the_other_items() -> None:
    rng = np.random.default_rng(1)
    rows = (rng.random((40, 6)) < rng.random((40, 1))).astype(float)
    for item in range(6):
        rest = np.delete(rows, item, axis=1).sum(axis=1)
        expected = stats.pointbiserialr(rows[:, item], rest).statistic
        assert discrimination(rows.tolist(), item).value == pytest.approx(expected)


def test_interval_is_fishers() -> None:
    rng = np.random.default_rng(2)
    rows = (rng.random((30, 5)) < rng.random((30, 1))).astype(float)
    rest = rows[:, 1:].mean(axis=1)
    expected = stats.pearsonr(rows[:, 0], rest).confidence_interval(0.95)
    found = discrimination_interval(rows.tolist(), 0)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_missing_answers_are_left_out_of_the_mean() -> None:
    rows: list[list[float | None]] = [[1, 1, 0], [0, None, 0], [1, 1, 1], [0, 0, 1], [1, 0, None]]
    expected = np.corrcoef([1, 0, 1, 0, 1], [0.5, 0, 1, 0.5, 0])[0, 1]
    assert discrimination(rows, 0).value == pytest.approx(expected)
    assert discrimination([*rows[:4], [None, 1, 1]], 0).reason == FEW_CORRELATED


def test_undefined_where_the_rest_does_not_vary() -> None:
    rows: list[list[float]] = [[1, 1], [0, 1], [1, 1], [0, 1], [0, 1]]
    assert discrimination(rows, 0).reason == REST_ALIKE
    assert discrimination_interval(rows, 0) is None


def test_a_perfect_correlation_has_no_interval() -> None:
    rows: list[list[float]] = [[1, 1], [0, 0], [1, 1], [0, 0], [0, 0]]
    assert discrimination(rows, 0).value == pytest.approx(1.0)
    assert discrimination_interval(rows, 0) is None
