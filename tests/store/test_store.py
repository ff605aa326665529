"""What is put into the store comes back, from an SQLite file and from a server."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabwb.records.conditions import Conditions
from tabwb.records.errors import MissingExtra, NeedsNetwork, StoreError
from tabwb.records.exchange import Decoding, Message
from tabwb.records.naming import TextSet, observation_to_json
from tabwb.records.ratings import Declaration, Judged, Judgement, Rating, failed, undefined, valued
from tabwb.records.states import (
    AdministrationStatus,
    AttemptState,
    Protocol,
    RatingStatus,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import (
    Attempt,
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    EventKind,
    RatingsEntry,
    Trial,
)
from tabwb.records.words import RULES_CAUTION
from tabwb.scoring.rules.passage import TWO_SIDED
from tabwb.store.derive import SIZE, Blocks, History, Undoable
from tabwb.store.store import Store
from tests.store.older import make_older
from tests.store.parts import attempt, begin, planned, scores, small_battery, together


def test_an_answer_with_its_ratings_comes_back_as_it_was(store: Store) -> None:
    administration = begin(store)
    store.append(
        administration.id,
        [EventEntry("trial-started", 1), AttemptEntry(1, attempt()), RatingsEntry(1, 1, scores())],
    )
    trial = store.trials(administration.id)[0]
    assert trial.state is TrialState.ANSWERED
    assert trial.plan == planned(3)[0]
    assert trial.attempts == (attempt(),)
    assert trial.ratings == scores()


def test_conditions_come_back_equal(store: Store) -> None:
    conditions = Conditions(
        "transformers:ä@dtype=bfloat16",
        "model",
        seed=2**40,
        replicates=3,
        protocol=Protocol.ENFORCED,
        decoding=Decoding(64, 0.7, 0.9, ("\n", "Q:"), 5),
        conversation=True,
        item_order="shuffled",
        option_order="rotated",
        judges=("rules-1", "likelihood:bundled"),
        research_protocol="P-1",
        lesion="zero:layer=2",
    )
    made = begin(store, conditions=conditions)
    assert store.administration(made.id) == made
    assert made.conditions == conditions
    drawn = replace(conditions, seed=2, decoding=replace(conditions.decoding, seed=9))
    begin(store, conditions=drawn)
    assert [one.conditions for one in store.administrations()] == [conditions, drawn]


def test_administrations_are_listed_newest_last_and_found_by_number_and_uid(store: Store) -> None:
    first, second, third = made = [begin(store) for _ in range(3)]
    assert store.administrations() == tuple(made) == store.administrations(newest=9)
    assert store.administrations(newest=2) == (second, third)
    for reference in (second.id, str(second.id), second.uid, second.uid.upper()):
        assert store.administration(reference) == second
    others = (first.uid, third.uid)
    length = next(n for n in range(8, 37) if not any(o.startswith(second.uid[:n]) for o in others))
    assert store.administration(second.uid[:length]) == second


@pytest.mark.parametrize("reference", [99, "99", "no-such", "", "0123abc", "%", "ffffffff-ffff"])
def test_an_unknown_administration_is_a_clear_error(store: Store, reference: int | str) -> None:
    begin(store)
    with pytest.raises(StoreError, match="there is no administration"):
        store.administration(reference)


def test_numbers_joined_by_a_comma_are_told_how_several_are_written(store: Store) -> None:
    begin(store), begin(store)
    with pytest.raises(StoreError) as refused:
        store.administration("1,2")
    assert "comma" in str(refused.value.hint)


def test_a_beginning_that_two_share_is_refused_and_names_both(store: Store) -> None:
    first, second = begin(store), begin(store)
    if first.uid[:8] != second.uid[:8]:
        pytest.skip("the two were made in different minutes")
    with pytest.raises(StoreError, match="beginning of 2"):
        store.administration(first.uid[:8])


def test_the_battery_comes_back_after_its_file_has_changed(store: Store) -> None:
    assets = {"cat.png": b"\x89PNG\x00", "sub/dog.png": b"dog"}
    battery = small_battery(assets=assets)
    for _ in range(2):
        store.keep_battery(battery, assets)
    assert store.battery_canonical(battery.content_hash) == battery.canonical
    assert store.battery_assets(battery.content_hash) == assets


def test_a_battery_whose_content_is_another_is_refused(store: Store) -> None:
    one, other = small_battery(), small_battery(content="two")
    with pytest.raises(StoreError, match="not kept"):
        store.create_administration(one, Conditions("echo", "model"), planned(1), {})
    store.keep_battery(one, {})
    with pytest.raises(StoreError) as caught:
        store.keep_battery(other, {})
    assert one.content_hash in str(caught.value) and other.content_hash in str(caught.value)
    store.keep_battery(small_battery(version="2", content="two"), {})
    battery = small_battery(version="3", assets={"cat.png": b"cat"})
    for assets in ({"cat.png": b"dog"}, {}):
        with pytest.raises(StoreError, match=r"cat\.png"):
            store.keep_battery(battery, assets)


def test_an_attempt_is_recorded_once(store: Store) -> None:
    administration = begin(store)
    store.append(administration.id, [AttemptEntry(1, attempt())])
    with pytest.raises(StoreError, match="attempt 1 of trial 1 is recorded already"):
        store.append(administration.id, [EventEntry("paused"), AttemptEntry(1, attempt())])
    assert len(store.history(administration.id).steps) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        [AttemptEntry(9, attempt())],
        [EventEntry("skipped", 9, "noise")],
        [RatingsEntry(1, 7, scores())],
        [EventEntry("undone", None, "", 44)],
        [EventEntry("undone", None, "", 3)],
        [RatingsEntry(1, 1, (valued("r", "m", 1), valued("r", "m", 0)))],
    ],
)
def test_entries_that_do_not_fit_are_refused_whole(
    store: Store, wrong: list[AttemptEntry | EventEntry | RatingsEntry]
) -> None:
    administration = begin(store)
    store.append(administration.id, [AttemptEntry(1, attempt())])
    before = store.history(administration.id)
    with pytest.raises(StoreError):
        store.append(
            administration.id, [EventEntry("noted", 1, "never seen before, nor stored"), *wrong]
        )
    assert store.history(administration.id) == before
    # Keys that were made in the undone transaction must not be remembered.
    store.append(administration.id, [RatingsEntry(1, 1, (valued("r", "m", 1, "why"),))])
    assert store.trials(administration.id)[0].ratings == (valued("r", "m", 1, "why"),)


def test_a_later_rating_of_the_same_rater_replaces_and_the_earlier_rows_stay(file: Path) -> None:
    with Store.open(file) as store:
        administration = begin(store)
        other = (valued("rules-1", "retracing", 1.0, "the the"),)
        store.append(
            administration.id, [AttemptEntry(1, attempt()), RatingsEntry(1, 1, (*scores(), *other))]
        )
        again = scores(value=False)
        store.append(administration.id, [RatingsEntry(1, 1, again)])
        assert store.trials(administration.id)[0].ratings == (*again, *other)
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT count(*) FROM ratings").fetchone() == (4,)
        sets = connection.execute("SELECT id, replaces, recorded_at FROM verdicts").fetchall()
    assert [row[:2] for row in sets] == [(1, None), (2, None), (3, 1)]
    assert [row[2] is None for row in sets] == [True, True, False]


def test_each_text_and_reason_is_stored_once(file: Path) -> None:
    with Store.open(file) as store:
        for _ in range(2):
            administration = begin(store)
            store.append(
                administration.id, [AttemptEntry(1, attempt()), RatingsEntry(1, 1, scores())]
            )
    with sqlite3.connect(file) as connection:
        texts = connection.execute("SELECT text FROM texts").fetchall()
    assert len(texts) == len(set(texts)) == 9


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    response=texts,
    contents=st.lists(texts, max_size=3),
    metadata=st.dictionaries(texts, texts, max_size=3),
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4),
    reason=texts,
    latency=st.none() | st.floats(0, 1e6),
)
def test_any_text_and_number_comes_back_exactly(
    store: Store,
    response: str,
    contents: list[str],
    metadata: dict[str, str],
    values: list[float],
    reason: str,
    latency: float | None,
) -> None:
    administration = begin(store, 1)
    given_attempt = replace(
        attempt(response=response),
        messages=tuple(Message("user", content) for content in contents),
        metadata=metadata,
        latency_s=latency,
    )
    ratings = tuple(valued("r", f"m{at}", value, reason) for at, value in enumerate(values))
    store.append(administration.id, [AttemptEntry(1, given_attempt), RatingsEntry(1, 1, ratings)])
    trial = store.trials(administration.id)[0]
    assert trial.attempts == (given_attempt,)
    assert trial.ratings == ratings


def test_every_rating_status_comes_back(store: Store) -> None:
    administration = begin(store)
    ratings = tuple(
        Rating("r", f"m-{status}", 1.0 if status is RatingStatus.VALUE else None, status, "why")
        for status in RatingStatus
    )
    store.append(administration.id, [AttemptEntry(1, attempt()), RatingsEntry(1, 1, ratings)])
    assert store.trials(administration.id)[0].ratings == ratings


def test_a_null_character_comes_back_and_no_unicode_is_refused_whole(file: Path) -> None:
    with Store.open(file) as store:
        administration = begin(store)
        broken: Attempt = attempt(response="house\ud800")
        with pytest.raises(StoreError, match="cannot be stored"):
            store.append(administration.id, [EventEntry("paused"), AttemptEntry(1, broken)])
        assert store.history(administration.id).steps == ()
        store.append(administration.id, [AttemptEntry(1, attempt(response="a\x00b"))])
        assert store.trials(administration.id)[0].attempts[0].response == "a\x00b"


ODD_URLS = (
    "mysql://me:hunter22@host/lab",
    "postgresql://me:hunter22@127.0.0.1:1/lab?connect_timeout=1",
    "postgresql://127.0.0.1:1/lab?password=hunter22",
    "postgresql://127.0.0.1:1/lab?sslpassword=hunter22",
    "postgresql://127.0.0.1:1/lab?PASSWORD=hunter22",
    "postgresql://127.0.0.1:1/lab?options=-c%20hunter22",
    "postgresql://me:x#hunter22@127.0.0.1:1/lab",
    "postgresql://me:hunter22#x@127.0.0.1:1/lab",
    "postgresql://me:x/hunter22@127.0.0.1:1/lab",
    "postgresql://me:hunter22/x@127.0.0.1:1/lab",
    "postgresql://me:x?hunter22@127.0.0.1:1/lab",
    "postgresql://me:x@hunter22@127.0.0.1:1/lab",
    "postgresql://me:x:hunter22@127.0.0.1:1/lab",
    "postgresql://me%3Ahunter22@127.0.0.1:1/lab",
    "postgresql://me:hunter22@[::1/x",
    "postgresql://me:hunter22/lab",
    "postgresql://127.0.0.1:1/lab?user=me:hunter22",
)


@pytest.mark.parametrize("url", ODD_URLS)
def test_a_password_is_never_shown(url: str) -> None:
    with pytest.raises((StoreError, MissingExtra)) as caught:
        Store.open(url)
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db.example.org/lab",
        "postgresql://localhost,192.0.2.7/lab",
        "postgresql://localhost/lab?hostaddr=192.0.2.7",
        "postgresql:///lab?host=db.example.org",
        "postgresql://localhost/lab?service=far",
    ],
)
def test_offline_a_store_elsewhere_is_refused_before_it_is_reached(url: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(NeedsNetwork, match="is on another computer"):
        Store.open(url)


def test_the_environment_and_what_an_url_cannot_say_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match="not part of a path in a URL"):
        Store.open(f"sqlite:///{tmp_path}/a.db?mode=ro")
    if find_spec("psycopg"):
        with pytest.raises(StoreError, match="this URL cannot be read"):
            Store.open("postgresql://[::1/x")
        monkeypatch.setenv("PGHOSTADDR", "192.0.2.7")
        with pytest.raises(NeedsNetwork, match=r"192\.0\.2\.7"):
            Store.open("postgresql://localhost/lab")
        monkeypatch.delenv("PGHOSTADDR")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"tabwb\[server\]"):
        Store.open("postgresql://localhost/lab")


def test_eight_first_openings_make_one_store(location: str) -> None:
    gate = threading.Barrier(8)

    def first(_: int) -> None:
        gate.wait()
        with Store.open(location) as store:
            begin(store)

    together(8, first)
    with Store.open(location) as store:
        assert len(store.administrations()) == 8


OK, VOID, ERROR = AttemptState.OK, AttemptState.VOID, AttemptState.ERROR


def fold(*entries: Entry, n: int = 2) -> History:
    return History.of(planned(n), entries)


def text(words: str, by: str, number: int = 1, status: str = "ok") -> EventEntry:
    return EventEntry("observed", 1, observation_to_json(TextSet(number, words, status, by)))


def answer(trial: int = 1, number: int = 1, words: str = "house.") -> AttemptEntry:
    return AttemptEntry(trial, attempt(number, words))


FAILED = AttemptEntry(2, attempt(state=ERROR))
LOG = text("a log", "person:R1")


@pytest.mark.parametrize(
    ("entries", "state", "attempts", "counting", "undoable"),
    [
        ([], "planned", [], None, None),
        # Of several answers the last counts.
        ([answer(words="hous"), answer(number=2)], "answered", [(OK, ""), (OK, "")], "house.",
         Undoable(2, 1, "answer")),
        # A skip can be taken back, and that too.
        ([EventEntry("skipped", 1, "asleep")], "skipped asleep", [], None, Undoable(1, 1, "skip")),
        ([EventEntry("skipped", 1, "x"), EventEntry("undone", 1, "skip", 1)], "planned", [], None,
         None),
        ([EventEntry("skipped", 1, "x"), EventEntry("undone", 1, "skip", 1),
          EventEntry("undone", 1, "undo", 2)], "skipped x", [], None, Undoable(1, 1, "skip")),
        # What is voided or taken back is void; a new answer counts.
        ([answer(), EventEntry("voided", 1, "noise")], "void noise", [(VOID, "noise")], None,
         Undoable(2, 1, "void")),
        ([answer(), EventEntry("voided", 1, "noise"), answer(number=2)], "answered",
         [(VOID, "noise"), (OK, "")], "house.", Undoable(3, 1, "answer")),
        ([answer(), EventEntry("undone", 1, "answer", 1)], "planned", [(VOID, "undone")], None,
         None),
        ([answer(), answer(2), EventEntry("undone", 2, "answer", 2)], "answered", [(OK, "")],
         "house.", Undoable(1, 1, "answer")),
        # A failed attempt stays failed whatever follows, and is nothing to take back.
        ([answer(), FAILED], "answered", [(OK, "")], "house.", Undoable(1, 1, "answer")),
        ([AttemptEntry(1, attempt(state=ERROR)), EventEntry("voided", 1, "why")], "void why",
         [(ERROR, "no connection")], None, Undoable(2, 1, "void")),
        # The text set last is the response; what a transcriber wrote is not taken back.
        ([answer(), text("a dog", "words"), LOG], "answered", [(OK, "")], "a log",
         Undoable(3, 1, "text")),
        ([answer(), text("a dog", "words"), LOG, EventEntry("undone", 1, "text", 3)], "answered",
         [(OK, "")], "a dog", Undoable(1, 1, "answer")),
        ([answer(), answer(number=2), text("a dog", "words")], "answered", [(OK, ""), (OK, "")],
         "house.", Undoable(2, 1, "answer")),
    ],
)  # fmt: skip
def test_a_trial_is_what_was_appended_to_it(
    entries: list[Entry],
    state: str,
    attempts: list[tuple[AttemptState, str]],
    counting: str | None,
    undoable: Undoable | None,
) -> None:
    history = fold(*entries)
    trial = history.trial(1)
    assert f"{trial.state.value} {trial.reason}".strip() == state
    assert [(each.state, each.error) for each in trial.attempts] == attempts
    assert (trial.counting and trial.counting.response) == counting
    assert history.undoable == undoable


def test_a_text_that_was_set_has_its_status_and_who_set_it() -> None:
    said = fold(answer(), text("", "words", status="empty")).trial(1).counting
    assert said is not None
    assert (said.status, said.metadata["text_by"]) == (ResponseStatus.EMPTY, "words")


def test_taking_back_the_last_answer_reopens_the_end() -> None:
    history = fold(answer(), EventEntry("finished"), n=1)
    assert history.status is AdministrationStatus.DONE
    assert history.undoable == Undoable(1, 1, "answer")
    assert history.endings == (2,)
    history = history.with_entries(
        [EventEntry("undone", None, "", 2), EventEntry("undone", 1, "", 1)]
    )
    assert history.status is AdministrationStatus.RUNNING
    assert history.endings == ()


def test_after_a_discontinuation_what_was_not_given_reads_so_until_it_is_taken_back() -> None:
    history = fold(answer(), EventEntry("discontinued", None, "tired"))
    assert (history.status, history.reason) == (AdministrationStatus.DISCONTINUED, "tired")
    assert [trial.state.value for trial in history.trials] == ["answered", "not-administered"]
    assert history.undoable == Undoable(2, None, "discontinuation")
    history = history.with_entry(EventEntry("undone", None, "discontinuation", 2))
    assert history.trial(2).state is TrialState.PLANNED


def test_notes_pauses_and_facts_of_the_model_are_the_last_ones() -> None:
    history = fold(
        EventEntry("noted", 1, "coughed"),
        EventEntry("noted", None, "loud room"),
        EventEntry("model-opened", None, '{"dtype": "float32"}'),
        EventEntry("paused", None, "lunch"),
    )
    assert (history.trial(1).notes, history.notes) == (("coughed",), ("loud room",))
    assert (history.model_facts, fold().model_facts) == ({"dtype": "float32"}, {})
    assert (history.status, history.pause_reason) == (AdministrationStatus.PAUSED, "lunch")
    history = history.with_entry(EventEntry("resumed"))
    assert (history.status, history.pause_reason) == (AdministrationStatus.RUNNING, "")


def test_ratings_shown_are_those_of_the_answer_that_counts() -> None:
    first, second = scores(value=False), scores(value=True)
    history = fold(
        AttemptEntry(1, attempt(1)),
        RatingsEntry(1, 1, first),
        AttemptEntry(1, attempt(2)),
        RatingsEntry(1, 2, second),
    )
    assert history.trial(1).ratings == second
    assert history.with_entry(EventEntry("undone", 1, "", 2)).trial(1).ratings == first
    assert history.with_entry(EventEntry("voided", 1, "x")).trial(1).ratings == ()


def test_a_rater_replaces_its_own_ratings_only() -> None:
    other = (valued("rules-1", "retracing", 0),)
    history = fold(
        AttemptEntry(1, attempt()),
        RatingsEntry(1, 1, (*scores(value=False), *other)),
        RatingsEntry(1, 1, scores(value=True)),
    )
    assert history.trial(1).ratings == (*scores(value=True), *other)


@pytest.mark.parametrize(
    "entry",
    [
        AttemptEntry(3, attempt()),
        EventEntry("skipped", 0, "x"),
        RatingsEntry(1, 1, scores()),
        EventEntry("undone", None, "", 1),
    ],
)
def test_what_does_not_exist_cannot_be_named(entry: Entry) -> None:
    with pytest.raises(StoreError):
        fold().with_entry(entry)


def test_an_undone_event_says_what_it_undoes_and_no_other_does() -> None:
    with pytest.raises(ValueError, match="undone"):
        EventEntry("undone")
    with pytest.raises(ValueError, match="undone"):
        EventEntry("paused", undoes=1)


N = 3
COMMANDS = ("answer", "fail", "skip", "void", "undo", "redo", "pause", "resume", "end", "finish")
Commands = list[tuple[str, int]]
commands: st.SearchStrategy[Commands] = st.lists(
    st.tuples(st.sampled_from(COMMANDS), st.integers(1, N)), max_size=30
)
_EVENTS: dict[str, tuple[EventKind, bool]] = {
    "skip": ("skipped", True), "void": ("voided", True), "pause": ("paused", False),
    "resume": ("resumed", False), "end": ("discontinued", False), "finish": ("finished", False),
}  # fmt: skip


def written(given_commands: Commands) -> list[Entry]:
    """Entries for commands; ``undo`` as the engine does it, ``redo`` takes back the last undo."""
    entries: list[Entry] = []
    history = History.of(planned(N))
    for command, trial in given_commands:
        entry: Entry
        if command in ("answer", "fail"):
            number = len(history.trial(trial).attempts) + 1
            entry = AttemptEntry(trial, attempt(number, state=OK if command == "answer" else ERROR))
        elif command == "undo":
            target = history.undoable
            if target is None:
                continue
            entry = EventEntry("undone", target.trial, target.what, target.sequence)
        elif command == "redo":
            last = history.steps[-1] if history.steps else None
            if last is None or not isinstance(last.entry, EventEntry) or not last.entry.undoes:
                continue
            entry = EventEntry("undone", last.entry.trial, "undo", last.sequence)
        else:
            kind, of_trial = _EVENTS[command]
            entry = EventEntry(kind, trial if of_trial else None, command)
        entries.append(entry)
        history = history.with_entry(entry)
    return entries


def without_what_was_taken_back(entries: Sequence[Entry]) -> list[Entry]:
    """The second derivation: strike out the last undo with its target, until there is none."""
    left = list(enumerate(entries, 1))
    while True:
        undone = [
            (at, entry)
            for at, entry in left
            if isinstance(entry, EventEntry) and entry.kind == "undone"
        ]
        if not undone:
            return [entry for _, entry in left]
        last, entry = undone[-1]
        left = [(at, each) for at, each in left if at not in (last, entry.undoes)]


def state_by_rules(entries: Sequence[Entry], trial: int, *, ended: bool) -> TrialState:
    state = TrialState.NOT_ADMINISTERED if ended else TrialState.PLANNED
    for entry in entries:
        if isinstance(entry, AttemptEntry) and entry.trial == trial:
            state = TrialState.ANSWERED if entry.attempt.state is OK else state
        elif isinstance(entry, EventEntry) and entry.trial == trial:
            state = {"skipped": TrialState.SKIPPED, "voided": TrialState.VOID}[entry.kind]
    return state


@given(commands)
def test_any_sequence_stands_as_if_what_was_taken_back_had_not_been(given_: Commands) -> None:
    entries = written(given_)
    history = History.of(planned(N), entries)
    left = without_what_was_taken_back(entries)
    kinds = [entry.kind for entry in left if isinstance(entry, EventEntry)]
    rests = [kind for kind in kinds if kind in ("paused", "resumed")]
    expected = (
        AdministrationStatus.DONE
        if "finished" in kinds
        else AdministrationStatus.DISCONTINUED
        if "discontinued" in kinds
        else AdministrationStatus.PAUSED
        if rests[-1:] == ["paused"]
        else AdministrationStatus.RUNNING
    )
    assert history.status is expected
    ended = expected is AdministrationStatus.DISCONTINUED
    for trial in history.trials:
        assert trial.state is state_by_rules(left, trial.plan.number, ended=ended)
        assert (trial.counting is not None) == (trial.state is TrialState.ANSWERED)
        recorded = [e.attempt for e in entries if isinstance(e, AttemptEntry)]
        assert sum(len(each.attempts) for each in history.trials) == len(recorded)


@given(commands)
def test_one_by_one_and_all_at_once_are_the_same(given_: Commands) -> None:
    entries = written(given_)
    one_by_one = History.of(planned(N))
    for entry in entries:
        one_by_one = one_by_one.with_entry(entry)
    assert one_by_one == History.of(planned(N), entries)


@given(commands)
def test_undo_takes_back_the_latest_effective_thing_and_leads_back_to_the_start(
    given_: Commands,
) -> None:
    history = History.of(planned(N), written(given_))
    taken: list[int] = []
    while (target := history.undoable) is not None:
        taken.append(target.sequence)
        history = history.with_entry(
            EventEntry("undone", target.trial, target.what, target.sequence)
        )
    assert taken == sorted(taken, reverse=True)
    assert all(trial.state is TrialState.PLANNED for trial in history.trials)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commands, st.integers(0, 2))
def test_what_the_store_counts_is_what_the_fold_says(
    store: Store, given_: Commands, practice: int
) -> None:
    administration = begin(store, N, practice=practice)
    entries = written(given_)
    store.append(administration.id, entries)
    history = store.history(administration.id)
    assert history == History.of(planned(N, practice=practice), entries)
    listed = store.administrations()[-1]
    assert listed == store.administration(administration.id)
    assert (listed.status, listed.answered, listed.planned) == (
        history.status,
        history.answered,
        N - practice,
    )
    assert listed.reason == (
        history.reason if history.status is AdministrationStatus.DISCONTINUED else ""
    )


@given(st.integers(0, 3 * SIZE), st.data())
def test_a_changed_copy_is_what_a_tuple_would_be(length: int, data: st.DataObject) -> None:
    items = tuple(range(length))
    places = st.integers(0, max(length - 1, 0))
    most = min(length, 5)
    changes = data.draw(st.dictionaries(places, st.integers(-9, -1), max_size=most))
    added = data.draw(st.lists(st.integers(), max_size=SIZE + 2))
    blocks = Blocks(items)
    copy = blocks.changed(changes, added)
    expected = (*(changes.get(item, item) for item in items), *added)
    assert tuple(copy) == expected
    assert copy == Blocks(expected)
    assert tuple(reversed(copy)) == expected[::-1]
    assert [copy[at] for at in range(-len(expected), len(expected))] == [*expected, *expected]
    assert copy[1:-1] == expected[1:-1]
    assert tuple(blocks) == items
    with pytest.raises(IndexError):
        copy[len(expected)]


def test_one_more_answer_copies_no_other_part_of_a_history() -> None:
    before = History.of(planned(10 * SIZE))
    after = before.with_entries([EventEntry("trial-started", 1), AttemptEntry(1, attempt())])
    assert after.trial(1).counting is not None
    assert before.trial(1).counting is None
    assert shared(before.standing, after.standing) == 9


def shared(one: Blocks[Trial], other: Blocks[Trial]) -> int:
    pairs = zip(one._blocks, other._blocks, strict=True)
    return sum(mine is theirs for mine, theirs in pairs)


RATER = "tab-2026:openai:judge"
KEY = hashlib.sha256(b"one call").hexdigest()
SAID = Judgement(
    rater=RATER,
    ratings=(
        valued(RATER, "anomia", 1.0, "the words that fired"),
        valued(RATER, "jargon", 0.0),
        undefined(RATER, "off-topic", "the prompt is not shown"),
    ),
    prompt_text='{"system":"You are"}',
    raw='{"Anomia": 1}',
    first_raw="Sure!",
    repaired=True,
    structured=True,
    stop_reason=StopReason.LENGTH,
    requests=2,
    prompt_tokens=900,
    reply_tokens=210,
    latency_s=1.5,
    key=KEY,
)


@pytest.fixture
def number(store: Store) -> int:
    administration = begin(store)
    store.append(administration.id, [AttemptEntry(1, attempt()), AttemptEntry(2, attempt())])
    return administration.id


def test_everything_that_came_back_is_kept_and_found_by_its_call(store: Store, number: int) -> None:
    (kept,) = store.keep_judgements(number, [Judged(1, 1, SAID)])
    assert kept.judgement.id > 0 and kept.judgement.recorded_at
    assert store.judgements(number) == (kept,)
    assert replace(kept.judgement, id=0, recorded_at="") == SAID
    begin(store)  # found whichever administration it is of
    assert store.judgements_of([KEY, "00" * 32]) == {KEY: kept.judgement}
    # A later one replaces it; its rows stay.
    later = replace(SAID, ratings=(valued(RATER, "anomia", 0.0),))
    store.keep_judgements(number, [Judged(1, 1, later)])
    assert store.trials(number)[0].ratings == later.ratings
    ratings = [each.judgement.ratings for each in store.judgements(number)]
    assert ratings == [SAID.ratings, later.ratings]


def test_repetitions_and_failed_calls_are_kept_but_no_verdict(store: Store, number: int) -> None:
    again = replace(SAID, repeat=1)
    down = replace(SAID, ratings=(failed(RATER, "anomia", "no connection"),))
    store.keep_judgements(number, [Judged(1, 1, again)])
    assert store.trials(number)[0].ratings == ()
    (kept,) = store.judgements(number)
    assert replace(kept.judgement, id=0, recorded_at="") == again
    assert store.judgements_of([KEY]) == {}
    store.keep_judgements(number, [Judged(1, 1, down)])
    assert store.judgements_of([KEY]) == {}


def test_many_keys_are_looked_up_in_parts(store: Store, number: int) -> None:
    keys = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(1200)]
    store.keep_judgements(number, [Judged(1, 1, replace(SAID, key=keys[700]))])
    assert list(store.judgements_of(keys)) == [keys[700]]


def test_a_judgement_of_an_attempt_that_is_not_there_is_refused_whole(
    store: Store, number: int
) -> None:
    with pytest.raises(StoreError, match="no attempt 7"):
        store.keep_judgements(number, [Judged(1, 1, SAID), Judged(2, 7, SAID)])
    assert store.judgements(number) == ()


RULES = Declaration("rules-1", ("retracing", "jargon"), caution="a text rule")
MODEL = Declaration("tab-2026:x", ("anomia",), "all", prompt_text='{"system":"You are"}')


def said(declaration: Declaration) -> list[Entry]:
    rating = valued(declaration.rater, declaration.features[0], 1)
    return [RatingsEntry(1, 1, (rating,)), DeclarationEntry(declaration)]


def rows(file: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(file) as connection:
        return connection.execute(
            "SELECT administration_id, spec, scope, kind, prompt_id IS NULL"
            " FROM rater_declarations JOIN raters ON raters.id = rater_id"
            " ORDER BY rater_declarations.id"
        ).fetchall()


@pytest.fixture
def answered(store: Store) -> int:
    administration = begin(store)
    store.append(administration.id, [AttemptEntry(1, attempt())])
    return administration.id


def test_what_each_rater_declared_is_read_back_whole(store: Store, answered: int) -> None:
    store.append(answered, [*said(RULES), *said(MODEL)])
    assert store.history(answered).declarations == {"rules-1": RULES, "tab-2026:x": MODEL}
    prompt = hashlib.sha256(b'{"system":"You are"}').hexdigest()
    assert store.history(answered).declarations["tab-2026:x"].prompt_hash == prompt


def test_the_same_said_again_is_kept_once_and_a_change_beside_it(file: Path) -> None:
    with Store.open(file) as store:
        number = begin(store).id
        store.append(number, [AttemptEntry(1, attempt())])
        wide = replace(RULES, scope="all")
        for declaration in (RULES, RULES, wide, wide, RULES):
            store.append(number, said(declaration))
        assert store.history(number).declarations == {"rules-1": RULES}
    assert [row[2] for row in rows(file)] == ["connected-text", "all", "connected-text"]


def test_it_is_kept_with_judgements_and_not_without_its_ratings(
    store: Store, answered: int
) -> None:
    with pytest.raises(StoreError):
        store.append(answered, [DeclarationEntry(RULES), RatingsEntry(1, 7, ())])
    assert store.history(answered).declarations == {}
    judgement = Judgement((valued("tab-2026:x", "anomia", 1),), rater="tab-2026:x", key="00" * 32)
    store.keep_judgements(answered, [Judged(1, 1, judgement)], MODEL)
    assert store.history(answered).declarations == {"tab-2026:x": MODEL}


def test_an_older_store_gets_what_its_only_judge_would_have_said(file: Path) -> None:
    with Store.open(file) as store:
        judged, scored = begin(store).id, begin(store).id
        for number, rater in ((judged, "rules-1"), (scored, "repetition")):
            ratings = (undefined(rater, "jargon", ""),)
            store.append(number, [AttemptEntry(1, attempt()), RatingsEntry(1, 1, ratings)])
    make_older(file, 2)
    with Store.open(file) as store:
        (declaration,) = store.history(judged).declarations.values()
        assert (declaration.rater, declaration.features) == ("rules-1", TWO_SIDED)
        assert declaration.caution == RULES_CAUTION
        assert store.history(scored).declarations == {}
        store.append(judged, [DeclarationEntry(declaration)])
    assert rows(file) == [(judged, "rules-1", "connected-text", "judge", 1)]
