"""Permutation tests of one and many measures, against Fisher's example, enumeration and scipy."""

from __future__ import annotations

import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tabwb.scoring.permutation import (
    DRAWS,
    EXACT_UP_TO,
    benjamini_hochberg,
    holm,
    label_permutation,
    label_permutation_of_rates,
    paired_permutation,
    sign_flip_max_t,
    smallest_p,
)

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


@pytest.mark.parametrize("case", REFERENCE)
def test_reference_p_values(case: dict[str, Any]) -> None:
    found = paired_permutation([(each, 0.0) for each in case["d"]])
    assert found is not None and found.exact
    assert found.p == pytest.approx(case["p"], abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 6, 15])
def test_the_smallest_p_is_reached_by_differences_of_one_sign(n: int) -> None:
    found = paired_permutation([(float(each + 1), 0.0) for each in range(n)])
    assert found is not None and found.p == smallest_p(n)


def test_many_pairs_are_drawn_and_agree_with_scipy() -> None:
    rng = np.random.default_rng(3)
    one = rng.normal(0.25, 1.0, 40)
    found = paired_permutation([(float(each), 0.0) for each in one])
    assert found is not None and not found.exact and len(one) > EXACT_UP_TO
    assert paired_permutation([(0.0, float(each)) for each in one]).p == found.p  # type: ignore[union-attr]
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


ROWS = st.integers(1, 7).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(-3, 3).map(float), min_size=n, max_size=n), min_size=1, max_size=4
    )
)


def max_t_by_enumeration(rows: list[list[float]]) -> list[float]:
    """Every assignment of signs, one by one."""
    scale = [sum(d * d for d in row) ** 0.5 for row in rows]

    def statistics(signs: tuple[int, ...]) -> list[float]:
        return [
            abs(sum(s * d for s, d in zip(signs, row, strict=True))) / size if size else 0.0
            for row, size in zip(rows, scale, strict=True)
        ]

    n = len(rows[0])
    observed = statistics((1,) * n)
    largest = [max(statistics(signs)) for signs in product((-1, 1), repeat=n)]
    return [
        sum(each >= seen - 1e-9 for each in largest) / len(largest) if size else 1.0
        for seen, size in zip(observed, scale, strict=True)
    ]


@given(ROWS)
def test_max_t_by_enumeration(rows: list[list[float]]) -> None:
    found = sign_flip_max_t(rows)
    assert found is not None and found.exact
    assert found.p == pytest.approx(max_t_by_enumeration(rows))


@given(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=9))
def test_one_measure_has_the_p_of_the_plain_test(row: list[float]) -> None:
    found, plain = sign_flip_max_t([row]), paired_permutation([(d, 0.0) for d in row])
    assert found is not None and plain is not None
    assert found.p[0] == pytest.approx(plain.p)


def test_max_t_of_many_items_is_drawn_and_close_to_the_plain_test() -> None:
    row = [float(d) for d in np.random.default_rng(2).normal(0.3, 1, 30)]
    found, plain = sign_flip_max_t([row, row]), paired_permutation([(d, 0.0) for d in row])
    assert found is not None and plain is not None and not found.exact
    assert found.p[0] == found.p[1] == pytest.approx(plain.p, abs=0.005)


def labels_by_enumeration(one: list[list[float]], other: list[list[float]]) -> float:
    """Every way to deal the labels within items, one by one, for a single measure."""
    ways = []
    for a, b in zip(one, other, strict=True):
        values = a + b
        ways.append(
            [
                sum(values[at] for at in chosen) / len(a)
                - sum(v for at, v in enumerate(values) if at not in chosen) / len(b)
                for chosen in combinations(range(len(values)), len(a))
            ]
        )
    observed = sum(way[0] for way in ways)
    sums = [sum(each) for each in product(*ways)]
    return sum(abs(each) >= abs(observed) - 1e-9 for each in sums) / len(sums)


def test_labels_within_items_by_enumeration() -> None:
    one = [[3.0, 2.0, 4.0], [1.0, 2.0, 2.0], [5.0, 1.0]]
    other = [[1.0, 0.0, 2.0], [1.0, 0.0, 1.0], [2.0, 2.0]]
    found = label_permutation([[[v] for v in i] for i in one], [[[v] for v in i] for i in other])
    expected = labels_by_enumeration(one, other)
    assert found is not None
    assert found.p[0] == pytest.approx(expected, abs=4 * (expected / 10_000) ** 0.5)
    assert found.adjusted == found.p
    assert found.differences[0] == pytest.approx((2 + 1 + 1) / 3)


