"""Judging as a separate step: resumable, cached, within limits, never between two prompts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabwb.administer.cost import Limits
from tabwb.administer.judging import Judging, check_limits
from tabwb.administer.session import setup
from tabwb.administer.session.raters import checked, declaration_of
from tabwb.administer.session.session import Session
from tabwb.battery.model import Battery, Feature
from tabwb.host.plugins import Plugins
from tabwb.host.prices import Price
from tabwb.plugin_api.components import Response
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.errors import ComponentError, Interrupted, UsageError
from tabwb.records.exchange import Wait
from tabwb.records.ratings import Verdict, valued
from tabwb.records.states import RatingStatus
from tabwb.store.store import Store
from tests.administer.judging_parts import SAID, Scripted, Work, battery, give, run, verdicts, work

__all__ = ["battery", "give", "work"]


def test_every_connected_text_is_judged_and_equal_texts_once(
    store: Store, give: Callable[..., int], work: Work
) -> None:
    number, judge = give(), Scripted()
    judging = work(number, judge)
    made = run(judging)
    assert judge.asked == ["I um went away.", "I was a baker."]
    assert verdicts(store, number) == [1.0, 0.0, 0.0, None]
    assert [e.trial for e in made if isinstance(e, events.JudgementRecorded)] == [1, 2, 3]
    first, second, twin = [each.judgement for each in store.judgements(number)]
    assert (first.raw, first.requests) == ("anomia True", 1)
    assert (twin.same_as, twin.requests) == (second.id, 0)
    assert (judging.tally.judged, judging.tally.requests) == (3, 2)


def test_the_estimate_is_what_is_then_asked(give: Callable[..., int], work: Work) -> None:
    judge = Scripted()
    judging = work(give(), judge, price=Price("model", 1.0, 2.0))
    estimate = judging.estimate()
    assert (estimate.to_ask, estimate.duplicates, estimate.from_store, estimate.judged) == (
        2,
        1,
        0,
        0,
    )
    # "Judge: I um went away." and 388 characters more, and "Judge: I was a baker." likewise.
    assert estimate.prompt_tokens == (22 + 388) // 4 + (21 + 388) // 4
    assert estimate.cost == pytest.approx((estimate.prompt_tokens + 2 * 40) / 1e6)
    assert [trial for trial, _ in judging.requests()] == [1, 2]
    assert judge.asked == []


def test_what_is_judged_is_not_judged_again_unless_told_to(
    give: Callable[..., int], work: Work
) -> None:
    number, judge = give(), Scripted()
    run(work(number, judge))
    again = work(number, judge)
    assert again.estimate().judged == 3 and run(again) == []
    run(work(number, judge, again=True))
    assert len(judge.asked) == 4


def test_a_verdict_of_the_same_call_is_taken_from_the_store(
    store: Store, give: Callable[..., int], work: Work
) -> None:
    judge = Scripted()
    run(work(give(), judge))
    other = give({**SAID, "text/t3": "I eat um bread."})
    judging = work(other, judge)
    assert judging.estimate().from_store == 2
    run(judging)
    assert judge.asked[2:] == ["I eat um bread."]
    assert verdicts(store, other) == [1.0, 0.0, 1.0, None]
    assert (judging.tally.from_store, judging.tally.requests) == (2, 1)


def test_all_that_can_be_judged_is_judged_when_asked_for(
    store: Store, give: Callable[..., int], work: Work
) -> None:
    number = give()
    run(work(number, Scripted(), scope="all"))
    assert verdicts(store, number) == [1.0, 0.0, 0.0, 0.0]


def test_answers_under_another_prompt_are_judged_again(
    store: Store, give: Callable[..., int], work: Work
) -> None:
    number, judge = give(), Scripted()
    with pytest.raises(Interrupted):
        run(work(number, judge), Limits(requests=2))
    judge.prompt_text = '{"system": "Judge otherwise."}'
    run(work(number, judge))
    assert judge.asked == ["I um went away.", "I um went away.", "I was a baker."]
    assert {each.judgement.prompt_text for each in store.judgements(number)[1:]} == {
        judge.prompt_text
    }


@pytest.mark.parametrize("bad", [(), ("not a rating",)], ids=["nothing", "no rating"])
def test_a_verdict_that_cannot_be_kept_is_an_error(
    store: Store, give: Callable[..., int], work: Work, bad: tuple[Any, ...]
) -> None:
    number, judge = give(), Scripted()
    judge.say = lambda text: Verdict(bad) if "um" in text else None
    run(work(number, judge))
    assert {rating.status for rating in store.trials(number)[0].ratings} == {RatingStatus.ERROR}
    assert verdicts(store, number)[1] == 0.0


@pytest.mark.parametrize("spec", ["rules", "tab-2026+likelihood:bundled", "surprisal:bundled"])
def test_a_judge_that_writes_nothing_is_not_asked_several_times(
    plugins: Plugins, give: Callable[..., int], work: Work, spec: str
) -> None:
    with pytest.raises(UsageError, match="gives the same verdict"):
        work(give(), plugins.judge(spec), repeats=3)


def test_repetitions_ask_anew_and_do_not_count(
    store: Store, give: Callable[..., int], work: Work
) -> None:
    number, judge = give(), Scripted()
    run(work(number, judge))
    flips = iter([True, False, True, False])
    judge.say = lambda text: judge.verdict(next(flips))
    judging = work(number, judge, repeats=3)
    # What is judged already is the first of the three.
    assert judging.estimate().judged == 3
    run(judging)
    assert len(judge.asked) == 2 + 4
    assert verdicts(store, number) == [1.0, 0.0, 0.0, None]
    repeats = [each.judgement.repeat for each in store.judgements(number)]
    assert sorted(repeats) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert work(number, judge, repeats=3).estimate().to_ask == 0


def test_every_verdict_on_one_response_is_another_draw(
    give: Callable[..., int], work: Work
) -> None:
    number, judge = give(), Scripted()
    run(work(number, judge, repeats=3))
    assert judge.draws == [0, 1, 2, 0, 1, 2]
    judge.draws.clear()
    run(work(number, judge, again=True))
    assert judge.draws == [3, 3]


def test_a_judge_without_a_model_judges_later_too(
    store: Store, plugins: Plugins, give: Callable[..., int], work: Work
) -> None:
    number = give()
    run(work(number, plugins.judge("rules")))
    assert {r.rater for r in store.trials(number)[0].ratings} == {"rules-2"}
    assert store.judgements(number) == ()


def test_a_battery_without_features_has_nothing_to_judge(
    store: Store, plugins: Plugins, battery: Battery, tmp_path: Path
) -> None:

    with pytest.raises(UsageError, match="no features"):
        Judging(store, plugins, replace(battery, features=()), 1, Scripted())


def test_a_session_leaves_judges_with_models_for_later(session_with_judge: Session) -> None:
    assert session_with_judge.raters.judges() == ()


@pytest.fixture
def session_with_judge(store: Store, plugins: Plugins, battery: Battery) -> Iterator[Session]:
    from tabwb.plugin_api.descriptors import Descriptor

    def made(spec: object, options: object, inner: object) -> Scripted:
        raise AssertionError("made between two prompts")

    plugins._registry("judges").add(
        Descriptor("scripted", "A scripted judge", made, wraps="models", name_help="MODEL"),
        owner="test",
    )
    conditions = Conditions("echo", "model", judges=("scripted:echo",))
    with setup.create(store, plugins, battery, conditions) as session:
        yield session


def test_what_the_judge_declares_is_kept_and_its_scope_only_widens(
    store: Store, give: Callable[..., int], work: Work
) -> None:
    number, judge = give(), Scripted()
    for scope, kept in (
        ("connected-text", "connected-text"),
        ("all", "all"),
        ("connected-text", "all"),
    ):
        run(work(number, judge, scope=scope, again=True))
        declaration = store.history(number).declarations[judge.rater]
        assert declaration == declaration_of(judge, "all" if kept == "all" else "connected-text")
        assert declaration.scope == kept
        assert declaration.prompt_text == judge.prompt_text


def test_a_judge_with_a_scope_of_its_own_keeps_it(
    store: Store, plugins: Plugins, give: Callable[..., int], work: Work
) -> None:
    number = give()
    run(work(number, plugins.judge("rules"), scope="all"))
    assert store.history(number).declarations["rules-2"].scope == "connected-text"


def test_a_feature_is_present_or_absent() -> None:
    given = [valued("judge", "anomia", 7), valued("judge", "surprisal", 7)]
    kept = checked("judge", given, features=("anomia",))
    assert [rating.status for rating in kept] == [RatingStatus.ERROR, RatingStatus.VALUE]


def test_a_failed_call_is_an_error_and_is_asked_again(
    store: Store, give: Callable[..., int], work: Work
) -> None:
    number, judge = give(), Scripted()
    judge.say = lambda text: judge.down() if "um" in text else None
    judging = work(number, judge)
    run(judging)
    assert judging.tally.in_error == 1
    first = store.trials(number)[0].ratings
    assert {rating.status for rating in first} == {RatingStatus.ERROR}
    judge.say = lambda text: None
    run(work(number, judge))
    assert judge.asked[2:] == ["I um went away."]
    assert verdicts(store, number) == [1.0, 0.0, 0.0, None]


def test_a_judge_that_is_down_is_left_alone_soon(give: Callable[..., int], work: Work) -> None:
    number = give({f"text/t{n}": f"word {n}" for n in (1, 2, 3)} | {"saying/s1": "house."})
    judge = Scripted()
    judge.say = lambda text: judge.down()
    with pytest.raises(Interrupted, match=r"3 calls in a row failed; the last one: HTTP 503"):
        run(work(number, judge, scope="all"))
    assert len(judge.asked) == 3


@pytest.mark.parametrize("failure", [ComponentError("no key"), ValueError("odd")])
def test_a_judge_that_raises_gives_verdicts_in_error(
    store: Store, give: Callable[..., int], work: Work, failure: Exception
) -> None:
    class Broken(Scripted):
        def judge_many(
            self,
            responses: Sequence[Response],
            features: Sequence[Feature],
            cancel: threading.Event,
        ) -> Iterator[tuple[int, Verdict | Wait]]:
            yield 0, self.verdict(True)
            raise failure

    number = give()
    run(work(number, Broken()))
    ratings = store.trials(number)[1].ratings
    assert {rating.status for rating in ratings} == {RatingStatus.ERROR}
    assert str(failure) in ratings[0].reason
    assert verdicts(store, number)[0] == 1.0


def test_a_limit_of_requests_stops_and_the_rest_is_done_later(
    store: Store, give: Callable[..., int], work: Work
) -> None:
    number, judge = give(), Scripted()
    with pytest.raises(Interrupted, match="the limit is 2 requests; 1 was sent") as caught:
        run(work(number, judge), Limits(requests=2))
    assert caught.value.exit_status == 3 and "1 call left" in caught.value.message
    assert verdicts(store, number)[:2] == [1.0, None]
    run(work(number, judge))
    assert verdicts(store, number) == [1.0, 0.0, 0.0, None]
    assert len(judge.asked) == 2


def test_a_limit_of_cost_is_never_passed(give: Callable[..., int], work: Work) -> None:
    judge = Scripted()
    # A call is reckoned with two requests, 136 tokens each (three letters a token) and the first
    # one's reply in the second: 2 x 136 + 100 + 13.6 sent, 2 x 100 received: 386 x 1 + 200 x 10.
    judging = work(give(), judge, price=Price("model", 1.0, 10.0))
    assert judging.estimate().cost_at_most == pytest.approx(2 * 0.002386)
    assert judging.estimate().reply_tokens_at_most == 2 * 2 * 100
    with pytest.raises(Interrupted, match=r"the next answer may cost 0\.002386 USD"):
        run(judging, Limits(cost=0.0026))
    assert len(judge.asked) == 1
    assert judging.tally.cost == pytest.approx((100 * 1.0 + 20 * 10.0) / 1e6)


@pytest.mark.parametrize("tokens", [None, 386], ids=["not counted", "repaired"])
def test_what_a_call_may_take_is_held_against_the_limit(
    give: Callable[..., int], work: Work, tokens: int | None
) -> None:
    judge = Scripted()
    received = None if tokens is None else 200
    judge.say = lambda text: replace(
        judge.verdict(True), prompt_tokens=tokens, reply_tokens=received, requests=2
    )
    judging = work(give(), judge, price=Price("model", 1.0, 10.0))
    with pytest.raises(Interrupted, match="the limit is"):
        run(judging, Limits(cost=0.004))
    assert len(judge.asked) == 1
    assert judging.tally.cost_at_most == pytest.approx(2386e-6)


def test_limited_rounds_of_judging_anew_come_to_every_answer(
    give: Callable[..., int], work: Work
) -> None:
    number, judge = give(), Scripted()
    run(work(number, judge))
    for _ in range(2):
        with pytest.raises(Interrupted):
            run(work(number, judge, again=True), Limits(requests=2))
    assert judge.asked[2:] == ["I um went away.", "I was a baker."]


def test_a_limit_has_room_for_one_answer(plugins: Plugins) -> None:
    for spec in ("rules", "tab-2026+likelihood:bundled"):
        check_limits(plugins.judge(spec), Limits(requests=1))
    for limits in (Limits(requests=2), Limits()):
        check_limits(plugins.judge("tab-2026:bundled"), limits)
    with pytest.raises(UsageError, match="a second one where a reply cannot be read") as refused:
        check_limits(plugins.judge("tab-2026:bundled"), Limits(requests=1))
    assert refused.value.allowed == "2 or more"


def test_a_limit_of_cost_needs_a_price(give: Callable[..., int], work: Work) -> None:
    judge = Scripted()
    with pytest.raises(UsageError, match="needs a price"):
        run(work(give(), judge), Limits(cost=1.0))
    assert judge.asked == []


def test_cancelling_keeps_what_was_judged(
    store: Store, give: Callable[..., int], work: Work
) -> None:
    number, judge, cancel = give(), Scripted(), threading.Event()
    with pytest.raises(Interrupted, match="stopped by the user"):
        for _ in work(number, judge).run(Limits(), cancel):
            cancel.set()
    assert verdicts(store, number) == [1.0, None, None, None]
