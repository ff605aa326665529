"""Identifiers, ratings, the counting attempt, titles and tags."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.errors import UsageError
from tabwb.records.ratings import Rating, undefined, valued
from tabwb.records.specs import uuid7
from tabwb.records.states import (
    AttemptState,
    RatingStatus,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import (
    Attempt,
    Marks,
    PlannedTrial,
    Trial,
    changes,
    check_tag,
    check_title,
    marks_of,
)


def test_uuid7_has_version_variant_and_time() -> None:
    made = uuid.UUID(uuid7(1_700_000_000_123))
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert made.int >> 80 == 1_700_000_000_123


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_ratings_value_is_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        valued("r", "m", value)


def test_a_rating_has_a_value_exactly_when_it_says_so() -> None:
    assert valued("choice", "exact", True).value == 1.0
    assert undefined("rules-1", "anomia", "nothing was said").value is None
    with pytest.raises(ValueError, match="exactly when"):
        Rating("choice", "exact", None, RatingStatus.VALUE)
    with pytest.raises(ValueError, match="exactly when"):
        Rating("choice", "exact", 0.0, RatingStatus.UNDEFINED)


def _attempt(number: int, state: AttemptState) -> Attempt:
    return Attempt(number, f"answer {number}", state, ResponseStatus.OK, StopReason.END, 0.1)


def test_the_last_attempt_in_state_ok_counts() -> None:
    plan = PlannedTrial(1, "s", "i", 0, (), "prompt")
    attempts = (
        _attempt(1, AttemptState.OK),
        _attempt(2, AttemptState.OK),
        _attempt(3, AttemptState.ERROR),
    )
    counting = Trial(plan, TrialState.ANSWERED, attempts).counting
    assert counting is not None
    assert counting.number == 2
    assert Trial(plan, TrialState.PLANNED, attempts[2:]).counting is None


tags = st.sampled_from(["a", "b", "c"])


@given(first=st.lists(tags), add=st.lists(tags), title=st.sampled_from(["", "T"]))
def test_the_events_of_a_change_give_what_was_asked_for(
    first: list[str], add: list[str], title: str
) -> None:
    before = Marks("old", tuple(dict.fromkeys(first)))
    events = [("titled", "old"), *(("tagged", tag) for tag in before.tags)]
    assert marks_of(events) == before
    made = changes(before, title=title, add=add, remove=before.tags[:1])
    after = marks_of([*events, *((event.kind, event.text) for event in made)])
    assert after.title == title
    assert set(after.tags) == {*before.tags, *add} - {*before.tags[:1]}


def test_what_is_so_already_needs_no_event() -> None:
    assert changes(Marks("T", ("a",)), title="T", add=["a"]) == ()
    assert changes(Marks("T", ("a",))) == ()


def test_a_tag_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(UsageError, match="no tag 'pilt'; did you mean 'pilot'"):
        changes(Marks(tags=("pilot",)), remove=["pilt"])


@pytest.mark.parametrize("tag", ["", " ", "a b", "a,b", "a\nb", "x" * 65])
def test_a_tag_is_one_word(tag: str) -> None:
    with pytest.raises(UsageError, match="cannot be a tag"):
        check_tag(tag)


def test_a_title_is_one_line() -> None:
    assert check_title(" First try ") == "First try"
    with pytest.raises(UsageError, match="cannot be a title"):
        check_title("a\nb")
