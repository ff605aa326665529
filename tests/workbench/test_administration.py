"""A model is given a battery, key by key."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tabwb_builtin.models import EchoModel
from textual.color import Color
from textual.message import Message

from tabwb.plugin_api import Cancel, Reply, Request
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason, TrialState
from tabwb.workbench.engine.messages import Changed
from tabwb.workbench.engine.presenters import TranscriptKeeper
from tabwb.workbench.shell.contrast import contrast
from tabwb.workbench.shell.drawn import (
    DARKEST,
    EIGHTHS,
    STEPS,
    heat,
    heat_style,
    interval_bar,
    share_bar,
    spark,
)
from tabwb.workbench.shell.settings import THEMES
from tabwb.workbench.trial.transcript import ItemMap
from tests.workbench.seat import Given, Sit


async def test_tab_is_begun_by_n_and_enter_and_given_item_by_item_and_by_itself(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("n")
        await seat.dialog()
        assert getattr(seat.app.screen.query_one("#battery"), "value", "") == "tab"
        seat.fill(model="echo@delay=0.01")
        await seat.press("enter", reads="space gives the first item")
        assert seat.work.administration.battery == "tab"
        assert seat.work.item is None
        for _ in range(6):
            await seat.next()
        # Scores stand below, and beside where there is room.
        await seat.reads("word 0/1", "text 5 given", "over 7")
        await seat.pilot.resize_terminal(160, 48)
        await seat.reads("5/5 given", "0/1 right", "symptom burden", "✗")
        await seat.press("a")
        await seat.until(lambda: seat.work.asking, "a question")
        await seat.press("a")  # ends after the item under way
        await seat.until(lambda: not seat.work.auto and not seat.work.asking, "the end")
        given = seat.work.administration.answered
        await seat.pilot.pause(0.2)
        assert 6 < seat.work.administration.answered == given < 20
        await seat.press("a", at="results", reads="Text Aphasia Battery")
    one, _ = seat.stored()
    assert (one.status, one.answered) == (AdministrationStatus.DONE, 20)


async def test_an_administration_is_left_before_its_model_is_closed(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def close(model: EchoModel) -> None:
        order.append("closed")

    async with given(items=1, model="echo@text=dog") as seat:
        say = seat.desk.sessions.say

        def said(message: Message) -> None:
            if isinstance(message, Changed) and message.work is None:
                order.append("left")
            say(message)

        monkeypatch.setattr(seat.desk.sessions, "say", said)
        monkeypatch.setattr(EchoModel, "close", close, raising=False)
        await seat.press("f8", at="home")
        await seat.until(lambda: len(order) == 2, "the model is closed")
        assert order == ["left", "closed"]


async def test_space_gives_every_item_and_then_the_results(given: Given, battery: str) -> None:
    async with given(items=1, model="echo@text=dog") as seat:
        await seat.reads("Which one barks?")
        assert "exact ✓ right" in seat.text
        assert "expected dog" in seat.text
        assert "complete" in seat.text
        await seat.next()
        assert "exact ✗ wrong" in seat.text
        await seat.next()
        await seat.reads("✓ complete")
        await seat.press("space", at="results", reads="1/2")
        one, trials = seat.stored()
        assert one.status is AdministrationStatus.DONE
        assert [trial.counting.response for trial in trials if trial.counting] == ["dog"] * 3

        await seat.begin(battery=battery, model="echo", max_tokens="2")
        await seat.next()
        await seat.reads("[cut at 2 tokens]")
        # Reasoning stands apart from the response.
        await seat.begin(battery=battery, model="echo@text=<think>A drum has no mane.</think>lion")
        await seat.next()
        await seat.reads("▌ lion")
        (line,) = (line for line in seat.text.splitlines() if "not scored" in line)
        assert "A drum has no mane." in line and "▌" not in line
        seat.show_results(seat.work.administration.id)
        await seat.at("results")
        await seat.press("t", reads="i shows reasoning")


async def test_keys_ask_again_pause_and_discontinue_or_say_why_not(
    given: Given, battery: str
) -> None:
    async with given() as seat:
        for key in "srv":
            await seat.press(key)
            assert not seat.asked
            await seat.reads("no item has been shown yet: space gives the first one")
        await seat.press("u", reads="there is nothing to take back yet")
        await seat.next()
        await seat.press("r")
        await seat.until(lambda: seat.work.item and len(seat.work.item.trial.attempts) == 2)
        await seat.reads("attempt 2 of 2")
        attempts = seat.stored()[1][0].attempts
        assert [one.state for one in attempts] == [AttemptState.OK, AttemptState.OK]
        await seat.press("p", reads="‖ paused")
        assert seat.stored()[0].status is AdministrationStatus.PAUSED
        await seat.next()
        assert seat.stored()[0].status is AdministrationStatus.RUNNING
        await seat.press("v")
        await seat.words("noise")
        for key in "sv":
            await seat.press(key, reads="item 2 is void already: u takes that back")
        await seat.press("i")
        await seat.until(lambda: "void already" not in seat.text, "the hint as it was")
        await seat.next()
        for key in (*"pad", "escape"):
            await seat.press(key)
            assert not seat.asked
            await seat.reads("complete: no items are left; space shows the results")

        await seat.begin(battery=battery, model="echo")
        await seat.next()
        await seat.press("d")
        await seat.words("wrong battery")
        await seat.reads("■ discontinued")
        one, trials = seat.stored()
        assert (one.status, one.reason) == (AdministrationStatus.DISCONTINUED, "wrong battery")
        assert trials[2].state is TrialState.NOT_ADMINISTERED
        await seat.press("u")
        await seat.until(lambda: seat.work.status is not AdministrationStatus.DISCONTINUED)

        # A note is put on the item that was shown when it was begun.
        await seat.press("n")
        await seat.has("words")
        seat.desk.do(partial(seat.desk.sessions.set_auto, True))
        await seat.until(lambda: seat.work.item and seat.work.item.place[0] == 3, "item 3")
        await seat.words("a bus outside")
        await seat.until(lambda: seat.stored()[1][0].notes, "the note in the store")
        assert [trial.notes for trial in seat.stored()[1]] == [("a bus outside",), (), ()]


async def test_an_item_is_noted_declared_void_taken_back_and_skipped(given: Given) -> None:
    async with given(items=1, model="echo@text=cup") as seat:
        assert "foil: semantic" in seat.text
        assert "(dog, tree, cup)" not in seat.text
        await seat.press("i", reads="Which one barks? (dog, tree, cup)")
        await seat.press("i")
        await seat.until(lambda: "(dog, tree, cup)" not in seat.text)
        await seat.press("n")
        await seat.words("fan was on")
        await seat.reads("note: fan was on")
        assert seat.stored()[1][0].notes == ("fan was on",)
        await seat.press("v", "enter", reads="a text is needed")
        await seat.press("escape")
        assert not seat.asked
        await seat.press("v")
        await seat.words("noise outside")
        await seat.reads("∅ void", "noise outside")
        assert seat.stored()[1][0].state is TrialState.VOID
        await seat.press("u")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt)
        assert seat.stored()[1][0].state is TrialState.ANSWERED
        await seat.press("s")
        assert not seat.asked, "an answered item is not skipped"
        await seat.reads("item 1 is answered: u takes it back, v declares it void")
        await seat.press("u")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt is None)
        await seat.press("s")
        await seat.words("not for today")
        await seat.reads("› skipped")
        trial = seat.stored()[1][0]
        assert (trial.state, trial.reason) == (TrialState.SKIPPED, "not for today")


async def test_keys_in_mid_answer_pause_stop_and_leave(
    given: Given, battery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, deaf = threading.Event(), threading.Event()

    def held(model: EchoModel, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Say a word, and wait until the test lets it end or, unless deaf, the person stops it."""
        yield "Which"
        while not go.wait(0.02) and (deaf.is_set() or not cancel.is_set()):
            pass
        yield Reply("Which", StopReason.END if go.is_set() else StopReason.CANCELLED, 0.1)

    monkeypatch.setattr(EchoModel, "reply", held)
    async with given((100, 30)) as seat:

        async def asked(*, again: bool = True) -> None:
            """Ask, in another administration."""
            go.clear()
            if again:
                await seat.begin(battery=battery, model="echo")
            await seat.press("space")
            await seat.until(lambda: seat.work.asking, "a question")

        await asked(again=False)
        await seat.press("p", reads="pausing after this response")
        go.set()
        await seat.until(lambda: seat.work.status is AdministrationStatus.PAUSED, "the pause")
        assert seat.stored()[1][0].state is TrialState.ANSWERED

        await asked()
        await seat.reads("▌ Which")
        await seat.press("f1", reads="how many items are given")
        assert seat.work.asking, "help came while the model was still answering"
        await seat.press("escape", "escape")
        await seat.reads("! in error", "error: stopped before the reply was complete")
        assert seat.stored()[1][0].attempts[0].stop_reason is StopReason.CANCELLED
        go.set()
        await seat.press("r")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt, "the answer")
        attempts = seat.stored()[1][0].attempts
        assert [one.state for one in attempts] == [AttemptState.ERROR, AttemptState.OK]

        deaf.set()
        await asked()
        await seat.press("escape", reads="stopping: waits for the model")
        deaf.clear()
        await seat.reads("! in error")

        # Leaving loses nothing.
        await seat.begin(battery=battery, model="echo")
        go.set()
        await seat.next()
        await asked(again=False)
        await seat.press("ctrl+q")
        await seat.until(lambda: not seat.app.is_running or seat.desk._worker is None)
    one, trials = seat.stored()
    assert one.status is AdministrationStatus.PAUSED
    assert trials[0].state is TrialState.ANSWERED


