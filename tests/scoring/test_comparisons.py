"""Tests of two sides and of participants: permutations, positions, what a design can show."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from tabwb.analysis.frame import Side
from tabwb.analysis.paired import compare_sides
from tabwb.scoring.detectable import (
    MOST_OF_ALL,
    OUT_OF_RANGE,
    Design,
    detectable_accuracy,
    detectable_burden,
    detectable_over_seeds,
    detection_factor,
    never,
)
from tabwb.scoring.differences import agreeing
from tabwb.scoring.estimate import DETERMINISTIC, ONE_ITEM, ONE_RESPONSE, Estimand
from tabwb.scoring.participant_tests import (
    compare_sets,
    mcnemar,
    mcnemar_interval,
    mcnemar_of_counts,
    rate_of_change_weights,
    trend_weights,
    weighted_test,
)
from tabwb.scoring.permutation import (
    DRAWS,
    EXACT_UP_TO,
    benjamini_hochberg,
    holm,
    label_permutation,
    label_permutation_of_rates,
    paired_permutation,
    sign_flip_interval,
    sign_flip_max_t,
    smallest_p,
)
from tabwb.scoring.position_bias import (
    EXACT_UP_TO as MOST_EXACT,
)
from tabwb.scoring.position_bias import (
    LIMIT,
    PERMUTED,
    Shown,
    WrongOption,
    by_chance,
    foil_choices,
    position_bias,
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


OPTIONS = ("a", "b", "c")


def turned(options: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All rotations."""
    return [options[at:] + options[:at] for at in range(len(options))]


