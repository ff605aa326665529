"""Judging stored answers in the workbench: the estimate, the work, limits, what is refused."""

from __future__ import annotations

from functools import partial

import pytest
from textual.widgets import Input, OptionList, Static

from tabwb.records.states import RatingStatus
from tabwb.store.store import Store
from tests.workbench.seat import SIZES, Seat, Sit


async def given_tab(seat: Seat, **fields: str) -> None:
    """TAB given to echo, results shown."""
    await seat.begin(battery="tab", model="echo", **fields)
    await seat.press("a")
    await seat.until(lambda: seat.desk.page == "results", "the results")


def message(seat: Seat) -> str:
    return str(seat.app.screen.query_one("#judging-message", Static).content)


def says(seat: Seat, words: str) -> bool:
    return words in message(seat)


def judgements(seat: Seat) -> int:
    with Store.open(seat.store) as store:
        return len(store.judgements(1))


@pytest.mark.parametrize("size", SIZES[:1])
async def test_the_estimate_comes_first_then_every_answer_is_judged(
    sit: Sit, size: tuple[int, int]
) -> None:
    async with sit(size) as seat:
        await given_tab(seat, judges="none")
        await seat.press("j")
        await seat.until(lambda: seat.app.screen.query("#judge"), "the dialog")
        field = seat.app.screen.query_one("#judge", Input)
        await seat.press("down")
        await seat.until(lambda: isinstance(seat.app.focused, OptionList), "the list")
        listed = seat.app.screen.query_one("#judge-list", OptionList)
        assert listed.virtual_size.height == listed.option_count  # one line each
        # What stands there is selected: the first letter replaces it, from the list too.
        await seat.press("t", "a", "b", "x", "backspace", *"-2026+l")
        await seat.until(lambda: field.has_focus, "the field")
        assert field.value == "tab-2026+l"
        await seat.press("down", "enter")
        await seat.until(lambda: field.value == "tab-2026+likelihood:", "the first that fits")
        await seat.press(*["backspace"] * 12, "colon", *"echo", "down", "enter")
        await seat.until(lambda: field.has_focus, "the field")
        assert field.value == "tab-2026:echo"  # the model's name behind the entry stays
        await seat.press_button("estimate")
        await seat.until(lambda: "5 to ask" in message(seat), "the estimate")
        assert judgements(seat) == 0
        await seat.press_button("begin")
        await seat.until(lambda: "judged 5" in message(seat), "the end")
        # Echo says the prompt back, which is not JSON: asked twice, then unparsed, never 0.
        assert "5 unparsed" in message(seat) and "10 requests" in message(seat)
        assert message(seat).startswith("! ") and "the first without a verdict: " in message(seat)
        assert judgements(seat) == 5
        with Store.open(seat.store) as store:
            ratings = store.trials(1)[0].ratings
        assert {rating.status for rating in ratings if rating.rater == "tab-2026:echo"} == {
            RatingStatus.UNPARSED
        }
        await seat.press("escape")
        await seat.until(lambda: not seat.asked, "the dialog's end")
        await seat.until(lambda: "tab-2026:echo" in repr(seat.results), "the new verdicts")


async def test_a_limit_stops_and_the_same_goes_on(sit: Sit) -> None:
    async with sit((120, 40)) as seat:
        await given_tab(seat, judges="none")
        await seat.press("j")
        await seat.until(lambda: seat.app.screen.query("#judge"), "the dialog")
        seat.fill(judge="tab-2026:echo", max_requests="4")
        await seat.press_button("begin")
        await seat.until(lambda: "the limit is" in message(seat), "the limit")
        assert judgements(seat) == 2
        assert message(seat).endswith(
            "3 calls left\nJudge continues with the responses that are left."
        )
        seat.fill(max_requests="")
        await seat.press_button("begin")
        await seat.until(lambda: "judged 3" in message(seat), "the end")
        assert judgements(seat) == 5


REFUSED: tuple[tuple[dict[str, str], str], ...] = (
    ({"judge": ""}, "a judge is needed"),
    ({"judge": "tab-2026"}, "needs a name"),
    ({"judge": "nobody:echo"}, "no judge 'nobody'"),
    ({"judge": "rules", "repeats": "0"}, "times: '0' cannot be used"),
    ({"judge": "rules", "max_cost": "much"}, "US dollars: 'much' cannot be used"),
    ({"judge": "tab-2026+likelihood:echo"}, "log probabilities"),
)


async def test_what_cannot_be_done_is_said_and_the_dialog_stays(sit: Sit) -> None:
    async with sit((100, 30)) as seat:
        await given_tab(seat, judges="none")
        await seat.press("j")
        await seat.until(lambda: seat.app.screen.query("#judge"), "the dialog")
        for fields, words in REFUSED:
            seat.fill(**{"repeats": "1", "max_cost": "", **fields})
            await seat.press_button("begin")
            await seat.until(partial(says, seat, words), words)
            assert judgements(seat) == 0
            assert seat.app.screen.query_one("#begin").display


async def test_judges_that_ask_a_model_are_offered_when_a_run_is_over(sit: Sit) -> None:
    async with sit((100, 30)) as seat:
        await seat.begin(battery="tab", model="echo", judges="rules tab-2026:echo")
        await seat.press("a")
        await seat.until(lambda: seat.app.screen.query("#judging-message"), "the offer")
        assert seat.app.screen.query_one("#judge").value == "tab-2026:echo"  # type: ignore[attr-defined]
        assert judgements(seat) == 0
