"""Draws: pinned values, independence of block and neighbours, and how they are spread."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats

from tabwb.lesion import draw
from tabwb.lesion.draw import Draws, bits_of, how_many, normal, order, weights_taken


def test_draws_are_what_they_were() -> None:
    """What a study was done with must come again: these values never change."""
    bits = bits_of(7, "3.attention.q", "units", 100_000)
    assert hashlib.sha256(bits.astype("<u4").tobytes()).hexdigest() == (
        "428e4a3b714dd3b158d3cf113993ebab6a5e905dd54825b372029262265b8222"
    )
    assert order(7, "3.attention.q", 10).tolist() == [5, 1, 0, 6, 3, 9, 7, 4, 2, 8]
    np.testing.assert_allclose(
        normal(7, "3.attention.q", 4), [1.4952817, 0.1163314, -2.1342077, -0.8530343], rtol=1e-6
    )


def test_draws_depend_on_seed_name_and_purpose_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    first = bits_of(1, "a", "units", 1000)
    for other in (bits_of(2, "a", "units", 1000), bits_of(1, "b", "units", 1000)):
        assert (first == other).mean() < 0.01
    assert (first == bits_of(1, "a", "noise", 1000)).mean() < 0.01
    parts = Draws(1, "a", "units")
    assert np.array_equal(np.concatenate([parts.take(400), parts.take(600)]), first)
    taken, drawn = weights_taken(3, "x", 1001, 0.4), normal(3, "x", 1001)
    monkeypatch.setattr(draw, "BLOCK", 64)
    assert np.array_equal(weights_taken(3, "x", 1001, 0.4), taken)
    assert np.array_equal(normal(3, "x", 1001), drawn)


@pytest.mark.parametrize("amount", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_each_weight_is_taken_with_the_probability_of_the_amount(amount: float) -> None:
    taken = weights_taken(11, "0.mlp.down", 200_000, amount)
    test = scipy.stats.binomtest(int(taken.sum()), len(taken), amount)
    assert test.pvalue > 0.001
    if 0 < amount < 1:  # neighbours are independent
        runs = scipy.stats.contingency.crosstab(taken[:-1], taken[1:]).count
        assert scipy.stats.chi2_contingency(runs).pvalue > 0.001


def test_masks_of_growing_amounts_are_nested() -> None:
    masks = [weights_taken(5, "x", 10_000, amount / 20) for amount in range(21)]
    for smaller, larger in pairwise(masks):
        assert not (smaller & ~larger).any() and smaller.sum() < larger.sum()


def test_noise_is_normal_and_orders_are_uniform() -> None:
    assert scipy.stats.kstest(normal(2, "x", 100_000), "norm").pvalue > 0.001
    firsts = [order(seed, "x", 5)[0] for seed in range(2000)]
    assert scipy.stats.chisquare(np.bincount(firsts, minlength=5)).pvalue > 0.001


@pytest.mark.parametrize(
    ("count", "amount", "expected"),
    [(5, 0.3, 2), (5, 0.1, 1), (3, 0.1, 0), (7, 1.0, 7), (7, 0.0, 0), (10, 0.25, 3), (1, 0.5, 1)],
)
def test_how_many_units_an_amount_takes(count: int, amount: float, expected: int) -> None:
    assert how_many(count, amount) == expected
