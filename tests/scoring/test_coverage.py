"""Intervals and tests keep what they say, in small seeded simulations; benchmarks has all."""

from __future__ import annotations

import re
from dataclasses import replace
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
from benchmarks import simulated_burdens as burdens
from benchmarks.coverage import (
    LIKE,
    THESE,
    Population,
    Row,
    Study,
    Tally,
    bootstrap_study,
    burden_population,
    burden_study,
    difference_study,
    family_tally,
    rate_population,
    rate_study,
    tally,
)

LOW = burden_population(0.3, 7, (0.8, 1.0))
HIGH = burden_population(2.0, 19, (0.8, 1.0))
RARE, COMMON = rate_population(0.1, 1.5), rate_population(0.6, 1.0)


def over(
    study: Study, populations: list[Population], replicates: tuple[int, ...], studies: int = 80
) -> Row:
    rng = np.random.default_rng(11)
    return Row(
        "",
        tuple(
            tally(study, population, k, r, studies, rng)
            for population in populations
            for k in (5, 10)
            for r in replicates
        ),
    )


@pytest.mark.parametrize(
    ("study", "populations", "replicates"),
    [
        (burden_study(LIKE, 7), [LOW], (1, 6)),
        (burden_study(LIKE, 19), [HIGH], (1, 6)),
        (burden_study(LIKE, 19, missing=True), [HIGH], (6, 20)),
        (burden_study(THESE, 7), [LOW], (2, 10)),
        (burden_study(THESE, 19, missing=True), [HIGH], (10, 20)),
        (rate_study(LIKE), [RARE, COMMON], (1, 6)),
        (rate_study(LIKE, missing=True), [RARE, COMMON], (6,)),
        (rate_study(THESE), [RARE, COMMON], (2, 10)),
        (rate_study(THESE, missing=True), [RARE, COMMON], (10,)),
        (difference_study(LIKE, 19, 1.6), [HIGH], (1, 6)),
        (difference_study(THESE, 19, 1.6), [HIGH], (2, 10)),
        (difference_study(LIKE, None, 1.6), [RARE, COMMON], (1, 6)),
        (difference_study(THESE, None, 1.6), [RARE, COMMON], (2, 10)),
    ],
)
def test_intervals_hold_the_true_value(
    study: Study, populations: list[Population], replicates: tuple[int, ...]
) -> None:
    found = over(study, populations, replicates)
    # 320 studies: three standard errors of .95 are .037.
    assert found.mean >= 0.92
    assert found.least > 0.86
    assert found.without_width == 0


def test_intervals_are_not_far_too_wide() -> None:
    # Where many responses to 10 items say much, coverage near 1 would be waste.
    found = over(burden_study(LIKE, 19), [HIGH], (20,), studies=300)
    assert found.mean < 0.99


def test_the_former_bootstrap_fails_this_simulation() -> None:
    found = over(bootstrap_study, [LOW], (1, 6))
    assert found.mean < 0.9
    assert found.without_width > 0


def test_families_by_items() -> None:
    found: Tally = family_tally(5, 5, (0.4, 0.4, 0.3), False, 300, np.random.default_rng(3))
    assert found.coverage >= 0.92


def test_where_families_differ_and_items_do_not_the_interval_over_families_is_no_wider() -> None:
    # Then it is the t interval over families, whose coverage is exact: .95, standard error .007.
    found = family_tally(5, 20, (0.4, 0.0, 0.01), False, 1000, np.random.default_rng(3))
    assert found.coverage == pytest.approx(0.95, abs=0.02)


def test_the_true_means_of_the_generator() -> None:
    # By drawing, not by quadrature.
    rng = np.random.default_rng(5)
    items = HIGH.draw_items(4000, rng)[0]
    assert HIGH.draw(items, 4, rng).mean() == pytest.approx(HIGH.mean, rel=0.03)
    assert HIGH.draw(items[:3], 4000, rng).mean() == pytest.approx(
        float(HIGH.these(items[:3])), rel=0.03
    )


def test_the_table_in_the_docs_keeps_what_is_promised() -> None:
    page = (Path(__file__).parents[2] / "docs" / "uncertainty.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (0\.\d+) \| (0\.\d+) \| \d+ \| ([\d.]+)% \|$", page, re.M)
    promised = [row for row in rows if "former" not in row[0] and "one prompt" not in row[0]]
    assert len(promised) >= 12
    # Skewed effects of few families are said to cover less, as rates of few draws at the edges are.
    worst = {
        "families by items, skewed effects": (0.92, 0.86),
        "difference (rates), these prompts, one side greedy": (0.93, 0.88),
    }
    for name, mean, least, without_width in promised:
        lowest = worst.get(name, (0.93, 0.9))
        assert lowest[0] <= float(mean) <= 0.98, name
        assert float(least) >= lowest[1], name
        assert float(without_width) == 0, name


def test_the_generator_of_burdens_has_the_correlation_and_the_means_that_it_says() -> None:
    rng = np.random.default_rng(2)
    found = burdens.together(np.full((1, 40_000), 0.1), 19, 0.3, rng)
    expected = 19 * 0.1 * 0.9 * (1 + 18 * 0.3)
    assert found.mean() == pytest.approx(1.9, rel=0.03)
    assert found.var() == pytest.approx(expected, rel=0.05)
    for draw in (
        burdens.plain(0.1, 0.1, "normal"),
        burdens.plain(0.03, 0.0, "skewed"),
        burdens.plain(0.1, 0.1, "five"),
        burdens.collapsing(0.1, 0.5, 0.1, "normal"),
        burdens.clustered(0.1, 0.1, known=True),
    ):
        study = draw(7, 20_000, 2, rng)
        mean = float(np.mean(study.values))
        assert mean == pytest.approx(study.like, rel=0.05)
        assert mean == pytest.approx(study.these, rel=0.05)


def test_what_goes_missing_by_item_biases_the_mean_over_responses_and_not_that_over_items() -> None:
    study = burdens.missing(0.1, 0.1, 0.9)(7, 4000, 20, np.random.default_rng(3))
    kept = [item for item in study.values if len(item)]
    assert np.mean([item.mean() for item in kept]) == pytest.approx(study.like, rel=0.05)
    assert np.concatenate(kept).mean() < 0.85 * study.like


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("correlated features (.1, .3)", 0.9),
        ("collapsing responses (1, 3, 10 %)", 0.9),
        ("missing, moderate, item-weighted", 0.9),
        ("clusters of four items", 0.85),
    ],
)
def test_the_interval_of_a_burden_holds_where_the_former_did_not(name: str, least: float) -> None:
    (group,) = [one for one in burdens.groups() if one.name == name]
    small = replace(group, draws=group.draws[:2], items=group.items[:1], replicates=(5,))
    found = burdens.tallied(small, studies=60, quick=False)
    coverage = [cell.coverage for cells in found.values() for cell in cells]
    assert coverage and np.mean(coverage) >= least
    former = replace(small, former=True)
    before = burdens.tallied(former, studies=60, quick=False)[LIKE]
    assert np.mean([cell.coverage for cell in before]) <= np.mean(coverage)


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


def test_the_table_of_analyses_keeps_what_is_promised() -> None:
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
