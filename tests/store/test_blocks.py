"""The sequence under an administration's history: it must behave as the tuple it stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.trials import AttemptEntry, EventEntry, Trial
from tabwb.store.derive import SIZE, Blocks, History
from tests.store.parts import attempt, planned


@given(st.integers(0, 3 * SIZE), st.data())
def test_a_changed_copy_is_what_a_tuple_would_be(length: int, data: st.DataObject) -> None:
    items = tuple(range(length))
    places = st.integers(0, max(length - 1, 0))
    most = min(length, 5)
    changes = data.draw(st.dictionaries(places, st.integers(-9, -1), max_size=most))
    added = data.draw(st.lists(st.integers(), max_size=SIZE + 2))
    blocks = Blocks(items)
    copy = blocks.changed(changes, added)
    expected = (*(changes.get(item, item) for item in items), *added)
    assert tuple(copy) == expected
    assert copy == Blocks(expected)
    assert tuple(reversed(copy)) == expected[::-1]
    assert [copy[at] for at in range(-len(expected), len(expected))] == [*expected, *expected]
    assert copy[1:-1] == expected[1:-1]
    assert tuple(blocks) == items
    with pytest.raises(IndexError):
        copy[len(expected)]


def test_one_more_answer_copies_no_other_part_of_a_history() -> None:
    before = History.of(planned(10 * SIZE))
    after = before.with_entries([EventEntry("trial-started", 1), AttemptEntry(1, attempt())])
    assert after.trial(1).counting is not None
    assert before.trial(1).counting is None
    assert shared(before.standing, after.standing) == 9


def shared(one: Blocks[Trial], other: Blocks[Trial]) -> int:
    pairs = zip(one._blocks, other._blocks, strict=True)
    return sum(mine is theirs for mine, theirs in pairs)
