"""Random draws: each reply has its own stream, which is stored with it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace

import pytest

from tabwb.administer.session import setup
from tabwb.administer.session.drive import ask, drive
from tabwb.administer.session.exchange import request_for, token_limit
from tabwb.administer.session.plan import plan_trials
from tabwb.administer.session.session import Session
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions, conditions_from
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import NOT_SENT, THOUGHT_AWAY, Decoding, Reply, Request
from tabwb.records.states import AttemptState, Protocol, ResponseStatus, StopReason
from tabwb.store.keys import to_json
from tabwb.store.store import Store

Begin = Callable[..., Session]
SAMPLED = Decoding(temperature=0.8, top_p=0.95)
GIVEN = Conditions("transformers:gpt2", "model", replicates=3, decoding=SAMPLED)


@pytest.fixture(scope="module")
def tab() -> Battery:
    plugins = Plugins.load()
    battery = load_battery(plugins.find_battery("tab"))
    plugins.close()
    return battery


def seeds(battery: Battery, conditions: Conditions) -> list[int]:
    """The seed of every reply of a run."""
    return [
        request_for(battery, conditions, plan).decoding.seed
        for plan in plan_trials(battery, conditions)
    ]


class Drawing:
    """A back end that answers with the seed that it was given."""

    def __init__(self, *failing: int, notes: dict[str, str] | None = None) -> None:
        self.failing = set(failing)
        self.asked: list[Request] = []
        self.notes = notes or {}

    def open(self) -> dict[str, str]:
        return {"model": "drawing"}

    def reply(self, request: Request, cancel: threading.Event) -> Iterator[str | Reply]:
        self.asked.append(request)
        if len(self.asked) in self.failing:
            raise ComponentError("gone")
        yield Reply(str(request.decoding.seed), StopReason.END, 0.01, metadata=self.notes)

    def close(self) -> None:
        pass


def said(session: Session) -> list[str]:
    return [trial.counting.response if trial.counting else "-" for trial in session.trials]


def test_no_two_replies_of_a_run_share_a_seed(tab: Battery) -> None:
    assert len(set(seeds(tab, GIVEN))) == len(seeds(tab, GIVEN)) == 60


def test_runs_with_neighbouring_seeds_share_no_draw(tab: Battery) -> None:
    runs = [set(seeds(tab, replace(GIVEN, seed=seed))) for seed in range(1, 11)]
    assert len(set().union(*runs)) == 10 * 60


def test_runs_that_differ_in_what_changes_a_reply_share_no_draw(tab: Battery) -> None:
    others = (
        replace(GIVEN, examinee="bundled"),
        replace(GIVEN, lesion="noise:0.1"),
        replace(GIVEN, protocol=Protocol.ENFORCED),
        replace(GIVEN, decoding=Decoding(temperature=1.0, top_p=0.95)),
        replace(GIVEN, decoding=Decoding(temperature=0.8)),
        replace(GIVEN, conversation=True),
    )
    runs = [set(seeds(tab, one)) for one in (GIVEN, *others)]
    assert len(set().union(*runs)) == 7 * 60


def test_rotations_of_one_item_share_no_draw(tab: Battery) -> None:
    rotated = seeds(tab, replace(GIVEN, option_order="rotated"))
    assert len(rotated) > 60
    assert len(set(rotated)) == len(rotated)


def test_more_replicates_another_batch_size_and_another_folder_draw_the_same(tab: Battery) -> None:
    first = seeds(tab, GIVEN)
    assert seeds(tab, replace(GIVEN, replicates=5))[:60] == first
    moved = replace(GIVEN, examinee="transformers:/data/models/gpt2@batch_size=4,device=cpu")
    assert seeds(tab, moved) == first
    assert sorted(seeds(tab, replace(GIVEN, item_order="shuffled"))) == sorted(first)


def test_the_seed_is_stored_with_the_reply(begin: Begin, store: Store) -> None:
    session = begin("echo", "model", decoding=SAMPLED)
    backend = Drawing()
    list(drive(session, backend, threading.Event()))
    kept = [trial.attempts[0].metadata for trial in store.history(session.administration.id).trials]
    assert [one["seed"] for one in kept] == said(session)
    assert {(one["temperature"], one["top_p"], one["max_tokens"]) for one in kept} == {
        ("0.8", "0.95", "256")
    }
    assert {tuple(json.loads(one["stop"])) for one in kept} == {()}


def test_greedy_replies_have_no_seed(begin: Begin) -> None:
    session = begin("echo", "model")
    list(drive(session, Drawing(), threading.Event()))
    assert not {"seed", "top_p"} & set(session.trials[0].attempts[0].metadata)


def test_what_the_back_end_sent_is_kept_not_what_it_was_asked(begin: Begin) -> None:
    session = begin("echo", "model", decoding=SAMPLED)
    list(drive(session, Drawing(notes={"seed": NOT_SENT, "max_tokens": "7"}), threading.Event()))
    kept = session.trials[0].attempts[0].metadata
    assert (kept["seed"], kept["max_tokens"]) == (NOT_SENT, "7")


def test_what_drew_nothing_has_neither_seed_nor_temperature(begin: Begin) -> None:
    session = begin("echo", "model", decoding=SAMPLED)
    list(drive(session, Drawing(notes={"sampled": "no"}), threading.Event()))
    kept = session.trials[0].attempts[0].metadata
    assert "seed" not in kept
    assert kept["temperature"] == NOT_SENT


def test_a_limit_that_went_into_reasoning_makes_a_reply_truncated_not_empty(begin: Begin) -> None:
    session = begin("echo", "model")
    for cause in ({"cause": THOUGHT_AWAY}, {}):
        session.next()
        session.record(Reply("", StopReason.LENGTH, 0.1, metadata=cause))
    thought, silent = (trial.attempts[0] for trial in session.trials[:2])
    assert (thought.status, thought.metadata["cause"]) == (ResponseStatus.TRUNCATED, THOUGHT_AWAY)
    assert silent.status is ResponseStatus.EMPTY


def test_a_reply_that_is_asked_for_again_is_another_draw(begin: Begin) -> None:
    session = begin("echo", "model", decoding=SAMPLED)
    session.next()
    list(ask(session, Drawing(), threading.Event()))
    session.repeat()
    list(ask(session, Drawing(), threading.Event()))
    first, second = session.trials[0].attempts
    assert first.response != second.response


def test_an_interrupted_run_that_is_resumed_draws_what_it_would_have_drawn(
    begin: Begin, store: Store, plugins: Plugins
) -> None:
    whole = begin("echo", "model", decoding=SAMPLED, replicates=2)
    list(drive(whole, Drawing(), threading.Event()))
    broken = begin("echo", "model", decoding=SAMPLED, replicates=2)
    list(drive(broken, Drawing(2, 3, 4), threading.Event()))
    assert [trial.attempts[-1].state for trial in broken.trials[:4] if trial.attempts] == [
        AttemptState.OK,
        AttemptState.ERROR,
        AttemptState.ERROR,
        AttemptState.ERROR,
    ]
    broken.close()
    with setup.resume(store, plugins, broken.administration.id) as resumed:
        resumed.resume()
        list(drive(resumed, Drawing(), threading.Event()))
        assert said(resumed) == said(whole)


def limits(battery: Battery, conditions: Conditions) -> Iterable[int]:
    return [token_limit(subtest, conditions) for subtest in battery.subtests]


def test_max_tokens_replaces_the_batterys_limits_in_both_directions(tab: Battery) -> None:
    own = [subtest.max_tokens for subtest in tab.subtests]
    assert len(set(own)) > 1
    assert limits(tab, GIVEN) == own
    for most in (8, 1024):
        given = replace(GIVEN, token_limits="run", decoding=Decoding(max_tokens=most))
        assert set(limits(tab, given)) == {most}


def test_administrations_of_earlier_versions_keep_the_smaller_limit(tab: Battery) -> None:
    stored = json.loads(to_json(asdict(GIVEN)))
    del stored["token_limits"]
    stored["decoding"]["max_tokens"] = 100
    old = conditions_from(stored)
    assert old.token_limits == "smaller"
    own = [subtest.max_tokens or 256 for subtest in tab.subtests]
    assert limits(tab, old) == [min(one, 100) for one in own]