def answered(item: str, named: list[str | None], expected: str = "a") -> list[Shown]:
    """Answers to the rotations of three options, one after the other."""
    orders = turned(OPTIONS) * (len(named) // 3)
    return [
        Shown(item, order, expected, name, name == expected)
        for order, name in zip(orders, named, strict=True)
    ]


GIVEN = [*answered("one", ["a", "c", "c"]), *answered("two", ["b", "b", "a"], "b")]


def test_p_is_the_share_of_all_assignments() -> None:
    # Second derivation: all 36 assignments of answers to orders within the two items; the counts'
    # covariance over them and the distance from it, by numpy's pseudo-inverse.
    found = position_bias(GIVEN)
    assert found is not None
    items = [GIVEN[:3], GIVEN[3:]]
    counts = []
    for order in product(permutations(range(3)), repeat=2):
        n = [0, 0, 0]
        for item, places in zip(items, order, strict=True):
            for shown, at in zip(item, places, strict=True):
                n[shown.options.index(str(item[at].chosen))] += 1
        counts.append(n)
    every = np.array(counts, dtype=float)
    inverse = np.linalg.pinv(np.cov(every.T, bias=True), rcond=1e-9)
    off = every - every.mean(axis=0)
    distances = np.einsum("ip,pq,iq->i", off, inverse, off)
    observed = np.array([place.chosen for place in found.positions]) - every.mean(axis=0)
    chi2 = float(observed @ inverse @ observed)
    assert found.choices.chi2 == pytest.approx(chi2)
    assert found.choices.df == np.linalg.matrix_rank(np.cov(every.T))
    share = float((distances >= chi2 - 1e-9).mean())
    assert found.choices.p == pytest.approx(share, abs=0.015)  # 10,000 draws
    assert found.choices.method == PERMUTED


def test_expected_shares_are_equal_where_options_are_rotated() -> None:
    found = position_bias(GIVEN)
    assert found is not None
    assert [place.expected.value for place in found.positions] == pytest.approx([1 / 3] * 3)
    assert [place.keyed for place in found.positions] == [2, 2, 2]
    assert [(place.chosen, place.of) for place in found.positions] == [(3, 6), (3, 6), (0, 6)]


def test_the_limit_agrees_with_permuted_answers() -> None:
    rng = np.random.default_rng(1)
    given = [
        Shown(f"{item}", order, "a", name, name == "a")
        for item in range(6)
        for order in turned(("a", "b", "c", "d")) * 5
        for name in [str(order[0] if rng.random() < 0.12 else rng.choice(list("aaabcd")))]
    ]
    drawn, limit = position_bias(given), position_bias(given * 4)
    assert drawn is not None and limit is not None and limit.choices.method == LIMIT
    assert drawn.choices.chi2 is not None and limit.choices.chi2 is not None
    assert drawn.choices.p == pytest.approx(
        stats.chi2.sf(drawn.choices.chi2, drawn.choices.df), abs=0.02
    )
    assert limit.choices.p == pytest.approx(stats.chi2.sf(limit.choices.chi2, 3), rel=1e-9)


def test_both_tests_keep_their_level_without_bias() -> None:
    rng = np.random.default_rng(2)
    rejected = np.zeros(2)
    for _ in range(60):
        given = []
        for item in range(5):
            right = rng.random() * 0.9  # the items differ, the positions do not
            for order in turned(("a", "b", "c", "d", "e", "f")):
                wrong = str(rng.choice(list("bcdef"), p=[0.5, 0.2, 0.1, 0.1, 0.1]))
                name = "a" if rng.random() < right else wrong
                given.append(Shown(f"{item}", order, "a", name, name == "a"))
        found = position_bias(given, draws=500)
        assert found is not None
        rejected += [(test.p or 1.0) < 0.05 for test in (found.choices, found.accuracy)]
    assert (rejected / 60 <= 0.134).all()  # .05 + 3 standard errors


def test_always_the_first_option() -> None:
    given = [
        Shown(f"{item}", order, "a", order[0], order[0] == "a")
        for item in range(8)
        for order in turned(OPTIONS)
    ]
    found = position_bias(given, deterministic=True)
    assert found is not None and found.items == 8 and found.answers == 24
    first, second, _ = found.positions
    assert first.share.value == 1.0 and second.share.value == 0.0
    assert first.accuracy.value == 1.0 and second.accuracy.value == 0.0
    assert first.p_chosen == pytest.approx(1 / 3**7) and (first.p_accuracy or 1) < 0.001
    assert (found.choices.p or 1) < 0.001 and (found.accuracy.p or 1) < 0.001
    assert first.chosen_these.reason == DETERMINISTIC
    assert first.chosen_like.interval is not None


def test_p_like_is_the_share_of_all_shifts_of_items() -> None:
    # By hand: shares of choices by position less 1/3, of two items, under all nine shifts.
    given = [*answered("one", ["a", "c", "b"]), *answered("two", ["a", "b", "a"], "b")]
    found = position_bias(given)
    assert found is not None and found.smallest_p == pytest.approx(3 / 9)
    z = []
    for item in (given[:3], given[3:]):
        chosen = [shown.options.index(str(shown.chosen)) for shown in item]
        z.append([chosen.count(at) / 3 - 1 / 3 for at in range(3)])
    own = [abs(z[0][at] + z[1][at]) for at in range(3)]
    largest = [
        max(abs(z[0][(at - i) % 3] + z[1][(at - j) % 3]) for at in range(3))
        for i, j in product(range(3), repeat=2)
    ]
    for place, t in zip(found.positions, own, strict=True):
        assert place.p_chosen == pytest.approx(sum(x >= t - 1e-9 for x in largest) / 9)


def test_p_of_accuracies_is_the_share_of_all_shifts_of_items() -> None:
    # The key stands first, third, second. Shares right less the item's: (1, -.5, -.5) of both, so
    # that T is 2 at the first position; the largest T is 2 for three of nine shifts.
    given = [*answered("one", ["a", "b", "b"]), *answered("two", ["a", "c", "c"])]
    found = position_bias(given)
    assert found is not None
    assert [place.p_accuracy for place in found.positions] == pytest.approx([3 / 9, 1, 1])


def test_two_options_are_sign_flips_over_items() -> None:
    turns = turned(("a", "b"))
    named = ["ab", "ab", "aa", "ab", "ba", "ab", "ab", "ab"]  # first first, either, first second
    given = [
        Shown(f"{item}", order, "a", name, name == "a")
        for item, names in enumerate(named)
        for order, name in zip(turns, names, strict=True)
    ]
    found = position_bias(given)
    z = [(names == "ab") - (names == "ba") for names in named]
    flipped = paired_permutation([(float(x), 0.0) for x in z])
    assert found is not None and flipped is not None
    assert [place.p_chosen for place in found.positions] == pytest.approx([flipped.p] * 2)


def test_drawn_shifts_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    given = [
        Shown(f"{item}", order, "a", str(rng.choice([order[0], "b"])), False)
        for item in range(7)
        for order in turned(OPTIONS)
    ]
    exact = position_bias(given)
    monkeypatch.setattr("tabwb.scoring.position_bias.SHIFTS", 1)
    drawn = position_bias(given)
    assert exact is not None and drawn is not None
    for one, other in zip(exact.positions, drawn.positions, strict=True):
        assert other.p_chosen == pytest.approx(one.p_chosen, abs=0.02)  # 10,000 draws


def test_items_with_fewer_options_are_shifted_among_their_own_positions() -> None:
    two = [Shown("two", order, "a", order[0], False) for order in turned(("a", "b"))]
    three = [Shown("three", order, "a", order[0], False) for order in turned(OPTIONS)]
    found = position_bias([*two, *three])
    # z: (.5, -.5, 0) and (2/3, -1/3, -1/3). Two of the six shifts reach 7/6: one at each
    # position that both items have.
    assert found is not None and found.smallest_p == pytest.approx(2 / 6)
    assert found.positions[0].p_chosen == pytest.approx(2 / 6)


def test_accuracy_by_position_keeps_its_level_with_six_options() -> None:
    # Sign flips reject up to .54 of such null hypotheses.
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(60):
        given = []
        for item in range(12):
            right = rng.random() < 0.3
            at = int(rng.integers(6))
            for turn, order in enumerate(turned(tuple("abcdef"))):
                named = "a" if right or turn == at else "b"
                given.append(Shown(f"{item}", order, "a", named, named == "a"))
        found = position_bias(given, draws=500)
        assert found is not None
        p = [place.p_accuracy for place in found.positions if place.p_accuracy is not None]
        rejected += min(p) < 0.05
    assert rejected / 60 <= 0.134  # .05 + 3 standard errors


def test_accuracy_with_one_answer_to_each_item_has_the_exact_interval() -> None:
    found = position_bias([x for at in range(9) for x in answered(f"{at}", ["a", "b", "a"])])
    assert found is not None
    first = found.positions[0]
    assert first.keyed == 9 and first.accuracy_like.interval is not None
    exact = stats.binomtest(first.correct, 9).proportion_ci(method="exact")
    assert first.accuracy_like.interval.low == pytest.approx(exact.low)
    assert first.accuracy_like.interval.high == pytest.approx(exact.high)


SEMANTIC = ("semantic", "other", "other", "other", "other")


def wrong(item: str, *kinds: str, shown: tuple[str, ...] = SEMANTIC) -> list[WrongOption]:
    """Errors on one item."""
    return [WrongOption(item, kind, shown) for kind in kinds]


def test_chance_counts_every_way_to_choose() -> None:
    # Second derivation: all combinations of which wrong option is named.
    given = [
        *wrong("one", "semantic", "other"),
        *wrong("two", "semantic", "semantic", shown=("semantic", "semantic", "other")),
    ]
    semantic, other = foil_choices(given, ["semantic", "other"])
    every = [sum(kind == "semantic" for kind in way) for way in product(*(x.kinds for x in given))]
    as_many = sum(n >= 3 for n in every) / len(every)
    as_few = sum(n <= 3 for n in every) / len(every)
    assert semantic.p_these == pytest.approx(min(1.0, 2 * min(as_many, as_few)))
    assert semantic.chance.value == pytest.approx((0.2 + 0.2 + 2 / 3 + 2 / 3) / 4)
    assert (semantic.errors, semantic.of, semantic.items) == (3, 4, 2)
    assert other.p_these == pytest.approx(semantic.p_these or 0)


def test_by_chance_is_the_binomial_test_doubled() -> None:
    for hits in range(11):
        tail = min(stats.binom.cdf(hits, 10, 0.2), stats.binom.sf(hits - 1, 10, 0.2))
        assert by_chance(hits, [0.2] * 10) == pytest.approx(min(1.0, 2 * tail))


def test_many_errors_are_taken_as_normal() -> None:
    n = MOST_EXACT + 1000
    exact = 2 * min(stats.binom.cdf(1130, n, 0.2), stats.binom.sf(1129, n, 0.2))
    assert by_chance(1130, [0.2] * n) == pytest.approx(exact, rel=0.05)


def test_without_dispersion_p_is_that_of_the_multinomial() -> None:
    # One error on each of eight items: items cannot be told from draws, so that T is the largest
    # |x - nc| and all 2^8 weighted outcomes can be counted.
    given = [*wrong("a0", "semantic"), *wrong("a1", "semantic"), *wrong("a2", "semantic")]
    given += [*wrong("a3", "semantic")]
    for item in range(4):
        given += wrong(f"b{item}", "other")
    semantic, other = foil_choices(given, ["semantic", "other"])
    expected = sum(stats.binom.pmf(x, 8, 0.2) for x in range(9) if abs(x - 1.6) >= 2.4 - 1e-9)
    assert semantic.p_like == pytest.approx(expected, abs=0.01)  # 10,000 draws
    assert other.p_like == semantic.p_like


def test_errors_on_few_items_are_less_evidence_than_errors_on_many() -> None:
    few = [*wrong("one", *["semantic"] * 12), *wrong("two", *["other"] * 12)]
    many = [w for at in range(24) for w in wrong(f"{at}", "semantic" if at < 12 else "other")]
    clustered, spread = foil_choices(few, ["semantic"])[0], foil_choices(many, ["semantic"])[0]
    assert clustered.p_these == spread.p_these and (spread.p_like or 1) < 0.01
    assert (clustered.p_like or 0) > 0.3


def test_the_level_holds_for_shares_far_from_a_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabwb.scoring.position_bias.DISPERSED_DRAWS", 500)
    # Sign flips reject .26 to .40 of such null hypotheses.
    rng = np.random.default_rng(4)
    rejected = 0
    for _ in range(60):
        given = []
        for item in range(12):
            share = rng.beta(2, 10)
            hits = rng.binomial(4, share)
            given += wrong(f"{item}", *["semantic"] * hits, *["other"] * (4 - hits),
                           shown=("semantic", *["other"] * 5))  # fmt: skip
        rejected += (foil_choices(given, ["semantic", "other"])[0].p_like or 1) < 0.05
    assert rejected / 60 <= 0.134  # .05 + 3 standard errors


def test_without_draws_there_is_no_test_on_these_prompts() -> None:
    given = [*wrong("one", "semantic"), *wrong("two", "other")]
    found, _ = foil_choices(given, ["semantic", "other"], deterministic=True)
    assert found.p_these is None and found.these.deterministic
    assert found.like.interval is not None and found.p_like is not None
    assert found.these.estimand is Estimand.THESE_PROMPTS


def test_what_says_nothing_of_positions_or_kinds_does_not_count() -> None:
    fixed = [Shown("fixed", OPTIONS, "a", "a", True)] * 4
    assert position_bias(fixed) is None
    both = position_bias([*fixed, *GIVEN])
    assert both is not None and both.items == 2 and both.answers == 6
    # An answer without an option counts for accuracy alone.
    found = position_bias([*answered("one", [None, "a", "c"]), *answered("two", ["a", "a", "b"])])
    assert found is not None
    assert sum(place.keyed for place in found.positions) == 6
    assert {place.of for place in found.positions} == {5}
    # The same option wherever it stands shows no bias.
    same = [
        Shown(f"{item}", order, "a", "a", True) for item in range(5) for order in turned(OPTIONS)
    ]
    found = position_bias(same)
    assert found is not None and found.choices.p is None and found.choices.df is None
    assert found.choices.reason.startswith("every assignment")
    assert [place.p_chosen for place in found.positions] == [1.0, 1.0, 1.0]
    one = position_bias(answered("one", ["a", "b", "c"] * 3))
    assert one is not None and one.smallest_p is None
    assert {place.p_chosen for place in one.positions} == {None}
    assert {place.chosen_like.reason for place in one.positions} == {ONE_ITEM}
    with pytest.raises(ValueError, match="'x' is not among the options of 'one'"):
        position_bias([Shown("one", OPTIONS, "x", "a", False)])
    (kind,) = foil_choices(wrong("one", "semantic", shown=("semantic",)), ["semantic"])
    assert kind.of == 0 and kind.share.value is None and kind.chance.value is None
    assert kind.p_these is None and kind.p_like is None


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


LIKE, THESE = Estimand.PROMPTS_LIKE_THESE, Estimand.THESE_PROMPTS
Floats = NDArray[np.float64]


@pytest.mark.parametrize(("df", "c"), [(4, 3.76), (9, 3.15), (190, 2.82)])
def test_the_factors_of_the_formula(df: int, c: float) -> None:
    assert detection_factor(df) == pytest.approx(c, abs=0.005)
    power = stats.nct.sf(stats.t.ppf(0.975, df), df, detection_factor(df))
    assert power == pytest.approx(0.8, abs=1e-6)


def _item_terms(studies: int, k: int, rng: np.random.Generator) -> Floats:
    """Normal terms of items of two examinees, correlated by .6: (studies, k, 2)."""
    return rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=(studies, k))


