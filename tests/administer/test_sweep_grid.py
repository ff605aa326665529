from __future__ import annotations

import os
from pathlib import Path

import pytest

from tabwb.administer.sweep.grid import read_grid
from tabwb.administer.sweep.point import Point
from tabwb.lesion.declared import Part
from tabwb.lesion.spec import parse_lesions
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError


def part(name: str, parameters: int, units: int | None = None) -> Part:
    layer, _, target = name.rpartition("/")
    number = int(layer) if layer else None
    return Part(
        name.replace("/", "."), target, number, units or parameters, parameters, {name: parameters}
    )


PARTS = [
    *(part(f"{layer}/attention.q", 300) for layer in range(3)),
    *(part(f"{layer}/attention.heads", 200, 4) for layer in range(3)),
    *(part(f"{layer}/mlp.down", 700) for layer in range(3)),
    *(part(f"{layer}/layer", 1000, 1) for layer in range(3)),
    part("embedding", 5000),
]
CONDITIONS = Conditions("made-up", "model")


def points(tmp_path: Path, text: str) -> tuple[Point, ...]:
    path = tmp_path / "grid.toml"
    path.write_text(text)
    return read_grid(path).points(PARTS, CONDITIONS)


def test_a_lesion_without_draws_has_a_control_for_each_seed(tmp_path: Path) -> None:
    text = "targets = ['mlp.down']\noperation = 'prune'\namounts = [0.5]\nseeds = [1, 2, 3]"
    found = points(tmp_path, f"format = 1\n[[lesions]]\n{text}\ncontrols = true")
    assert [one.lesion for one in found if one.role == "lesion"] == [
        "mlp.down:zero:0.5@select=magnitude"
    ]
    assert [one.lesion for one in found if one.role == "control"] == [
        f"projections:zero:0.35@seed={seed}" for seed in (1, 2, 3)
    ]


def test_every_combination_comes_once_after_the_intact_model(tmp_path: Path) -> None:
    found = points(
        tmp_path,
        """
        format = 1
        [[lesions]]
        targets = ["attention", "mlp.down"]
        amounts = [0.1, 0.2]
        layers = ["all", "0-1"]
        seeds = [1, 2]
        [[lesions]]
        targets = ["mlp"]
        amounts = [0.1]
        seeds = [2]
        [[lesions]]
        targets = ["attention"]
        amounts = [0.2]
        """,
    )
    assert found[0] == Point("intact", CONDITIONS)
    assert len(found) == 1 + 2 * 2 * 2 * 2 + 1  # attention:zero:0.2@seed=1 exists already
    assert [one.lesion for one in found[1:5]] == [
        "attention:zero:0.1@seed=1",
        "attention:zero:0.1@seed=2",
        "attention:zero:0.2@seed=1",
        "attention:zero:0.2@seed=2",
    ]
    assert len({one.lesion for one in found}) == len(found)


def test_each_layer(tmp_path: Path) -> None:
    found = points(
        tmp_path, 'format = 1\n[[lesions]]\ntargets = ["attention.heads"]\nlayers = ["each"]'
    )
    assert [one.lesion for one in found[1:]] == [
        f"attention.heads:zero:1@layers={layer}" for layer in range(3)
    ]


def test_each_head_of_each_layer(tmp_path: Path) -> None:
    text = (
        'format = 1\n[[lesions]]\ntargets = ["attention.heads"]\nlayers = ["each"]\n'
        'heads = ["each", "0-1", "all"]'
    )
    found = [one.lesion for one in points(tmp_path, text)[1:]]
    assert found == [
        f"attention.heads:zero:1@layers={layer}{heads}"
        for layer in range(3)
        for heads in (*(f",heads={head}" for head in range(4)), ",heads=0-1", "")
    ]


def test_prune_is_an_operation_of_grids(tmp_path: Path) -> None:
    text = 'format = 1\n[[lesions]]\ntargets = ["mlp.down"]\noperation = "prune"\namounts = [0.2]'
    found = points(tmp_path, text)
    assert found[1].lesion == "mlp.down:zero:0.2@select=magnitude"


def test_a_control_takes_as_many_weights_of_all_projections(tmp_path: Path) -> None:
    found = points(
        tmp_path,
        """
        format = 1
        [[lesions]]
        targets = ["attention.q", "attention.heads+mlp.down"]
        operation = "scale"
        factor = 0.5
        amounts = [0.5]
        layers = ["1"]
        seeds = [3, 4]
        controls = true
        """,
    )
    controls = [one for one in found if one.role == "control"]
    # Of 300 weights the half; 2 of 4 heads of 50 weights each, and the half of 700: of 3,000.
    assert [(one.lesion, one.matches) for one in controls] == [
        (f"projections:scale:{amount}@factor=0.5,seed={seed}", matched)
        for amount, named in (
            ("0.05", "attention.q:scale:0.5@layers=1,factor=0.5,seed={0}"),
            (
                "0.15",
                "attention.heads:scale:0.5@layers=1,factor=0.5,seed={0}"
                "+mlp.down:scale:0.5@layers=1,factor=0.5,seed={0}",
            ),
        )
        for seed, matched in ((3, named.format(3)), (4, named.format(4)))
    ]
    for one in found[1:]:
        parse_lesions(one.lesion)


IN_LAYERS = "format = 1\n[[lesions]]\ncontrols = 'same layers'"
BOTH = """
    format = 1
    [[lesions]]
    targets = ["attention.q", "attention.heads+mlp.down"]
    amounts = [0.5]
    layers = ["1", "-2,-1", "all"]
    seeds = [3]
    controls = ["anywhere", "same layers"]
"""


