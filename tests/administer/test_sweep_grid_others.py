"""Grids of other perturbations than lesions: temperatures, prompt noise, checkpoints, numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.administer.sweep.grid import Grid, read_grid
from tabwb.administer.sweep.point import Point
from tabwb.lesion.declared import Part
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Decoding

PARTS = [
    Part("0.mlp.down", "mlp.down", 0, 100, 100, {}),
    Part("embedding", "embedding", None, 9, 9, {}),
]
GIVEN = Conditions("base", "model", seed=4, decoding=Decoding(seed=4), labels={"family": "F"})
LESION = "[[lesions]]\ntargets = ['mlp.down']\namounts = [0.5]\ncontrols = true\n"


def grid(tmp_path: Path, text: str) -> Grid:
    path = tmp_path / "grid.toml"
    path.write_text(f"format = 1\n{text}")
    return read_grid(path)


def points(tmp_path: Path, text: str, given: Conditions = GIVEN) -> tuple[Point, ...]:
    return grid(tmp_path, text).points(PARTS, given, resolved)


def resolved(given: Conditions) -> Conditions:
    if given.examinee == "nothing":
        raise UsageError("'nothing' is not a model")
    return replace(given, examinee=given.examinee.lower(), labels={"tuning": "instruct"})


def test_temperatures_with_each_seed_and_greedy_answers_once(tmp_path: Path) -> None:
    found = points(tmp_path, "[[temperatures]]\nvalues = [0, 0.7, 1.4]\nseeds = [4, 5]")
    assert [(p.role, p.name) for p in found] == [
        ("intact", "intact"),
        ("perturbation", "temperature 0.7"),
        ("perturbation", "temperature 0.7, seed 5"),
        ("perturbation", "temperature 1.4"),
        ("perturbation", "temperature 1.4, seed 5"),
    ]
    last = found[-1].conditions
    assert (last.decoding.temperature, last.seed, last.decoding.seed) == (1.4, 5, 5)
    assert replace(last, seed=4, decoding=GIVEN.decoding) == GIVEN


def test_a_shuffled_order_is_another_one_for_each_seed_of_greedy_answers(tmp_path: Path) -> None:
    shuffled = replace(GIVEN, option_order="shuffled")
    found = points(tmp_path, "[[temperatures]]\nvalues = [0]\nseeds = [4, 5]", shuffled)
    assert [p.conditions.seed for p in found] == [4, 5]


def test_lesions_are_given_under_a_setting_where_it_says_so(tmp_path: Path) -> None:
    alone = points(tmp_path, LESION + "[[temperatures]]\nvalues = [1]")
    assert [p.role for p in alone] == ["intact", "lesion", "control", "perturbation"]
    both = points(tmp_path, LESION + "[[temperatures]]\nvalues = [1]\nlesions = true")
    assert [p.role for p in both][3:] == ["perturbation", "lesion", "control"]
    assert both[-1].name == "projections:zero:0.5@seed=1, temperature 1"
    assert both[-1].matches == "mlp.down:zero:0.5@seed=1"
    assert len({p.conditions for p in both}) == 6


def test_prompt_noise_of_each_operation_amount_and_seed(tmp_path: Path) -> None:
    text = """
    [[prompts]]
    operations = ["words:drop", "words:lower"]
    amounts = [0.5, 1]
    seeds = [1, 2]
    """
    found = [p.conditions.prompt_noise for p in points(tmp_path, text)]
    assert found == [
        None, "words:drop:0.5@seed=1", "words:drop:0.5@seed=2", "words:drop:1",
        "words:lower:0.5@seed=1", "words:lower:0.5@seed=2", "words:lower:1",
    ]  # fmt: skip


def test_a_checkpoint_has_its_own_labels_and_its_parent(tmp_path: Path) -> None:
    text = """
    [[checkpoints]]
    model = "Tuned-1"
    dose = 1000
    dose_name = "training steps"
    lesions = true
    [[checkpoints]]
    model = "tuned-2"
    parent = "Tuned-1"
    """
    found = points(tmp_path, text + LESION)
    assert [p.model for p in found] == ["base"] * 3 + ["tuned-1"] * 3 + ["tuned-2"]
    first, second = found[3].conditions, found[-1].conditions
    assert first.labels == {
        "tuning": "instruct", "parent": "base", "dose": "1000", "dose_name": "training steps",
    }  # fmt: skip
    assert second.labels == {"tuning": "instruct", "parent": "tuned-1"}
    assert found[4].conditions.labels == first.labels


def test_numbers_of_an_operation_can_be_a_list(tmp_path: Path) -> None:
    text = "[[lesions]]\ntargets = ['mlp.down']\noperation = '{}'\n{}\n"
    for operation, numbers, expected in (
        ("quantise", "bits = [8, 4]", ["quantise:1@bits=8", "quantise:1@bits=4"]),
        ("scale", "factor = [0.5, 2]", ["scale:1@factor=0.5", "scale:1@factor=2"]),
        ("scale", "factor = 0.5", ["scale:1@factor=0.5"]),
        ("noise", "sigma = [1]", ["noise:1@sigma=1,seed=1"]),
    ):
        found = points(tmp_path, text.format(operation, numbers))
        assert [p.lesion for p in found[1:]] == [f"mlp.down:{one}" for one in expected]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[temperature]]\nvalues = [1]", "temperature: unknown key; did you mean 'temperatures'"),
        ("[[temperatures]]\nseeds = [1]", r"temperatures\[0\].values: there are none"),
        ("[[temperatures]]\nvalues = [-1]", r"temperatures\[0\].values: '-1' cannot be used"),
        ("[[temperatures]]\nvalues = [1]\nlesions = true", "there are none, and a table has"),
        ("[[prompts]]\noperations = ['words']", "the prompt noise"),
        ("[[prompts]]\noperations = ['words:drop']\namounts = [0]", "has the amount '0.0'"),
        ("[[checkpoints]]\ndose = 3", r"checkpoints\[0\].model: there is none"),
        ("[[checkpoints]]\nmodel = 'base'", "'base' is the model of the sweep"),
        ("[[checkpoints]]\nmodel = 'a'\nparent = 'A'", "'a' is its own parent"),
        ("[[checkpoints]]\nmodel = 'nothing'", r"checkpoints\[0\].model: 'nothing' is not a model"),
        ("[[checkpoints]]\nmodel = 'a'\ndose = -1", r"checkpoints\[0\].dose: -1 is not allowed"),
        ("[[checkpoints]]\nmodel = 'a'\ndose_name = 'x'", "it names no dose"),
        (
            "[[checkpoints]]\nmodel = 'a'\ndose = 1\ndose_name = \"\\u001b[31m\"",
            "it cannot be shown",
        ),
        ("[[checkpoints]]\nmodel = 'a'\ndose = 1\ndose_name = ''", "dose_name: it cannot be shown"),
        (
            "[[checkpoints]]\nmodel = 'a'\ndose = 1\n[[checkpoints]]\nmodel = 'A'\ndose = 2",
            "'A' is given twice, with another parent or dose",
        ),
        (
            "[[checkpoints]]\nmodel = 'a'\nparent = 'b'\n"
            "[[checkpoints]]\nmodel = 'b'\nparent = 'a'",
            "'b' is an ancestor of its own parent",
        ),
        (
            "[[lesions]]\ntargets = ['mlp.down']\noperation = 'quantise'\nbits = [4, 1]",
            "has bits=1",
        ),
        ("[[lesions]]\ntargets = ['mlp.down']\nbits = [4]", "which 'zero' does not use"),
    ],
)
def test_wrong_grids(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        points(tmp_path, text)
