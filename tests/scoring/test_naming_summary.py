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


def test_nothing_answered_has_no_rate_and_no_interval() -> None:
    found = accuracy(ITEMS[5:], "person")
    assert (found.n, found.rate, found.interval) == (0, None, None)


def test_what_was_not_answered_is_counted_by_itself() -> None:
    assert dict(summarise(ITEMS).statuses) == {
        "answered": 5,
        "not-scorable": 1,
        "not-administered": 1,
        "void": 1,
    }


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


def test_a_right_name_belongs_to_the_last_cue_before_it() -> None:
    cues = (("semantic", False), ("phonemic", False))
    named = [NamedItem("a", "a", "answered", outcome="right-after-cue", cues=cues)]
    assert [(one.kind, one.right_after) for one in cue_counts(named)] == [
        ("semantic", 0),
        ("phonemic", 1),
    ]


def test_latency_is_that_of_right_answers_without_help() -> None:
    found = summarise(ITEMS)
    assert (found.latency_median_s, found.latency_n) == (2.0, 2)
    assert summarise(ITEMS[4:]).latency_median_s is None


def test_flags_are_counted() -> None:
    assert dict(summarise(ITEMS).flags) == {"self-corrected": 1, "after-cue": 2}


# ------------------------------------------------------------------ courses written out by hand

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


def test_without_a_start_item_the_order_is_the_batterys() -> None:
    assert give("", "", 0) == (COURSE, ())


def test_a_basal_met_at_once_leaves_the_earlier_items_out() -> None:
    order, credited = give("i6 i7 i8 i9 i10", "i6", 3)
    assert order == ["i6", "i7", "i8", "i9", "i10"]
    assert credited == ("i1", "i2", "i3", "i4", "i5")


def test_an_error_in_the_basal_goes_back_until_enough_in_a_row_are_right() -> None:
    order, credited = give("i2 i3 i4 i6 i8 i9", "i6", 3)
    #  6 right, 7 wrong: back over 5 (wrong), 4, 3, 2 right; then on from 8.
    assert order == ["i6", "i7", "i5", "i4", "i3", "i2", "i8", "i9", "i10"]
    assert credited == ("i1",)


def test_a_basal_never_met_gives_every_item() -> None:
    order, credited = give("i6", "i6", 3)
    assert order == ["i6", "i7", "i5", "i4", "i3", "i2", "i1", "i8", "i9", "i10"]
    assert credited == ()


def test_a_start_item_without_a_basal_never_goes_back() -> None:
    assert give("", "i9", 0) == (["i9", "i10"], ())


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
