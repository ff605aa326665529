"""Position bias and foils: p values against all assignments counted one by one."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from tabwb.scoring.estimate import DETERMINISTIC, ONE_ITEM, Estimand
from tabwb.scoring.permutation import paired_permutation
from tabwb.scoring.position_bias import (
    EXACT_UP_TO,
    LIMIT,
    PERMUTED,
    Shown,
    WrongOption,
    by_chance,
    foil_choices,
    position_bias,
)

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
    n = EXACT_UP_TO + 1000
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
