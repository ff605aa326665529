"""A person types the answers."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from tabwb.records.speakers import Consent
from tabwb.records.states import StopReason, TrialState
from tabwb.store.store import Store
from tabwb.workbench.trial.participant import NOTHING_TYPED
from tests.workbench.seat import SIZES, Seat, Sit


async def begin(seat: Seat, battery: str) -> None:
    await seat.begin(battery=battery, kind="speaker", speaker="S-014")


async def answer(seat: Seat, words: str) -> None:
    await seat.press("space")
    await seat.until(lambda: seat.work.awaiting and seat.app.focused is not None)
    await seat.until(lambda: seat.app.focused is not None and seat.app.focused.id == "answer")
    await seat.type(words)
    await seat.press("enter")
    await seat.until(lambda: not seat.work.awaiting)


def waits_for(seat: Seat, place: int) -> bool:
    """Whether item ``place`` waits and the cursor is in the answer field."""
    focused, item = seat.app.focused, seat.work.item
    shown = seat.work.awaiting and item is not None and item.place[0] == place
    return shown and focused is not None and focused.id == "answer"


async def test_a_whole_battery_is_typed_by_who_has_a_code_and_a_protocol(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery=battery, kind="speaker", speaker="Jane Doe")
        await seat.press("enter", reads="is not a valid participant code")
        seat.fill(battery="tab", speaker="S-014")
        await seat.press("enter", reads="name the approved protocol")
        await seat.focuses("research_protocol")
        await seat.type("IRB-7")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.work, "the administration")
        assert seat.work.administration.conditions.research_protocol == "IRB-7"

        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery=battery, kind="speaker", speaker="S-014", research_protocol="")
        await seat.press("enter")
        await seat.until(lambda: seat.work.administration.id == 2, "the administration")
        await seat.reads("! no consent of speaker S-014 is recorded")
        await answer(seat, "dog")
        await seat.reads("● recorded")
        # Nothing typed is recorded only by a second enter, and ctrl+j begins a line.
        await seat.press("space")
        await seat.until(partial(waits_for, seat, 2), "item 2")
        await seat.press("enter", reads=NOTHING_TYPED)
        await seat.type("d")
        await seat.until(lambda: NOTHING_TYPED not in seat.text, "the question is gone")
        await seat.press("backspace", "enter", reads=NOTHING_TYPED)
        assert seat.work.awaiting, "typing took the first enter back"
        await seat.press("enter")
        await seat.until(lambda: not seat.work.awaiting, "the answer")
        await seat.press("space")
        await seat.until(partial(waits_for, seat, 3), "item 3")
        await seat.type("a")
        await seat.press("ctrl+j")
        await seat.type("b")
        await seat.press("enter", reads="That was the last question. Thank you.")
        await seat.press("space", "enter", "g")
        assert seat.desk.page == "trial", "results hold verdicts"
        await seat.press("escape", "space", at="results")
    _, trials = seat.stored()
    said = [trial.counting for trial in trials]
    assert [one.response for one in said if one] == ["dog", "", "a\nb"]
    assert all(one and one.stop_reason is StopReason.NONE for one in said)
    assert all(one and one.latency_s is not None and 0 < one.latency_s < 60 for one in said)


async def test_letters_typed_on_are_no_commands_and_verdicts_are_hidden_until_h(
    sit: Sit, battery: str
) -> None:
    async with sit((160, 48)) as seat:
        await begin(seat, battery)
        await answer(seat, "tree")
        await seat.reads("● recorded")
        assert "wrong" not in seat.text
        assert "0/1 right" not in seat.text
        await seat.type("huvsnidpa?[")
        await seat.press("tab")
        assert not seat.asked
        await seat.reads("space next item   esc commands")
        assert "✗" not in seat.text
        await seat.focuses("participant")
        one, trials = seat.stored()
        assert (one.answered, trials[0].state) == (1, TrialState.ANSWERED)
        await seat.press("escape", "t", "f")
        await seat.reads("✗", "0/1 right", "j Judges")
        await seat.press("t")
        await seat.until(lambda: "✗" not in seat.text and "j Judges" not in seat.text, "hidden")
        await seat.press("space")
        await seat.until(partial(waits_for, seat, 2), "item 2")


async def test_after_esc_the_keys_are_commands_until_the_next_answer(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await begin(seat, battery)
        await seat.press("space")
        await seat.focuses("answer")
        await seat.press("escape", "s")
        await seat.words("too tired")
        await seat.press("f", reads="› skipped")
        await seat.press("u")
        await seat.until(lambda: seat.work.item and seat.work.item.trial.state == "planned")
        await seat.press("space")
        await seat.focuses("answer")
        await seat.type("sn")
        await seat.press("escape")
        await seat.focuses("participant")
        await seat.press("n")
        await seat.words("coughs")
        await seat.press("enter")
        await seat.focuses("answer")
        await seat.type(" x")
        assert isinstance(seat.app.focused, TextArea)
        assert seat.app.focused.text == "sn x"
        await seat.press("enter")
        await seat.until(lambda: not seat.work.awaiting)
        await seat.press("escape", "r")
        await seat.reads("a first answer cannot be asked again: u takes it back")
        assert not seat.work.awaiting
        await seat.press("n")
        await seat.words("yawned")
        await seat.press("v")
        await seat.words("prompted")
        await seat.press("u")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt)
        await answer(seat, "fish")
        await seat.press("n")
        assert not seat.asked
        _, trials = seat.stored()
        assert trials[0].counting is not None
        assert trials[0].counting.response == "sn x"
        assert trials[0].notes == ("coughs", "yawned")
        assert [trial.state for trial in trials[:2]] == [TrialState.ANSWERED] * 2


async def test_with_a_the_next_item_follows_an_answer_that_is_recorded_once(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await begin(seat, battery)
        await seat.press("a")
        await seat.until(partial(waits_for, seat, 1), "item 1")
        await seat.type("dog")
        await seat.pilot.press("enter", "enter")
        for place, words in ((2, "fish"), (3, "ok")):
            await seat.until(partial(waits_for, seat, place), f"item {place}")
            await seat.type(words)
            await seat.press("enter")
        await seat.reads("✓ complete")
        assert seat.desk.page == "trial", "results hold verdicts: shown by choice"
        said = [one.counting.response for one in seat.stored()[1] if one.counting]
        assert said == ["dog", "fish", "ok"]


async def test_an_export_asks_for_a_registered_speakers_consent(
    sit: Sit, battery: str, tmp_path: Path
) -> None:
    out = tmp_path / "answers.jsonl"
    async with sit((160, 48)) as seat:
        await begin(seat, battery)
        await answer(seat, "dog")
        await answer(seat, "the wall")
        await seat.press("space")
        await seat.until(partial(waits_for, seat, 3))
        assert "Say it slowly." not in seat.text, "words to the administrator"
        await seat.press("escape", reads="Say it slowly.")
        await seat.press("enter")
        await seat.until(partial(waits_for, seat, 3))
        await seat.type("house.")
        await seat.press("enter")
        await seat.until(lambda: not seat.work.awaiting)
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-014", "record", True, "2026-11-21")])
        await seat.press("escape", "space", at="results")
        await seat.press("e")
        await seat.focuses("out")
        seat.app.screen.query_one("#out", Input).value = str(out)
        await seat.press("enter", reads="not consented to sharing")
        assert not out.exists()
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-014", "share", True, "2026-11-21")])
        await seat.press_button("begin")
        await seat.closed()
    assert out.exists()
    with Store.open(seat.store) as store:
        acts = [entry.act for entry in store.people.log_entries("S-014")]
    assert acts == ["recorded", "export-begun", "exported"]


@pytest.mark.parametrize("size", SIZES)
async def test_the_participant_sees_the_item_alone(
    sit: Sit, battery: str, size: tuple[int, int]
) -> None:
    async with sit(size) as seat:
        await begin(seat, battery)
        await seat.reads("space   gives the next item; the participant sees it alone")
        assert "conditions" not in seat.text, "no condition is stored of a person who types"
        await seat.press("space")
        await seat.until(partial(waits_for, seat, 1))
        shown = seat.text.split()
        large = size[0] > 100  # then letters are drawn with half blocks
        assert large == ("█" in seat.text)
        assert large or {"Which", "barks?", "dog", "tree", "cup"} < set(shown)
        assert not {"tabwb", "S-014", "Transcript", "seed", "Space"} & set(shown)
        await seat.press("f8", "f10")
        assert (seat.desk.page, seat.asked) == ("trial", False), "no key leaves the item"
        await seat.press("escape", reads="examiner:")
        assert "Transcript" not in seat.text
        await seat.press("escape", reads="the participant types")
        await seat.press("enter")
        await seat.until(partial(waits_for, seat, 1))
        assert "Transcript" not in seat.text
