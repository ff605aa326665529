"""p and interval of one row never contradict each other: p < .05 just where 0 is outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.report.summaries.paired import FLIPPED, Side, compare_sides, corrected
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
    assert found.test is not None
    _agree(found.like, found.test.p)
    if found.smallest_p is not None:
        assert found.test.p >= found.smallest_p


def test_at_eight_items_a_floor_of_the_interval_is_one_of_the_test() -> None:
    # 0 or .125 features more in each item: all signs are alike, sign flips alone say p = 1/128.
    first = _side([[0.0] * 8] * 8)
    second = _side([[1.0] + [0.0] * 7] * 8)
    found = compare_sides(second, first, F)
    assert found.test is not None
    assert found.test.p > 2 * 2.0**-8
    assert found.test.p == found.like.p  # of t; the name of the test says so
    assert (found.method, "with t" in FLIPPED) == (FLIPPED, True)
    _agree(found.like, found.test.p)


def test_where_signs_cannot_reject_the_interval_ends_at_zero() -> None:
    found = compare_sides(_side([[1.0]] * 5), _side([[0.0]] * 5), None)
    assert found.test is not None
    assert found.test.p == pytest.approx(0.0625)
    assert found.like.interval is not None
    assert (found.like.interval.low, found.like.interval.high) == (0.0, 1.0)


def test_a_corrected_p_is_not_below_the_one_that_it_corrects() -> None:
    rng = np.random.default_rng(1)
    base = _side(rng.binomial(F, 0.3, (10, 4)).astype(float).tolist())
    family = [
        compare_sides(_side(rng.binomial(F, p, (10, 4)).astype(float).tolist()), base, F)
        for p in (0.3, 0.5, 0.7)
    ]
    adjusted, method = corrected(family)
    assert method == "maxT"
    for one, p in zip(family, adjusted, strict=True):
        assert one.test is not None
        assert p is not None
        assert p >= one.test.p