async def test_ctrl_c_twice_leaves_and_what_is_open_is_offered_and_never_resumed_silently(
    given: Given, sit: Sit
) -> None:
    async with given(items=1) as seat:
        await seat.press("u")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt is None, "item 1")
        await seat.press("s")
        await seat.words("not this one")
        await seat.press("ctrl+c")
        assert seat.desk._worker is not None
        await seat.press("ctrl+c")
        await seat.until(lambda: seat.desk._worker is None, "the end")
    assert seat.stored()[0].status is AdministrationStatus.PAUSED
    async with sit() as seat:
        await seat.reads("Continue")
        assert seat.stored()[0].status is AdministrationStatus.PAUSED
        await seat.press("enter")
        await seat.reads("Continue #1?", "0 of 3 answered")
        assert seat.stored()[0].status is AdministrationStatus.PAUSED
        await seat.press("enter", reads="space gives item 2, a gives all 2 that are left")
        await seat.until(lambda: seat.desk.work and not seat.work.loading, "the model")
        await seat.next()
        assert seat.work.item is not None
        assert seat.work.item.place == (2, 3)
    _, trials = seat.stored()
    assert (len(trials[0].attempts), trials[0].state) == (1, TrialState.SKIPPED)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: str(theme.name))
def test_text_on_the_darkest_shade_keeps_its_contrast(theme: Any) -> None:
    ground = Color.parse(theme.background).blend(Color.parse(theme.accent), DARKEST / 100)
    assert contrast(theme.foreground, ground.hex) >= 4.5


