"""A model is given a battery, key by key."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest
from tabwb_builtin.echo import EchoModel

from tabwb.plugin_api import Cancel, Reply, Request
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason, TrialState
from tests.workbench.seat import SIZES, Given, Sit

both_sizes = pytest.mark.parametrize("size", SIZES)
one_size = pytest.mark.parametrize("size", SIZES[:1])
Size = tuple[int, int]


async def test_n_and_enter_begin_what_is_filled_in(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.press("n")
        await seat.dialog()
        draft = seat.app.screen.query_one("#battery")
        assert getattr(draft, "value", "") == "tab"
        seat.fill(model="echo")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.work)
        assert seat.work.administration.battery == "tab"
        assert seat.work.item is None
        await seat.reads("space gives the first item")


@one_size
async def test_space_gives_every_item_and_then_the_results(given: Given, size: Size) -> None:
    async with given(size, items=1, model="echo@text=dog") as seat:
        await seat.reads("Which one barks?")
        assert "exact ✓ right" in seat.text
        assert "expected dog" in seat.text
        assert "complete" in seat.text
        await seat.next()
        assert "exact ✗ wrong" in seat.text
        await seat.next()
        await seat.reads("✓ complete")
        await seat.press("space")
        await seat.until(lambda: seat.desk.page == "results")
        await seat.reads("1 of 2")
    one, trials = seat.stored()
    assert one.status is AdministrationStatus.DONE
    assert [trial.counting.response for trial in trials if trial.counting] == ["dog"] * 3


@one_size
async def test_auto_run_gives_all_and_shows_the_results(sit: Sit, size: Size, battery: str) -> None:
    async with sit(size) as seat:
        await seat.begin(model="echo")
        await seat.press("a")
        await seat.until(lambda: seat.desk.page == "results", "the results")
        await seat.reads("Text Aphasia Battery")
    one, _ = seat.stored()
    assert (one.status, one.answered) == (AdministrationStatus.DONE, 20)


async def test_a_second_a_ends_the_auto_run_after_the_item_under_way(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await seat.begin(model="echo@delay=0.01")
        await seat.press("a")
        await seat.until(lambda: seat.work.asking)
        await seat.press("a")
        await seat.until(lambda: not seat.work.auto and not seat.work.asking)
        given = seat.work.administration.answered
        await seat.pilot.pause(0.2)
        assert 0 < seat.work.administration.answered == given < 20


async def test_r_asks_again_and_the_new_attempt_counts(given: Given) -> None:
    async with given(items=1) as seat:
        await seat.press("r")
        await seat.until(lambda: seat.work.item and len(seat.work.item.trial.attempts) == 2)
        await seat.until(lambda: "attempt 2 of 2" in seat.text)
    _, trials = seat.stored()
    assert [one.state for one in trials[0].attempts] == [AttemptState.OK, AttemptState.OK]


@one_size
async def test_v_declares_void_with_a_reason_and_u_takes_it_back(given: Given, size: Size) -> None:
    async with given(size, items=1) as seat:
        await seat.press("v")
        await seat.words("noise outside")
        await seat.reads("∅ void")
        await seat.reads("noise outside")
        _, trials = seat.stored()
        assert trials[0].state is TrialState.VOID
        await seat.press("u")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt)
    _, trials = seat.stored()
    assert trials[0].state is TrialState.ANSWERED


async def test_u_takes_the_answer_back_and_s_skips_with_a_reason(given: Given) -> None:
    async with given(items=1) as seat:
        await seat.press("s")
        assert not seat.asked, "an answered item is not skipped"
        await seat.reads("item 1 is answered: u takes it back, v declares it void")
        await seat.press("u")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt is None)
        await seat.press("s")
        await seat.words("not for today")
        await seat.reads("› skipped")
    _, trials = seat.stored()
    assert (trials[0].state, trials[0].reason) == (TrialState.SKIPPED, "not for today")


async def test_a_reason_cannot_be_empty(given: Given) -> None:
    async with given(items=1) as seat:
        await seat.press("v", "enter")
        await seat.reads("a text is needed")
        await seat.press("escape")
        assert not seat.asked


async def test_n_writes_a_note(given: Given) -> None:
    async with given(items=1) as seat:
        await seat.press("n")
        await seat.words("fan was on")
        await seat.reads("note: fan was on")
    _, trials = seat.stored()
    assert trials[0].notes == ("fan was on",)


async def test_p_pauses_and_space_goes_on(given: Given) -> None:
    async with given(items=1) as seat:
        await seat.press("p")
        await seat.reads("‖ paused")
        assert seat.stored()[0].status is AdministrationStatus.PAUSED
        await seat.next()
        assert seat.stored()[0].status is AdministrationStatus.RUNNING


async def test_p_in_mid_answer_pauses_after_it(given: Given) -> None:
    async with given(model="echo@delay=0.3") as seat:
        await seat.press("space")
        await seat.until(lambda: seat.work.asking)
        await seat.press("p")
        await seat.reads("pausing after this response")
        await seat.until(lambda: seat.work.status is AdministrationStatus.PAUSED)
    _, trials = seat.stored()
    assert trials[0].state is TrialState.ANSWERED


async def test_d_discontinues_with_a_reason(given: Given) -> None:
    async with given(items=1) as seat:
        await seat.press("d")
        await seat.words("wrong battery")
        await seat.reads("■ discontinued")
        one, trials = seat.stored()
        assert (one.status, one.reason) == (AdministrationStatus.DISCONTINUED, "wrong battery")
        assert trials[1].state is TrialState.NOT_ADMINISTERED
        await seat.press("u")
        await seat.until(lambda: seat.work.status is not AdministrationStatus.DISCONTINUED)


async def test_esc_stops_an_answer_and_r_asks_again(given: Given) -> None:
    async with given((100, 30), model="echo@delay=1,text=dog") as seat:
        await seat.press("space")
        await seat.until(lambda: seat.work.asking)
        await seat.press("escape")
        await seat.reads("! in error")
        await seat.reads("error: stopped before the reply was complete")
        _, trials = seat.stored()
        assert trials[0].attempts[0].stop_reason is StopReason.CANCELLED
        await seat.press("r")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt)
    _, trials = seat.stored()
    assert [one.state for one in trials[0].attempts] == [AttemptState.ERROR, AttemptState.OK]


async def test_esc_names_a_model_that_does_not_stop(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()

    def deaf(model: EchoModel, request: Request, cancel: Cancel) -> Iterator[Reply]:
        done.wait(60)
        yield Reply("", StopReason.CANCELLED, 0.1)

    monkeypatch.setattr(EchoModel, "reply", deaf)
    async with given() as seat:
        await seat.press("space")
        await seat.until(lambda: seat.work.asking)
        await seat.press("escape")
        await seat.reads("stopping: waits for the model")
        done.set()
        await seat.reads("! in error")


async def test_text_streams_and_keys_work_meanwhile(given: Given) -> None:
    long = " ".join(["Which"] * 300)  # a minute: help opens meanwhile on the slowest machine
    async with given(model=f"echo@delay=0.2,text={long}") as seat:
        await seat.press("space")
        await seat.reads("▌ Which")
        assert seat.work.asking
        await seat.press("f1")
        await seat.until(lambda: "how many items are given" in seat.text)
        assert seat.work.asking, "help came while the model was still answering"
        await seat.press("escape")
        await seat.press("escape")
        await seat.until(lambda: not seat.work.asking)


async def test_a_cut_answer_says_so(given: Given) -> None:
    async with given(items=1, model="echo", max_tokens="2") as seat:
        await seat.reads("[cut at 2 tokens]")


async def test_i_shows_the_exact_prompt(given: Given) -> None:
    async with given(items=1, model="echo@text=dog") as seat:
        assert "(dog, tree, cup)" not in seat.text
        await seat.press("i")
        await seat.reads("Which one barks? (dog, tree, cup)")
        await seat.press("i")
        await seat.until(lambda: "(dog, tree, cup)" not in seat.text)


async def test_the_foil_that_was_chosen_is_named(given: Given) -> None:
    async with given(items=1, model="echo@text=cup") as seat:
        assert "foil: semantic" in seat.text


@both_sizes
async def test_live_scores_stand_beside_or_below(sit: Sit, size: Size, battery: str) -> None:
    async with sit(size) as seat:
        await seat.begin(model="echo")
        for _ in range(6):
            await seat.next()
        if size[0] < 100:
            await seat.reads("word 0/1")
            assert "text 5 given" in seat.text
            await seat.reads("over 7")
        else:
            await seat.reads("5/5 given")
            await seat.reads("0/1 right")
            await seat.reads("symptom burden")
            assert "✗" in seat.text


async def test_leaving_in_mid_answer_loses_nothing(given: Given) -> None:
    async with given(items=1, model="echo@delay=1.5,text=dog") as seat:
        await seat.press("space")
        await seat.until(lambda: seat.work.asking)
        await seat.press("ctrl+q")
        await seat.until(lambda: not seat.app.is_running or seat.desk._worker is None)
    one, trials = seat.stored()
    assert one.status is AdministrationStatus.PAUSED
    assert trials[0].state is TrialState.ANSWERED


async def test_ctrl_c_twice_leaves(given: Given) -> None:
    async with given(items=1) as seat:
        await seat.press("ctrl+c")
        assert seat.desk._worker is not None
        await seat.press("ctrl+c")
        await seat.until(lambda: seat.desk._worker is None)
    assert seat.stored()[0].status is AdministrationStatus.PAUSED


async def test_an_open_administration_is_offered_and_never_resumed_silently(
    given: Given, sit: Sit
) -> None:
    async with given(items=1):
        pass
    async with sit() as seat:
        await seat.reads("Continue")
        assert seat.stored()[0].status is AdministrationStatus.PAUSED
        await seat.press("enter")
        await seat.reads("Continue #1?")
        assert seat.stored()[0].status is AdministrationStatus.PAUSED
        await seat.press("enter")
        await seat.until(lambda: seat.desk.work and not seat.work.loading)
        await seat.next()
        assert seat.work.item is not None
        assert seat.work.item.place == (2, 3)
    _, trials = seat.stored()
    assert len(trials[0].attempts) == 1


async def test_keys_that_do_nothing_now_say_why_and_what_would_work(given: Given) -> None:
    async with given() as seat:
        for key in "srv":
            await seat.press(key)
            assert not seat.asked
            await seat.reads("no item has been shown yet: space gives the first one")
        await seat.press("u")
        await seat.reads("there is nothing to take back yet")
        await seat.next()
        await seat.press("v")
        await seat.words("noise")
        for key in "sv":
            await seat.press(key)
            await seat.reads("item 1 is void already: u takes that back")
        await seat.press("i")
        await seat.until(lambda: "void already" not in seat.text, "the hint as it was")


async def test_keys_say_that_an_administration_is_over(given: Given) -> None:
    async with given(items=3) as seat:
        for key in (*"pad", "escape"):
            await seat.press(key)
            assert not seat.asked
            await seat.reads("complete: no items are left; space shows the results")


async def test_a_note_is_put_on_the_item_that_was_shown_when_it_was_begun(given: Given) -> None:
    async with given(items=1) as seat:
        await seat.press("n")
        await seat.until(lambda: seat.app.screen.query("#words"), "a field for words")
        seat.desk.do(partial(seat.desk.sessions.set_auto, True))
        await seat.until(lambda: seat.work.item and seat.work.item.place[0] == 3, "item 3")
        await seat.words("a bus outside")
        await seat.until(lambda: seat.stored()[1][0].notes, "the note in the store")
    _, trials = seat.stored()
    assert [trial.notes for trial in trials] == [("a bus outside",), (), ()]


async def test_after_resuming_the_next_item_and_what_is_left_are_told(
    given: Given, sit: Sit
) -> None:
    async with given(items=1) as seat:
        await seat.press("u")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt is None)
        await seat.press("s")
        await seat.words("not this one")
    async with sit() as seat:
        await seat.press("enter")
        await seat.reads("0 of 3 answered")
        await seat.press("enter")
        await seat.reads("space gives item 2, a gives all 2 that are left")