def test_adjusted_p_values_of_labels_by_enumeration() -> None:
    """Two measures in items with different numbers of responses, each scaled by its own spread."""
    one = [[[1.0, 0.0], [2.0, 0.0], [4.0, 1.0]], [[0.0, 3.0], [1.0, 5.0]]]
    other = [[[0.0, 0.0]], [[0.0, 2.0], [0.0, 1.0], [1.0, 0.0]]]
    ways, variance = [], np.zeros(2)
    for a, b in zip(one, other, strict=True):
        values = np.array(a + b)
        variance += values.var(axis=0) * (1 / len(a) + 1 / len(b))
        places = range(len(values))
        dealt = [np.isin(places, chosen) for chosen in combinations(places, len(a))]
        ways.append([values[first].mean(axis=0) - values[~first].mean(axis=0) for first in dealt])
    scaled = [np.abs(sum(way)) / len(one) / np.sqrt(variance) for way in product(*ways)]
    largest = np.array([each.max() for each in scaled])
    found = label_permutation(one, other)
    assert found is not None
    for measure, adjusted in enumerate(found.adjusted):
        expected = float((largest >= scaled[0][measure] - 1e-12).mean())
        assert adjusted == pytest.approx(expected, abs=4 * (expected / 10_000) ** 0.5)


def test_labels_of_rates_by_enumeration() -> None:
    one = [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0]]
    other = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0]]
    found = label_permutation_of_rates(
        *([(int(sum(item)), len(item)) for item in side] for side in (one, other))
    )
    expected = labels_by_enumeration(one, other)
    assert found == pytest.approx(expected, abs=4 * (expected / 10_000) ** 0.5)
    same = label_permutation([[[v] for v in i] for i in one], [[[v] for v in i] for i in other])
    assert same is not None
    assert found == pytest.approx(same.p[0], abs=0.03)


def test_one_item_of_rates_is_fishers_exact_test() -> None:
    expected = stats.fisher_exact([[7, 3], [2, 8]]).pvalue
    found = label_permutation_of_rates([(7, 10)], [(2, 10)])
    assert found == pytest.approx(expected, abs=4 * (expected / 10_000) ** 0.5)


def test_labels_of_one_item_by_scipy() -> None:
    rng = np.random.default_rng(6)
    one, other = rng.normal(0.8, 1, 12), rng.normal(0, 1, 12)
    peer = stats.permutation_test(
        (one, other),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    )
    found = label_permutation([one[:, None].tolist()], [other[:, None].tolist()])
    assert found is not None
    assert found.p[0] == pytest.approx(float(peer.pvalue), abs=4 * (2 * 0.25 / 10_000) ** 0.5)


def test_adjusted_label_p_values_keep_the_error_of_the_family() -> None:
    # 19 features, no difference: the smallest adjusted p is below .05 in about 5 of 100 studies.
    rng = np.random.default_rng(9)
    false = 0
    for _ in range(100):
        shares = rng.uniform(0.05, 0.6, (5, 1, 19))
        sides = [(rng.random((5, 6, 19)) < shares).astype(float).tolist() for _ in range(2)]
        found = label_permutation(sides[0], sides[1], draws=199)
        assert found is not None
        false += min(found.adjusted) <= 0.05
        assert all(a >= p - 1e-9 for a, p in zip(found.adjusted, found.p, strict=True))
    assert false <= 12


@given(st.lists(st.floats(0.0001, 1), min_size=1, max_size=8))
def test_holm_rejects_as_the_step_down_procedure_does(p: list[float]) -> None:
    rejected = set()
    for rank, at in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[at] > 0.05 / (len(p) - rank):
            break
        rejected.add(at)
    assert {at for at, each in enumerate(holm(p)) if each <= 0.05} == rejected


@given(st.lists(st.floats(0.0001, 1), min_size=1, max_size=8))
def test_benjamini_and_hochberg_by_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p).tolist())


def test_the_sum_of_the_measures_is_tested_as_a_measure_by_itself() -> None:
    one = [[[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 1.0]]]
    other = [[[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]]
    sums = ([[[sum(response)] for response in item] for item in side] for side in (one, other))
    both, alone = label_permutation(one, other), label_permutation(*sums)
    assert both is not None and alone is not None
    assert both.total_p == alone.p[0] == alone.total_p


def test_nothing_to_test_or_to_correct() -> None:
    assert paired_permutation([]) is None
    found = paired_permutation([(0.5, 0.5)] * 40)
    assert found is not None and (found.difference, found.p, found.n) == (0.0, 1.0, 40)
    assert sign_flip_max_t([]) is None
    assert sign_flip_max_t([[]]) is None
    assert label_permutation([], []) is None
    assert label_permutation([[[1.0]]] * 5, [[[0.0]]] * 5) is None  # no labels to deal
    assert label_permutation_of_rates([(1, 1)] * 5, [(0, 1)] * 5) is None
    assert label_permutation_of_rates([], []) is None
    assert holm([]) == benjamini_hochberg([]) == ()


@pytest.mark.parametrize(("n", "p"), [(20, 2 / 2**20), (40, 1 / (DRAWS + 1))])
def test_equal_differences_are_counted_exactly_up_to_twenty(n: int, p: float) -> None:
    """Of 40 one assignment in 2^39 is as far from 0: none is drawn, what was observed counts."""
    found = paired_permutation([(1.0, 0.0)] * n)
    assert found is not None and found.exact is (n <= EXACT_UP_TO)
    assert found.p == p == smallest_p(found.n)
