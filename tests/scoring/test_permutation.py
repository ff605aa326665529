"""The sign-flip test against Fisher's own example, scipy and its algebra."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tabwb.scoring.permutation import DRAWS, EXACT_UP_TO, paired_permutation, smallest_p

REFERENCE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "intervals.json").read_text(encoding="utf-8")
)["signflip"]

# Fisher 1935, section 21: Darwin's 15 pairs of plants, differences in eighths of an inch. Of the
# 32,768 assignments 1,726 are as far from 0.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def test_darwins_plants() -> None:
    found = paired_permutation([(float(each), 0.0) for each in DARWIN])
    assert found is not None and found.exact
    assert found.p == 1726 / 32768
    assert found.difference == sum(DARWIN) / 15


def test_many_pairs_the_other_way_round_are_the_same_test() -> None:
    rng = np.random.default_rng(5)
    pairs = [(float(a), float(b)) for a, b in rng.normal(0.2, 1.0, (40, 2))]
    one = paired_permutation(pairs)
    other = paired_permutation([(b, a) for a, b in pairs])
    assert one is not None and other is not None and one.p == other.p


@pytest.mark.parametrize("case", REFERENCE)
def test_reference_p_values(case: dict[str, Any]) -> None:
    found = paired_permutation([(each, 0.0) for each in case["d"]])
    assert found is not None and found.exact
    assert found.p == pytest.approx(case["p"], abs=1e-12)


def test_twenty_pairs_are_counted_exactly() -> None:
    # 20 equal differences: 2 of 2^20 assignments are as far from 0.
    found = paired_permutation([(1.0, 0.0)] * 20)
    assert found is not None and found.exact
    assert found.p == 2 / 2**20 == smallest_p(found.n)


@pytest.mark.parametrize("n", [1, 2, 5, 6, 15])
def test_the_smallest_p_is_reached_by_differences_of_one_sign(n: int) -> None:
    found = paired_permutation([(float(each + 1), 0.0) for each in range(n)])
    assert found is not None and found.p == smallest_p(n)


def test_no_pairs_no_test() -> None:
    assert paired_permutation([]) is None


def test_no_difference_at_all() -> None:
    found = paired_permutation([(0.5, 0.5)] * 40)
    assert found is not None and (found.difference, found.p, found.n) == (0.0, 1.0, 40)


def test_many_pairs_are_drawn_and_agree_with_scipy() -> None:
    rng = np.random.default_rng(3)
    one = rng.normal(0.25, 1.0, 40)
    found = paired_permutation([(float(each), 0.0) for each in one])
    assert found is not None and not found.exact and len(one) > EXACT_UP_TO
    peer = stats.permutation_test(
        (one, np.zeros(40)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=DRAWS,
        rng=np.random.default_rng(4),
    )
    # Four standard errors of two shares of 20,000 draws.
    assert found.p == pytest.approx(float(peer.pvalue), abs=4 * np.sqrt(2 * 0.25 / DRAWS))


values = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=1,
    max_size=9,
)


@given(values)
def test_the_other_way_round_it_is_the_same_test(pairs: list[tuple[float, float]]) -> None:
    one = paired_permutation(pairs)
    other = paired_permutation([(b, a) for a, b in pairs])
    assert one is not None and other is not None
    assert (one.p, one.difference) == (other.p, -other.difference)
    assert 0 < one.p <= 1


@given(values)
def test_exact_tests_equal_scipys(pairs: list[tuple[float, float]]) -> None:
    found = paired_permutation(pairs)
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    if len(pairs) < 2:
        return
    peer = stats.permutation_test(
        (one, other),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert found is not None and found.p == pytest.approx(min(1.0, float(peer.pvalue)))


def test_a_p_value_of_drawn_signs_counts_what_was_observed() -> None:
    """Of 40 equal differences one assignment in 2^39 is as far from 0: none is drawn."""
    found = paired_permutation([(1.0, 0.0)] * 40)
    assert found is not None and not found.exact
    assert found.p == 1 / (DRAWS + 1) == smallest_p(found.n)
