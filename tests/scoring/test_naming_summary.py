"""A naming subtest: its figures, counted by hand; late answers, cues, discontinuing, basal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.scoring.estimate import clopper_pearson
from tabwb.scoring.naming.summary import (
    CueCount,
    NamedItem,
    Outcome,
    accuracy,
    code_profile,
    cue_counts,
    is_late,
    next_item,
    not_needed,
    outcome_of,
    should_discontinue,
    summarise,
)

BOTH = {"correct-any": True, "correct-first": True}
ITEMS = [
    NamedItem(
        "bed", "bed", "answered", person=True, rules=BOTH, outcome="right", code="correct",
        proposed="correct", latency_s=1.0,
    ),
    NamedItem(
        "bird", "bird", "answered", person=True,
        rules={"correct-any": True, "correct-first": False}, outcome="right", code="correct",
        proposed="nonword-related", flags=("self-corrected", "after-cue"),
        cues=(("stimulus", True),), latency_s=3.0,
    ),
    NamedItem(
        "cat", "cat", "answered", person=False,
        rules={"correct-any": False, "correct-first": None}, outcome="error", code="semantic",
        proposed="undecided", cues=(("stimulus", True), ("phonemic", False)), latency_s=9.0,
    ),
    NamedItem(
        "dog", "dog", "answered", person=True, outcome="right-after-cue", code="correct",
        flags=("after-cue",), cues=(("phonemic", False),), latency_s=20.0,
    ),
    NamedItem("house", "house", "answered"),
    NamedItem("tree", "tree", "not-scorable", "a door slammed", person=True, rules=BOTH),
    NamedItem("sun", "sun", "not-administered"),
    NamedItem("cup", "cup", "void", "wrong picture", person=False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("basis", "correct", "n", "open_"),
    [
        ("outcome", 2, 4, 1),
        ("person", 3, 4, 1),
        ("correct-any", 2, 3, 2),
        ("correct-first", 1, 2, 3),
    ],
)
def test_accuracy_by_each_basis(basis: str, correct: int, n: int, open_: int) -> None:
    found = accuracy(ITEMS, basis)  # type: ignore[arg-type]
    assert (found.correct, found.n, found.open) == (correct, n, open_)
    assert found.rate == correct / n
    assert found.interval == clopper_pearson(correct, n)
    nothing = accuracy(ITEMS[5:], "person")
    assert (nothing.n, nothing.rate, nothing.interval) == (0, None, None)


def test_a_summary_counts_statuses_flags_and_latencies_of_right_answers_without_help() -> None:
    found = summarise(ITEMS)
    assert dict(found.statuses) == {
        "answered": 5, "not-scorable": 1, "not-administered": 1, "void": 1
    }  # fmt: skip
    assert dict(found.flags) == {"self-corrected": 1, "after-cue": 2}
    assert (found.latency_median_s, found.latency_n) == (2.0, 2)
    assert summarise(ITEMS[4:]).latency_median_s is None


def test_codes_stand_in_the_order_of_the_table() -> None:
    assert list(code_profile(ITEMS, lambda one: one.code).items()) == [
        ("correct", 3),
        ("semantic", 1),
    ]
    assert code_profile(ITEMS, lambda one: one.proposed) == {
        "correct": 1,
        "nonword-related": 1,
        "undecided": 1,
    }


def test_each_kind_of_cue_is_counted_with_what_came_of_it() -> None:
    assert cue_counts(ITEMS) == (
        CueCount("stimulus", counts=True, given=2, right_after=1),
        CueCount("phonemic", counts=False, given=2, right_after=1),
    )
    # A right name belongs to the last cue before it.
    cues = (("semantic", False), ("phonemic", False))
    named = [NamedItem("a", "a", "answered", outcome="right-after-cue", cues=cues)]
    found = [(one.kind, one.right_after) for one in cue_counts(named)]
    assert found == [("semantic", 0), ("phonemic", 1)]


OUTCOMES: tuple[Outcome | None, ...] = ("right", "right-after-cue", "error", None)


def test_the_limit_itself_is_not_late() -> None:
    assert [is_late(each, 20.0) for each in (19.9, 20.0, 20.1)] == [False, False, True]
    assert not is_late(100.0, None)


@pytest.mark.parametrize(
    ("right", "options", "outcome"),
    [
        (None, {}, None),
        (True, {}, "right"),
        (False, {}, "error"),
        (True, {"late": True}, "error"),
        (True, {"late": True, "late_counts": True}, "right"),
        (False, {"late": True, "late_counts": True}, "error"),
        # BNT: a stimulus cue counts, a phonemic one does not.
        (True, {"cues_count": (True,)}, "right"),
        (True, {"cues_count": (False,)}, "right-after-cue"),
        (True, {"cues_count": (True, False)}, "right-after-cue"),
        (False, {"cues_count": (True,)}, "error"),
        (True, {"late": True, "cues_count": (False,)}, "error"),
    ],
)
def test_what_an_item_counts_as(
    right: bool | None, options: dict[str, object], outcome: Outcome | None
) -> None:
    assert outcome_of(right, **options) == outcome  # type: ignore[arg-type]


def course(text: str) -> list[Outcome | None]:
    """One letter for each item: right, cued, error, unknown."""
    letters: dict[str, Outcome | None] = {
        "r": "right", "c": "right-after-cue", "e": "error", "?": None
    }  # fmt: skip
    return [letters[each] for each in text]


@pytest.mark.parametrize(
    ("given", "lenient", "rigorous"),
    [
        ("", False, False),
        ("eee", False, False),
        ("eeee", True, True),
        ("reeee", True, True),
        ("eeeer", False, False),
        ("eecee", False, True),
        ("cccc", False, True),
        ("ee?ee", True, True),
        ("????", False, False),
    ],
)
def test_four_errors_in_a_row_end_a_subtest(given: str, lenient: bool, rigorous: bool) -> None:
    assert should_discontinue(course(given), 4) is lenient
    assert should_discontinue(course(given), 4, counts_cued=True) is rigorous


COURSE = [f"i{number}" for number in range(1, 11)]


def give(right: str, start: str, basal: int) -> tuple[list[str], tuple[str, ...]]:
    """The order of a whole course, and what was not needed; items named in ``right`` are right."""
    outcomes: dict[str, Outcome | None] = {}
    order = []
    while (item := next_item(COURSE, outcomes, start, basal)) is not None:
        assert item not in outcomes
        order.append(item)
        outcomes[item] = "right" if item in right.split() else "error"
    return order, not_needed(COURSE, outcomes, start, basal)


@pytest.mark.parametrize(
    ("right", "start", "basal", "order", "credited"),
    [
        ("", "", 0, "1 2 3 4 5 6 7 8 9 10", ""),
        ("6 7 8 9 10", "6", 3, "6 7 8 9 10", "1 2 3 4 5"),
        # 6 right, 7 wrong: back over 5 (wrong), 4, 3, 2 right; then on from 8.
        ("2 3 4 6 8 9", "6", 3, "6 7 5 4 3 2 8 9 10", "1"),
        ("6", "6", 3, "6 7 5 4 3 2 1 8 9 10", ""),
        ("", "9", 0, "9 10", ""),  # without a basal it never goes back
    ],
)
def test_the_order_of_a_course_and_what_is_credited(
    right: str, start: str, basal: int, order: str, credited: str
) -> None:
    def ids(numbers: str) -> list[str]:
        return [f"i{number}" for number in numbers.split()]

    found = give(" ".join(ids(right)), f"i{start}" if start else "", basal)
    assert found == (ids(order), tuple(ids(credited)))


@given(
    right=st.lists(st.sampled_from(COURSE), unique=True),
    start=st.sampled_from(COURSE[:7]),  # a basal needs as many items, says battery check
    basal=st.integers(0, 4),
)
def test_a_course_ends_and_gives_no_item_twice(right: list[str], start: str, basal: int) -> None:
    order, credited = give(" ".join(right), start, basal)
    assert len(order) == len(set(order))
    assert not set(order) & set(credited)
    assert set(COURSE[COURSE.index(start) :]) <= set(order)
    if basal and not credited:
        assert set(order) == set(COURSE)
    # Whatever was given before the start item stands right beside it.
    earlier = [item for item in COURSE[: COURSE.index(start)] if item in order]
    assert earlier == COURSE[COURSE.index(start) - len(earlier) : COURSE.index(start)]


@given(st.lists(st.sampled_from(OUTCOMES), max_size=12), st.integers(1, 5))
def test_the_rigorous_reading_ends_no_later_than_the_lenient_one(
    given_: list[Outcome | None], after: int
) -> None:
    if should_discontinue(given_, after):
        assert should_discontinue(given_, after, counts_cued=True)
