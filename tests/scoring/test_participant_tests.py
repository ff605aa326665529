"""One participant over sessions, against scipy and numpy."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tabwb.scoring.participant_tests import (
    compare_sets,
    mcnemar,
    mcnemar_interval,
    mcnemar_of_counts,
    rate_of_change_weights,
    trend_weights,
    weighted_test,
)
from tabwb.scoring.permutation import paired_permutation, sign_flip_interval


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_mcnemar_is_the_binomial_test_of_the_changes(items: list[tuple[bool, bool]]) -> None:
    found = mcnemar([a for a, _ in items], [b for _, b in items])
    n, most = found.gained + found.lost, max(found.gained, found.lost)
    assert n == sum(a != b for a, b in items)
    assert found.p == pytest.approx(stats.binomtest(most, n).pvalue if n else 1.0)
    tail = stats.binom.sf(most, n, 0.5) + stats.binom.pmf(most, n, 0.5) / 2
    assert found.mid_p == pytest.approx(min(1.0, 2 * tail))


@pytest.mark.parametrize(("gained", "lost"), [(300, 260), (0, 501), (700, 700), (40_000, 39_000)])
def test_mcnemar_of_many_changes(gained: int, lost: int) -> None:
    n, most = gained + lost, max(gained, lost)
    expected = stats.binomtest(most, n).pvalue
    assert mcnemar_of_counts(gained, lost).p == pytest.approx(expected, rel=1e-8)


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


def test_the_weighted_test_flips_signs_over_items() -> None:
    scores = np.random.default_rng(5).binomial(1, [0.2, 0.3, 0.5, 0.7], (14, 4))
    sums = scores @ np.array(trend_weights(4))
    found = weighted_test(scores.tolist(), trend_weights(4))
    peer = stats.permutation_test(
        (sums,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    greater = stats.permutation_test(
        (sums,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="greater"
    )
    assert found.p == pytest.approx(peer.pvalue)
    assert found.one_sided == pytest.approx(greater.pvalue)
    assert found.t == pytest.approx(float(stats.ttest_1samp(sums, 0).statistic))
    assert found.df == 13


@pytest.mark.parametrize("n", [6, 9, 25])
def test_the_interval_inverts_the_test(n: int) -> None:
    values = np.random.default_rng(n).normal(0.5, 1.0, n)
    low, high, p = sign_flip_interval(values.tolist())

    def rejected(x: float) -> bool:
        made = paired_permutation([(value, x) for value in values.tolist()])
        assert made is not None
        return made.p < 0.05

    near = 1e-6 if n <= 20 else 0.02
    assert rejected(low - near) and not rejected(low + near)
    assert rejected(high + near) and not rejected(high - near)
    own = paired_permutation([(value, 0.0) for value in values.tolist()])
    assert own is not None
    assert p == pytest.approx(own.p, abs=1e-9 if n <= 20 else 0.003)


@given(st.integers(2, 25), st.integers(0, 10**6), st.sampled_from((0.05, 0.3, 0.9)))
def test_p_of_a_trend_is_below_the_level_just_where_0_is_outside(
    n: int, seed: int, last: float
) -> None:
    scores = np.random.default_rng(seed).binomial(1, [0.05, 0.1, last, last], (n, 4))
    for weights in (trend_weights(4), rate_of_change_weights(2, 4)):
        found = weighted_test(scores.tolist(), weights)
        if found.interval is not None:
            outside = found.interval.low > 0 or found.interval.high < 0
            assert found.p is not None and (found.p < 0.05) == outside
            assert found.interval.low <= found.value <= found.interval.high


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 60))
def test_mcnemars_p_is_below_the_level_just_where_0_is_outside(
    gained: int, lost: int, others: int
) -> None:
    n = gained + lost + others
    if not n:
        return
    found, p = mcnemar_interval(gained, lost, n), mcnemar_of_counts(gained, lost).p
    assert (p < 0.05) == (found.low > 0 or found.high < 0)
    assert found.low < found.high
    assert found.low <= (gained - lost) / n <= found.high


@pytest.mark.parametrize(("gained", "lost", "n"), [(9, 1, 30), (0, 8, 20), (6, 0, 40)])
def test_mcnemars_interval_has_the_scores_of_the_likeliest_shares(
    gained: int, lost: int, n: int
) -> None:
    # By a search over q = P(lost) for each delta, instead of Tango's closed form.
    def score(delta: float) -> float:
        q = np.linspace(max(0.0, -delta), (1 - delta) / 2, 200_001)[1:-1]
        like = stats.multinomial.logpmf
        shares = np.stack([q + delta, q, 1 - delta - 2 * q], axis=1)
        best = q[np.argmax(like([gained, lost, n - gained - lost], n, shares))]
        away = gained - lost - n * delta
        return float(away / np.sqrt(n * (2 * best + delta * (1 - delta))))

    found = mcnemar_interval(gained, lost, n)
    for end in (found.low, found.high):
        assert abs(score(end)) == pytest.approx(1.96, abs=0.01)


def test_two_sets_have_the_interval_of_welchs_test() -> None:
    rng = np.random.default_rng(6)
    trained, untrained = rng.binomial(1, [0.2, 0.5, 0.9], (12, 3)), rng.binomial(1, 0.4, (9, 3))
    weights = np.array(trend_weights(3))
    found = compare_sets(trained.tolist(), untrained.tolist(), trend_weights(3))
    peer = stats.ttest_ind(trained @ weights, untrained @ weights, equal_var=False)
    low, high = peer.confidence_interval()
    assert found.interval is not None and found.p == pytest.approx(float(peer.pvalue))
    assert found.one_sided == pytest.approx(float(peer.pvalue) / 2)
    assert (found.interval.low, found.interval.high) == pytest.approx((float(low), float(high)))


def test_what_changes_alike_or_has_wrong_weights_has_no_test() -> None:
    line = [0.0, 1.0, 2.0, 3.0, 4.0]
    assert np.dot(trend_weights(5), line) > 0
    assert np.dot(rate_of_change_weights(3, 5), line) == pytest.approx(0)
    found = weighted_test([[0, 1]] * 5, trend_weights(2))
    assert (found.value, found.t, found.p, found.interval) == (0.5, None, 2**-4, None)
    assert found.reason == "every item has the same weighted sum"
    with pytest.raises(ValueError, match="add up to 0"):
        weighted_test([[0, 1]] * 5, (1.0, 1.0))
    with pytest.raises(ValueError, match="two items"):
        weighted_test([[0, 1]], trend_weights(2))
    with pytest.raises(ValueError, match="two baselines"):
        rate_of_change_weights(1, 4)


@pytest.mark.parametrize(
    "scores",
    [
        [[1, 0], [1, 0], [0, 1]],  # sums -1, -1, +1: 7 of 8 assignments are at least -1
        [[1, 0], [0, 1], [0, 0]],  # 0
        [[0, 1], [0, 1], [1, 0]],
        [[0, 1], [0, 1], [0, 1]],
        [[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]],
    ],
)
def test_the_one_sided_p_counts_every_assignment_as_large(scores: list[list[int]]) -> None:
    weights = trend_weights(len(scores[0]))
    sums = [sum(Fraction(w) * y for w, y in zip(weights, row, strict=True)) for row in scores]
    every = [
        sum(sign * one for sign, one in zip(signs, sums, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(sums))
    ]
    expected = Fraction(sum(one >= sum(sums) for one in every), len(every))
    assert weighted_test(scores, weights).one_sided == float(expected)
