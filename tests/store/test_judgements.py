"""Judgements: kept whole, never paid for twice, replacing what the judge said before."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from tabwb.records.errors import StoreError
from tabwb.records.ratings import Judged, Judgement, failed, undefined, valued
from tabwb.records.states import StopReason
from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tests.store.parts import attempt, begin

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


def test_everything_that_came_back_is_kept(store: Store, number: int) -> None:
    (kept,) = store.keep_judgements(number, [Judged(1, 1, SAID)])
    assert kept.judgement.id > 0 and kept.judgement.recorded_at
    assert store.judgements(number) == (kept,)
    assert replace(kept.judgement, id=0, recorded_at="") == SAID


def test_a_later_judgement_replaces_the_earlier_one_whose_rows_stay(
    store: Store, number: int
) -> None:
    later = replace(SAID, ratings=(valued(RATER, "anomia", 0.0),))
    store.keep_judgements(number, [Judged(1, 1, SAID)])
    store.keep_judgements(number, [Judged(1, 1, later)])
    assert store.trials(number)[0].ratings == later.ratings
    assert [each.judgement.ratings for each in store.judgements(number)] == [
        SAID.ratings,
        later.ratings,
    ]


def test_a_repetition_is_kept_and_never_counts(store: Store, number: int) -> None:
    again = replace(SAID, repeat=1)
    store.keep_judgements(number, [Judged(1, 1, again)])
    assert store.trials(number)[0].ratings == ()
    (kept,) = store.judgements(number)
    assert replace(kept.judgement, id=0, recorded_at="") == again
    assert store.judgements_of([KEY]) == {}


def test_the_same_call_is_found_in_every_administration(store: Store, number: int) -> None:
    (kept,) = store.keep_judgements(number, [Judged(1, 1, SAID)])
    begin(store)
    assert store.judgements_of([KEY, "00" * 32]) == {KEY: kept.judgement}


def test_a_failed_call_is_no_verdict_to_take_over(store: Store, number: int) -> None:
    down = replace(SAID, ratings=(failed(RATER, "anomia", "no connection"),))
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
