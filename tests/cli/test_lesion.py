"""``tabwb lesion``: repeated answers, sweeps of other perturbations, and the exit status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tabwb.administer.sweep.sweep import Sweep
from tabwb.records.errors import ComponentError
from tests.administer.test_sweeps import GRID
from tests.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("lesionable")
LESION = "mlp.down:zero:0.5@seed=3"


def test_the_answers_are_compared_and_what_differs_is_named(run: Run, battery_file: Path) -> None:
    asked = ("--lesion", LESION, "--judge", "none")
    run("run", battery_file, "--model", "lesionable", *asked)
    same = run("lesion", "repeat", 1)
    assert same.out.splitlines() == [
        "3 of 3 answers are the same",
        "model, lesion and versions are those that are stored",
    ]
    other = run("lesion", "repeat", 1, "--model", "lesionable@dtype=bfloat16", status=1)
    assert other.status == 1 and "answers differ" in other.err
    assert "dtype" in other.out and "bfloat16" in other.out
    document = run("lesion", "repeat", 1, "--json").document
    assert (document["lesion"], document["answers"], document["same"]) == (LESION, 3, 3)
    assert document["different"] == document["facts"] == []


def test_a_model_that_cannot_be_lesioned_is_refused(run: Run, battery_file: Path) -> None:
    run("run", battery_file, "--model", "echo", "--judge", "none")
    run("lesion", "repeat", 1, status=2, err="'echo' cannot be lesioned")


def _written(file: Path, grid: Mapping[str, Any]) -> Path:
    tables = [
        "\n".join([f"[[{name}]]", *(f"{key} = {json.dumps(value)}" for key, value in row.items())])
        for name, rows in grid.items()
        if isinstance(rows, list)
        for row in rows
    ]
    file.write_text("\n".join(["format = 1", *tables]))
    return file


@pytest.mark.usefixtures("lesionable")
def test_the_command_lists_all_and_results_tell_them_apart(run: Run, tmp_path: Path) -> None:
    file = _written(tmp_path / "grid.toml", GRID)
    asked = ("lesion", "sweep", "tab", "--model", "lesionable", "--grid", file, "--limit", 1)
    dry = run(*asked, "--dry-run")
    assert [line.split(maxsplit=1) for line in dry.out.splitlines()] == [
        ["intact", "-"],
        ["lesion", "mlp:quantise:1@bits=8"],
        ["lesion", "mlp:quantise:1@bits=4"],
        ["perturbation", "temperature 0.7"],
        ["perturbation", "temperature 0.7, seed 2"],
        ["perturbation", "prompt noise words:drop:0.5@seed=1"],
        ["perturbation", "prompt noise words:drop:0.5@seed=2"],
        ["perturbation", "lesionable-child"],
        ["lesion", "mlp:quantise:1@bits=8, lesionable-child"],
        ["lesion", "mlp:quantise:1@bits=4, lesionable-child"],
    ]
    run(*asked, "--judge", "none")
    groups = run("results", "--by", "parent,dose,lesion-bits", "--json").document["groups"]
    found = {tuple(group["values"].values()) for group in groups if group["values"]["parent"]}
    assert found == {("lesionable", 100.0, bits) for bits in (None, 4.0, 8.0)}


@pytest.mark.usefixtures("lesionable")
def test_a_failed_condition_is_named_by_what_it_replaces(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Sweep.loaded

    def unloaded(sweep: Sweep, spec: str) -> Any:
        if spec == "lesionable-child":
            raise ComponentError("no memory")
        return loaded(sweep, spec)

    monkeypatch.setattr(Sweep, "loaded", unloaded)
    file = _written(tmp_path / "grid.toml", {"checkpoints": [{"model": "lesionable-child"}]})
    asked = ("lesion", "sweep", "tab", "--model", "lesionable", "--grid", file, "--limit", 1)
    found = run(*asked, "--judge", "none", "--json", status=1)
    assert json.loads(found.out)["failed"] == [
        {"role": "perturbation", "lesion": "", "setting": "lesionable-child", "reason": "no memory"}
    ]
