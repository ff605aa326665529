"""The state machine: each command, what it commits, what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tabwb.administer.session import setup
from tabwb.administer.session.raters import Raters
from tabwb.administer.session.session import Session
from tabwb.administer.session.smallest_difference import Showable, planned, showable
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Item
from tabwb.host.plugins import Plugins
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError, TabwbError, UsageError
from tabwb.records.exchange import Decoding
from tabwb.records.states import AdministrationStatus, AttemptState, Protocol, TrialState
from tabwb.scoring.detectable import Design
from tabwb.scoring.estimate import DETERMINISTIC, Estimand
from tabwb.store.store import Store
from tests.analysis.given import BATTERY

Begin = Callable[..., Session]


def status(session: Session) -> AdministrationStatus:
    """The status now; a separate call, so that type checkers do not carry it over a command."""
    return session.status


def states(session: Session) -> list[str]:
    return [trial.state.value for trial in session.trials]


def test_items_come_in_order_and_the_last_one_finishes(begin: Begin) -> None:
    session = begin()
    given = []
    while session.status is AdministrationStatus.RUNNING:
        for event in session.next():
            if isinstance(event, events.TrialStarted):
                given.append(event.trial.item)
                session.answer("dog")
    assert given == ["w1", "w2", "s1"]
    assert status(session) is AdministrationStatus.DONE
    assert states(session) == ["answered"] * 3


def test_an_answer_is_scored_in_the_same_breath(begin: Begin) -> None:
    session = begin()
    session.next()
    recorded, rated = session.answer("dog", latency_s=1.5)
    assert isinstance(recorded, events.AttemptRecorded)
    assert recorded.attempt.latency_s == 1.5
    assert isinstance(rated, events.Rated)
    verdicts = {rating.measure: rating.value for rating in rated.ratings}
    assert verdicts["exact"] == 1.0


def test_what_a_command_returned_is_in_the_store(begin: Begin, store: Store) -> None:
    session = begin()
    session.next()
    session.answer("cup")
    read = store.trials(session.administration.id)
    assert read == session.trials
    assert read[0].counting is not None
    assert read[0].counting.response == "cup"


def test_an_empty_answer_is_an_answer_with_the_status_empty(begin: Begin) -> None:
    session = begin()
    session.next()
    session.answer("")
    assert session.trials[0].state is TrialState.ANSWERED
    assert session.trials[0].attempts[0].status == "empty"


def test_asking_again_keeps_the_first_answer_and_counts_the_second(begin: Begin) -> None:
    session = begin()
    session.next()
    session.answer("cup")
    session.repeat()
    session.answer("dog")
    trial = session.trials[0]
    assert [attempt.response for attempt in trial.attempts] == ["cup", "dog"]
    assert trial.counting is not None
    assert trial.counting.response == "dog"


def test_skip_and_void_need_a_reason_and_undo_takes_them_back(begin: Begin) -> None:
    session = begin()
    session.next()
    with pytest.raises(TabwbError, match="needs some words"):
        session.corrections.skip("  ")
    session.corrections.skip("tired")
    assert states(session) == ["skipped", "planned", "planned"]
    session.corrections.undo()
    assert states(session) == ["planned"] * 3
    session.next()
    session.answer("dog")
    session.corrections.void("the phone rang")
    assert states(session)[0] == "void"
    assert session.trials[0].counting is None
    session.corrections.undo()
    assert states(session)[0] == "answered"


def test_undo_of_an_answer_leaves_it_in_the_store_marked(begin: Begin) -> None:
    session = begin()
    session.next()
    session.answer("dgo")
    session.corrections.undo()
    trial = session.trials[0]
    assert trial.state is TrialState.PLANNED
    assert trial.attempts[0].state is AttemptState.VOID
    assert trial.attempts[0].response == "dgo"
    session.next()
    session.answer("dog")
    assert [attempt.number for attempt in session.trials[0].attempts] == [1, 2]


def test_undo_of_the_last_answer_reopens_a_finished_administration(begin: Begin) -> None:
    session = begin()
    for _ in range(3):
        session.next()
        session.answer("dog")
    session.next()
    assert status(session) is AdministrationStatus.DONE
    session.corrections.undo()
    assert status(session) is AdministrationStatus.RUNNING
    assert states(session) == ["answered", "answered", "planned"]


def test_undo_that_leaves_every_item_dealt_with_does_not_reopen(begin: Begin) -> None:
    session = begin()
    for _ in range(3):
        session.next()
        session.answer("dog")
    session.corrections.void("the phone rang")
    session.next()
    assert status(session) is AdministrationStatus.DONE
    session.corrections.undo()
    assert states(session) == ["answered"] * 3
    assert status(session) is AdministrationStatus.DONE


def test_undo_goes_back_step_by_step_through_answers_void_and_repeat(begin: Begin) -> None:
    session = begin()
    session.next()
    session.answer("cup")
    session.repeat()
    session.answer("dog")
    session.corrections.void("the phone rang")

    def counting() -> str | None:
        attempt = session.trials[0].counting
        return None if attempt is None else attempt.response

    assert counting() is None
    session.corrections.undo()
    assert counting() == "dog"
    session.corrections.undo()
    assert counting() == "cup"
    session.corrections.undo()
    assert counting() is None
    assert states(session)[0] == "planned"
    assert session.history.undoable is None


def test_nothing_to_undo_is_said(begin: Begin) -> None:
    with pytest.raises(TabwbError, match="nothing to take back"):
        begin().corrections.undo()


def test_discontinuing_leaves_the_rest_not_administered_and_can_be_undone(begin: Begin) -> None:
    session = begin()
    session.next()
    session.answer("dog")
    session.discontinue("unwell")
    assert status(session) is AdministrationStatus.DISCONTINUED
    assert states(session) == ["answered", "not-administered", "not-administered"]
    with pytest.raises(TabwbError, match="discontinued"):
        session.next()
    session.corrections.undo()
    assert status(session) is AdministrationStatus.RUNNING
    assert states(session) == ["answered", "planned", "planned"]


def test_pause_and_resume(begin: Begin, store: Store, plugins: Plugins) -> None:
    session = begin()
    session.next()
    session.answer("dog")
    session.next()
    session.pause("lunch")
    number = session.administration.id
    session.close()
    with setup.resume(store, plugins, number) as again:
        assert again.status is AdministrationStatus.PAUSED
        assert again.history.pause_reason == "lunch"
        with pytest.raises(TabwbError, match="paused"):
            again.next()
        again.resume()
        (started,) = again.next()
        assert isinstance(started, events.TrialStarted)
        assert started.trial.item == "w2"


def test_what_is_dealt_with_is_not_marked_twice(begin: Begin) -> None:
    session = begin()
    session.next()
    session.corrections.skip("tired")
    with pytest.raises(TabwbError, match="skipped already"):
        session.corrections.skip("tired")
    session.corrections.void("wrong item", 1)
    with pytest.raises(TabwbError, match="void already"):
        session.corrections.void("wrong item", 1)
    with pytest.raises(TabwbError, match="void already"):
        session.corrections.skip("tired")
    session.corrections.undo()
    assert states(session)[0] == "skipped"
    session.discontinue("unwell")
    with pytest.raises(TabwbError, match="discontinued"):
        session.corrections.skip("tired")
    with pytest.raises(TabwbError, match="not administered already"):
        session.corrections.void("never shown", 3)
    with pytest.raises(StoreError, match="no trial 0"):
        session.corrections.void("x", 0)


def test_nothing_is_asked_while_it_rests(begin: Begin) -> None:
    session = begin()
    session.next()
    session.answer("dog")
    session.pause("lunch")
    with pytest.raises(TabwbError, match="paused"):
        session.repeat()


def test_an_answer_that_could_not_be_stored_can_be_given_again(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin()
    session.next()

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(session.store, "append", full)
        commands: tuple[Callable[[], object], ...] = (
            lambda: session.answer("dog"),
            lambda: session.corrections.skip("x"),
            lambda: session.corrections.void("x"),
            lambda: session.fail("x"),
            session.pause,
            lambda: session.discontinue("x"),
        )
        for command in commands:
            with pytest.raises(StoreError, match="full"):
                command()
            assert session.awaiting
    session.answer("dog")
    assert states(session)[0] == "answered"


def test_only_one_session_at_a_time(begin: Begin, store: Store, plugins: Plugins) -> None:
    session = begin()
    with pytest.raises(StoreError):
        setup.resume(store, plugins, session.administration.id)
    session.close()
    setup.resume(store, plugins, session.administration.id).close()


def test_a_prompt_that_waits_must_be_dealt_with_first(begin: Begin) -> None:
    session = begin()
    with pytest.raises(TabwbError, match="no item waits"):
        session.answer("dog")
    session.next()
    with pytest.raises(TabwbError, match="still waits"):
        session.next()


def test_notes_stand_on_their_trial(begin: Begin) -> None:
    session = begin()
    session.next()
    session.corrections.note("looked away")
    session.answer("dog")
    session.corrections.note("asked again aloud", 1)
    assert session.trials[0].notes == ("looked away", "asked again aloud")
    with pytest.raises(StoreError, match="no trial 99"):
        session.corrections.note("x", 99)


def test_rescoring_replaces_ratings_and_keeps_the_answers(begin: Begin) -> None:
    session = begin()
    session.next()
    session.answer("dog")
    before = session.trials[0]
    assert len(session.corrections.rescore()) == 1
    assert session.trials[0] == before


def test_without_its_judge_nothing_is_asked_but_marks_can_be_made(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin()
    session.next()
    session.answer("dog")

    def gone(_: str) -> None:
        raise UsageError("there is no judge 'gone'")

    monkeypatch.setattr(session.plugins, "judge", gone)
    session.raters = Raters(session.plugins, session.battery, ("gone",))
    with pytest.raises(UsageError, match="gone"):
        session.next()
    assert not session.awaiting
    session.corrections.void("the phone rang")
    session.corrections.note("judge to be installed")
    session.corrections.undo()
    assert states(session)[0] == "answered"


SAMPLED = Conditions("m", "model", replicates=10, decoding=Decoding(temperature=1.0))
GREEDY = Conditions("m", "model", replicates=10)


def row(rows: tuple[Showable, ...], measure: str, estimand: Estimand) -> Showable:
    (found,) = (each for each in rows if (each.measure, each.estimand) == (measure, estimand))
    return found


@pytest.mark.parametrize("estimand", Estimand)
def test_items_and_replicates_come_from_the_plan_without_practice(estimand: Estimand) -> None:
    rows = showable(BATTERY, SAMPLED)
    assert row(rows, "symptom burden", estimand).design == Design(2, 10)
    # 3 of words (one more is practice), 3 sentences, 2 repetitions.
    accuracy = row(rows, "accuracy", estimand).design
    assert accuracy.items == 8
    assert accuracy.replicates == pytest.approx(10)


def test_clusters_of_items_are_the_units_of_sign_flips() -> None:
    text = BATTERY.subtests[0]
    items = tuple(Item(f"t{n}", f"Tell {n}.", cluster=f"theme {n // 4}") for n in range(20))
    battery = replace(BATTERY, subtests=(replace(text, items=items),))
    rows = showable(battery, SAMPLED)
    like = row(rows, "symptom burden", Estimand.PROMPTS_LIKE_THESE)
    assert like.design == Design(5, 40, "clusters")
    assert like.difference.reason == "sign flips over 5 clusters never reach .05"
    assert like.smallest_p == 0.0625
    these = row(rows, "symptom burden", Estimand.THESE_PROMPTS)
    assert these.design == Design(20, 10)
    assert these.difference.defined
    assert these.smallest_p is None  # that of sign flips is not of this test


def test_greedy_replicates_are_one_response() -> None:
    found = row(showable(BATTERY, GREEDY), "accuracy", Estimand.PROMPTS_LIKE_THESE)
    assert found.design == Design(8, 1)
    these = row(showable(BATTERY, GREEDY), "accuracy", Estimand.THESE_PROMPTS)
    assert these.difference.reason == DETERMINISTIC


def test_a_back_end_that_draws_nothing_under_a_protocol_is_deterministic_there() -> None:
    enforced = replace(SAMPLED, protocol=Protocol.ENFORCED)
    rows = showable(BATTERY, enforced, unsampled=("enforced",))
    assert row(rows, "accuracy", Estimand.THESE_PROMPTS).difference.reason == DETERMINISTIC
    drawn = showable(BATTERY, enforced)
    assert row(drawn, "accuracy", Estimand.THESE_PROMPTS).difference.defined


def test_without_a_judge_there_is_no_burden_to_compare() -> None:
    rows = showable(BATTERY, replace(SAMPLED, judges=()))
    assert {each.measure for each in rows} == {"accuracy"}


def test_no_difference_beyond_the_features_of_a_judge_is_told() -> None:
    plugins = Plugins.load()
    conditions = Conditions("echo", "model", judges=("rules",))
    tab = load_battery(plugins.find_battery("tab"))
    like, these, *_ = planned(plugins, tab, conditions)
    plugins.close()
    assert (like.n_features, like.difference.value) == (7, None)
    assert like.difference.reason == "sign flips over 5 items never reach .05"
    assert these.difference.reason == "deterministic"
