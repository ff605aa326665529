"""Features within responses and profiles beside each other, by second derivations."""

from __future__ import annotations

from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tabwb.scoring.profiles import (
    DRAWS,
    SEED,
    cosine,
    phi,
    phi_interval,
    similarity_interval,
    spearman,
)

T4 = 2.7764451051977987
"""The 0.975 quantile of Student's t with 4 degrees of freedom (tables)."""
RATES = st.lists(st.integers(0, 6).map(lambda n: n / 6), min_size=3, max_size=9)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40))
def test_phi_is_pearsons_correlation_of_zeros_and_ones(seen: list[tuple[bool, bool]]) -> None:
    first, second = np.array(seen, float).T
    found = phi(float(first @ second), first.sum(), second.sum(), len(seen))
    if not found.defined:
        assert first.std() == 0 or second.std() == 0
    else:
        assert found.value == pytest.approx(np.corrcoef(first, second)[0, 1])


def test_large_counts_do_not_overflow() -> None:
    few, many = phi(2, 3, 4, 10), phi(*np.array([2, 3, 4, 10], np.int64) * 10**6)
    assert many.value == pytest.approx(few.value)


def test_its_interval_is_the_jackknife_over_items_of_artanh() -> None:
    items = [(4, 6, 4, 8), (2, 2, 4, 8), (0, 2, 2, 8), (6, 6, 6, 8), (2, 4, 2, 8)]
    found, reason = phi_interval(items)
    assert found is not None and not reason
    answers = [
        [(1, 1)] * both + [(1, 0)] * (one - both) + [(0, 1)] * (two - both)
        + [(0, 0)] * (n - one - two + both)
        for both, one, two, n in items
    ]  # fmt: skip

    def artanh(chosen: list[list[tuple[int, int]]]) -> float:
        return float(
            np.arctanh(np.corrcoef(np.concatenate([np.array(one) for one in chosen]).T)[0, 1])
        )

    middle = artanh(answers)
    pseudo = [5 * middle - 4 * artanh(answers[:at] + answers[at + 1 :]) for at in range(5)]
    half = T4 * stdev(pseudo) / sqrt(5)
    assert found.low == pytest.approx(np.tanh(middle - half))
    assert found.high == pytest.approx(np.tanh(middle + half))


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([(1, 1, 1, 2)] * 4, "fewer than 5 items"),
        ([(10, 10, 10, 20)] * 5, "all items give the same value"),
        ([(0, 0, 1, 2)] * 5, "a feature is in no response, or in all"),
        ([(15, 15, 15, 20)] + [(0, 0, 9, 20)] * 4,
         "a feature is in the responses to one item alone"),
        ([(1, 1, 1, 2), (0, 0, 1, 2), (0, 1, 0, 2)] * 2,
         "fewer than 5 responses would be in a cell of the table by chance"),
    ],
)  # fmt: skip
def test_without_an_interval_there_is_a_reason(
    items: list[tuple[int, int, int, int]], why: str
) -> None:
    assert phi_interval(items) == (None, why)


@given(RATES.flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))))
def test_rank_correlation_is_that_of_mean_ranks(rates: tuple[list[float], list[float]]) -> None:
    first, second = (np.array(one) for one in rates)
    found = spearman(first, second)
    ranks = [[mean(i for i, x in enumerate(sorted(one), 1) if x == value) for value in one]
             for one in rates]  # fmt: skip
    if len(set(rates[0])) == 1:
        assert found.reason == "all rates of a profile are equal"
    else:
        assert found.value == pytest.approx(np.corrcoef(ranks[0], ranks[1])[0, 1])


def test_the_cosine_has_no_value_without_rates() -> None:
    assert cosine(np.zeros(3), np.ones(3)).reason == "all rates of a profile are 0"
    assert cosine(np.array([0.2, 0.4]), np.array([0.1, 0.2])).value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("items", "row", "why"),
    [
        (5, [3.0, 0.0, 1.0, 2.0, 4.0], "all items give the same value"),
        (4, [3.0, 0.0, 1.0, 2.0, 9.0], "fewer than 5 items"),
        (5, [1.0, 0.0, 1.0, 0.0, 3.0], "fewer than 20 responses"),
        (9, [1.0, 0.0, 1.0, 3.0], "fewer than 4 features"),
        (5, [0.0, 0.0, 0.0, 0.0, 4.0], "all rates of a profile are 0 in some draws"),
    ],
)
def test_no_bootstrap_interval_has_a_reason(items: int, row: list[float], why: str) -> None:
    reference = np.array([1.0, 0.5, 0.2, 0.1])[: len(row) - 1]
    given = np.array([row] * items)
    assert similarity_interval(given, None, reference, cosine) == (None, why)


def test_the_interval_by_one_draw_after_the_other() -> None:
    counts = np.random.default_rng(3).integers(0, 5, (6, 5)).astype(float)
    counts[:, -1] = 4.0
    reference = np.array([0.5, 0.2, 0.4, 0.1])
    found, _ = similarity_interval(counts, None, reference, spearman)
    draws = np.random.Generator(np.random.SFC64(SEED)).integers(0, 6, (DRAWS, 6))
    sums = counts[draws].sum(axis=1)
    each = [stats.spearmanr(row[:-1] / row[-1], reference).statistic for row in sums]
    value = stats.spearmanr(counts.sum(axis=0)[:-1], reference).statistic
    middle = 2 * value - np.nanmean(each)
    half = stats.t.ppf(0.975, 5) * np.nanstd(each, ddof=1) * sqrt(6 / 5)
    assert found is not None
    assert found.low == pytest.approx(max(-1, min(middle, value) - half))
    assert found.high == pytest.approx(min(1, max(middle, value) + half))


def test_a_bootstrap_interval_is_the_same_each_time_and_covers_the_truth() -> None:
    random = np.random.default_rng(7)
    truth = np.array([0.1, 0.3, 0.5, 0.7])
    reference = np.array([0.2, 0.2, 0.6, 0.5])
    expected = cosine(truth, reference).value
    assert expected is not None
    covered = 0
    for _ in range(20):
        hits = random.binomial(5, truth, (12, 4))
        counts = np.concatenate([hits, np.full((12, 1), 5)], axis=1).astype(float)
        found, _ = similarity_interval(counts, None, reference, cosine)
        assert found is not None and 0 <= found.low < found.high <= 1
        assert similarity_interval(counts, None, reference, cosine)[0] == found
        covered += found.low <= expected <= found.high
    assert covered >= 16  # fewer by chance: 3 in 1,000
