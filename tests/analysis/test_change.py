"""One participant over sessions: counts by hand, published tests, sets of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.change import (
    ALL_ITEMS,
    Change,
    ChangeTest,
    change_of,
    change_table,
    chosen_sessions,
    sets_of_rows,
    sets_of_tags,
)
from tabwb.battery.model import Item
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tests.analysis.given import BATTERY, administration, answered

N = 8
ITEMS = tuple(
    Item(f"r{at}", f"Please repeat exactly: house{at}.", (), f"house{at}.",
         tags=("trained" if at < 4 else "untrained",))
    for at in range(N)
)  # fmt: skip
# Rows are items, columns sessions: two before treatment, two after it began.
RIGHT = np.array([
    [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 1, 1], [0, 0, 1, 1],
    [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1],
])  # fmt: skip
WEIGHTS = [-1.5, -0.5, 0.5, 1.5]
SETS = {"trained": [("repetition", f"r{at}") for at in range(4)],
        "untrained": [("repetition", f"r{at}") for at in range(4, 8)]}  # fmt: skip


def battery() -> object:
    parts = tuple(
        replace(part, items=ITEMS) if part.id == "repetition" else part for part in BATTERY.subtests
    )
    return replace(BATTERY, subtests=parts)


def session(
    number: int, date: str, right: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> AdministrationData:
    """One session: whether each item is right."""
    given = battery()
    monkeypatch.setattr("tests.analysis.given.BATTERY", given)
    trials = tuple(
        answered(item.id, item.expected or "" if ok else "no", number=at)
        for at, (item, ok) in enumerate(zip(ITEMS, right, strict=True), start=1)
    )
    conditions = Conditions("S-014", "speaker", session_date=date)
    return AdministrationData(administration(number, conditions), given, trials)  # type: ignore[arg-type]


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch) -> list[AdministrationData]:
    """Four sessions, not in the order of their days."""
    days = ["2026-01-05", "2026-01-12", "2026-02-02", "2026-03-02"]
    made = [
        session(number, day, RIGHT[:, at].tolist(), monkeypatch)
        for number, (at, day) in enumerate(zip(range(4), days, strict=True), start=1)
    ]
    return [made[2], made[0], made[3], made[1]]


def of(change: Change, name: str, measure: str) -> ChangeTest:
    (found,) = (
        one for one in change.tests if (one.set, one.other_set, one.measure) == (name, "", measure)
    )
    return found


def test_sessions_are_in_the_order_of_their_days(members: list[AdministrationData]) -> None:
    change = change_of(members)
    assert change.participant == "S-014"
    assert [made.administration for made in change.sessions] == [1, 2, 3, 4]
    (every,) = change.sets
    assert every.name == ALL_ITEMS and not every.left_out
    assert [share.correct for share in change.shares] == RIGHT.sum(axis=0).tolist()


def test_steps_are_mcnemars_tests_corrected_by_holm(members: list[AdministrationData]) -> None:
    steps = change_of(members).steps(ALL_ITEMS)
    assert [step.sessions for step in steps] == ["1 to 2", "2 to 3", "3 to 4", "1 to 4"]
    last = steps[-1]
    assert (last.gained, last.lost) == (5, 1)
    assert last.p == pytest.approx(stats.binomtest(5, 6, 0.5).pvalue)
    assert last.value == pytest.approx(4 / 8)
    p = sorted(step.p for step in steps if step.p is not None)
    least = min(step.p_adjusted or 1.0 for step in steps)
    assert least == pytest.approx(min(1.0, len(p) * p[0]))


def test_trend_and_rate_of_change_flip_signs_over_items(members: list[AdministrationData]) -> None:
    change = change_of(members, SETS, baselines=2)
    trend = of(change, "trained", "trend")
    assert trend.t == pytest.approx(stats.ttest_1samp(RIGHT[:4] @ WEIGHTS, 0).statistic)
    # All four sums are above 0: 2 of 16 assignments of signs are as far from it.
    assert (trend.p, trend.p_one_sided) == (0.125, 0.0625)
    # Slope over sessions 2 to 4 less the slope over sessions 1 and 2, by least squares.
    slopes = [np.polyfit(range(3), row[1:], 1)[0] - (row[1] - row[0]) for row in RIGHT[:4]]
    assert of(change, "trained", "rate_of_change").value == pytest.approx(np.mean(slopes))
    every = np.polyfit(range(4), RIGHT.mean(axis=0), 1)[0]
    assert of(change, ALL_ITEMS, "trend").value == pytest.approx(every)
    # Without baselines there is no rate of change, of two sessions no trend.
    assert {one.measure for one in change_of(members).tests} == {"difference", "trend"}
    two = of(change_of(members[:2]), ALL_ITEMS, "trend")
    assert two.p is None and two.reason == "trend: fewer than 3 sessions"
    # Items that change alike point to McNemar's test.
    alike = [("repetition", "r0"), ("repetition", "r3")]
    same = of(change_of(members, {"alike": alike}), "alike", "trend")
    assert same.interval is None and "McNemar" in same.reason and same.p in (0.5, 1.0)


def test_trained_set_against_untrained_is_welchs_test(members: list[AdministrationData]) -> None:
    tests = change_of(members, SETS, baselines=2).tests
    trend, rate = (one for one in tests if one.other_set)
    assert (trend.measure, trend.set, trend.other_set) == ("trend", "trained", "untrained")
    sums = RIGHT[:4] @ WEIGHTS, RIGHT[4:] @ WEIGHTS
    expected = stats.ttest_ind(*sums, equal_var=False)
    assert (trend.t, trend.df, trend.p) == pytest.approx(
        (expected.statistic, expected.df, expected.pvalue)
    )
    greater = stats.ttest_ind(*sums, equal_var=False, alternative="greater").pvalue
    assert trend.p_one_sided == pytest.approx(greater)
    assert rate.measure == "rate_of_change"
    tests = change_of([members[1], members[2]], SETS).tests
    (between,) = (one for one in tests if one.other_set)
    change = RIGHT[:, 3] - RIGHT[:, 0]
    assert between.measure == "difference"
    assert between.value == pytest.approx(change[:4].mean() - change[4:].mean())


def test_an_item_without_an_answer_in_a_session_is_left_out(
    members: list[AdministrationData],
) -> None:
    members[0] = replace(members[0], trials=members[0].trials[1:])
    change = change_of(members, SETS)
    every, trained, _ = change.sets
    assert every.left_out == trained.left_out == (("repetition", "r0"),)
    assert [share.n for share in change.shares if share.set == "trained"] == [3] * 4
    (warning,) = change.warnings
    assert warning.startswith("1 of 8 items are left out") and "session 3 (" in warning
    assert "session 2" not in warning and change.without == (0, 0, 1, 0)
    table = change_table(change)
    assert warning in table.notes and table["left_out"].to_list()[0] == 1


def test_sessions_are_named_by_number_or_day(members: list[AdministrationData]) -> None:
    own = [member.administration for member in members]
    assert chosen_sessions(own, f"{own[0].id},#{own[2].id}") == [own[0], own[2]]
    assert chosen_sessions(own, own[1].session_date) == [own[1]]
    assert chosen_sessions(own, None) == own
    with pytest.raises(UsageError, match="there is no session '99'"):
        chosen_sessions(own, "99")


def test_wrong_requests_are_explained(members: list[AdministrationData]) -> None:
    with pytest.raises(UsageError, match="has one session"):
        change_of(members[:1])
    given = members[0].administration
    model = replace(given, conditions=replace(given.conditions, examinee="echo", kind="model"))
    with pytest.raises(UsageError, match="'echo' has one session"):
        change_of([replace(members[0], administration=model)])
    with pytest.raises(UsageError, match="4 sessions before treatment of 4"):
        change_of(members, baselines=4)


def test_sets_come_from_tags_or_rows(members: list[AdministrationData]) -> None:
    subtests = members[0].battery.subtests
    assert sets_of_tags(subtests, ["trained", "untrained"]) == {
        name: tuple(own) for name, own in SETS.items()
    }
    rows = [{"item": "r0", "set": "mine"}, {"item": "r7", "set": ""}, {"item": "r1", "set": "mine"}]
    assert sets_of_rows(subtests, rows, "sets.csv") == {
        "mine": (("repetition", "r0"), ("repetition", "r1"))
    }
    with pytest.raises(UsageError, match="has the tag 'treated'"):
        sets_of_tags(subtests, ["treated"])
    with pytest.raises(UsageError, match=r"sets.csv line 2: the battery has no item 'r9'"):
        sets_of_rows(subtests, [{"item": "r9", "set": "a"}], "sets.csv")
    with pytest.raises(UsageError, match="no column 'item' or 'set'"):
        sets_of_rows(subtests, [{"items": "r1"}], "sets.csv")
