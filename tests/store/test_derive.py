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
from tabwb.records.trials import AttemptEntry, Entry, EventEntry, EventKind, RatingsEntry
from tabwb.store.derive import History, Undoable
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, planned, scores

OK, VOID, ERROR = AttemptState.OK, AttemptState.VOID, AttemptState.ERROR


def fold(*entries: Entry, n: int = 2) -> History:
    return History.of(planned(n), entries)


def states(history: History, trial: int = 1) -> list[AttemptState]:
    return [each.state for each in history.trial(trial).attempts]


def text(words: str, by: str, number: int = 1, status: str = "ok") -> EventEntry:
    return EventEntry("observed", 1, observation_to_json(TextSet(number, words, status, by)))


def test_the_text_set_last_is_the_response() -> None:
    said = fold(AttemptEntry(1, attempt(1)), text("a dog", "words"), text("a log", "person:R1"))
    counting = said.trial(1).counting
    assert counting is not None
    assert (counting.response, counting.metadata["text_by"]) == ("a log", "person:R1")
    assert said.undoable == Undoable(3, 1, "text")
    before = said.with_entry(EventEntry("undone", 1, "text", 3)).trial(1).counting
    assert before is not None
    assert before.response == "a dog"


def test_a_text_of_another_attempt_changes_nothing() -> None:
    first, second = AttemptEntry(1, attempt(1)), AttemptEntry(1, attempt(2))
    counting = fold(first, second, text("a dog", "words")).trial(1).counting
    assert counting == attempt(2)


def test_what_a_transcriber_wrote_is_not_undone() -> None:
    said = fold(AttemptEntry(1, attempt(1)), text("", "words", status="empty"))
    assert said.undoable == Undoable(1, 1, "answer")
    counting = said.trial(1).counting
    assert counting is not None
    assert counting.status is ResponseStatus.EMPTY


def test_of_several_answers_the_last_counts() -> None:
    history = fold(AttemptEntry(1, attempt(1, "hous")), AttemptEntry(1, attempt(2, "house.")))
    counting = history.trial(1).counting
    assert counting is not None
    assert counting.response == "house."
    assert states(history) == [OK, OK]


def test_voiding_turns_the_answers_before_it_void_and_a_new_one_counts() -> None:
    history = fold(AttemptEntry(1, attempt()), EventEntry("voided", 1, "noise outside"))
    trial = history.trial(1)
    assert (trial.state, trial.reason) == (TrialState.VOID, "noise outside")
    assert [(each.state, each.error) for each in trial.attempts] == [(VOID, "noise outside")]
    history = history.with_entry(AttemptEntry(1, attempt(2)))
    assert history.trial(1).state is TrialState.ANSWERED
    assert states(history) == [VOID, OK]


def test_an_answer_that_is_taken_back_is_void_and_its_trial_planned_again() -> None:
    history = fold(AttemptEntry(1, attempt()), EventEntry("undone", 1, "answer", 1))
    trial = history.trial(1)
    assert trial.state is TrialState.PLANNED
    assert [(each.state, each.error) for each in trial.attempts] == [(VOID, "undone")]
    assert trial.counting is None


def test_a_skip_can_be_taken_back_and_that_too() -> None:
    history = fold(EventEntry("skipped", 1, "asleep"))
    assert (history.trial(1).state, history.trial(1).reason) == (TrialState.SKIPPED, "asleep")
    history = history.with_entry(EventEntry("undone", 1, "skip", 1))
    assert (history.trial(1).state, history.trial(1).reason) == (TrialState.PLANNED, "")
    history = history.with_entry(EventEntry("undone", 1, "undo", 2))
    assert history.trial(1).state is TrialState.SKIPPED


def test_undo_after_undo_goes_further_back() -> None:
    history = fold(AttemptEntry(1, attempt()), AttemptEntry(2, attempt()))
    assert history.undoable == Undoable(2, 2, "answer")
    history = history.with_entry(EventEntry("undone", 2, "answer", 2))
    assert history.undoable == Undoable(1, 1, "answer")
    history = history.with_entry(EventEntry("undone", 1, "answer", 1))
    assert history.undoable is None


def test_a_failed_attempt_is_nothing_to_take_back() -> None:
    history = fold(AttemptEntry(1, attempt()), AttemptEntry(2, attempt(state=ERROR)))
    assert history.undoable == Undoable(1, 1, "answer")


def test_a_failed_attempt_stays_failed_whatever_follows() -> None:
    history = fold(AttemptEntry(1, attempt(state=ERROR)), EventEntry("voided", 1, "why"))
    assert [(each.state, each.error) for each in history.trial(1).attempts] == [
        (ERROR, "no connection")
    ]


def test_taking_back_the_last_answer_reopens_the_end() -> None:
    history = fold(AttemptEntry(1, attempt()), EventEntry("finished"), n=1)
    assert history.status is AdministrationStatus.DONE
    assert history.undoable == Undoable(1, 1, "answer")
    assert history.endings == (2,)
    history = history.with_entries(
        [EventEntry("undone", None, "", 2), EventEntry("undone", 1, "", 1)]
    )
    assert history.status is AdministrationStatus.RUNNING
    assert history.endings == ()


def test_after_a_discontinuation_what_was_not_given_reads_so_until_it_is_taken_back() -> None:
    history = fold(AttemptEntry(1, attempt()), EventEntry("discontinued", None, "tired"))
    assert (history.status, history.reason) == (AdministrationStatus.DISCONTINUED, "tired")
    assert [trial.state for trial in history.trials] == [
        TrialState.ANSWERED,
        TrialState.NOT_ADMINISTERED,
    ]
    assert history.undoable == Undoable(2, None, "discontinuation")
    history = history.with_entry(EventEntry("undone", None, "discontinuation", 2))
    assert history.trial(2).state is TrialState.PLANNED


def test_the_last_of_pauses_and_resumptions_decides() -> None:
    history = fold(EventEntry("paused", None, "lunch"))
    assert (history.status, history.pause_reason) == (AdministrationStatus.PAUSED, "lunch")
    history = history.with_entry(EventEntry("resumed"))
    assert (history.status, history.pause_reason) == (AdministrationStatus.RUNNING, "")


def test_notes_belong_to_a_trial_or_to_the_whole() -> None:
    history = fold(EventEntry("noted", 1, "coughed"), EventEntry("noted", None, "loud room"))
    assert history.trial(1).notes == ("coughed",)
    assert history.notes == ("loud room",)


def test_the_facts_of_the_model_are_those_of_its_last_opening() -> None:
    history = fold(EventEntry("model-opened", None, '{"dtype": "float32"}'))
    assert history.model_facts == {"dtype": "float32"}
    assert fold().model_facts == {}


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


# ---------------------------------------------------------------- any sequence, against a model

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


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