WIDTHS = st.integers(5, 120)
SHARES = st.floats(0.0, 1.0)
FEW = settings(max_examples=60, deadline=None)


@FEW
@given(WIDTHS, st.tuples(SHARES, SHARES, SHARES).map(sorted), st.floats(0.5, 19.0))
def test_a_drawn_interval_is_where_its_numbers_are(
    width: int, ends: list[float], highest: float
) -> None:
    low, value, high = (share * highest for share in ends)
    drawn = interval_bar(low, value, high, width=width, highest=highest).plain
    assert len(drawn) == width
    at = drawn.index("●")
    # Half a cell is the largest distance between a number and the middle of its cell.
    assert abs(at - ends[1] * (width - 1)) <= 0.5 + 1e-9
    inked = [place for place, glyph in enumerate(drawn) if glyph != " "]
    assert inked[0] <= at <= inked[-1]
    assert abs(inked[0] - ends[0] * (width - 1)) <= 0.5 + 1e-9
    assert abs(inked[-1] - ends[2] * (width - 1)) <= 0.5 + 1e-9
    assert drawn[inked[0] : inked[-1] + 1] == drawn.strip()


@FEW
@given(WIDTHS, SHARES, SHARES)
def test_larger_values_are_drawn_further_right_and_0_and_1_at_the_ends(
    width: int, first: float, second: float
) -> None:
    def place(value: float) -> int:
        return interval_bar(None, value, None, width=width).plain.index("●")

    assert place(min(first, second)) <= place(max(first, second))
    assert (place(0.0), place(1.0)) == (0, width - 1)
    baseline = interval_bar(None, None, None, width=width, baseline=first).plain
    assert baseline.index("◆") == place(first)


@FEW
@given(WIDTHS, st.lists(st.one_of(st.none(), SHARES), min_size=1, max_size=40))
def test_bars_rise_with_their_values_and_undefined_is_not_0(
    width: int, values: list[float | None]
) -> None:
    columns = spark(values, len(values), highest=1.0).plain
    assert [glyph == " " for glyph in columns] == [value is None for value in values]
    known = sorted(
        (value, STEPS.index(glyph))
        for value, glyph in zip(values, columns, strict=True)
        if value is not None
    )
    assert [step for _, step in known] == sorted(step for _, step in known)
    for value, _ in known:
        drawn = share_bar(value, width).plain
        eighths = sum(EIGHTHS.index(part) + 1 for part in drawn.strip())
        assert (len(drawn), eighths == 0) == (width, value == 0.0)
        assert eighths == 1 or abs(eighths - value * 8 * width) <= 0.5 + 1e-9


