"""What every judge says of one response, side by side: in the snapshot and on the screen."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.records.ratings import Judged, Judgement, Rating, failed, undefined, valued
from tabwb.records.states import AttemptState, RatingStatus, ResponseStatus, StopReason, TrialState
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tabwb.store.store import Store
from tabwb.workbench.results.written import judged_response
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import WrappedText
from tests.workbench.seat import SIZES, Seat, Sit
from tests.workbench.stocked import stock

CHAT = "tab-2026:echo"
CALL = Judgement(
    (valued(CHAT, "anomia", True),), rater=CHAT, raw="{}", prompt_tokens=812, reply_tokens=9
)


@pytest.fixture(scope="module")
def tab() -> Battery:
    plugins = Plugins.load()
    try:
        return load_battery(plugins.find_battery("tab"))
    finally:
        plugins.close()


def answered(tab: Battery, *ratings: Rating, attempts: int = 1) -> Trial:
    subtest = tab.subtests[0]
    plan = PlannedTrial(1, subtest.id, subtest.items[0].id, 0, (), "prompt")
    attempt = Attempt(1, "Um.", AttemptState.OK, ResponseStatus.OK, StopReason.END, 0.1)
    many = tuple(replace(attempt, number=n + 1) for n in range(attempts))
    return Trial(plan, TrialState.ANSWERED, many, ratings)


@pytest.mark.parametrize(
    ("calls", "how"),
    [
        ([CALL], "1 request, 812 tokens sent, 9 back"),
        ([replace(CALL, prompt_tokens=None)], "1 request"),
        (
            [replace(CALL, repaired=True, requests=2)],
            "repaired: the second reply is read, 2 requests, 812 tokens sent, 9 back",
        ),
        (
            [
                replace(
                    CALL,
                    repaired=True,
                    ratings=(Rating(CHAT, "anomia", None, RatingStatus.UNPARSED, "no JSON"),),
                    prompt_tokens=None,
                )
            ],
            "asked again; the second reply cannot be read either, 1 request",
        ),
        (
            [replace(CALL, structured=True, stop_reason=StopReason.LENGTH, prompt_tokens=None)],
            "structured: the reply follows the schema, the reply was cut at its limit, 1 request",
        ),
        (
            [replace(CALL, stop_reason=StopReason.REFUSED, prompt_tokens=None)],
            "the service refused, 1 request",
        ),
        ([replace(CALL, same_as=7)], "copied from an earlier identical call"),
        (
            [replace(CALL, prompt_tokens=None), replace(CALL, repeat=1)],
            "judged 2 times; this verdict counts, 1 request",
        ),
    ],
    ids=[
        "plain",
        "tokens not counted",
        "repaired",
        "unread twice",
        "structured and cut",
        "refused",
        "taken over",
        "repeated",
    ],
)
def test_how_a_verdict_was_had_is_said_in_words(
    tab: Battery, calls: list[Judgement], how: str
) -> None:
    judged = [Judged(1, 1, call) for call in calls]
    found = judged_response(tab, answered(tab, *CALL.ratings), judged)
    assert ", ".join([*found.judges[0].marks, *found.judges[0].took]) == how


def test_words_are_those_of_the_attempt_that_counts_and_of_the_latest_call(tab: Battery) -> None:
    trial = answered(tab, *CALL.ratings, attempts=2)
    judged = [
        Judged(1, 1, replace(CALL, raw="of the first attempt")),
        Judged(2, 2, replace(CALL, raw="of another trial")),
        Judged(1, 2, replace(CALL, raw="asked first")),
        Judged(1, 2, replace(CALL, raw="asked anew", first_raw="not JSON")),
        Judged(1, 2, replace(CALL, raw="a repetition", repeat=1)),
    ]
    (judge,) = judged_response(tab, trial, judged).judges
    assert judge.call is not None
    assert (judge.call.raw, judge.call.first_raw) == ("asked anew", "not JSON")


def test_features_stand_in_the_batterys_order_and_measures_are_none(tab: Battery) -> None:
    found = judged_response(
        tab,
        answered(
            tab,
            failed("b", "jargon", "HTTP 503"),
            valued("a", "anomia", True),
            valued("a", "anomia.probability", 0.7),
            undefined("a", "jargon", "empty"),
            valued("ttr-scorer", "ttr", 0.5),
        ),
        [],
    )
    order = [feature.id for feature in tab.features]
    assert [name for name, _ in found.features] == sorted(["anomia", "jargon"], key=order.index)
    assert [judge.rater for judge in found.judges] == ["b", "a"]
    assert found.judges[1].probabilities == {"anomia": 0.7}
    assert found.judges[0].call is None


def test_what_a_judge_finds_outside_its_set_is_told_apart_from_what_counts(tab: Battery) -> None:
    ratings = [valued("a", name, True) for name in ("anomia", "jargon")]
    absent = [valued("a", "empty-speech", False), undefined("a", "conduite-dapproche", "no")]
    given = answered(tab, *ratings, *absent, *(replace(one, rater="b") for one in ratings))
    found = judged_response(tab, given, [], {"a": ("jargon", "retracing")})
    assert [judge.outside for judge in found.judges] == [("anomia",), ()]


async def test_verdicts_are_side_by_side_with_reasons_below(sit: Sit, tmp_path: Path) -> None:
    stock(tmp_path / "store.db")
    async with sit() as seat:
        seat.show_results(1)
        await seat.at("results")
        await seat.press("t")
        for size in SIZES:
            await seat.pilot.resize_terminal(*size)
            await seat.press("home", "enter")
            await seat.focuses("response-detail")
            await seat.until(lambda: "Verdicts" in whole(seat), "the verdicts")
            shown = {" ".join(line.split()) for line in whole(seat).splitlines()}
            assert "Anomia - undefined ▣ present ▣ present 0.90" in shown
            assert "Abandoned utterances □ absent □ absent - not asked" in shown
            assert "C P(1) = 0.900" in shown and "B says anomia" in shown
            assert "B tab-2026:x" in shown
            await seat.press("right", reads="ct2 · 2 of 20")
            await seat.press("escape")
            await seat.focuses("responses")
            assert seat.desk.page == "results"


def whole(seat: Seat) -> str:
    """All lines of the marked response, also those that are scrolled out of sight."""
    return seat.app.screen.query_one("#response-text", WrappedText).paint(90).plain


async def test_of_a_person_they_are_hidden_until_they_are_revealed(sit: Sit) -> None:
    async with sit() as seat:
        await seat.begin(
            battery="tab", kind="speaker", speaker="S-01", research_protocol="P1",
            judges="none",
        )  # fmt: skip
        await seat.press("space")
        await seat.until(lambda: seat.work.awaiting, "the item")
        await seat.type("we went home")
        await seat.press("enter")
        await seat.until(lambda: not seat.work.awaiting, "the answer")
        await seat.press("escape")
        await seat.press("j", reads="verdicts are hidden while a person types: t shows them")
        assert seat.desk.page == "trial"
        await seat.press("t")
        await seat.press("j", at="results")
        await seat.until(lambda: "No judge has judged this response" in whole(seat))


def message(seat: Seat) -> str:
    return str(seat.app.screen.query_one("#said", Static).content)


def says(seat: Seat, words: str) -> bool:
    return words in message(seat)


def judgements(seat: Seat) -> int:
    with Store.open(seat.store) as store:
        return len(store.judgements(1))


async def test_the_estimate_comes_first_then_every_answer_is_judged_and_replies_are_shown(
    sit: Sit,
) -> None:
    async with sit() as seat:
        await seat.begin(battery="tab", model="echo", judges="rules")
        await seat.press("j", reads="there is no answer to judge")
        await seat.next()
        await seat.next()
        await seat.press("j", at="results", reads="ct2 · 2 of 20")
        assert "Verdicts  rules-2" in whole(seat)
        await seat.press("escape", at="trial")
        await seat.press("a", at="results")
        await seat.press("j")
        await seat.has("judge")
        field = seat.app.screen.query_one("#judge", Input)
        await seat.press("down")
        await seat.until(lambda: isinstance(seat.app.focused, RowList), "the list")
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
        await seat.closed()
        await seat.until(lambda: "tab-2026:echo" in repr(seat.results), "the new verdicts")
        # Raw replies are one key away, and unparsed is never absent.
        await seat.press("t")
        await seat.until(lambda: "? unparsed" in whole(seat), "the verdicts")
        assert len([line for line in whole(seat).splitlines() if "unparsed" in line]) == 19
        await seat.press("W")
        await seat.until(lambda: "the first reply, which could not be read" in whole(seat), "w")
        assert "asks no model: it has no raw reply" in whole(seat)
        assert "asked again; the second reply cannot be read either" in whole(seat)
        await seat.press("W")
        await seat.until(lambda: "the first reply" not in whole(seat), "the verdicts")


REFUSED: tuple[tuple[dict[str, str], str], ...] = (
    ({"judge": ""}, "no judge is given"),
    ({"judge": "tab-2026"}, "needs a name"),
    ({"judge": "nobody:echo"}, "no judge 'nobody'"),
    ({"judge": "rules", "repeats": "0"}, "'0' cannot be used"),
    ({"judge": "rules", "max_cost": "much"}, "'much' cannot be used"),
    ({"judge": "tab-2026+likelihood:echo"}, "log probabilities"),
)


async def test_what_cannot_be_done_is_said_and_a_limit_stops_what_then_goes_on(sit: Sit) -> None:
    async with sit((120, 40)) as seat:
        # Judges that ask a model are offered when a run is over.
        await seat.begin(battery="tab", model="echo", judges="rules tab-2026:echo")
        await seat.press("a")
        await seat.has("said")
        assert seat.app.screen.query_one("#judge", Input).value == "tab-2026:echo"
        assert judgements(seat) == 0
        for fields, words in REFUSED:
            seat.fill(**{"repeats": "1", "max_cost": "", **fields})
            await seat.press_button("begin")
            await seat.until(partial(says, seat, words), words)
            assert judgements(seat) == 0
            assert seat.app.screen.query_one("#begin").display
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
