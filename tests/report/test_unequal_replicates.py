"""Tests of two sides with unequal numbers of replicates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tabwb.report.summaries.paired import FLIPPED, PAIRED_T, Side, compare_sides
from tabwb.scoring.differences import paired_t_p


def side(rows: list[list[float]]) -> Side:
    return Side({("s", str(at)): tuple(row) for at, row in enumerate(rows)})


def drawn(shares: list[float], n: int, rng: np.random.Generator) -> list[list[float]]:
    return [(rng.random(n) < share).astype(float).tolist() for share in shares]


def test_p_is_that_of_a_paired_t_test_where_items_vary_more_than_draws() -> None:
    first, second = [3.0, 9.0, 1.0, 14.0, 2.0], [8.0, 10.0, 9.0, 15.0, 1.0]
    found = paired_t_p(first, second, 100, 5, 19)
    assert found == pytest.approx(stats.ttest_rel(first, second).pvalue)


@pytest.mark.parametrize(("n", "method"), [(5, FLIPPED), (6, FLIPPED), (7, PAIRED_T)])
def test_signs_are_flipped_only_with_about_equal_replicates(n: int, method: str) -> None:
    rng = np.random.default_rng(1)
    shares = [0.5] * 8
    found = compare_sides(side(drawn(shares, 5, rng)), side(drawn(shares, n, rng)), None)
    assert found.method == method
    assert (found.smallest_p is None) == (method == PAIRED_T)


def test_p_is_below_the_level_only_where_the_interval_excludes_zero() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(60):
        shares = rng.beta(1, 1, 10).tolist()
        more = [min(1.0, share + 0.2) for share in shares]
        sides = compare_sides(side(drawn(shares, 1, rng)), side(drawn(more, 20, rng)), None)
        assert sides.test is not None and sides.like.interval is not None
        outside = not sides.like.interval.low <= 0 <= sides.like.interval.high
        assert outside or sides.test.p >= 0.05
        found.append((outside, sides.test.p < 0.05))
    agree = [one == other for one, other in found]
    assert sum(agree) >= 54 and 0 < sum(other for _, other in found) < 60


def test_few_answers_that_are_all_alike_do_not_make_the_error_small() -> None:
    # Twelve of twelve right against 206 of 240: by hand, z of the two pooled proportions.
    pooled = 218 / 252
    error = (pooled * (1 - pooled) * (1 / 12 + 1 / 240)) ** 0.5
    expected = 2 * stats.t.sf((1 - 206 / 240) / error, 11)
    assert paired_t_p([1.0] * 12, [206 / 240] * 12, 12, 240, None) == pytest.approx(expected)


def test_the_level_holds_with_one_replicate_against_twenty() -> None:
    # Sign flips reject .15 to .23 of these.
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(300):
        shares = [0.85] * 12
        found = compare_sides(side(drawn(shares, 1, rng)), side(drawn(shares, 20, rng)), None)
        assert found.test is not None
        rejected += found.test.p < 0.05
    assert rejected / 300 <= 0.09  # .05 + 3 standard errors
