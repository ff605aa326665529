"""Intervals of coefficients of agreement by Dirichlet resampling, against exact ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tabwb.agreement.intervals import dirichlet_intervals, least_positives
from tabwb.agreement.pairs import cohen_kappa, gwet_ac1, percent_agreement


def test_the_interval_of_a_share_is_the_beta_quantile_of_its_sum() -> None:
    """The diagonal of a Dirichlet(n + 1/2) is Beta(agreed + 1, disagreed + 1)."""
    tables = np.array([[[20, 5], [10, 15]], [[3, 0], [1, 2]]])
    ends = dirichlet_intervals(tables, percent_agreement, draws=40_000)
    for table, (low, high) in zip(tables, ends, strict=True):
        agreed = np.trace(table)
        expected = stats.beta(agreed + 1, table.sum() - agreed + 1).ppf([0.025, 0.975])
        assert [low, high] == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("coefficient", [cohen_kappa, gwet_ac1])
def test_intervals_cover_the_true_coefficient(coefficient: object) -> None:
    shares = np.array([[0.55, 0.1], [0.1, 0.25]])
    true = float(coefficient(shares))  # type: ignore[operator]
    drawn = np.random.Generator(np.random.PCG64(3)).multinomial(60, shares.ravel(), 300)
    ends = dirichlet_intervals(drawn.reshape(-1, 2, 2), coefficient, draws=800)  # type: ignore[arg-type]
    assert 0.91 <= float(((ends[:, 0] <= true) & (true <= ends[:, 1])).mean()) <= 0.99


def test_an_empty_table_has_no_interval_and_equal_calls_are_equal() -> None:
    tables = np.array([[[0, 0], [0, 0]], [[4, 1], [1, 4]]])
    first, second = (dirichlet_intervals(tables, cohen_kappa) for _ in range(2))
    assert np.isnan(first[0]).all() and not np.isnan(first[1]).any()
    assert np.array_equal(first, second, equal_nan=True)


def test_the_fewest_positives_are_those_of_the_rater_with_fewer() -> None:
    assert least_positives(np.array([[[20, 5], [1, 2]], [[9, 0], [8, 4]]])).tolist() == [3, 4]