def _power(drawn: Iterable[Floats], n_features: int | None, estimand: Estimand) -> float:
    """How often the program's own test of two sides, (2, items, responses), has p < .05."""
    found = []
    for first, second in drawn:
        sides = [
            Side({("a", str(at)): tuple(given) for at, given in enumerate(side.tolist())})
            for side in (first, second)
        ]
        made = compare_sides(sides[0], sides[1], n_features)
        assert made.like.p is not None
        p: float | None = made.like.p
        if estimand is THESE:
            values = [[[[x] for x in item] for item in side.values.values()] for side in sides]
            labels = label_permutation(values[0], values[1], draws=400)
            assert labels is not None
            p = agreeing(made.these.interval, labels.p[0])[1]
        assert p is not None
        found.append(p < 0.05)
    return float(np.mean(found))


@pytest.mark.parametrize(("k", "r"), [(6, 20), (8, 20), (10, 5), (14, 1)])
def test_a_burden_of_that_size_is_found_by_the_test_in_four_of_five_studies(k: int, r: int) -> None:
    delta = detectable_burden(Design(k, r), 19).value
    assert delta is not None
    rng = np.random.default_rng(1)
    means = np.array([1.0, 1.0 + delta]) * (1 + 0.25 * _item_terms(250, k, rng))
    counts = rng.negative_binomial(np.maximum(means, 0.01)[..., None] + np.zeros(r), 0.5)
    assert _power(np.moveaxis(counts, 2, 1), 19, LIKE) == pytest.approx(0.8, abs=0.07)


