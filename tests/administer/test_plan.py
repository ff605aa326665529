"""Plans: order, replicates, shuffled and rotated options, all fixed by the seed."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_builtin.models import EchoModel

from tabwb.administer.cost import Forecast, forecasts
from tabwb.administer.session import setup
from tabwb.administer.session.drive import NO_ANSWER, ask, chosen, drive
from tabwb.administer.session.exchange import (
    check_passages,
    manipulation_facts,
    request_for,
    token_limit,
)
from tabwb.administer.session.plan import (
    choices_never_vary,
    given_items,
    nothing_varies,
    plan_trials,
)
from tabwb.administer.session.session import Session
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery, Item, SourcedText, Subtest
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.plugin_api.components import Cancel
from tabwb.records.conditions import Conditions, compared, conditions_from, conditions_of, line_of
from tabwb.records.errors import ComponentError, NoAnswer
from tabwb.records.exchange import (
    NOT_SENT,
    THOUGHT_AWAY,
    Decoding,
    Likelihood,
    Message,
    Reply,
    Request,
)
from tabwb.records.states import AttemptState, Protocol, ResponseKind, ResponseStatus, StopReason
from tabwb.store.database import to_json
from tabwb.store.store import Store
from tests.administer.conftest import Begin
from tests.analysis.selected import tab

WORDS = Subtest(
    id="words",
    title="Words",
    response=ResponseKind.CHOICE,
    instructions=SourcedText("Answer with one word.", "ours"),
    template="{instructions}\n{prompt} ({options})",
    items=(
        Item("p1", "Which one flies?", ("bird", "stone"), "bird", practice=True),
        Item("w1", "Which one barks?", ("dog", "tree", "cup"), "dog"),
        Item("w2", "Which one swims?", ("fish", "chair", "wall"), "fish"),
        Item("w3", "Which one {prompt} grows?", ("tree", "plate", "key"), "tree"),
    ),
)
SAYING = Subtest(
    id="saying",
    title="Saying",
    response=ResponseKind.VERBATIM,
    items=(
        Item("s1", "Say: house.", expected="house."),
        Item("s2", "Say: moon.", expected="moon."),
    ),
)
BATTERY = Battery("demo", "Demo", "1", "en", "MIT", (WORDS, SAYING))
GIVEN = Conditions("echo", "model")


def test_the_plan_is_the_battery_in_its_order_with_practice_first() -> None:
    plan = plan_trials(BATTERY, GIVEN)
    assert [trial.item for trial in plan] == ["p1", "w1", "w2", "w3", "s1", "s2"]
    assert [trial.number for trial in plan] == [1, 2, 3, 4, 5, 6]
    assert [trial.practice for trial in plan] == [True] + [False] * 5


def test_the_prompt_is_instructions_prompt_and_options() -> None:
    plan = plan_trials(BATTERY, GIVEN)
    assert plan[1].prompt == "Answer with one word.\nWhich one barks? (dog, tree, cup)"
    assert plan[4].prompt == "Say: house."


def test_braces_in_an_items_prompt_are_sent_as_they_stand() -> None:
    assert "Which one {prompt} grows? (" in plan_trials(BATTERY, GIVEN)[3].prompt


def test_practice_is_given_once_however_many_replicates() -> None:
    plan = plan_trials(BATTERY, replace(GIVEN, replicates=3))
    assert sum(trial.practice for trial in plan) == 1
    assert [trial.replicate for trial in plan if trial.item == "w1"] == [0, 1, 2]


def test_rotated_options_give_each_item_once_per_rotation() -> None:
    plan = plan_trials(BATTERY, replace(GIVEN, option_order="rotated"))
    assert [trial.options for trial in plan if trial.item == "w1"] == [
        ("dog", "tree", "cup"),
        ("tree", "cup", "dog"),
        ("cup", "dog", "tree"),
    ]
    assert sum(trial.item == "s1" for trial in plan) == 1


@given(seed=st.integers(), replicates=st.integers(1, 3))
def test_shuffling_keeps_items_in_their_subtest_and_options_complete(
    seed: int, replicates: int
) -> None:
    conditions = replace(
        GIVEN, seed=seed, replicates=replicates, item_order="shuffled", option_order="shuffled"
    )
    plan = plan_trials(BATTERY, conditions)
    assert plan == plan_trials(BATTERY, conditions)
    for replicate in range(replicates):
        given_now = [trial for trial in plan if trial.replicate == replicate and not trial.practice]
        assert [trial.subtest for trial in given_now] == ["words"] * 3 + ["saying"] * 2
        assert {trial.item for trial in given_now} == {"w1", "w2", "w3", "s1", "s2"}
    for trial in plan:
        if trial.subtest == "words":
            assert sorted(trial.options) == sorted(WORDS.item(trial.item).options)


def test_seeds_give_different_orders() -> None:
    orders = {
        tuple(
            trial.options
            for trial in plan_trials(BATTERY, replace(GIVEN, seed=seed, option_order="shuffled"))
        )
        for seed in range(20)
    }
    assert len(orders) > 10


def test_identical_replicates_are_noticed_before_they_are_run() -> None:
    thrice = replace(GIVEN, replicates=3)
    assert nothing_varies(BATTERY, thrice)
    assert not nothing_varies(BATTERY, GIVEN)
    assert not nothing_varies(BATTERY, replace(thrice, option_order="shuffled"))
    assert not nothing_varies(BATTERY, replace(thrice, decoding=Decoding(temperature=0.7)))
    assert not nothing_varies(BATTERY, replace(thrice, kind="speaker"))
    assert nothing_varies(BATTERY, replace(thrice, item_order="shuffled"))
    talking = replace(thrice, conversation=True)
    assert nothing_varies(BATTERY, talking)
    assert not nothing_varies(BATTERY, replace(talking, item_order="shuffled"))
    assert nothing_varies(BATTERY, replace(thrice, option_order="rotated"))


def test_options_that_are_weighed_vary_with_no_temperature() -> None:
    weighed = replace(
        GIVEN, replicates=3, decoding=Decoding(temperature=0.9), protocol=Protocol.LIKELIHOOD
    )
    assert choices_never_vary(BATTERY, weighed, ("likelihood",))
    assert not choices_never_vary(BATTERY, weighed, ())
    for other in (
        replace(weighed, replicates=1),
        replace(weighed, decoding=Decoding()),
        replace(weighed, protocol=Protocol.GENERATE),
        replace(weighed, option_order="shuffled"),
        replace(weighed, conversation=True),
    ):
        assert not choices_never_vary(BATTERY, other, ("enforced", "likelihood"))


WHOLE = Conditions("echo", "model", replicates=2)
EVERY = [(subtest.id, item.id) for subtest in tab().subtests for item in subtest.items]
SUBTESTS = [subtest.id for subtest in tab().subtests]


def places(conditions: Conditions) -> list[tuple[str, str]]:
    return [(subtest.id, item.id) for subtest, items in given_items(tab(), conditions)
            for item in items]  # fmt: skip


@given(
    subtests=st.lists(st.sampled_from(SUBTESTS), unique=True),
    items=st.lists(st.sampled_from(EVERY), unique=True, max_size=6),
    limit=st.none() | st.integers(1, 6),
    whole_names=st.booleans(),
)
def test_a_part_is_what_a_plain_reading_of_its_three_conditions_gives(
    subtests: list[str], items: list[tuple[str, str]], limit: int | None, whole_names: bool
) -> None:
    names = tuple("/".join(item) if whole_names else item[1] for item in items)
    part = replace(WHOLE, part_subtests=tuple(subtests), part_items=names, part_limit=limit)
    expected = [
        place
        for place in EVERY
        if (not subtests or place[0] in subtests) and (not items or place in items)
    ]
    if limit is not None:
        seen: dict[str, int] = {}
        kept = []
        for place in expected:
            seen[place[0]] = seen.get(place[0], 0) + 1
            if seen[place[0]] <= limit:
                kept.append(place)
        expected = kept
    assert places(part) == expected
    planned = [(trial.subtest, trial.item) for trial in plan_trials(tab(), part)]
    assert planned == expected * 2


def test_the_items_of_a_part_do_not_depend_on_the_seed() -> None:
    part = replace(WHOLE, part_limit=2, item_order="shuffled")
    first, second = (
        {(trial.subtest, trial.item) for trial in plan_trials(tab(), replace(part, seed=seed))}
        for seed in (1, 2)
    )
    assert first == second


def test_a_part_is_shown_and_never_compared_with_the_whole() -> None:
    part = conditions_of("echo", "model", {"part_subtests": ("a,b", "a"), "part_limit": 3})
    assert part.part_subtests == ("a", "b")
    assert line_of(part)["part_subtests"] == "part: a, b, 3 of each subtest"
    assert "part_subtests" not in line_of(WHOLE)
    assert compared(part)["part"] != compared(WHOLE)["part"]
    pooled = ("part_subtests", "part_items", "part_limit")
    assert compared(part, pooled) == compared(replace(WHOLE, replicates=1), pooled)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_a_positive_number(limit: int) -> None:
    with pytest.raises(Exception, match="cannot be used"):
        conditions_of("echo", "model", {"part_limit": limit})


PRICED = "tab-2026:openai:gpt-4o-mini"


@pytest.fixture
def plugins(tmp_path: Path) -> Plugins:
    return Plugins.load(Configuration(config_dir=tmp_path, data_dir=tmp_path))


def told(plugins: Plugins, *judges: str, limit: int = 256, replicates: int = 1) -> list[Forecast]:
    conditions = Conditions(
        "echo",
        "model",
        judges=judges,
        replicates=replicates,
        decoding=Decoding(max_tokens=limit),
        token_limits="run",
    )
    return list(forecasts(plugins, setup.find_battery(plugins, "tab"), conditions))


def test_judges_of_rules_ask_nobody_and_are_not_told_of(plugins: Plugins) -> None:
    assert told(plugins, "rules-2") == []


def test_connected_text_of_all_replicates_is_judged_each_with_one_repair(plugins: Plugins) -> None:
    (one,) = told(plugins, PRICED, replicates=2)
    # Five of TAB's 20 items are connected text.
    assert (one.answers, one.requests) == (10, 20)


def test_cost_grows_with_replicates_and_with_the_longest_answer(plugins: Plugins) -> None:
    (once,), (twice,) = told(plugins, PRICED), told(plugins, PRICED, replicates=2)
    (short,) = told(plugins, PRICED, limit=64)
    assert once.cost and twice.cost and short.cost
    assert twice.cost == pytest.approx(2 * once.cost)
    assert short.cost < once.cost
    assert short.answer_tokens == 64


def test_an_unknown_price_is_an_unknown_cost(plugins: Plugins) -> None:
    (one,) = told(plugins, "tab-2026:openai:a-model-without-a-price")
    assert one.cost is None
    assert "cost unknown" in one.line("then")


def test_nothing_is_charged_on_this_machine_and_no_money_is_named(plugins: Plugins) -> None:
    (one,) = told(plugins, "tab-2026:bundled")
    assert one.cost == 0
    assert "USD" not in one.line("then") and "cost" not in one.line("then")
    assert "5 answers, at most 10 requests" in one.line("then")


class Weigher:
    """A back end that gives each word of a reply the probability 1/16; or what it is told."""

    def __init__(self, fails: str = "", each: float = 1 / 16) -> None:
        self.fails, self.each = fails, each
        self.asked: list[tuple[str, str]] = []

    def open(self) -> Mapping[str, str]:
        return {}

    def reply(self, request: Request, cancel: Cancel) -> None:
        raise AssertionError("nothing is generated")

    def close(self) -> None:
        pass

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        if self.fails:
            raise ComponentError(self.fails)
        if cancel.is_set():
            return []
        self.asked += [(request.messages[-1].content, text) for text in continuations]
        sizes = [len(text.split()) for text in continuations]
        log = math.log(self.each) if self.each else -math.inf
        return [Likelihood(n * log, n) for n in sizes]


def test_it_is_over_all_tokens_of_all_passages() -> None:
    weigher = Weigher()
    assert manipulation_facts(weigher, threading.Event()) == {  # type: ignore[arg-type]
        "lesion_perplexity": "16",
        "lesion_check_text": "plain-1",
    }
    assert weigher.asked == list(check_passages())
    assert 250 < sum(len(reply.split()) for _, reply in weigher.asked) < 500


@pytest.mark.parametrize(
    ("backend", "why"),
    [
        (Weigher("the logits are not numbers"), "the logits are not numbers"),
        (Weigher(each=0.0), "the model gives the text no probability"),
        (Weigher(each=1e-309), "the model gives the text no probability"),
    ],
)
def test_it_is_undefined_with_a_reason(backend: Weigher, why: str) -> None:
    facts = manipulation_facts(backend, threading.Event())  # type: ignore[arg-type]
    assert facts["lesion_perplexity_reason"] == why and "lesion_perplexity" not in facts


def test_it_is_undefined_without_likelihoods_and_absent_when_cancelled() -> None:
    facts = manipulation_facts(EchoModel(), threading.Event())
    assert facts == {"lesion_perplexity_reason": "the back end gives no likelihoods"}
    cancelled = threading.Event()
    cancelled.set()
    assert manipulation_facts(Weigher(), cancelled) == {}  # type: ignore[arg-type]


OPTIONS = ("dog", "tree", "cup")
REQUEST = Request((Message("user", "?"),), protocol=Protocol.LIKELIHOOD, options=OPTIONS)


class SummedWeigher:
    """Writes free text, and finds the given option the likeliest."""

    def __init__(self, *sums: float, likeliest: str = "") -> None:
        self._sums, self._likeliest = sums, likeliest
        self.asked: list[str] = []

    def open(self) -> Mapping[str, str]:
        return {"model": "weigher"}

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        self.asked.append(request.key)
        yield "free text"
        yield Reply("free text", StopReason.END, 0.0)

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        sums = self._sums or [-1.0 if one == self._likeliest else -5.0 for one in continuations]
        return [Likelihood(value, 2, 7, {"note": "kept"}) for value in sums]

    def close(self) -> None:
        pass


class Crowd(SummedWeigher):
    """Answers many requests together, too."""

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply]]:
        for index, request in enumerate(requests):
            self.asked.append(request.key)
            yield index, Reply("free text", StopReason.END, 0.0)


def choose(*sums: float) -> Reply:
    return chosen(SummedWeigher(*sums), REQUEST, threading.Event())


def test_the_likeliest_option_is_the_reply_and_all_log_probabilities_are_kept() -> None:
    reply = choose(-3.0, -1.25, -math.inf)
    assert (reply.text, reply.prompt_tokens, reply.reply_tokens) == ("tree", 7, 2)
    assert json.loads(reply.metadata["option_log_probabilities"]) == [-3.0, -1.25, None]
    assert json.loads(reply.metadata["option_tokens"]) == [2, 2, 2]
    assert json.loads(reply.metadata["options_weighed"]) == list(OPTIONS)
    assert reply.metadata["protocol"] == "likelihood"
    assert reply.metadata["note"] == "kept"


@pytest.mark.parametrize(
    "sums", [(-1.0,), (math.nan, -1.0, -2.0), (math.inf, -1.0, -2.0), (-math.inf,) * 3]
)
def test_likelihoods_that_cannot_be_used_are_an_error(sums: tuple[float, ...]) -> None:
    with pytest.raises(ComponentError):
        choose(*sums)


def test_too_few_likelihoods_after_a_cancel_are_a_cancelled_reply() -> None:
    cancel = threading.Event()
    cancel.set()
    assert chosen(SummedWeigher(-1.0), REQUEST, cancel).stop_reason is StopReason.CANCELLED


@pytest.mark.parametrize("together", [1, 8])
def test_items_with_options_are_weighed_and_the_others_written(begin: Begin, together: int) -> None:
    session = begin("bundled", "model", protocol=Protocol.LIKELIHOOD)
    backend = Crowd(likeliest="tree")
    for _ in drive(session, backend, threading.Event(), together=together):
        pass
    first, second, third = [trial.counting for trial in session.trials]
    assert first is not None and second is not None and third is not None
    assert first.response == "tree"
    assert json.loads(first.metadata["option_log_probabilities"]) == [-5.0, -1.0, -5.0]
    assert second.response in {"fish", "wall", "key"}
    assert third.response == "free text"
    assert backend.asked == ["saying/s1"]


def test_a_back_end_that_fails_to_weigh_is_an_attempt_in_error(begin: Begin) -> None:
    session = begin("bundled", "model", protocol=Protocol.LIKELIHOOD)
    for _ in drive(session, Crowd(math.nan, -1.0, -1.0), threading.Event(), together=8):
        pass
    states = [trial.attempts[0].state for trial in session.trials]
    assert states == [AttemptState.ERROR, AttemptState.ERROR, AttemptState.OK]


class Lacking(Crowd):
    """Has no answer to items with options."""

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        raise NoAnswer("nothing is recorded of it")


@pytest.mark.parametrize("together", [1, 8])
def test_that_nothing_is_recorded_of_an_item_is_kept_as_the_cause(
    begin: Begin, together: int
) -> None:
    session = begin("bundled", "model", protocol=Protocol.LIKELIHOOD)
    for _ in drive(session, Lacking(), threading.Event(), together=together):
        pass
    causes = [trial.attempts[0].metadata.get("cause") for trial in session.trials]
    assert causes == [NO_ANSWER, NO_ANSWER, None]


SAMPLED = Decoding(temperature=0.8, top_p=0.95)
SAMPLED_MODEL = Conditions("transformers:gpt2", "model", replicates=3, decoding=SAMPLED)


@pytest.fixture(scope="module")
def whole_tab() -> Battery:
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


def test_no_two_replies_of_a_run_share_a_seed(whole_tab: Battery) -> None:
    assert len(set(seeds(whole_tab, SAMPLED_MODEL))) == len(seeds(whole_tab, SAMPLED_MODEL)) == 60


def test_runs_with_neighbouring_seeds_share_no_draw(whole_tab: Battery) -> None:
    runs = [set(seeds(whole_tab, replace(SAMPLED_MODEL, seed=seed))) for seed in range(1, 11)]
    assert len(set().union(*runs)) == 10 * 60


def test_runs_that_differ_in_what_changes_a_reply_share_no_draw(whole_tab: Battery) -> None:
    others = (
        replace(SAMPLED_MODEL, examinee="bundled"),
        replace(SAMPLED_MODEL, lesion="noise:0.1"),
        replace(SAMPLED_MODEL, protocol=Protocol.ENFORCED),
        replace(SAMPLED_MODEL, decoding=Decoding(temperature=1.0, top_p=0.95)),
        replace(SAMPLED_MODEL, decoding=Decoding(temperature=0.8)),
        replace(SAMPLED_MODEL, conversation=True),
    )
    runs = [set(seeds(whole_tab, one)) for one in (SAMPLED_MODEL, *others)]
    assert len(set().union(*runs)) == 7 * 60


def test_rotations_of_one_item_share_no_draw(whole_tab: Battery) -> None:
    rotated = seeds(whole_tab, replace(SAMPLED_MODEL, option_order="rotated"))
    assert len(rotated) > 60
    assert len(set(rotated)) == len(rotated)


def test_more_replicates_another_batch_size_and_another_folder_draw_the_same(
    whole_tab: Battery,
) -> None:
    first = seeds(whole_tab, SAMPLED_MODEL)
    assert seeds(whole_tab, replace(SAMPLED_MODEL, replicates=5))[:60] == first
    moved = replace(
        SAMPLED_MODEL, examinee="transformers:/data/models/gpt2@batch_size=4,device=cpu"
    )
    assert seeds(whole_tab, moved) == first
    assert sorted(seeds(whole_tab, replace(SAMPLED_MODEL, item_order="shuffled"))) == sorted(first)


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


def test_max_tokens_replaces_the_batterys_limits_in_both_directions(whole_tab: Battery) -> None:
    own = [subtest.max_tokens for subtest in whole_tab.subtests]
    assert len(set(own)) > 1
    assert limits(whole_tab, SAMPLED_MODEL) == own
    for most in (8, 1024):
        given = replace(SAMPLED_MODEL, token_limits="run", decoding=Decoding(max_tokens=most))
        assert set(limits(whole_tab, given)) == {most}


def test_administrations_of_earlier_versions_keep_the_smaller_limit(whole_tab: Battery) -> None:
    stored = json.loads(to_json(asdict(SAMPLED_MODEL)))
    del stored["token_limits"]
    stored["decoding"]["max_tokens"] = 100
    old = conditions_from(stored)
    assert old.token_limits == "smaller"
    own = [subtest.max_tokens or 256 for subtest in whole_tab.subtests]
    assert limits(whole_tab, old) == [min(one, 100) for one in own]
