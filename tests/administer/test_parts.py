"""A part of a battery: which items are given, and what keeps it apart from the whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.administer.session.plan import given_items, plan_trials
from tabwb.records.conditions import Conditions, compared, conditions_of, line_of
from tests.analysis.selected import tab

WHOLE = Conditions("echo", "model", replicates=2)
EVERY = [(subtest.id, item.id) for subtest in tab().subtests for item in subtest.items]
SUBTESTS = [subtest.id for subtest in tab().subtests]


def places(conditions: Conditions) -> list[tuple[str, str]]:
    return [(subtest.id, item.id) for subtest, items in given_items(tab(), conditions)
            for item in items]  # fmt: skip


@given(
    subtests=st.lists(st.sampled_from(SUBTESTS), unique=True),
    items=st.lists(st.sampled_from(EVERY), unique=True, max_size=6),
    limit=st.none() | st.integers(1, 6),
    whole_names=st.booleans(),
)
def test_a_part_is_what_a_plain_reading_of_its_three_conditions_gives(
    subtests: list[str], items: list[tuple[str, str]], limit: int | None, whole_names: bool
) -> None:
    names = tuple("/".join(item) if whole_names else item[1] for item in items)
    part = replace(WHOLE, part_subtests=tuple(subtests), part_items=names, part_limit=limit)
    expected = [
        place
        for place in EVERY
        if (not subtests or place[0] in subtests) and (not items or place in items)
    ]
    if limit is not None:
        seen: dict[str, int] = {}
        kept = []
        for place in expected:
            seen[place[0]] = seen.get(place[0], 0) + 1
            if seen[place[0]] <= limit:
                kept.append(place)
        expected = kept
    assert places(part) == expected
    planned = [(trial.subtest, trial.item) for trial in plan_trials(tab(), part)]
    assert planned == expected * 2


def test_the_items_of_a_part_do_not_depend_on_the_seed() -> None:
    part = replace(WHOLE, part_limit=2, item_order="shuffled")
    first, second = (
        {(trial.subtest, trial.item) for trial in plan_trials(tab(), replace(part, seed=seed))}
        for seed in (1, 2)
    )
    assert first == second


def test_a_part_is_shown_and_never_compared_with_the_whole() -> None:
    part = conditions_of("echo", "model", {"part_subtests": ("a,b", "a"), "part_limit": 3})
    assert part.part_subtests == ("a", "b")
    assert line_of(part)["part_subtests"] == "part: a, b, 3 of each subtest"
    assert "part_subtests" not in line_of(WHOLE)
    assert compared(part)["part"] != compared(WHOLE)["part"]
    pooled = ("part_subtests", "part_items", "part_limit")
    assert compared(part, pooled) == compared(replace(WHOLE, replicates=1), pooled)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_a_positive_number(limit: int) -> None:
    with pytest.raises(Exception, match="cannot be used"):
        conditions_of("echo", "model", {"part_limit": limit})