@pytest.mark.parametrize(("k", "r"), [(7, 20), (15, 1), (15, 10), (40, 1)])
def test_an_accuracy_of_that_size_is_found_by_the_test_in_four_of_five_studies(
    k: int, r: int
) -> None:
    delta = detectable_accuracy(Design(k, r)).value
    assert delta is not None
    rng = np.random.default_rng(2)
    # Shares from Beta distributions with a correlation of .3 within items, joined by a copula.
    s = 0.7 / 0.3
    means = np.array([0.5, 0.5 + delta])
    ranks = stats.norm.cdf(_item_terms(200, k, rng))
    shares = stats.beta.ppf(ranks, means * s, (1 - means) * s)
    right = rng.random((*shares.shape, r)) < shares[..., None]
    assert _power(np.moveaxis(right, 2, 1) * 1.0, None, LIKE) == pytest.approx(0.8, abs=0.09)


@pytest.mark.parametrize(("k", "r"), [(5, 20), (3, 6)])
@pytest.mark.parametrize("rate", [True, False])
def test_for_these_prompts_labels_find_it_in_four_of_five_studies(
    k: int, r: int, rate: bool
) -> None:
    design = Design(k, r)
    made = detectable_accuracy(design, THESE) if rate else detectable_burden(design, 19, THESE)
    assert made.value is not None
    rng = np.random.default_rng(3)
    shape = (100, 2, k, r)
    if rate:
        level = np.array([0.5, 0.5 + made.value])[:, None, None]
        drawn = (rng.random(shape) < level).astype(float)
    else:
        level = np.array([1.0, 1.0 + made.value])[:, None, None]
        drawn = rng.negative_binomial(level + np.zeros(shape), 0.5).astype(float)
    assert _power(drawn, None if rate else 19, THESE) == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize("estimand", Estimand)
