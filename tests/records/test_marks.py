"""Titles and tags: what events make of them, and which events a change needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.errors import UsageError
from tabwb.records.trials import Marks, changes, check_tag, check_title, marks_of

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
