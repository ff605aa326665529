"""The values of a spec one by one, for keys and columns."""

from __future__ import annotations

from tabwb.lesion.spec import role_of, spec_values


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
