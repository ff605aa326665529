"""Judgements, kept whole and never paid for twice, and what a rater declares of itself."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.records.errors import StoreError
from tabwb.records.ratings import Declaration, Judged, Judgement, failed, undefined, valued
from tabwb.records.states import StopReason
from tabwb.records.trials import AttemptEntry, DeclarationEntry, Entry, RatingsEntry
from tabwb.records.words import RULES_CAUTION
from tabwb.scoring.rules.passage import TWO_SIDED
from tabwb.store.store import Store
from tests.store.older import make_older
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


def test_it_is_not_kept_when_its_ratings_are_not(store: Store, answered: int) -> None:
    with pytest.raises(StoreError):
        store.append(answered, [DeclarationEntry(RULES), RatingsEntry(1, 7, ())])
    assert store.history(answered).declarations == {}


def test_it_is_kept_with_judgements(store: Store, answered: int) -> None:
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
