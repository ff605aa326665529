"""Grids of selected units: their controls are random units of the same layers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabwb.administer.sweep.grid import read_grid
from tabwb.administer.sweep.point import Point
from tabwb.lesion.declared import Part
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError

PARTS = [Part(f"{layer}.mlp.neurons", "mlp.neurons", layer, 20, 200, {}) for layer in range(3)]


def points(tmp_path: Path, text: str) -> list[Point]:
    path = tmp_path / "grid.toml"
    path.write_text("format = 1\n[[lesions]]\ntargets = ['mlp.neurons']\n" + text)
    return list(read_grid(path).points(PARTS, Conditions("made-up", "model")))


def test_the_localizer_has_a_control_for_each_seed_and_amount(tmp_path: Path) -> None:
    text = "amounts = [0.1, 0.2]\nseeds = [1, 2, 3]\nselect = 'localizer'\ncontrols = true"
    found = points(tmp_path, text)
    for amount in ("0.1", "0.2"):
        lesion = f"mlp.neurons:zero:{amount}@select=localizer"
        assert [one.role for one in found if one.lesion == lesion] == ["lesion"]
        assert [(one.role, one.lesion) for one in found if one.matches == lesion] == [
            ("control", f"mlp.neurons:zero:{amount}@select=localizer-control,seed={seed}")
            for seed in (1, 2, 3)
        ]
    assert len(found) == 1 + 2 * (1 + 3)


def test_a_list_is_found_beside_the_grid_and_its_content_is_in_the_spec(tmp_path: Path) -> None:
    (tmp_path / "units.json").write_text(json.dumps({"format": 1, "units": {PARTS[0].name: [2]}}))
    text = "select = 'list'\nfile = 'units.json'\ncontrols = true\nseeds = [5]"
    _, lesion, control = points(tmp_path, text)
    place = f"file={tmp_path / 'units.json'},sha256=59853e1b30395c28"
    assert lesion.lesion == f"mlp.neurons:zero:1@select=list,{place}"
    assert control.lesion == f"mlp.neurons:zero:1@select=list-control,{place},seed=5"
    assert control.matches == lesion.lesion


def test_an_amount_of_the_localizer_that_takes_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="less than half of one neuron: there are 60"):
        points(tmp_path, "amounts = [0.001]\nselect = 'localizer'")
