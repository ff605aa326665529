"""One participant over sessions, against scipy and numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tabwb.scoring.participant_tests import (
    compare_sets,
    mcnemar,
    mcnemar_of_counts,
    rate_of_change_weights,
    trend_weights,
    weighted_test,
)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_mcnemar_is_the_binomial_test_of_the_changes(items: list[tuple[bool, bool]]) -> None:
    found = mcnemar([a for a, _ in items], [b for _, b in items])
    n, most = found.gained + found.lost, max(found.gained, found.lost)
    assert n == sum(a != b for a, b in items)
    assert found.p == pytest.approx(stats.binomtest(most, n).pvalue if n else 1.0)
    tail = stats.binom.sf(most, n, 0.5) + stats.binom.pmf(most, n, 0.5) / 2
    assert found.mid_p == pytest.approx(min(1.0, 2 * tail))


@given(st.integers(2, 5), st.integers(1, 6))
def test_the_rate_of_change_is_a_difference_of_two_fitted_slopes(
    baselines: int, later: int
) -> None:
    sessions = baselines + later
    scores = np.random.default_rng(baselines * 10 + later).normal(0, 1, sessions)
    before = np.polyfit(range(baselines), scores[:baselines], 1)[0]
    after = np.polyfit(range(later + 1), scores[baselines - 1 :], 1)[0]
    weights = rate_of_change_weights(baselines, sessions)
    assert np.dot(weights, scores) == pytest.approx(after - before)
    assert sum(weights) == pytest.approx(0, abs=1e-12)


def test_a_straight_line_has_a_trend_and_no_change_of_rate() -> None:
    line = [0.0, 1.0, 2.0, 3.0, 4.0]
    assert np.dot(trend_weights(5), line) > 0
    assert np.dot(rate_of_change_weights(3, 5), line) == pytest.approx(0)


def test_the_weighted_test_by_scipy() -> None:
    scores = np.random.default_rng(5).binomial(1, [0.2, 0.3, 0.5, 0.7], (40, 4))
    peer = stats.ttest_1samp(scores @ np.array(trend_weights(4)), 0, alternative="greater")
    found = weighted_test(scores.tolist(), trend_weights(4))
    assert found.t is not None and found.p is not None and found.df == 39
    assert found.t == pytest.approx(float(peer.statistic))
    assert found.p == pytest.approx(float(peer.pvalue))
    low, high = stats.ttest_1samp(scores @ np.array(trend_weights(4)), 0).confidence_interval()
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((float(low), float(high)))


def test_two_sets_have_the_interval_of_welchs_test() -> None:
    rng = np.random.default_rng(6)
    trained, untrained = rng.binomial(1, [0.2, 0.5, 0.9], (12, 3)), rng.binomial(1, 0.4, (9, 3))
    weights = np.array(trend_weights(3))
    found = compare_sets(trained.tolist(), untrained.tolist(), trend_weights(3))
    peer = stats.ttest_ind(trained @ weights, untrained @ weights, equal_var=False)
    low, high = peer.confidence_interval()
    assert found.interval is not None and found.two_sided == pytest.approx(float(peer.pvalue))
    assert (found.interval.low, found.interval.high) == pytest.approx((float(low), float(high)))


def test_items_that_all_change_alike_have_no_test() -> None:
    found = weighted_test([[0, 1]] * 5, trend_weights(2))
    assert (found.mean, found.t, found.p, found.interval) == (0.5, None, None, None)
    assert found.reason == "every item has the same weighted sum"


def test_weights_must_add_up_to_nothing() -> None:
    with pytest.raises(ValueError, match="add up to 0"):
        weighted_test([[0, 1]] * 5, (1.0, 1.0))
    with pytest.raises(ValueError, match="two items"):
        weighted_test([[0, 1]], trend_weights(2))
    with pytest.raises(ValueError, match="two baselines"):
        rate_of_change_weights(1, 4)


@pytest.mark.parametrize(("gained", "lost"), [(300, 260), (0, 501), (700, 700), (40_000, 39_000)])
def test_mcnemar_of_many_changes(gained: int, lost: int) -> None:
    found = mcnemar_of_counts(gained, lost)
    n, most = gained + lost, max(gained, lost)
    assert found.p == pytest.approx(stats.binomtest(most, n).pvalue, rel=1e-8)
