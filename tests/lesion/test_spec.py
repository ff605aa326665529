"""Lesion specs and their values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.lesion.declared import OPERATIONS, TARGETS
from tabwb.lesion.spec import (
    Lesion,
    asked_lesions,
    canonical,
    lesion_text,
    made,
    parse_lesions,
    role_of,
    spec_values,
)
from tabwb.records.errors import UsageError

_NUMBERS = st.lists(st.integers(0, 40), max_size=5, unique=True).map(sorted)
_FROM_END = st.lists(st.integers(-40, -1), max_size=3, unique=True).map(sorted)
_PATHS = st.text(
    st.one_of(
        st.sampled_from(",@+%:= /\\~"),
        st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"),
    ),
    min_size=1,
    max_size=20,
)


@st.composite
def lesions(draw: st.DrawFn) -> Lesion:
    target = TARGETS[draw(st.sampled_from(sorted(TARGETS)))]
    suited = [one.id for one in OPERATIONS.values() if not one.units or target.unit in one.units]
    operation = draw(st.sampled_from(target.operations or sorted(suited)))
    values: dict[str, object] = {"target": target.id, "operation": operation}
    values["amount"] = draw(st.floats(0, 1, exclude_min=True))
    values["seed"] = draw(st.integers(0, 2**63 - 1))
    if target.unit != "layer":
        selections = ["random", "magnitude"]
        if target.unit in ("head", "neuron", "expert"):
            selections += ["list", "list-control"]
        if target.unit in ("head", "neuron"):
            selections += ["localizer", "localizer-control"]
        values["select"] = draw(st.sampled_from(selections))
        if str(values["select"]).startswith("list"):
            values["file"] = draw(_PATHS)
            values["sha256"] = draw(st.sampled_from(["", "0123456789abcdef", "f" * 64]))
    option = OPERATIONS[operation].option
    if option:
        change = st.floats(0.001, 1e9).filter(lambda number: number != 1.0)
        values[option] = draw(st.integers(2, 16) if option == "bits" else change)
    numbers = [*draw(_NUMBERS), *draw(_FROM_END)]
    if numbers and target.in_layers:
        values["layers"] = numbers
    if numbers and target.unit in ("head", "neuron", "expert"):
        values[f"{target.unit}s"] = numbers
    return made(values, "made up")


@given(st.lists(lesions(), min_size=1, max_size=3))
def test_text_and_parse_are_inverses(several: list[Lesion]) -> None:
    text = lesion_text(several)
    assert parse_lesions(text) == tuple(several)
    assert canonical(text) == text


@given(st.text(max_size=40))
def test_any_other_text_is_one_error(text: str) -> None:
    try:
        found = parse_lesions(text)
    except UsageError as error:
        assert error.allowed
    else:
        assert parse_lesions(lesion_text(found)) == found


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("attention.q:zero", "attention.q:zero:1"),
        ("attention.q:zero:.30@seed=1", "attention.q:zero:0.3@seed=1"),
        ("attention.q:zero:0.3", "attention.q:zero:0.3@seed=1"),
        ("attention.q:zero@seed=9", "attention.q:zero:1"),  # everything is taken, nothing drawn
        ("mlp.down:noise@sigma=0.50", "mlp.down:noise:1@sigma=0.5,seed=1"),
        ("norm:scale:1@factor=2,layers=3,1,2,-1", "norm:scale:1@layers=1-3,-1,factor=2"),
        ("experts:zero:1@experts=0,layers=1", "experts:zero:1@layers=1,experts=0"),
        ("mlp.neurons:prune:1e-1", "mlp.neurons:zero:0.1@select=magnitude"),
        ("layer:zero@layers=-3--2", "layer:zero:1@layers=-3,-2"),
        (
            "mlp.neurons:zero@select=list,file=a b%2C100%.json",
            "mlp.neurons:zero:1@select=list,file=a%20b%2C100%25.json",
        ),
        ("mlp.neurons:zero:.1@select=localizer,seed=4", "mlp.neurons:zero:0.1@select=localizer"),
        (
            "mlp.neurons:zero:1@select=localizer-control,seed=4",
            "mlp.neurons:zero:1@select=localizer-control,seed=4",
        ),
    ],
)
def test_the_stored_form(written: str, stored: str) -> None:
    assert canonical(written) == stored


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no known target"),
        ("attention", "is not complete"),
        ("attention.q", "is not complete"),
        ("attention.q:zero:0.1:2", "is not complete"),
        ("attention.q:burn", "has the operation 'burn'"),
        ("attention.q:zero:1.01", "the amount 1.01"),
        ("attention.q:zero:-0.1", "the amount -0.1"),
        ("attention.q:zero:nan", "has amount=nan"),
        ("attention.q:zero:1e400", "has amount=1e400"),
        ("attention.q:scale", "needs factor="),
        ("attention.q:scale@factor=1", "changes nothing"),
        ("attention.q:zero@factor=2", "has factor="),
        ("attention.q:noise@sigma=0", "has sigma=0"),
        ("attention.q:quantise", "needs bits="),
        ("attention.q:quantise@bits=1", "has bits=1"),
        ("attention.q:quantise@bits=2.5", "has bits=2.5"),
        ("attention.heads:quantise@bits=4", "cannot 'quantise' whole units of attention.heads"),
        ("attention.q:noise@sigma=-1", "has sigma=-1"),
        ("attention.q:zero@heads=1", "has heads="),
        ("embedding:zero@layers=1", "is in no layer"),
        ("attention.q:zero@layers=3-1", "which is empty"),
        ("attention.q:zero@layers=-1-2", "which is empty"),
        ("attention.q:zero@layers=0-99999999", "out of bounds"),
        ("attention.q:zero@layers=a", "has layers=a"),
        ("attention.q:zero@layers=0,layers=1", "has layers= twice"),
        ("attention.q:zero@seed=-1", "has seed=-1"),
        ("attention.q:zero@seed=1.5", "has seed=1.5"),
        ("attention.q:zero@select=best", "has select=best"),
        ("attention.q:prune@select=random", "prunes by another choice"),
        ("layer:scale@factor=2", "cannot 'scale' a layer"),
        ("layer:prune:0.5", "whole layers by magnitude"),
        ("mlp.down:zero@select=list,file=a", "its target is 'mlp.down'"),
        ("layer:zero@select=list,file=a", "its target is 'layer'"),
        ("experts:zero@select=localizer", "its target is 'experts'"),
        ("mlp.neurons:zero@select=list", "needs file="),
        ("mlp.neurons:zero@select=list,file=", "needs file="),
        ("mlp.neurons:zero@select=list,file=a,b.json", "'b.json' after the path"),
        ("mlp.neurons:zero@select=list,file=%00", "not text"),
        ("mlp.neurons:zero@select=list,file=%ff", "not UTF-8"),
        ("mlp.neurons:zero@select=list,file=a,sha256=12", "has sha256=12"),
        ("mlp.neurons:zero@file=a", "without select=list"),
        ("mlp.neurons:zero@select=localizer,file=a", "without select=list"),
        ("attention.q:zero@", "among its options"),
        ("attention.q:zero@x=1", "among its options"),
        ("attention.q:zero@3", "among its options"),
        ("attention.q:zero+", "no known target|the operation"),
    ],
)
def test_wrong_specs(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_lesions(text)


def test_the_amount_0_is_refused_wherever_it_is_asked_for() -> None:
    for text in (
        "mlp:zero:0",
        "mlp:zero:-0.0",
        "norm:scale:0@factor=2",
        "mlp:zero:0.1+norm:zero:0",
    ):
        for asked in (canonical, asked_lesions):
            with pytest.raises(UsageError, match="the amount 0, which changes nothing") as refused:
                asked(text)
            assert refused.value.hint == (
                "the intact model is a run without --lesion; a sweep gives it anyway"
            )
    with pytest.raises(UsageError, match=r"^my.toml: lesions\[1\]: the lesion has the amount 0"):
        made({"target": "mlp", "operation": "zero", "amount": 0}, "my.toml: lesions[1]")


def test_the_amount_0_of_an_old_store_is_read() -> None:
    (stored,) = parse_lesions("mlp.down:zero:0")
    assert stored.amount == 0.0 and str(stored) == "mlp.down:zero:0"
    assert spec_values("mlp.down:zero:0")["amount"] == 0.0


def test_a_misspelt_target_or_operation_has_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'mlp.down'"):
        parse_lesions("mlp.donw:zero")
    with pytest.raises(UsageError, match="did you mean 'zero'"):
        parse_lesions("mlp.down:zeor")


def test_an_error_in_a_grid_names_the_table_and_no_spec() -> None:
    with pytest.raises(UsageError, match=r"^my.toml: lesions\[1\]: the lesion cannot 'mean'"):
        made({"target": "layer", "operation": "mean"}, "my.toml: lesions[1]")


def test_of_joined_lesions_only_what_they_share_has_a_value() -> None:
    joined = "attention.q:zero:0.5@layers=1,seed=4+mlp.down:mean:0.2@seed=4"
    assert spec_values(joined) == {
        "target": "attention.q+mlp.down",
        "seed": 4,
        "kind": "attention.q:zero:*@layers=1+mlp.down:mean:*",
    }


def test_a_lesion_that_draws_nothing_has_no_seed() -> None:
    assert "seed" not in spec_values("mlp:zero")
    assert spec_values("mlp:zero:0.5")["seed"] == 1


def test_another_tools_spec_has_no_values() -> None:
    assert spec_values("ablate(mlp)") == {}


def test_the_role_comes_from_lesion_and_tag() -> None:
    assert role_of("", ["control"]) == "intact"
    assert role_of("mlp:zero", ["study"]) == "lesion"
    assert role_of("mlp:zero", ["study", "control"]) == "control"
    inside = "projections:zero:0.1@layers=2,seed=1"
    assert role_of(inside, ["study", "control"]) == "layer control"
    assert role_of(inside, ["study"]) == "lesion"
    assert role_of("made elsewhere", ["control"]) == "control"
    in_place = "mlp.neurons:zero:1@layers=2,select=localizer-control,seed=1"
    assert role_of(in_place, ["control"]) == "control"
