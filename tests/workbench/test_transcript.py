"""The transcript of an administration: items stay, and any of them can be shown again."""

from __future__ import annotations

import pytest

from tabwb.workbench.engine.transcript import TranscriptKeeper
from tabwb.workbench.trial.progress import ItemMap
from tests.workbench.seat import SIZES, Given


@pytest.mark.parametrize("size", SIZES)
async def test_items_stay_and_keys_and_clicks_show_them_again(
    given: Given, size: tuple[int, int]
) -> None:
    async with given(size, items=2, model="echo@text=dog") as seat:
        await seat.reads("2 of 3 given")
        lines = [line for line in seat.text.splitlines() if "Which one barks?" in line]
        assert lines and "dog" in lines[0], "the first item is still there with its response"
        await seat.reads("Item 2 of 3")
        await seat.press("up")
        await seat.reads("Item 1 of 3")
        await seat.reads("item 2 is current: end returns to it")
        # A note is on the item that is shown; skipping is for the current one only.
        await seat.press("n")
        await seat.words("looked away")
        await seat.press("s")
        await seat.reads("another item is current")
        await seat.press("end")
        await seat.reads("Item 2 of 3")
        marks = seat.desk.query_one(ItemMap)
        first = marks._marks[0]
        await seat.pilot.click(ItemMap, offset=(first.column, first.line))
        await seat.reads("Item 1 of 3")
        await seat.press("v")
        await seat.words("noise")
        await seat.until(lambda: seat.stored()[1][0].state == "void")
        await seat.press("space")
        await seat.reads("Item 3 of 3")
    _, trials = seat.stored()
    assert [trial.notes for trial in trials] == [("looked away",), (), ()]
    assert [trial.state.value for trial in trials] == ["void", "answered", "answered"]


async def test_reasoning_stands_apart_from_the_response(given: Given) -> None:
    async with given(model="echo@text=<think>A drum has no mane.</think>lion", items=1) as seat:
        await seat.reads("▌ lion")
        (line,) = (line for line in seat.text.splitlines() if "not scored" in line)
        assert "A drum has no mane." in line and "▌" not in line
        seat.show_results(seat.work.administration.id)
        await seat.until(lambda: seat.desk.page == "results", "the results")
        await seat.press("t")
        await seat.reads("i shows reasoning")


async def test_while_all_are_given_an_earlier_item_stays_shown(given: Given) -> None:
    async with given(items=2, model="echo@delay=0.1,text=dog", replicates="20") as seat:
        await seat.press("up")
        await seat.reads("Item 1 of 60")
        await seat.press("a")
        await seat.until(lambda: seat.work.administration.answered > 4, "further items")
        assert seat.work.auto
        assert "Item 1 of 60" in seat.text
        await seat.reads("left")
        await seat.press("a")
        await seat.until(lambda: not seat.work.auto and not seat.work.asking)
    pace = seat.work.pace
    assert pace is not None and pace.left_s is not None
    left = 60 - seat.work.administration.answered
    # Each response takes 0.1 s, and more on a busy machine.
    assert 0.1 * left <= pace.left_s < 2 * left


async def test_the_end_of_an_auto_run_leaves_an_earlier_item_shown(given: Given) -> None:
    async with given(items=2, model="echo@delay=0.1,text=dog") as seat:
        await seat.press("up", "a")
        await seat.reads("✓ complete   space shows the results")
        await seat.until(lambda: seat.desk.settled)
        assert seat.desk.page == "trial"
        assert "Item 1 of 3" in seat.text
        await seat.press("space")
        await seat.until(lambda: seat.desk.page == "results")


async def test_the_transcript_counts_as_a_full_count_does(given: Given) -> None:
    async with given(items=2, model="echo@text=dog") as seat:
        await seat.press("v")
        await seat.words("noise")
        await seat.until(lambda: seat.stored()[1][1].state == "void")
        session = seat.desk.sessions.session
        assert session is not None
        kept, work = seat.desk.sessions._transcripts, seat.work
        fresh = TranscriptKeeper()
        assert fresh.of(session) == kept.of(session)
        assert (fresh.answered, fresh.remaining) == (kept.answered, kept.remaining) == (1, 1)
        assert (work.administration.answered, work.remaining) == (1, 1)
        assert work.transcript is not None
        assert [row.mark for row in work.transcript.rows] == ["right", "void", "open"]
