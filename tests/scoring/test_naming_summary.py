"""The figures of a naming subtest, on items counted by hand."""

from __future__ import annotations

import pytest

from tabwb.scoring.estimate import clopper_pearson
from tabwb.scoring.naming.summary import (
    CueCount,
    NamedItem,
    accuracy,
    code_profile,
    cue_counts,
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
