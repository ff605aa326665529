"""Raters: whatever a scorer or judge does, the answer is recorded and the failure is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tabwb.administer.session.raters import Raters, declaration_of
from tabwb.administer.session.session import Session
from tabwb.battery.model import Feature
from tabwb.plugin_api.components import Judge, Response
from tabwb.records.exchange import Reply
from tabwb.records.ratings import Rating, valued
from tabwb.records.states import AttemptState, RatingStatus, ResponseKind, StopReason
from tabwb.records.trials import Attempt, DeclarationEntry, Entry, RatingsEntry, Trial

Begin = Callable[..., Session]


class Scripted:
    """A scorer that returns, or raises, what it was made with."""

    measures = ("exact", "more")

    def __init__(self, given: Any) -> None:
        self.given = given

    def score(self, *_: object) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given() if callable(self.given) else self.given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (RuntimeError("odd"), "RuntimeError: odd"),
        (None, "TypeError"),
        ([{"exact": 1}], "a rater gives ratings, not dict"),
        ([valued("somebody", "exact", 1)], "in the name of 'somebody'"),
        ([valued("choice", "exact", 1), valued("choice", "exact", 0)], "'exact' twice"),
        (lambda: [valued("choice", "exact", float("nan"))], "finite"),
        (ValueError("half \udce9"), r"half \udce9"),
    ],
)
def test_a_scorer_that_misbehaves_loses_no_answer(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, given: Any, said: str
) -> None:
    session = begin()
    monkeypatch.setattr(session.plugins, "scorer", lambda _: Scripted(given))
    session.next()
    session.answer("dog")
    trial = session.store.trials(session.administration.id)[0]
    assert trial.counting is not None
    assert [(each.measure, each.status) for each in trial.ratings] == [
        ("exact", RatingStatus.ERROR),
        ("more", RatingStatus.ERROR),
    ]
    assert said in trial.ratings[0].reason


@pytest.mark.parametrize(("reason", "kept"), [("half \udce9", "half \\udce9"), ("a\0b", "a\\x00b")])
def test_a_reason_that_not_every_store_can_keep_is_kept_visibly(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, reason: str, kept: str
) -> None:
    session = begin()
    scorer = Scripted([valued("choice", "exact", 1, reason)])
    monkeypatch.setattr(session.plugins, "scorer", lambda _: scorer)
    session.next()
    session.answer("dog")
    assert session.store.trials(session.administration.id)[0].ratings == (
        valued("choice", "exact", 1, kept),
    )


def test_rescoring_counts_what_the_scorer_says_now(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin()
    session.next()
    session.answer("dog")
    changed = Scripted([valued("choice", "exact", 0, "another rule")])
    monkeypatch.setattr(session.plugins, "scorer", lambda _: changed)
    session.raters = Raters(session.plugins, session.battery, ())
    session.corrections.rescore()
    (trial, *_) = session.store.trials(session.administration.id)
    assert trial.ratings == (valued("choice", "exact", 0, "another rule"),)
    assert [attempt.response for attempt in trial.attempts] == ["dog"]


@pytest.mark.parametrize("counted", [{"thought_tokens": "1"}, {}], ids=["0.2.0", "earlier"])
def test_rescoring_reads_what_follows_a_prompt_that_begins_the_thinking_once(
    begin: Begin, counted: dict[str, str]
) -> None:
    session = begin("echo", "model")
    session.next()
    facts = {"rendered_prompt": "Which?<think>\n", **counted}
    session.record(Reply("dog", StopReason.END, 0.1, metadata=facts, reasoning=""))
    session.corrections.rescore()
    attempts = session.store.trials(session.administration.id)[0].attempts
    # Without a count of thinking an earlier version kept it all as the response.
    assert [each.response for each in attempts] == (["dog"] if counted else ["dog", ""])


def test_a_void_item_is_not_rescored(begin: Begin) -> None:
    session = begin()
    session.next()
    session.answer("dog")
    session.corrections.void("the phone rang")
    assert session.corrections.rescore() == ()


class Noting(Judge):
    """A judge that notes what it was told of earlier answers."""

    rater, features, caution = "noting", ("anomia",), ""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        self.told.append(response.previous)
        return []


def test_a_judge_is_told_the_earlier_connected_answers_of_the_replicate(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin(replicates=2)
    judge = Noting()
    monkeypatch.setattr(session.plugins, "judge", lambda _: judge)
    (words, saying) = session.battery.subtests
    telling = replace(words, response=ResponseKind.CONNECTED_TEXT, scorers=())
    feature = Feature("anomia", "Anomia", "Anomia", "")
    battery = replace(session.battery, subtests=(telling, saying), features=(feature,))
    session.raters = Raters(session.plugins, battery, ("rules",))
    for _ in range(6):
        session.next()
        session.answer(f"answer {session.position[0]}")
    assert judge.told == [
        (),
        ("answer 1",),
        ("answer 1", "answer 2"),
        (),
        ("answer 4",),
        ("answer 4", "answer 5"),
    ]


def test_each_answer_of_a_long_run_looks_at_the_same_number_of_trials(begin: Begin) -> None:
    session, seen = begin(), 0
    planned = [replace(session.trials[0].plan, number=number) for number in range(1, 301)]

    class Counted(list[Trial]):
        def __getitem__(self, place: Any) -> Any:
            nonlocal seen
            seen += 1
            return super().__getitem__(place)

    trials = Counted(map(Trial, planned))
    answer = Attempt(1, "dog", AttemptState.OK, None, StopReason.END, None)
    for plan in planned:
        session.raters.response(plan, answer, trials)
    assert 0 < seen < 3 * len(planned)


def test_a_judge_that_gives_no_rating_has_failed(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin()
    monkeypatch.setattr(session.plugins, "judge", lambda _: Noting())
    (words, saying) = session.battery.subtests
    telling = replace(words, response=ResponseKind.CONNECTED_TEXT, scorers=())
    feature = Feature("anomia", "Anomia", "Anomia", "")
    battery = replace(session.battery, subtests=(telling, saying), features=(feature,))
    session.raters = Raters(session.plugins, battery, ("rules",))
    session.next()
    session.answer("a long story")
    (rating,) = session.store.trials(session.administration.id)[0].ratings
    assert (rating.measure, rating.status) == ("anomia", RatingStatus.ERROR)
    assert rating.reason == "ValueError: the judge gave no rating"


def test_what_a_judge_declares_is_committed_with_its_first_ratings(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin()
    judge = session.plugins.judge("rules")
    (words, saying) = session.battery.subtests
    telling = replace(words, response=ResponseKind.CONNECTED_TEXT, scorers=())
    feature = Feature("jargon", "Jargon", "Jargon", "")
    battery = replace(session.battery, subtests=(telling, saying), features=(feature,))
    session.raters = Raters(session.plugins, battery, ("rules",))
    committed: list[list[Entry]] = []
    append = session.store.append

    def noted(number: int, entries: Sequence[Entry]) -> None:
        if any(isinstance(entry, RatingsEntry) for entry in entries):
            committed.append([each for each in entries if isinstance(each, DeclarationEntry)])
        append(number, entries)

    monkeypatch.setattr(session.store, "append", noted)
    for _ in range(2):
        session.next()
        session.answer("We went to the sea.")
    version = session.plugins.version_of("judges", "rules")
    assert version is not None
    assert (version.distribution, len(version.sha256)) == ("tabwb", 64)
    assert committed == [[DeclarationEntry(declaration_of(judge, plugin=version))], []]
    assert (
        session.store.history(session.administration.id).declarations
        == session.history.declarations
    )
