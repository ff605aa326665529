"""Judging as a separate step: resumable, cached, within limits, never between two prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabwb.administer.judging.judging import Judging
from tabwb.administer.limits import Limits
from tabwb.administer.session import setup
from tabwb.administer.session.raters import checked, declaration_of
from tabwb.administer.session.session import Session
from tabwb.battery.model import Battery
from tabwb.plugin_api.components import ModelJudge, Verdict
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.plugin_api.remote.prices import Price
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.errors import Interrupted, UsageError
from tabwb.records.ratings import valued
from tabwb.records.states import RatingStatus
from tabwb.store.store import Store
from tests.administer.judging_parts import (
    SAID,
    Scripted,
    Work,
    battery,
    give,
    plugins,
    run,
    store,
    verdicts,
    work,
)

__all__ = ["battery", "give", "plugins", "store", "work"]


def test_a_scripted_judge_is_one(give: Callable[..., int]) -> None:
    assert isinstance(Scripted(), ModelJudge)


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
