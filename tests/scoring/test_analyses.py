"""Intervals and tests of items, positions, foils, groups and sessions, in small simulations.

``benchmarks/analyses.py`` is the whole one; its table is in docs/uncertainty.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import (
    analyses,
    simulated_choices,
    simulated_groups,
    simulated_items,
    simulated_lesions,
)

PAGE = Path(__file__).parents[2] / "docs" / "uncertainty.md"


def test_difficulties_and_discriminations_are_within_their_errors() -> None:
    found = simulated_items.parameters("rasch", 60, 8, 25, np.random.default_rng(1))
    assert found["without"] == 0
    assert min(found["difficulty"], found["discrimination"]) > 0.87


def test_correlations_of_items_are_in_their_intervals() -> None:
    # 90 intervals of three items each of ten batteries: three standard errors are .04.
    found = simulated_items.correlation(30, 5, 30, np.random.default_rng(1))
    assert found["coverage"] > 0.9


def test_items_that_prefer_positions_keep_the_level_of_prompts_like_these() -> None:
    # Three standard errors of .05 over 150 studies are .053.
    rejected = np.zeros(2)
    for seed, design in enumerate(simulated_choices.DESIGNS):
        given = simulated_choices.Items(design, 5, 3, 2, spread=1.0, repeated=0.5)
        found = simulated_choices.positions(given, 25, np.random.default_rng(seed))
        rejected += [found["choices"], found["accuracy"]]
    assert (rejected / len(simulated_choices.DESIGNS) <= 0.104).all()


def test_a_preference_for_the_first_position_is_found() -> None:
    given = simulated_choices.Items("rotations", 10, 3, 5, spread=0.3, bias=1.0)
    found = simulated_choices.positions(given, 20, np.random.default_rng(1))
    assert min(found["these"], found["choices"], found["accuracy"]) > 0.7


def test_positions_and_foils_keep_their_level() -> None:
    rng = np.random.default_rng(2)
    given = simulated_choices.Items("rotations", 5, 3, 1)
    assert simulated_choices.positions(given, 25, rng)["these"] <= 0.2
    fixed = simulated_choices.foils(10, 10, 1, 0.0, 25, rng)
    varied = simulated_choices.foils(10, 10, 1, 0.1, 25, rng)
    assert fixed["these"] <= 0.2 and varied["like"] <= 0.2 and varied["coverage"] > 0.8


def test_groups_keep_their_level_together() -> None:
    found = simulated_groups.groups(10, 5, 0.0, 150, np.random.default_rng(3))
    assert found["alone"] <= found["together"] <= 0.1


@pytest.mark.parametrize("burden", [False, True])
def test_unequal_replicates_keep_level_and_coverage(burden: bool) -> None:
    found = simulated_groups.two_sides(
        12, (1, 20), -2.0, 0.7, burden, 0.0, 120, np.random.default_rng(4)
    )
    assert found["made"] <= 0.1 and found["coverage"] > 0.9
    if not burden:
        assert found["flipped"] > found["made"] + 0.03  # why signs are not flipped


def test_the_form_of_the_day_affects_a_trend_and_not_the_difference_of_two_sets() -> None:
    rng = np.random.default_rng(4)
    trend = simulated_groups.sessions(40, 4, 0.5, simulated_groups.trend, 200, rng)
    sets = simulated_groups.sessions(40, 4, 0.5, simulated_groups.sets, 200, rng)
    assert trend["rejected"] > 0.12 and sets["rejected"] <= 0.1


def test_every_cell_names_the_figures_that_it_makes() -> None:
    cells = analyses.cells()
    kinds = {kind for cell in cells for kind, _ in cell.rows.values()}
    assert kinds == set(analyses.KINDS) and len(cells) > 300


def test_the_table_in_the_docs_keeps_what_is_promised() -> None:
    text = PAGE.read_text(encoding="utf-8").split("<!-- analyses: begin -->")[1]
    text = text.split("<!-- analyses: end -->")[0]
    parts = re.split(r"^\| (interval|test|power) \|.*$", text, flags=re.M)[1:]
    rows = {
        kind: re.findall(r"^\| ([^|]+) \| (\d\.\d+) \| (\d\.\d+) \| \d+ \|$", part, re.M)
        for kind, part in zip(parts[::2], parts[1::2], strict=True)
    }
    assert [len(rows[kind]) >= least for kind, least in
            (("interval", 20), ("test", 30), ("power", 9))] == [True] * 3  # fmt: skip
    intervals = [row for row in rows["interval"] if "not in tabwb" not in row[0]]
    assert all(0.9 <= float(mean) <= 0.99 for _, mean, _ in intervals), intervals
    # Sign flips with unequal replicates and the tests that are not in tabwb are there to compare.
    kept = [
        row
        for row in rows["test"]
        if not re.search("form of the day|sign flips$|not in tabwb|varies more", row[0])
        or "against one" in row[0]
    ]
    assert len(kept) >= 25 and all(float(mean) <= 0.07 for _, mean, _ in kept), kept
    positions = [float(mean) for name, mean, _ in kept if ", prompts like these: " in name]
    assert len(positions) == 12 and max(positions) <= 0.055
    sets = [float(mean) for name, mean, _ in rows["test"] if name.startswith("trend of one set")]
    assert len(sets) == 3 and max(sets) <= 0.07


def test_drawn_answers_of_all_seeds_share_an_error() -> None:
    design = simulated_lesions.Design(5, 5, 10, 0.5, 2.0)
    found = simulated_lesions.over_seeds(design, 120, np.random.default_rng(6))
    assert min(found["value"], found["height"], found["slope"], found["intact"]) > 0.9
    assert found["value alone"] < 0.9  # what t over seeds covers without this error


def test_lesions_like_their_controls_are_rarely_told_apart() -> None:
    design = simulated_lesions.Design(5, 5)
    found = simulated_lesions.controls(design, 0.0, 100, np.random.default_rng(7))
    assert all(
        share <= 0.14 for name, share in found.items() if "coverage" not in name
    )  # three standard errors of .05 over 100 studies are .065
    assert all(share > 0.85 for name, share in found.items() if "coverage" in name)


def test_means_of_the_seeds_that_are_left_are_not_those_of_all() -> None:
    design = simulated_lesions.Design(10, 20, 0, 1.0, 5.0)
    found = simulated_lesions.dropout(design, 150, np.random.default_rng(8))
    assert found["rest"] < 0.93 < found["all"] + 0.06
    assert found["share of slope"] < 0.7  # usable texts rise less than all texts would


def test_phi_and_similarities_are_in_their_intervals() -> None:
    rng = np.random.default_rng(9)
    found = simulated_lesions.features_together(10, 10, 0.5, (0.4, 0.8), 100, rng)
    assert found["coverage"] > 0.88
    profile = simulated_lesions.Profile(6, 5, 5, sampled=True)
    alike = simulated_lesions.similarities(profile, 40, rng)
    assert alike["cosine"] > 0.85 and alike["spearman"] > 0.8
