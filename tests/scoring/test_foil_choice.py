"""Errors by kind of foil against all possible choices of wrong options."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from tabwb.scoring.estimate import Estimand
from tabwb.scoring.position_bias import EXACT_UP_TO, WrongOption, by_chance, foil_choices

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


def test_an_item_that_offers_only_one_kind_says_nothing_about_it() -> None:
    (found,) = foil_choices(wrong("one", "semantic", shown=("semantic",)), ["semantic"])
    assert found.of == 0 and found.share.value is None and found.chance.value is None
    assert found.p_these is None and found.p_like is None


def test_without_draws_there_is_no_test_on_these_prompts() -> None:
    given = [*wrong("one", "semantic"), *wrong("two", "other")]
    found, _ = foil_choices(given, ["semantic", "other"], deterministic=True)
    assert found.p_these is None and found.these.deterministic
    assert found.like.interval is not None and found.p_like is not None
    assert found.these.estimand is Estimand.THESE_PROMPTS
