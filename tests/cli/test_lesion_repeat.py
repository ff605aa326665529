"""``tabwb lesion repeat``: what is printed, and the exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("lesionable")
LESION = "mlp.down:zero:0.5@seed=3"


def test_the_answers_are_compared_and_what_differs_is_named(run: Run, battery_file: Path) -> None:
    asked = ("--lesion", LESION, "--judge", "none")
    assert run("run", battery_file, "--model", "lesionable", *asked).status == 0
    same = run("lesion", "repeat", 1)
    assert same.status == 0
    assert same.out.splitlines() == [
        "3 of 3 answers are the same",
        "model, lesion and versions are those that are stored",
    ]
    other = run("lesion", "repeat", 1, "--model", "lesionable@dtype=bfloat16")
    assert other.status == 1 and "answers differ" in other.err
    assert "dtype" in other.out and "bfloat16" in other.out
    document = run("lesion", "repeat", 1, "--json").document
    assert (document["lesion"], document["answers"], document["same"]) == (LESION, 3, 3)
    assert document["different"] == document["facts"] == []


def test_a_model_that_cannot_be_lesioned_is_refused(run: Run, battery_file: Path) -> None:
    assert run("run", battery_file, "--model", "echo", "--judge", "none").status == 0
    refused = run("lesion", "repeat", 1)
    assert refused.status == 2 and "'echo' cannot be lesioned" in refused.err