def test_more_items_and_more_replicates_show_smaller_differences(estimand: Estimand) -> None:
    def burden(k: int, r: int) -> float:
        return detectable_burden(Design(k, r), 19, estimand).value or math.inf

    assert burden(8, 2) > burden(8, 10) > burden(20, 10)


def test_what_a_design_cannot_show_has_a_reason() -> None:
    assert detectable_burden(Design(1, 10), 19).reason == ONE_ITEM
    assert detectable_burden(Design(5, 1), 19, THESE).reason == ONE_RESPONSE
    assert detectable_accuracy(Design(6, 1)).reason == OUT_OF_RANGE
    assert detectable_burden(Design(7, 1), 7).reason == MOST_OF_ALL
    for items in range(2, 6):
        design = Design(items, 50)
        for made in (detectable_burden(design, 19), detectable_accuracy(design)):
            assert (made.value, made.reason) == (None, never(items))
    assert never(6) == ""
    # Two of six arrangements of two and two responses are as far apart.
    assert detectable_accuracy(Design(1, 2), THESE).value is None


@pytest.mark.parametrize("controls", [True, False])
@pytest.mark.parametrize(("seeds", "items"), [(5, 5), (10, 15)])
def test_a_sweep_finds_the_difference_over_seeds_with_the_promised_power(
    seeds: int, items: int, controls: bool
) -> None:
    delta = detectable_over_seeds(seeds, items, None, controls=controls).value
    assert delta is not None
    rng = np.random.default_rng(11)
    studies = 4000
    lesion = rng.binomial(items, 0.5 - delta, (studies, seeds)) / items
    other = rng.binomial(items, 0.5, (studies, seeds)) / items if controls else 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        found = stats.ttest_1samp(lesion - other, 0, axis=1).pvalue < 0.05
    # Shares of few items are not normal, and seeds that are all alike have no test.
    assert found.mean() == pytest.approx(0.8, abs=0.07)


def test_four_seeds_show_nothing_and_more_seeds_show_less() -> None:
    assert detectable_over_seeds(4, 5, 7, controls=True).reason == "fewer than 5 seeds"
    few, many = (detectable_over_seeds(n, 5, 7, controls=True).value for n in (5, 20))
    assert few is not None and many is not None and many < few / 2
