"""Which units lists, the localizer and draws take, and arrays under a lesion."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tabwb.lesion import draw
from tabwb.lesion.arrays import lesioned_arrays
from tabwb.lesion.declared import Part
from tabwb.lesion.draw import Draws, bits_of, how_many, normal, order, weights_taken
from tabwb.lesion.spec import lesion_text, parse_lesions, pinned, stored_form
from tabwb.lesion.taken import parts_taken, planned, units_facts, units_of
from tabwb.records.errors import ComponentError, UsageError

PARTS = [
    Part(f"{layer}.{target}", target, layer, units, 10 * units, {f"w{layer}": 40 * units})
    for layer in range(3)
    for target, units in (("attention.heads", 4), ("mlp.neurons", 20))
]
UNITS = {"0.mlp.neurons": [7, 2, 19], "2.mlp.neurons": [0, 1], "1.attention.heads": [3]}
T = {"0.mlp.neurons": [1.0, 5.0, 3.0], "2.mlp.neurons": [4.0, 3.0], "1.attention.heads": [9.0]}


def written(folder: Path, **content: object) -> str:
    path = folder / "units.json"
    path.write_text(json.dumps({"format": 1, "units": UNITS, **content}))
    return str(path)


def taken(spec: str, scores: dict[str, np.ndarray] | None = None) -> dict[str, list[int]]:
    (lesion,) = parse_lesions(spec)
    found = parts_taken(lesion, PARTS, scores=scores)
    return {one.part.name: one.numbers.tolist() for one in found}


def scores_of(seed: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {part.name: generator.normal(size=part.units) for part in PARTS}


def test_a_list_gives_its_units_of_the_target(tmp_path: Path) -> None:
    file = written(tmp_path)
    spec = f"mlp.neurons:zero@select=list,file={file}"
    assert taken(spec) == {"0.mlp.neurons": [2, 7, 19], "2.mlp.neurons": [0, 1]}
    assert taken(f"{spec},layers=0,neurons=0-9") == {"0.mlp.neurons": [2, 7]}
    assert taken(f"attention.heads:zero@select=list,file={file}") == {"1.attention.heads": [3]}
    assert taken(spec.replace(":zero", ":zero:0")) == {}
    assert taken("mlp.neurons:zero:0@select=localizer-control") == {}


def test_a_share_of_a_list_is_that_with_the_largest_statistic(tmp_path: Path) -> None:
    spec = f"mlp.neurons:zero:AMOUNT@select=list,file={written(tmp_path, t=T)}"
    assert taken(spec.replace("AMOUNT", "0.4")) == {"0.mlp.neurons": [2], "2.mlp.neurons": [0]}
    # Of equal values (3.0) the one of the first part is taken.
    three = {"0.mlp.neurons": [2, 19], "2.mlp.neurons": [0]}
    assert taken(spec.replace("AMOUNT", "0.6")) == three
    # Its control takes as many, none of them in the list.
    control = taken(spec.replace("AMOUNT", "0.4").replace("select=list", "select=list-control"))
    assert {name: len(units) for name, units in control.items()} == {
        "0.mlp.neurons": 1,
        "2.mlp.neurons": 1,
    }
    assert not set(control["0.mlp.neurons"]) & set(UNITS["0.mlp.neurons"])


@given(st.integers(0, 2**32), st.lists(st.floats(0.02, 1), min_size=2, max_size=4))
def test_growing_amounts_of_the_localizer_are_nested_and_counted(
    seed: int, amounts: list[float]
) -> None:
    scores, before = scores_of(seed), set[tuple[str, int]]()
    for amount in sorted(amounts):
        found = taken(f"mlp.neurons:zero:{amount!r}@select=localizer", scores)
        now = {(name, unit) for name, units in found.items() for unit in units}
        assert before <= now
        assert len(now) == int(amount * 60 + 0.5)
        flat = {(name, u): scores[name][u] for name in scores if "mlp" in name for u in range(20)}
        assert min(flat[unit] for unit in now) >= max(
            (value for unit, value in flat.items() if unit not in now), default=-np.inf
        )
        before = now


def test_a_unit_without_a_statistic_is_taken_by_no_amount() -> None:
    scores = {part.name: np.arange(part.units, dtype=float) for part in PARTS}
    scores["1.mlp.neurons"][:] = np.nan
    assert "1.mlp.neurons" not in taken("mlp.neurons:zero:0.6@select=localizer", scores)
    with pytest.raises(UsageError, match=r"takes 60 units.*only 40 is defined"):
        taken("mlp.neurons:zero:1@select=localizer", scores)


@given(st.integers(0, 2**32), st.integers(0, 1000))
def test_a_control_has_as_many_other_units_of_each_part(seed: int, draw: int) -> None:
    scores = scores_of(seed)
    lesion = taken("mlp.neurons:zero:0.2@select=localizer", scores)
    assume(all(2 * len(lesion.get(part.name, ())) <= part.units for part in PARTS))
    spec = f"mlp.neurons:zero:0.2@select=localizer-control,seed={draw}"
    control = taken(spec, scores)
    assert {name: len(units) for name, units in lesion.items()} == {
        name: len(units) for name, units in control.items()
    }
    assert not any(set(lesion[name]) & set(control[name]) for name in lesion)
    assert taken(spec, scores) == control


def test_controls_of_other_seeds_are_other_units(tmp_path: Path) -> None:
    spec = f"mlp.neurons:zero:1@select=list-control,file={written(tmp_path)},seed="
    found = [taken(spec + str(seed)) for seed in range(1, 21)]
    assert len({str(one) for one in found}) > 15
    # Every other unit is drawn now and then, and none of the list.
    drawn = {unit for one in found for unit in one["0.mlp.neurons"]}
    assert len(drawn) > 13 and not drawn & set(UNITS["0.mlp.neurons"])


def test_a_plan_before_the_localizer_has_the_right_total() -> None:
    lesions = parse_lesions("mlp.neurons:zero:0.08@select=localizer")
    before = planned(lesions, PARTS, "m")
    after = planned(lesions, PARTS, "m", scores_of(3))
    assert sum(one.units for one in before) == sum(one.units for one in after) == 5
    assert sum(one.parameters for one in before) == sum(one.parameters for one in after) == 50
    with pytest.raises(UsageError, match="when the localizer was run"):
        parts_taken(lesions[0], PARTS)


@pytest.mark.parametrize(
    ("spec", "units", "words"),
    [
        ("mlp.neurons:zero:0.5@select=list", UNITS, "has no statistic"),
        (
            "attention.heads:zero@select=list-control",
            {"0.attention.heads": [0, 1, 3]},
            "needs 3 other units",
        ),
        ("mlp.neurons:zero@select=list,layers=1", UNITS, "takes no neuron of its list"),
        # Lists of another model.
        (
            "mlp.neurons:zero@select=list",
            {"9.mlp.neurons": [1]},
            "finds '9.mlp.neurons' in its list",
        ),
        (
            "mlp.neurons:zero@select=list",
            {"0.mlp.neurons": [20]},
            "finds the unit 20 of '0.mlp.neurons'",
        ),
        (
            "mlp.neurons:zero@select=list",
            {"0.attention.heads": [1]},
            "finds no unit of 'mlp.neurons' in its list",
        ),
    ],
)
def test_a_list_that_does_not_fit_the_lesion_is_an_error(
    tmp_path: Path, spec: str, units: dict[str, list[int]], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        taken(f"{spec},file={written(tmp_path, units=units)}")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a list of units"),
        ('{"format": 2, "units": {}}', "is not a list of units"),
        ('{"format": 1}', 'no mapping "units"'),
        ('{"format": 1, "units": {}}', "has no units"),
        ('{"format": 1, "units": {"0.mlp.neurons": [1, 1]}}', "twice"),
        ('{"format": 1, "units": {"0.mlp.neurons": [-1]}}', "not a number there"),
        ('{"format": 1, "units": {"0.mlp.neurons": [true]}}', "not a number there"),
        (f'{{"format": 1, "units": {{"0.mlp.neurons": [{10**30}]}}}}', "not a number there"),
        (f'{{"format": 1, "units": {{"a": [1]}}, "t": {{"a": [{10**400}]}}}}', "not a number"),
        ('{"format": 1, "units": {"a": [1]}, "t": {"a": []}}', "another number of values"),
        ('{"format": 1, "units": {"a": [1]}, "t": {"a": [NaN]}}', "not a number there"),
        ('{"format": 1, "units": {"a": [1], "a": [2]}}', "a name is there twice"),
    ],
)
def test_files_that_are_no_list(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "units.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=words) as caught:
        stored_form(f"mlp.neurons:zero@select=list,file={path}")
    assert caught.value.where == str(path)


def test_a_stored_spec_knows_the_content_of_its_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path)
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    monkeypatch.chdir(tmp_path)
    stored = stored_form("mlp.neurons:zero@select=list,file=units.json")
    assert lesion_text(stored) == (
        f"mlp.neurons:zero:1@select=list,file={file},sha256={digest[:16]}"
    )
    assert pinned(stored) == stored
    before = taken(lesion_text(stored))
    written(tmp_path, note="another content")
    with pytest.raises(UsageError, match="the list of units has changed"):
        taken(lesion_text(stored))
    written(tmp_path)
    assert taken(lesion_text(stored)) == before


def test_a_list_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for place in filter(Path.exists, (tmp_path, Path("/dev/zero"))):  # the second never ends
        with pytest.raises(UsageError, match="is not a file"):
            stored_form(f"mlp.neurons:zero@select=list,file={place}")
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        stored_form(f"mlp.neurons:zero@select=list,file={tmp_path / 'none.json'}")


def test_facts_name_the_units(tmp_path: Path) -> None:
    lesions = parse_lesions(
        f"mlp.neurons:zero@select=list,file={written(tmp_path)}+attention.q:zero:0.1"
    )
    facts = units_facts(lesions, [parts_taken(one, [*PARTS, QUERY]) for one in lesions])
    text = "0.mlp.neurons:2,7,19;2.mlp.neurons:0-1"
    assert facts == {
        "lesion_units": text,
        "lesion_units_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    assert units_facts(lesions[1:], [parts_taken(lesions[1], [QUERY])]) == {}


QUERY = replace(PARTS[0], name="0.attention.q", target="attention.q")


Arrays = Mapping[str, NDArray[Any]]
OUT = np.random.default_rng(5).normal(size=(6, 10)).astype(np.float32)
ARRAYS = {"0.out": OUT, "0.in": np.ones((10, 4), np.float32)}
ARRAY_PARTS = (
    Part("0.mlp.in", "mlp.in", 0, 40, 40, {"0.in": 160}),
    Part("0.mlp.out", "mlp.out", 0, 60, 60, {"0.out": 240}),
    Part("0.mlp.neurons", "mlp.neurons", 0, 10, 60, {"0.out": 240}),
)


def view(part: Part, arrays: Arrays) -> NDArray[Any]:
    (name,) = part.tensors
    return arrays[name].T if part.target == "mlp.neurons" else arrays[name]


ARRAY_TARGETS = [
    (target, operation)
    for target in ("mlp.out", "mlp.neurons")
    for operation in ("zero", "mean", "scale", "noise", "shuffle", "swap", "quantise")
    if (target, operation) != ("mlp.neurons", "quantise")  # which takes single weights
]
NUMBERS = {"scale": "@factor=0.3", "noise": "@sigma=0.5", "quantise": "@bits=3"}


@pytest.mark.torch
@pytest.mark.parametrize(("target", "operation"), ARRAY_TARGETS)
@pytest.mark.parametrize("amount", [0.4, 1])
def test_the_numbers_are_those_of_torch(target: str, operation: str, amount: float) -> None:
    torch = pytest.importorskip("torch")
    operations = pytest.importorskip("tabwb_transformers.lesions.surgery")
    options = f"{NUMBERS.get(operation, '@')},seed=4".replace("@,", "@")
    (lesion,) = parse_lesions(f"{target}:{operation}:{amount}{options}")
    changed, facts = lesioned_arrays(str(lesion), ARRAY_PARTS, ARRAYS, view)

    (taken,) = parts_taken(lesion, ARRAY_PARTS)
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
    changed, _ = lesioned_arrays("mlp.out:prune:0.25", ARRAY_PARTS, ARRAYS, view)
    smallest = np.sort(np.abs(OUT).ravel())[:15]
    assert np.array_equal(changed["0.out"] == 0, np.abs(OUT) <= smallest[-1])
    changed, _ = lesioned_arrays("mlp.neurons:prune:0.2", ARRAY_PARTS, ARRAYS, view)
    norms = (OUT.astype(np.float64) ** 2).sum(0)
    assert np.array_equal((changed["0.out"] == 0).all(0), norms <= np.sort(norms)[1])


def test_lesions_together_act_on_what_is_left_and_change_nothing_given() -> None:
    before = OUT.copy()
    spec = "mlp.neurons:zero@neurons=3+mlp.out:scale@factor=2"
    changed, facts = lesioned_arrays(spec, ARRAY_PARTS, ARRAYS, view)
    expected = 2 * before
    expected[:, 3] = 0
    assert np.array_equal(changed["0.out"], expected) and np.array_equal(before, OUT)
    assert facts["lesion_parameters"] == "66"
    assert lesioned_arrays("", ARRAY_PARTS, ARRAYS, view) == (ARRAYS, {})


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
        lesioned_arrays("mlp.neurons:zero", ARRAY_PARTS, ARRAYS, wrong)


def test_what_the_model_lacks() -> None:
    with pytest.raises(UsageError, match="finds no 'attention'"):
        lesioned_arrays("attention:zero", ARRAY_PARTS, ARRAYS, view)


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
