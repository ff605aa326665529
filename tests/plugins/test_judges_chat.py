"""A chat model's reply becomes a verdict whole, after one repair, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from tabwb_judges.chat import ChatJudge

from tabwb.battery.model import Feature
from tabwb.plugin_api.components import BatchingBackend
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Message, Request, Wait
from tabwb.records.ratings import Verdict
from tabwb.records.states import RatingStatus, ResponseStatus, StopReason
from tests.plugins.judging import (
    GOOD,
    SMALL,
    SPEC,
    Say,
    Scripted,
    Together,
    reply,
    response,
    statuses,
    values,
    verdicts,
)

BAD = '{"Anomia": true, "Jargon": 0}'
UNPARSED = {RatingStatus.UNPARSED}
ERROR = {RatingStatus.ERROR}


def judge(say: Say, backend: Callable[[Say], Scripted] = Scripted) -> tuple[ChatJudge, Scripted]:
    model = backend(say)
    return ChatJudge(SPEC, SMALL, lambda: model), model


def once_more(first: str, second: str) -> Say:
    """Say one thing first and another when asked again."""
    return lambda request: second if "Again:" in request.messages[-1].content else first


def test_it_says_who_it_is() -> None:
    made, _ = judge(lambda request: GOOD)
    assert made.examinee
    assert (made.rater, made.examinee) == ("small:scripted:one", "scripted:one")
    assert made.features == ("anomia", "jargon")
    assert made.caution == "for tests"
    assert made.prompt_text == SMALL.canonical


def test_a_good_reply_is_a_verdict() -> None:
    made, model = judge(lambda request: GOOD)
    verdict = verdicts(made, response())[0]
    assert values(verdict) == {"anomia": 1.0, "jargon": 0.0}
    assert {rating.rater for rating in verdict.ratings} == {"small:scripted:one"}
    assert (verdict.raw, verdict.first_raw, verdict.repaired) == (GOOD, "", False)
    assert (verdict.requests, verdict.prompt_tokens, verdict.reply_tokens) == (1, 100, 20)
    assert verdict.latency_s == 0.5
    (request,) = model.asked
    assert request.messages == (Message("user", "Judge “I went home.”."),)
    assert request.decoding.greedy and request.decoding.max_tokens == 2048
    assert request.json_schema == SMALL.json_schema


def test_a_judge_that_samples_draws_each_verdict_with_a_seed_of_its_own() -> None:
    warm = replace(SMALL, temperature=0.7)
    model = Scripted(once_more(BAD, GOOD))
    made = ChatJudge(SPEC, warm, lambda: model)
    answers = [replace(response(text), draw=draw) for text in ("One.", "Two.") for draw in (0, 1)]
    verdicts(made, *answers)
    seeds = [request.decoding.seed for request in model.asked]
    assert len(seeds) == 8  # each is asked for once more
    assert len(set(seeds)) == 8
    again = [made.requests(answer, ())[0].decoding.seed for answer in answers]
    assert again == seeds[:4]


def test_what_is_asked_is_what_a_dry_run_shows() -> None:
    made, model = judge(lambda request: GOOD)
    shown = made.requests(response(), ())
    assert not model.is_open
    verdicts(made, response())
    assert tuple(shown) == tuple(model.asked)


def test_text_around_the_object_is_told_in_the_reason() -> None:
    made, _ = judge(lambda request: f"Here it is:\n```json\n{GOOD}\n```")
    verdict = verdicts(made, response())[0]
    assert {rating.reason for rating in verdict.ratings} == {"extra text around the JSON"}


@pytest.mark.parametrize(
    ("metadata", "structured"), [({"structured": "json-schema"}, True), ({}, False)]
)
def test_structured_means_that_the_interface_was_held_to_it(
    metadata: dict[str, str], structured: bool
) -> None:
    made, _ = judge(lambda request: replace(reply(GOOD), metadata=metadata))
    assert verdicts(made, response())[0].structured is structured


def test_an_unreadable_reply_is_asked_for_once_more() -> None:
    made, model = judge(once_more(BAD, GOOD))
    verdict = verdicts(made, response())[0]
    assert values(verdict) == {"anomia": 1.0, "jargon": 0.0}
    assert (verdict.first_raw, verdict.raw, verdict.repaired) == (BAD, GOOD, True)
    assert (verdict.requests, verdict.prompt_tokens, verdict.reply_tokens) == (2, 200, 40)
    first, second = model.asked
    assert second.messages == (
        *first.messages,
        Message("assistant", BAD),
        Message("user", "Again: the value of 'Anomia' is true, not 0 or 1."),
    )


def test_two_unreadable_replies_leave_everything_unparsed() -> None:
    made, model = judge(once_more(BAD, "no idea"))
    verdict = verdicts(made, response())[0]
    assert statuses(verdict) == UNPARSED
    assert set(values(verdict)) == {"anomia", "jargon"}
    assert (verdict.first_raw, verdict.raw, verdict.repaired) == (BAD, "no idea", True)
    assert verdict.ratings[0].reason == "it holds no complete JSON object"
    assert len(model.asked) == 2


def test_one_missing_key_leaves_everything_unparsed() -> None:
    made, _ = judge(lambda request: '{"Anomia": 1}')
    assert statuses(verdicts(made, response())[0]) == UNPARSED


def test_an_empty_reply_is_no_turn_of_the_conversation() -> None:
    made, model = judge(once_more("", GOOD))
    assert verdicts(made, response())[0].repaired
    assert model.asked[1].messages == (
        Message(
            "user", "Judge “I went home.”.\n\nAgain: it holds no complete JSON object."
        ),
    )  # fmt: skip


def test_a_refusal_is_not_asked_again() -> None:
    made, model = judge(lambda request: reply("I can't.", StopReason.REFUSED))
    verdict = verdicts(made, response())[0]
    assert statuses(verdict) == UNPARSED
    assert (verdict.raw, verdict.stop_reason) == ("I can't.", StopReason.REFUSED)
    assert len(model.asked) == 1


def test_a_cut_reply_says_that_it_was_cut() -> None:
    made, _ = judge(lambda request: reply('{"Anomia": 1, "Ja', StopReason.LENGTH))
    reason = verdicts(made, response())[0].ratings[0].reason
    assert reason == "it holds no complete JSON object; it was cut at the token limit"


def down(request: Request) -> ComponentError:
    return ComponentError("HTTP 503", hint="try later")


def test_a_failed_call_is_an_error_never_0() -> None:
    made, _ = judge(down)
    verdict = verdicts(made, response())[0]
    assert statuses(verdict) == ERROR
    assert values(verdict) == {"anomia": None, "jargon": None}
    assert verdict.ratings[0].reason == "HTTP 503\ntry later"


def test_a_failed_repair_keeps_the_first_words() -> None:
    def say(request: Request) -> str | ComponentError:
        return down(request) if "Again:" in request.messages[-1].content else BAD

    verdict = verdicts(judge(say)[0], response())[0]
    assert statuses(verdict) == ERROR
    assert (verdict.first_raw, verdict.raw, verdict.requests) == (BAD, "", 2)
    assert verdict.prompt_tokens == 100


def test_a_defect_of_a_back_end_is_the_error_of_one_call() -> None:
    def say(request: Request) -> str:
        if "defect" in request.messages[0].content:
            raise KeyError("x")
        return GOOD

    found = verdicts(judge(say)[0], response("defect"), response())
    assert statuses(found[0]) == ERROR
    assert values(found[1]) == {"anomia": 1.0, "jargon": 0.0}


def test_an_empty_response_is_undefined_and_nothing_is_asked() -> None:
    made, model = judge(lambda request: GOOD)
    empty = response("", ResponseStatus.EMPTY)
    verdict = verdicts(made, empty)[0]
    assert statuses(verdict) == {RatingStatus.UNDEFINED}
    assert verdict.requests == 0
    assert not model.asked and not model.is_open
    assert made.requests(empty, ()) == ()


@pytest.mark.parametrize("status", sorted(set(ResponseStatus) - {ResponseStatus.EMPTY}))
def test_every_other_response_is_judged(status: ResponseStatus) -> None:
    made, _ = judge(lambda request: GOOD)
    assert statuses(verdicts(made, response("xyz", status))[0]) == {RatingStatus.VALUE}


def test_a_feature_that_the_prompt_does_not_have_is_undefined() -> None:
    made, _ = judge(lambda request: GOOD)
    battery = (Feature("anomia", "Anomia", "Anomia", "..."), Feature("pauses", "P", "P", "..."))
    ratings = {rating.measure: rating for rating in made.judge(response(), battery)}
    assert ratings["pauses"].status is RatingStatus.UNDEFINED
    assert ratings["anomia"].value == 1.0


@pytest.mark.parametrize("backend", [Scripted, Together])
def test_each_of_many_gets_its_own(backend: Callable[[Say], Scripted]) -> None:
    def say(request: Request) -> str | ComponentError:
        text = request.messages[0].content
        if "down" in text:
            return down(request)
        if "mumbles" in text and "Again:" not in request.messages[-1].content:
            return "hm"
        return GOOD if "odd" in text or "mumbles" in text else GOOD.replace("1", "0")

    made, model = judge(say, backend)
    assert isinstance(model, BatchingBackend) == (backend is Together)
    texts = ["odd", "down", "", "even", "mumbles"]
    given = [response(text, ResponseStatus.OK if text else ResponseStatus.EMPTY) for text in texts]
    found = verdicts(made, *given)
    assert set(found) == {0, 1, 2, 3, 4}
    assert values(found[0])["anomia"] == 1.0
    assert statuses(found[1]) == ERROR
    assert found[2].requests == 0
    assert values(found[3])["anomia"] == 0.0
    assert found[4].repaired and values(found[4])["anomia"] == 1.0


def test_waits_are_told_of_the_response_that_waits() -> None:
    made, _ = judge(once_more(BAD, GOOD))
    pieces = list(made.judge_many([response(), response()], (), threading.Event()))
    waits = [index for index, piece in pieces if isinstance(piece, Wait)]
    assert waits == [0, 1, 0, 1]


def test_a_call_that_yields_nothing_is_an_error() -> None:
    class Silent(Together):
        def reply_many(self, requests, cancel):  # type: ignore[no-untyped-def]
            yield from ()

    made, _ = judge(lambda request: GOOD, Silent)
    verdict = verdicts(made, response())[0]
    assert statuses(verdict) == ERROR
    assert "ended without a reply" in verdict.ratings[0].reason


def test_after_cancel_nothing_more_is_asked_or_said() -> None:
    cancel = threading.Event()

    def say(request: Request) -> str:
        cancel.set()
        return GOOD

    made, model = judge(say)
    given = [response(), response("two"), response("three")]
    pieces = [p for _, p in made.judge_many(given, (), cancel) if isinstance(p, Verdict)]
    assert len(pieces) == len(model.asked) == 1


def test_a_cancelled_reply_is_no_verdict() -> None:
    made, _ = judge(lambda request: reply('{"Ano', StopReason.CANCELLED))
    assert verdicts(made, response()) == {}


def test_open_tells_which_prompt_and_close_may_be_called_twice() -> None:
    made, model = judge(lambda request: GOOD)
    facts = made.open()
    assert facts["model"] == "scripted"
    assert len(facts["judge_prompt_sha256"]) == 64
    made.close()
    made.close()
    assert not model.is_open
