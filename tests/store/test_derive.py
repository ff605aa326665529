"""The fold: rules one by one, then any sequence of entries against a second, simpler model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabwb.records.errors import StoreError
from tabwb.records.naming import TextSet, observation_to_json
from tabwb.records.ratings import valued
from tabwb.records.states import AdministrationStatus, AttemptState, ResponseStatus, TrialState
from tabwb.records.trials import AttemptEntry, Entry, EventEntry, EventKind, RatingsEntry, Trial
from tabwb.store.derive import SIZE, Blocks, History, Undoable
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, planned, scores

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
    "skip": ("skipped", True),
    "void": ("voided", True),
    "pause": ("paused", False),
    "resume": ("resumed", False),
    "end": ("discontinued", False),
    "finish": ("finished", False),
}


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
