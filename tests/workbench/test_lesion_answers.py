"""Intact and lesioned answers as lines, and the words of a sweep; no model is needed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.content import Content

from tabwb.records.errors import UsageError
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import PlannedTrial
from tabwb.workbench.engine.view_models import Verdict
from tabwb.workbench.lesions.answers import lines_of
from tabwb.workbench.lesions.laboratory import Answer, Pair
from tabwb.workbench.lesions.messages import SweepState, SweepWish
from tabwb.workbench.shell.word_difference import DIFFERS

INTACT = Answer("the dog barks", ResponseStatus.OK, False, (Verdict("exact", True),))
LESIONED = Answer("the wug barks wug", ResponseStatus.DEGENERATE, True, (Verdict("exact", False),))
PLAN = PlannedTrial(1, "saying", "s1", 0, (), "Say it.")
PAIR = Pair(PLAN, "Saying", "the dog barks", "mlp:zero:1", INTACT, LESIONED)


def marked(lines: list[Content]) -> list[str]:
    """The texts that are drawn as words that the other answer lacks."""
    return [
        line.plain[span.start : span.end]
        for line in lines
        for span in line.spans
        if span.style == DIFFERS
    ]


def test_words_that_the_other_answer_lacks_are_marked() -> None:
    lines = list(lines_of([PAIR], 90))
    assert marked(lines) == ["dog", "wug", "wug"]
    text = [line.plain for line in lines]
    assert any("the dog barks" in line and "│ the wug barks wug" in line for line in text)
    assert any("exact ✓" in line for line in text) and any("exact ✗" in line for line in text)
    assert any("degenerate, cut at the token limit" in line for line in text)
    assert "1 of 3 words only in intact, 2 of 4 only in lesioned" in text


def test_nothing_is_marked_before_both_answers_are_there() -> None:
    assert marked(list(lines_of([replace(PAIR, lesioned=None)], 90))) == []


def test_in_a_narrow_pane_one_answer_is_below_the_other() -> None:
    text = [line.plain for line in lines_of([PAIR], 40)]
    assert not any("│" in line for line in text)
    assert text.index("the dog barks") < text.index("the wug barks wug")
    assert max(map(len, text)) <= 40


def test_several_items_are_counted() -> None:
    same = replace(PAIR, lesioned=INTACT)
    first = next(iter(lines_of([PAIR, same], 90))).plain
    assert (
        first == "1 of 2 items answered differently   intact 2 of 2 exact   lesioned 1 of 2 exact"
    )


@pytest.mark.parametrize("workers", ["0", "257", "two", ""])
def test_a_number_of_workers_that_is_not_allowed_is_refused(workers: str) -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        SweepWish("tab", "bundled", "grid.toml", workers).checked()


def test_the_time_that_is_left_is_that_of_the_conditions_not_done() -> None:
    wish = SweepWish("tab", "bundled", "grid.toml")
    state = SweepState("running", wish, planned=12, before=2, given=4, seconds=40.0)
    assert (state.left, state.time_left) == (6, "about 60 s left")
    assert state.summary == "6 of 12 conditions done, 2 of them before"
    state = replace(state, begun=frozenset({"a", "b"}), items=30)
    assert state.summary.endswith(", 2 running, 30 items answered")
    state = replace(state, failures=(("mlp:zero:1", "the process died"),))
    assert state.left == 5 and state.summary.endswith(", 1 failed")


def test_answers_can_be_laid_out_before_there_is_room() -> None:
    assert list(lines_of([PAIR], 0))
