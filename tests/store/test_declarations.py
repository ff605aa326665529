"""Declarations: what a rater said of itself in an administration, kept beside its ratings."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.records.errors import StoreError
from tabwb.records.ratings import Declaration, Judged, Judgement, undefined, valued
from tabwb.records.trials import AttemptEntry, DeclarationEntry, Entry, RatingsEntry
from tabwb.records.words import RULES_CAUTION
from tabwb.scoring.rules.passage import TWO_SIDED
from tabwb.store.store import Store
from tests.store.older import make_older
from tests.store.parts import attempt, begin

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
def number(store: Store) -> int:
    administration = begin(store)
    store.append(administration.id, [AttemptEntry(1, attempt())])
    return administration.id


def test_what_each_rater_declared_is_read_back_whole(store: Store, number: int) -> None:
    store.append(number, [*said(RULES), *said(MODEL)])
    assert store.history(number).declarations == {"rules-1": RULES, "tab-2026:x": MODEL}
    prompt = hashlib.sha256(b'{"system":"You are"}').hexdigest()
    assert store.history(number).declarations["tab-2026:x"].prompt_hash == prompt


def test_the_same_said_again_is_kept_once_and_a_change_beside_it(file: Path) -> None:
    with Store.open(file) as store:
        number = begin(store).id
        store.append(number, [AttemptEntry(1, attempt())])
        wide = replace(RULES, scope="all")
        for declaration in (RULES, RULES, wide, wide, RULES):
            store.append(number, said(declaration))
        assert store.history(number).declarations == {"rules-1": RULES}
    assert [row[2] for row in rows(file)] == ["connected-text", "all", "connected-text"]


def test_it_is_not_kept_when_its_ratings_are_not(store: Store, number: int) -> None:
    with pytest.raises(StoreError):
        store.append(number, [DeclarationEntry(RULES), RatingsEntry(1, 7, ())])
    assert store.history(number).declarations == {}


def test_it_is_kept_with_judgements(store: Store, number: int) -> None:
    judgement = Judgement((valued("tab-2026:x", "anomia", 1),), rater="tab-2026:x", key="00" * 32)
    store.keep_judgements(number, [Judged(1, 1, judgement)], MODEL)
    assert store.history(number).declarations == {"tab-2026:x": MODEL}


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
