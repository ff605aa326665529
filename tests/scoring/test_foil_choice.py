"""Errors by kind of foil against all possible choices of wrong options."""

from __future__ import annotations

from itertools import product

import pytest
from scipy import stats

from tabwb.scoring.estimate import Estimand
from tabwb.scoring.foil_choice import EXACT_UP_TO, WrongOption, by_chance, foil_choices

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


def test_signs_of_an_item_flip_for_all_kinds_at_once() -> None:
    kinds = ["semantic", "phonological"]
    given = []
    for item in range(6):
        given += wrong(f"s{item}", "semantic")
        given += wrong(f"p{item}", "phonological", shown=("phonological", "other", "other"))
    semantic, phonological = foil_choices(given, kinds)
    # 2^6 assignments of each kind; with both a largest sum is reached in 2 x 2/64 less the overlap.
    expected = 1 - (1 - 2 / 64) ** 2
    assert semantic.p_like == phonological.p_like == pytest.approx(expected)
    assert semantic.smallest_p == 2**-5


def test_an_item_that_offers_only_one_kind_says_nothing_about_it() -> None:
    (found,) = foil_choices(wrong("one", "semantic", shown=("semantic",)), ["semantic"])
    assert found.of == 0 and found.share.value is None and found.chance.value is None
    assert found.p_these is None and found.p_like is None and found.smallest_p is None


def test_without_draws_there_is_no_test_on_these_prompts() -> None:
    given = [*wrong("one", "semantic"), *wrong("two", "other")]
    found, _ = foil_choices(given, ["semantic", "other"], deterministic=True)
    assert found.p_these is None and found.these.deterministic
    assert found.like.interval is not None and found.p_like is not None
    assert found.these.estimand is Estimand.THESE_PROMPTS
