"""Grids of other perturbations than lesions: temperatures, prompt noise, checkpoints, numbers."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import tomli

from tabwb.administer.session.smallest_difference import showable
from tabwb.administer.sweep.forecast import Forecast, over_seeds, said_over_seeds, seeds_of
from tabwb.administer.sweep.grid import OWN, Grid, grid_of, grid_text, read_grid
from tabwb.administer.sweep.sweep import Point, Role
from tabwb.lesion.declared import Part
from tabwb.lesion.spec import lesion_text, parse_lesions
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Decoding
from tabwb.scoring.detectable import detectable_over_seeds
from tests.analysis.given import BATTERY


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
        ("", "format: is missing: format = 1"),
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
        ("format = 1\n[[lesions]]\ntargets = ['attention.heads']\nneurons = ['0']", "has neurons="),
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


SIZED_PARTS = [
    Part("0.mlp.down", "mlp.down", 0, 100, 100, {}),
    Part("embedding", "embedding", None, 9, 9, {}),
]
GIVEN = Conditions("base", "model", seed=4, decoding=Decoding(seed=4), labels={"family": "F"})
LESION = "[[lesions]]\ntargets = ['mlp.down']\namounts = [0.5]\ncontrols = true\n"


def grid(tmp_path: Path, text: str) -> Grid:
    path = tmp_path / "grid.toml"
    path.write_text(f"format = 1\n{text}")
    return read_grid(path)


def other_points(tmp_path: Path, text: str, given: Conditions = GIVEN) -> tuple[Point, ...]:
    return grid(tmp_path, text).points(SIZED_PARTS, given, resolved)


def resolved(given: Conditions) -> Conditions:
    if given.examinee == "nothing":
        raise UsageError("'nothing' is not a model")
    return replace(given, examinee=given.examinee.lower(), labels={"tuning": "instruct"})


def test_temperatures_with_each_seed_and_greedy_answers_once(tmp_path: Path) -> None:
    found = other_points(tmp_path, "[[temperatures]]\nvalues = [0, 0.7, 1.4]\nseeds = [4, 5]")
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
    found = other_points(tmp_path, "[[temperatures]]\nvalues = [0]\nseeds = [4, 5]", shuffled)
    assert [p.conditions.seed for p in found] == [4, 5]


def test_lesions_are_given_under_a_setting_where_it_says_so(tmp_path: Path) -> None:
    alone = other_points(tmp_path, LESION + "[[temperatures]]\nvalues = [1]")
    assert [p.role for p in alone] == ["intact", "lesion", "control", "perturbation"]
    both = other_points(tmp_path, LESION + "[[temperatures]]\nvalues = [1]\nlesions = true")
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
    found = [p.conditions.prompt_noise for p in other_points(tmp_path, text)]
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
    found = other_points(tmp_path, text + LESION)
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
        found = other_points(tmp_path, text.format(operation, numbers))
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
def test_wrong_grids_of_others(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        other_points(tmp_path, text)


TEXT_PARTS = [
    Part(f"{layer}.{target}", target, layer, 4096, 4096, {f"{layer}.{target}": 16384})
    for layer in range(3)
    for target in ("attention.q", "mlp.down")
] + [Part("0.attention.heads", "attention.heads", 0, 64, 4096, {"0.attention.o": 16384})]
BUNDLED = Conditions("bundled", "model")


@pytest.mark.parametrize(
    "spec",
    [
        "mlp.down:zero:0.3",
        "mlp.down:scale:0.3@layers=0-1,factor=0.5,seed=7",
        "mlp.down:noise:0.3@layers=-1,sigma=2,seed=2",
        "mlp.down:quantise:0.3@bits=4,seed=2",
        "attention.q:zero:0.3@select=magnitude",
        "attention.heads:zero:0.3@layers=0,heads=0-19,seed=2",
        "attention.q:zero:0.3@seed=2+mlp.down:zero:0.3@seed=2",
    ],
)
def test_the_lesion_is_one_of_the_conditions(spec: str) -> None:
    lesions = parse_lesions(spec)
    text = grid_text(lesions, 'a"b', (0.1, 0.3), (1, 2, 7), OWN, controls=False)
    grid = grid_of(tomli.loads(text))
    assert grid.name == 'a"b'
    found = [point.lesion for point in grid.points(TEXT_PARTS, BUNDLED)]
    assert lesion_text(lesions) in found


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("attention.heads:zero:0.3@heads=0+attention.heads:zero:0.3@heads=1", "differ in more"),
        ("mlp.down:zero:0.3+attention.q:zero:0.2", "differ in more"),
    ],
)
def test_what_a_grid_cannot_say_is_refused(spec: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        grid_text(parse_lesions(spec), "x", (0.1,), (1,), OWN, controls=True)


UNIT_PARTS = [Part(f"{layer}.mlp.neurons", "mlp.neurons", layer, 20, 200, {}) for layer in range(3)]


def unit_points(tmp_path: Path, text: str) -> list[Point]:
    path = tmp_path / "grid.toml"
    path.write_text("format = 1\n[[lesions]]\ntargets = ['mlp.neurons']\n" + text)
    return list(read_grid(path).points(UNIT_PARTS, Conditions("made-up", "model")))


def test_the_localizer_has_a_control_for_each_seed_and_amount(tmp_path: Path) -> None:
    text = "amounts = [0.1, 0.2]\nseeds = [1, 2, 3]\nselect = 'localizer'\ncontrols = true"
    found = unit_points(tmp_path, text)
    for amount in ("0.1", "0.2"):
        lesion = f"mlp.neurons:zero:{amount}@select=localizer"
        assert [one.role for one in found if one.lesion == lesion] == ["lesion"]
        assert [(one.role, one.lesion) for one in found if one.matches == lesion] == [
            ("control", f"mlp.neurons:zero:{amount}@select=localizer-control,seed={seed}")
            for seed in (1, 2, 3)
        ]
    assert len(found) == 1 + 2 * (1 + 3)


def test_a_list_is_found_beside_the_grid_and_its_content_is_in_the_spec(tmp_path: Path) -> None:
    (tmp_path / "units.json").write_text(
        json.dumps({"format": 1, "units": {UNIT_PARTS[0].name: [2]}})
    )
    text = "select = 'list'\nfile = 'units.json'\ncontrols = true\nseeds = [5]"
    _, lesion, control = unit_points(tmp_path, text)
    place = f"file={tmp_path / 'units.json'},sha256=59853e1b30395c28"
    assert lesion.lesion == f"mlp.neurons:zero:1@select=list,{place}"
    assert control.lesion == f"mlp.neurons:zero:1@select=list-control,{place},seed=5"
    assert control.matches == lesion.lesion


def test_an_amount_of_the_localizer_that_takes_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="less than half of one neuron: there are 60"):
        unit_points(tmp_path, "amounts = [0.001]\nselect = 'localizer'")


def measured_points(*lesions: str, role: Role = "lesion") -> list[Point]:
    return [Point(role, Conditions("m", "model", lesion=one or None)) for one in lesions]


def test_seeds_are_counted_for_each_lesion_and_amount() -> None:
    full = [f"mlp:zero:{amount}@seed={seed}" for amount in (0.1, 0.2) for seed in range(5)]
    assert seeds_of(measured_points(*full)) == 5
    assert seeds_of(measured_points(*full[:-2])) == 3
    assert seeds_of(measured_points(*full, "norm:zero")) == 5  # nothing is drawn there
    assert (
        seeds_of(
            [*measured_points(*full), *measured_points("projections:zero:0.1", role="control")]
        )
        == 5
    )
    assert seeds_of(measured_points("norm:zero", "")) == 0


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        (5, "5 seeds or more of each lesion: means over seeds have intervals"),
        (2, "2 seeds of a lesion: means over its seeds have no interval and no test; 5 seeds or "
            "more do"),
    ],
)  # fmt: skip
def test_too_few_seeds_are_told_before_a_sweep(seeds: int, words: str) -> None:
    lines = list(Forecast({"lesion": 4}, 0, 20, 1.0, seeds, ()).lines(1))
    assert lines[3] == words
    assert len(list(Forecast({"lesion": 4}, 0, 20, 1.0, 0, ()).lines(1))) == len(lines) - 1


GREEDY = Conditions("m", "model")


def test_accuracies_are_those_of_the_smallest_subtest() -> None:
    rows = over_seeds(6, BATTERY, showable(BATTERY, GREEDY), controls=True)
    assert {row.seeds for row in rows} == {6}
    assert {row.than for row in rows} == {"a control of its size", "the intact model"}
    words = next(row for row in rows if row.measure == "accuracy" and "control" in row.than)
    assert words.items == 2  # the fewest of a scored subtest
    assert words.difference == detectable_over_seeds(6, 2, None, controls=True)


def test_without_controls_lesions_are_compared_with_the_intact_model() -> None:
    rows = over_seeds(5, BATTERY, showable(BATTERY, GREEDY), controls=False)
    assert {row.than for row in rows} == {"the intact model"}
    lines = list(said_over_seeds(rows))
    assert "over 5 seeds (other draws of units, these prompts" in lines[0]


def test_few_seeds_show_nothing_and_lesions_without_draws_have_no_seeds() -> None:
    rows = over_seeds(3, BATTERY, showable(BATTERY, GREEDY), controls=False)
    assert {row.difference.reason for row in rows} == {"fewer than 5 seeds"}
    assert over_seeds(0, BATTERY, showable(BATTERY, GREEDY), controls=True) == ()
    assert list(said_over_seeds(())) == []
