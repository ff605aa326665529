"""Draws of units, and arrays under a lesion."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from tabwb.lesion import draw
from tabwb.lesion.arrays import lesioned_arrays
from tabwb.lesion.declared import Part
from tabwb.lesion.draw import Draws, bits_of, how_many, normal, order, weights_taken
from tabwb.lesion.spec import parse_lesions
from tabwb.lesion.taken import parts_taken, units_of
from tabwb.records.errors import ComponentError, UsageError

Arrays = Mapping[str, NDArray[Any]]
OUT = np.random.default_rng(5).normal(size=(6, 10)).astype(np.float32)
ARRAYS = {"0.out": OUT, "0.in": np.ones((10, 4), np.float32)}
PARTS = (
    Part("0.mlp.in", "mlp.in", 0, 40, 40, {"0.in": 160}),
    Part("0.mlp.out", "mlp.out", 0, 60, 60, {"0.out": 240}),
    Part("0.mlp.neurons", "mlp.neurons", 0, 10, 60, {"0.out": 240}),
)


def view(part: Part, arrays: Arrays) -> NDArray[Any]:
    (name,) = part.tensors
    return arrays[name].T if part.target == "mlp.neurons" else arrays[name]


UNITS = [
    (target, operation)
    for target in ("mlp.out", "mlp.neurons")
    for operation in ("zero", "mean", "scale", "noise", "shuffle", "swap", "quantise")
    if (target, operation) != ("mlp.neurons", "quantise")  # which takes single weights
]
NUMBERS = {"scale": "@factor=0.3", "noise": "@sigma=0.5", "quantise": "@bits=3"}


@pytest.mark.torch
@pytest.mark.parametrize(("target", "operation"), UNITS)
@pytest.mark.parametrize("amount", [0.4, 1])
def test_the_numbers_are_those_of_torch(target: str, operation: str, amount: float) -> None:
    torch = pytest.importorskip("torch")
    operations = pytest.importorskip("tabwb_transformers.lesions.operations")
    options = f"{NUMBERS.get(operation, '@')},seed=4".replace("@,", "@")
    (lesion,) = parse_lesions(f"{target}:{operation}:{amount}{options}")
    changed, facts = lesioned_arrays(str(lesion), PARTS, ARRAYS, view)

    (taken,) = parts_taken(lesion, PARTS)
    expected = torch.from_numpy(OUT.copy())
    seen = expected.T if target == "mlp.neurons" else expected
    if target == "mlp.neurons":
        inside = torch.from_numpy(units_of(lesion, taken))
        count = 6 * len(inside)
    else:
        inside = torch.from_numpy(weights_taken(4, "0.mlp.out", 60, amount).reshape(6, 10))
        count = int(inside.sum())
    operations.act(lesion, seen, inside, f"0.{target}", 0.0)
    np.testing.assert_allclose(changed["0.out"], expected.numpy(), rtol=1e-6, atol=1e-7)
    assert changed["0.in"] is ARRAYS["0.in"]
    assert facts["lesion"] == str(lesion) and facts["lesion_parameters"] == str(count)


def test_prune_takes_what_is_smallest() -> None:
    changed, _ = lesioned_arrays("mlp.out:prune:0.25", PARTS, ARRAYS, view)
    smallest = np.sort(np.abs(OUT).ravel())[:15]
    assert np.array_equal(changed["0.out"] == 0, np.abs(OUT) <= smallest[-1])
    changed, _ = lesioned_arrays("mlp.neurons:prune:0.2", PARTS, ARRAYS, view)
    norms = (OUT.astype(np.float64) ** 2).sum(0)
    assert np.array_equal((changed["0.out"] == 0).all(0), norms <= np.sort(norms)[1])


def test_lesions_together_act_on_what_is_left_and_change_nothing_given() -> None:
    before = OUT.copy()
    spec = "mlp.neurons:zero@neurons=3+mlp.out:scale@factor=2"
    changed, facts = lesioned_arrays(spec, PARTS, ARRAYS, view)
    expected = 2 * before
    expected[:, 3] = 0
    assert np.array_equal(changed["0.out"], expected) and np.array_equal(before, OUT)
    assert facts["lesion_parameters"] == "66"
    assert lesioned_arrays("", PARTS, ARRAYS, view) == (ARRAYS, {})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda part, arrays: view(part, arrays).copy(), "is not a view into 0.out"),
        (lambda part, arrays: view(part, arrays)[:3], "3 units and 18 parameters"),
        (lambda part, arrays: "0.out", "is not an array of floats"),
    ],
)
def test_a_view_that_cannot_be_right(wrong: Any, said: str) -> None:
    with pytest.raises(ComponentError, match=said):
        lesioned_arrays("mlp.neurons:zero", PARTS, ARRAYS, wrong)


def test_what_the_model_lacks() -> None:
    with pytest.raises(UsageError, match="finds no 'attention'"):
        lesioned_arrays("attention:zero", PARTS, ARRAYS, view)


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
