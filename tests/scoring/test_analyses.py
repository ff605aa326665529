"""Intervals and tests of items, positions, foils, groups and sessions, in small simulations.

``benchmarks/analyses.py`` is the whole one; its table is in docs/uncertainty.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from benchmarks import analyses

PAGE = Path(__file__).parents[2] / "docs" / "uncertainty.md"


def test_difficulties_and_discriminations_are_within_their_errors() -> None:
    found = analyses.parameters("rasch", 60, 8, 25, np.random.default_rng(1))
    assert found["without"] == 0
    assert min(found["difficulty"], found["discrimination"]) > 0.87


def test_correlations_of_items_are_in_their_intervals() -> None:
    # 90 intervals of three items each of ten batteries: three standard errors are .04.
    assert analyses.correlation(30, 5, 30, np.random.default_rng(1)) > 0.9


def test_positions_and_foils_keep_their_level() -> None:
    rng = np.random.default_rng(2)
    these, _ = analyses.positions(5, 1, 0.0, 25, rng)
    assert these <= 0.2
    these, _, _ = analyses.foils(10, 10, False, 40, rng)
    _, like, held = analyses.foils(10, 10, True, 40, rng)
    assert these <= 0.16 and like <= 0.16 and held > 0.85


def test_groups_keep_their_level_together() -> None:
    together, single = analyses.groups(10, 5, 0.0, 150, np.random.default_rng(3))
    assert single <= together <= 0.1


def test_the_form_of_the_day_affects_a_trend_and_not_the_difference_of_two_sets() -> None:
    rng = np.random.default_rng(4)
    trend = analyses.sessions(40, 4, 0.5, analyses._trend, 200, rng)
    sets = analyses.sessions(40, 4, 0.5, analyses._sets, 200, rng)
    assert trend > 0.12 and sets <= 0.1


def test_the_table_in_the_docs_keeps_what_is_promised() -> None:
    text = PAGE.read_text(encoding="utf-8").split(analyses.BEGIN)[1].split(analyses.END)[0]
    rows = re.findall(r"^\| ([^|]+) \| (0\.\d+) \| (\d\.\d+) \| \d+ \|$", text, re.M)
    intervals = [row for row in rows if float(row[1]) > 0.5]
    tests = [row for row in rows if float(row[1]) <= 0.5 and "form of the day" not in row[0]]
    assert len(intervals) >= 14 and len(tests) >= 10
    assert all(0.9 <= float(mean) <= 0.99 for _, mean, _ in intervals), intervals
    # Where items differ in the positions that they prefer, this one rejects more: the page says so.
    loose = "choices by position, prompts like these"
    assert all(float(mean) <= (0.1 if name == loose else 0.08) for name, mean, _ in tests), tests
    sets = [float(mean) for name, mean, _ in rows if name.startswith("trend of one set")]
    assert len(sets) == 3 and max(sets) <= 0.07
