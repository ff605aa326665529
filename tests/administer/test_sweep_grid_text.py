"""Grids written from lesions have these lesions among their conditions."""

from __future__ import annotations

import pytest
import tomli

from tabwb.administer.sweep.grid import grid_of
from tabwb.administer.sweep.grid_text import OWN, grid_text
from tabwb.lesion.declared import Part
from tabwb.lesion.spec import lesion_text, parse_lesions
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError

PARTS = [
    Part(f"{layer}.{target}", target, layer, 4096, 4096, {f"{layer}.{target}": 16384})
    for layer in range(3)
    for target in ("attention.q", "mlp.down")
] + [Part("0.attention.heads", "attention.heads", 0, 64, 4096, {"0.attention.o": 16384})]
GIVEN = Conditions("bundled", "model")


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
    found = [point.lesion for point in grid.points(PARTS, GIVEN)]
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
