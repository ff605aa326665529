"""Two sides on the same items: p < .05 just where 0 is outside the interval; unequal replicates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tabwb.analysis.frame import Side
from tabwb.analysis.paired import FLIPPED, PAIRED_T, compare_sides, corrected
from tabwb.scoring.differences import paired_t_p
from tabwb.scoring.estimate import EstimatedInterval

F = 7


def _agree(interval: EstimatedInterval, p: float | None) -> None:
    if interval.interval is None or p is None:
        return
    outside = interval.interval.low > 0 or interval.interval.high < 0
    assert (p < 0.05) == outside, (interval, p)


def _side(values: Sequence[Sequence[float]]) -> Side:
    return Side({("a", str(at)): tuple(given) for at, given in enumerate(values)})


@st.composite
def _pairs(draw: st.DrawFn) -> tuple[Side, Side, int | None]:
    k, rate = draw(st.integers(2, 12)), draw(st.booleans())
    most = 1 if rate else F
    sizes = draw(st.sampled_from(((1, 1), (4, 4), (1, 6))))
    seed, shift = draw(st.integers(0, 10**6)), draw(st.sampled_from((0.0, 0.1, 0.4, 0.9)))
    rng = np.random.default_rng(seed)
    sides = [
        rng.binomial(most, np.clip(rng.beta(1, 4, (k, 1)) + at * shift, 0, 1), (k, n))
        for at, n in enumerate(sizes)
    ]
    first, second = (_side(side.astype(float).tolist()) for side in sides)
    return first, second, None if rate else F


@given(_pairs())
def test_a_row_does_not_contradict_itself(pair: tuple[Side, Side, int | None]) -> None:
    found = compare_sides(*pair)
    assert found.like.p is not None
    _agree(found.like.interval, found.like.p)
    if found.smallest_p is not None:
        assert (found.like.p or 0.0) >= found.smallest_p


def test_at_eight_items_a_floor_of_the_interval_is_one_of_the_test() -> None:
    # 0 or .125 features more in each item: all signs are alike, sign flips alone say p = 1/128.
    first = _side([[0.0] * 8] * 8)
    second = _side([[1.0] + [0.0] * 7] * 8)
    found = compare_sides(second, first, F)
    assert (found.like.p or 0.0) > 2 * 2.0**-8
    assert found.like.p == found.like.interval.p  # of t; the name of the test says so
    assert (found.like.test, "with t" in FLIPPED) == (FLIPPED, True)
    _agree(found.like.interval, found.like.p)


def test_where_signs_cannot_reject_the_interval_ends_at_zero() -> None:
    found = compare_sides(_side([[1.0]] * 5), _side([[0.0]] * 5), None)
    assert (found.like.p or 0.0) == pytest.approx(0.0625)
    assert found.like.ends == (0.0, 1.0)


def test_a_corrected_p_is_not_below_the_one_that_it_corrects() -> None:
    rng = np.random.default_rng(1)
    base = _side(rng.binomial(F, 0.3, (10, 4)).astype(float).tolist())
    family = [
        compare_sides(_side(rng.binomial(F, p, (10, 4)).astype(float).tolist()), base, F)
        for p in (0.3, 0.5, 0.7)
    ]
    for one in corrected(family):
        assert one.like.correction == "maxT"
        assert one.like.p is not None and one.like.adjusted is not None
        assert one.like.adjusted >= one.like.p


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
    found = compare_sides(_side(drawn(shares, 5, rng)), _side(drawn(shares, n, rng)), None)
    assert found.like.test == method
    assert (found.smallest_p is None) == (method == PAIRED_T)


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
        found = compare_sides(_side(drawn(shares, 1, rng)), _side(drawn(shares, 20, rng)), None)
        assert found.like.p is not None
        rejected += found.like.p < 0.05
    assert rejected / 300 <= 0.09  # .05 + 3 standard errors
