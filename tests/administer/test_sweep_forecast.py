"""What a sweep says of its seeds before it begins."""

from __future__ import annotations

import pytest

from tabwb.administer.sweep.forecast import Forecast, seeds_of
from tabwb.administer.sweep.point import Point, Role
from tabwb.records.conditions import Conditions


def points(*lesions: str, role: Role = "lesion") -> list[Point]:
    return [Point(role, Conditions("m", "model", lesion=one or None)) for one in lesions]


def test_seeds_are_counted_for_each_lesion_and_amount() -> None:
    full = [f"mlp:zero:{amount}@seed={seed}" for amount in (0.1, 0.2) for seed in range(5)]
    assert seeds_of(points(*full)) == 5
    assert seeds_of(points(*full[:-2])) == 3
    assert seeds_of(points(*full, "norm:zero")) == 5  # nothing is drawn there
    assert seeds_of([*points(*full), *points("projections:zero:0.1", role="control")]) == 5
    assert seeds_of(points("norm:zero", "")) == 0


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