def test_a_control_in_the_same_layers_takes_as_many_weights_there(tmp_path: Path) -> None:
    found = points(tmp_path, BOTH)
    inside = [one for one in found if one.role == "layer control"]
    # One layer has 1,000 weights of projections: 150 of q; 100 of heads and 350 of down.
    assert [one.lesion for one in inside] == [
        "projections:zero:0.15@layers=1,seed=3",
        "projections:zero:0.15@layers=-2,-1,seed=3",
        "projections:zero:0.45@layers=1,seed=3",
        "projections:zero:0.45@layers=-2,-1,seed=3",
    ]
    assert inside[0].matches == "attention.q:zero:0.5@layers=1,seed=3"
    # Of lesions in all layers both kinds are one; of one layer a third of the share, anywhere.
    assert [one.lesion for one in found if one.role == "control"] == [
        f"projections:zero:{amount}@seed=3" for amount in (0.05, 0.1, 0.15, 0.3, 0.45)
    ]
    only = points(tmp_path, BOTH.replace('"anywhere", ', ""))
    assert [one.role for one in only].count("layer control") == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = [", "is not TOML"),
        ("", "format: None is not known"),
        ("format = 1", "lesions: there are none"),
        ("format = 1\nlesion = 2", "lesion: unknown key"),
        ("format = 1\n[[lesions]]\noperation = 'zero'", r"lesions\[0\].targets: there are none"),
        ("format = 1\n[[lesions]]\ntargets = [1]", "1 is not allowed"),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\nseeds = [1.5]", "1.5 is not allowed"),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\nseed = [1]", "seed: unknown key"),
        ("format = 1\n[[lesions]]\ntargets = ['mpl']", "has the target 'mpl'"),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\namounts = [2]", "the amount 2"),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\noperation = 'scale'", "needs factor="),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\nlayers = ['first']", "layers=first"),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\nlayers = ['7']", "the layer 7"),
        ("format = 1\n[[lesions]]\ntargets = ['experts']", "finds no 'experts'"),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\nheads = ['each']", "has heads="),
        (
            "format = 1\n[[lesions]]\ntargets = ['attention.heads']\nneurons = ['0']",
            "has neurons=",
        ),
        (
            "format = 1\n[[lesions]]\ntargets = ['experts']\nexperts = ['0']\nneurons = ['0']",
            "has neurons=|has experts=",
        ),
        (
            "format = 1\n[[lesions]]\ntargets = ['attention.heads']\nheads = ['4']",
            "names the head 4",
        ),
        (
            "format = 1\n[[lesions]]\ntargets = ['attention.heads']\nheads = ['some']",
            "has heads=some",
        ),
        (
            "format = 1\n[[lesions]]\ntargets = ['mlp']\noperation = 'prune'\nselect = 'random'",
            "prunes by another choice",
        ),
        ("format = 1\nname = 'a,b'\n[[lesions]]\ntargets = ['mlp']", "name: 'a,b' cannot be a tag"),
        ("format = 1\nname = 'control'\n[[lesions]]\ntargets = ['mlp']", "the tag of controls"),
        ("a = " + "[" * 1000, "nested too deeply"),
        ("a = " + "9" * 5000, "a value that cannot be read"),
        (f"format = 1\n[[lesions]]\ntargets = ['mlp']\namounts = [{'9' * 400}]", "a finite number"),
        (
            "format = 1\n[[lesions]]\ntargets = ['mlp']\noperation = 'scale'\nfactor = "
            + "9" * 400,
            "a finite number",
        ),
        (
            "format = 1\n[[lesions]]\ntargets = ['mlp']\nlayers = ['0-999999,1000000-1999999']",
            "too many numbers in layers=",
        ),
        (
            "format = 1\n[[lesions]]\ntargets = ['embedding']\ncontrols = true",
            "takes more parameters than the projections",
        ),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\ncontrols = 'near'", "'near' is not known"),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\ncontrols = []", "is not known"),
        ("format = 1\n[[lesions]]\ntargets = ['mlp']\ncontrols = [true]", "True is not known"),
        (f"{IN_LAYERS}\ntargets = ['embedding']", "'embedding' is in none"),
        (f"{IN_LAYERS}\ntargets = ['layer']\nlayers = ['1']", "as many parameters as or more than"),
        (
            f"{IN_LAYERS}\ntargets = ['projections']\nlayers = ['1']\namounts = [0.5]",
            "would be its own control",
        ),
    ],
)
def test_wrong_grids(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        points(tmp_path, text)


def test_a_grid_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        read_grid(tmp_path / "none.toml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_grid_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(UsageError, match="is not a regular file"):
        read_grid(tmp_path / "pipe.toml")


def test_a_name_that_cannot_be_a_tag_is_refused_before_a_model_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "my grid.toml"
    path.write_text("format = 1\n[[lesions]]\ntargets = ['mlp']")
    with pytest.raises(UsageError, match=r"'my grid' cannot be a tag \(without a name the file's"):
        read_grid(path)


def test_products_of_long_lists_are_refused_at_once(tmp_path: Path) -> None:
    path, many = tmp_path / "grid.toml", list(range(2000))
    amounts = [(one + 1) / 2000 for one in many]
    path.write_text(
        f"format = 1\n[[lesions]]\ntargets = ['mlp']\namounts = {amounts}\nseeds = {many}"
    )
    with pytest.raises(UsageError, match="there are 4,000,000"):
        read_grid(path)


def test_a_message_shows_the_beginning_of_a_long_spec() -> None:
    with pytest.raises(UsageError) as caught:
        parse_lesions("+".join(["mlp:zero:0.5"] * 1000) + "@seeds=1")
    assert len(str(caught.value)) < 1000