def test_an_undefined_cell_has_a_dash_and_no_shade_and_0_is_a_dot() -> None:
    assert heat(None, width=6).plain.strip() == "-"
    assert heat(0.0, width=6).plain.strip() == "·"
    shades = [int(heat_style(share / 20).split()[-1].rstrip("%")) for share in range(21)]
    assert shades == sorted(set(shades))
    assert share_bar(None, 5).plain == "-    " and share_bar(0.0, 5).plain == "     "


def test_two_baselines_in_the_cell_of_an_end_are_drawn_as_both() -> None:
    assert interval_bar(0.0, 0.5, 1.0, width=5, baseline=(0.99, 1.0)).plain == "├─●─◈"


async def test_items_stay_and_keys_and_clicks_show_them_again(given: Given) -> None:
    async with given(items=2, model="echo@text=dog") as seat:
        await seat.reads("2 of 3 given")
        lines = [line for line in seat.text.splitlines() if "Which one barks?" in line]
        assert lines and "dog" in lines[0], "the first item is still there with its response"
        await seat.reads("Item 2 of 3")
        await seat.press("up", reads="Item 1 of 3")
        await seat.reads("item 2 is current: end returns to it")
        # A note is on the item that is shown; skipping is for the current one only.
        await seat.press("n")
        await seat.words("looked away")
        await seat.press("s", reads="another item is current")
        await seat.press("end", reads="Item 2 of 3")
        marks = seat.desk.query_one(ItemMap)
        first = marks._marks[0]
        await seat.pilot.click(ItemMap, offset=(first.column, first.line))
        await seat.reads("Item 1 of 3")
        await seat.press("v")
        await seat.words("noise")
        await seat.until(lambda: seat.stored()[1][0].state == "void")
        await seat.press("space", reads="Item 3 of 3")
        await seat.pilot.resize_terminal(160, 48)
        await seat.until(lambda: seat.app.screen.size.width == 160, "the size")
        await seat.pilot.pause()
        first = marks._marks[0]
        await seat.pilot.click(ItemMap, offset=(first.column, first.line))
        await seat.reads("Item 1 of 3", "3 of 3 given")
    _, trials = seat.stored()
    assert [trial.notes for trial in trials] == [("looked away",), (), ()]
    assert [trial.state.value for trial in trials] == ["void", "answered", "answered"]


async def test_an_earlier_item_stays_shown_while_all_are_given(given: Given, battery: str) -> None:
    async with given(items=2, model="echo@delay=0.1,text=dog", replicates="20") as seat:
        await seat.press("up", reads="Item 1 of 60")
        await seat.press("a")
        await seat.until(lambda: seat.work.administration.answered > 4, "further items")
        assert seat.work.auto
        assert "Item 1 of 60" in seat.text
        await seat.reads("left")
        await seat.press("a")
        await seat.until(lambda: not seat.work.auto and not seat.work.asking, "the end")
        pace = seat.work.pace
        assert pace is not None and pace.left_s is not None
        left = 60 - seat.work.administration.answered
        # Each response takes 0.1 s, and more on a busy machine.
        assert 0.1 * left <= pace.left_s < 2 * left

        await seat.begin(battery=battery, model="echo@delay=0.1,text=dog")
        await seat.next()
        await seat.next()
        await seat.press("up", "a", reads="✓ complete   space shows the results")
        await seat.until(lambda: seat.desk.settled, "the end")
        assert seat.desk.page == "trial"
        assert "Item 1 of 3" in seat.text
        await seat.press("space", at="results")

        # The transcript counts as a full count does.
        await seat.begin(battery=battery, model="echo@text=dog")
        await seat.next()
        await seat.next()
        await seat.press("v")
        await seat.words("noise")
        await seat.until(lambda: seat.stored()[1][1].state == "void", "the void item")
        session = seat.desk.sessions.session
        assert session is not None
        kept, work = seat.desk.sessions._transcripts, seat.work
        fresh = TranscriptKeeper()
        assert fresh.of(session) == kept.of(session)
        assert (fresh.answered, fresh.remaining) == (kept.answered, kept.remaining) == (1, 1)
        assert (work.administration.answered, work.remaining) == (1, 1)
        assert work.transcript is not None
        assert [row.mark for row in work.transcript.rows] == ["right", "void", "open"]
