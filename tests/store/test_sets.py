"""Rating sets in the store: made, rated, changed and taken back; nothing is lost or double."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.records.errors import StoreError, UsageError
from tabwb.records.rating_sets import (
    CANNOT_TELL,
    Adjudication,
    Assignment,
    RatingSet,
    SampleRating,
    SetEvent,
)
from tabwb.records.ratings import Declaration, Rating, valued
from tabwb.records.states import RatingStatus
from tabwb.records.trials import AttemptEntry, DeclarationEntry, RatingsEntry
from tabwb.store.maintenance import backup, check
from tabwb.store.sets import SavedElsewhere
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, rated_set, scores


def answered(store: Store, n: int = 3) -> int:
    number = begin(store, n).id
    store.append(number, [AttemptEntry(trial, attempt()) for trial in range(1, n + 1)])
    store.append(number, [RatingsEntry(trial, 1, scores()) for trial in range(1, n + 1)])
    return number


@pytest.fixture
def kept(store: Store) -> RatingSet:
    return rated_set(store, answered(store))


def says(
    position: int = 1,
    *,
    rater: str = "R1",
    complete: bool = True,
    replaces: int | None = None,
    **answers: str | float,
) -> SampleRating:
    return SampleRating(
        rater, position, position, "rate", answers, complete, replaces=replaces, seconds=2.5
    )


def counted(store: Store, rater: str, trial: int = 1) -> dict[str, float | None]:
    """What results count of a rater, by measure."""
    ratings = store.trials(1)[trial - 1].ratings
    return {one.measure: one.value for one in ratings if one.rater == rater}


def test_a_set_is_found_by_id_name_and_uid_and_takes_ratings_while_it_is_open(
    store: Store, kept: RatingSet
) -> None:
    assert {store.sets.get(ref).id for ref in (kept.id, "pilot", kept.uid, kept.uid[:13])} == {1}
    assert (kept.raters, kept.status, kept.counts) == (("R1", "R2"), "open", "majority")
    assert [sample.text for sample in store.sets.samples(1)] == [f"as shown {n}" for n in (1, 2, 3)]
    assert store.sets.assignments(1, "R2")[2] == Assignment("R2", 3, 3)
    with pytest.raises(StoreError, match=r"there is no rating set 'other'.*\nallowed: pilot"):
        store.sets.get("other")
    store.sets.log(kept.id, SetEvent("closed", who="ada"))
    assert store.sets.get("pilot").status == "closed"
    with pytest.raises(StoreError, match=r"'pilot' is closed\n.*rate reopen pilot"):
        store.sets.rate(kept.id, says(jargon=1))
    store.sets.log(kept.id, SetEvent("reopened"))
    store.sets.rate(kept.id, says(jargon=1))
    assert [event.kind for event in store.sets.events(kept.id)] == ["planned", "closed", "reopened"]
    with pytest.raises(UsageError, match="a rating set 'pilot' already exists"):
        rated_set(store, 1)
    with pytest.raises(StoreError, match="R1 has a sample at position 1 already"):
        rated_set(store, 1, name="twice", more=[Assignment("R1", 1, 2)])
    with pytest.raises(UsageError, match="'12' is not a valid name of a rating set"):
        rated_set(store, 1, name="12")


def test_a_complete_rating_counts_in_results_beside_those_of_others(
    store: Store, kept: RatingSet
) -> None:
    saved = store.sets.rate(kept.id, says(jargon=1, anomia=3))
    assert saved.id and saved.recorded_at
    store.sets.rate(kept.id, says(rater="R2", jargon=CANNOT_TELL, anomia=0))
    assert counted(store, "R1") == {"jargon": 1.0, "anomia": 1.0}
    assert counted(store, "R2") == {"jargon": None, "anomia": 0.0}
    assert counted(store, "repetition") == {"exact": 1.0, "normalised": 1.0, "extracted": None}
    assert Rating("R2", "jargon", None, RatingStatus.UNDEFINED, "cannot tell") in (
        store.trials(1)[0].ratings
    )
    assert [one.answers for one in store.sets.ratings(1)] == [
        {"jargon": 1.0, "anomia": 3.0},
        {"jargon": CANNOT_TELL, "anomia": 0.0},
    ]
    declared = store.history(1).declarations["R1"]
    assert (declared.kind, declared.features) == ("person", ("jargon", "anomia"))


def test_a_rater_keeps_what_the_form_does_not_ask(store: Store, kept: RatingSet) -> None:
    earlier = (valued("R1", "correct", 1.0), valued("R1", "jargon", 1.0))
    store.append(1, [RatingsEntry(1, 1, earlier)])
    first = store.sets.rate(kept.id, says(jargon=0))
    assert counted(store, "R1") == {"jargon": 0.0, "correct": 1.0}
    store.sets.take_back(kept.id, first.id)
    assert counted(store, "R1") == {"jargon": 1.0, "correct": 1.0}


def test_a_rating_that_is_taken_back_counts_no_more(store: Store, kept: RatingSet) -> None:
    first = store.sets.rate(kept.id, says(jargon=1))
    assert store.columns([1]).ratings["R1"].measures["jargon"].at()[0].tolist() == [1.0]
    back = store.sets.take_back(kept.id, first.id)
    assert store.columns([1]).ratings["R1"].measures["jargon"].at()[0].tolist() != [1.0]
    assert (back.complete, back.taken_back, back.answers) == (False, True, {"jargon": 1.0})
    assert store.sets.ratings(kept.id) == ()
    assert counted(store, "R1") == {"jargon": None}
    store.sets.rate(kept.id, says(jargon=0, replaces=back.id))
    assert counted(store, "R1") == {"jargon": 0.0}
    with pytest.raises(SavedElsewhere):
        store.sets.take_back(kept.id, first.id)


def test_a_half_filled_sample_counts_nowhere_and_what_is_saved_twice_is_kept_once(
    store: Store, kept: RatingSet
) -> None:
    half = store.sets.rate(kept.id, says(complete=False, jargon=1))
    assert store.sets.ratings(kept.id) == () and counted(store, "R1") == {}
    assert store.sets.ratings(kept.id, every=True) == (half,)
    first = store.sets.rate(kept.id, says(jargon=1, replaces=half.id))
    assert store.sets.rate(kept.id, says(jargon=1, replaces=half.id)) == first
    with pytest.raises(SavedElsewhere, match="answered this sample elsewhere"):
        store.sets.rate(kept.id, says(jargon=0))
    second = store.sets.rate(kept.id, says(jargon=0, replaces=first.id))
    assert store.sets.ratings(kept.id) == (second,)
    assert store.sets.ratings(kept.id, every=True) == (half, first, second)


def test_a_rating_given_again_and_one_in_calibration_count_in_no_result(store: Store) -> None:
    more = [Assignment("R1", 4, 1, "again"), Assignment("R1", 5, 2, "calibration")]
    kept = rated_set(store, answered(store), more=more)
    for one in more:
        given = SampleRating("R1", one.position, one.sample, one.purpose, {"jargon": 1}, True)
        store.sets.rate(kept.id, given)
    assert counted(store, "R1") == counted(store, "R1", 2) == {}
    assert [one.purpose for one in store.sets.ratings(kept.id)] == ["again", "calibration"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (says(jargon=2), "'jargon' cannot be 2\nallowed: present, absent, 1, 0, cannot-tell"),
        (says(anomia=5), "'anomia' cannot be 5\nallowed: 0, 1, 2, 3, 4"),
        (says(colour=1), "no question 'colour'\nallowed: jargon, anomia"),
        (says(4, jargon=1), "nothing is assigned here"),
        (says(rater="R3", jargon=1), "rater R3.*nothing is assigned here"),
        (replace(says(jargon=1), confidence=4), "4 is not a confidence"),
    ],
)
def test_what_the_form_or_the_plan_does_not_allow_is_refused(
    store: Store, kept: RatingSet, given: SampleRating, message: str
) -> None:
    with pytest.raises(StoreError, match=message):
        store.sets.rate(kept.id, given)
    assert store.sets.ratings(kept.id, every=True) == ()


def test_codes_of_programs_and_invalid_codes_are_refused(store: Store) -> None:
    number = answered(store)
    for raters in (("tab 2026",), ("R" * 33,), ("",)):
        with pytest.raises(UsageError, match="not a valid code of a rater"):
            rated_set(store, number, raters=raters)
    with pytest.raises(UsageError, match="'consensus' cannot be a person's code"):
        rated_set(store, number, raters=("consensus",))
    store.append(number, [DeclarationEntry(Declaration("rules-1", ("jargon",)))])
    with pytest.raises(UsageError, match="'rules-1' is a judge or a scorer of this store"):
        rated_set(store, number, raters=("R1", "rules-1"))
    assert store.sets.all() == ()


def test_an_adjudication_replaces_the_one_before_and_can_be_withdrawn(
    store: Store, kept: RatingSet
) -> None:
    first = store.sets.adjudicate(1, Adjudication(2, "jargon", 1, "clear", "ada"))
    second = store.sets.adjudicate(1, Adjudication(2, "jargon", 0, "heard again", "ben"))
    assert second.replaces == first.id
    assert store.sets.adjudications(1) == (second,)
    store.sets.adjudicate(1, Adjudication(2, "jargon", None, "open again", "ada"))
    assert store.sets.adjudications(1) == ()
    assert len(store.sets.adjudications(1, every=True)) == 3
    with pytest.raises(StoreError, match="needs a reason"):
        store.sets.adjudicate(1, Adjudication(2, "jargon", 1, " ", "ada"))


def test_a_link_is_found_by_its_digest_and_ends_when_revoked(store: Store, kept: RatingSet) -> None:
    link = store.sets.links.add(kept.id, "R1", b"x" * 32, expires_at="2026-12-01T00:00:00+00:00")
    assert store.sets.links.of(b"x" * 32) == link
    assert store.sets.links.of(b"y" * 32) is None
    store.sets.links.revoke(link.id)
    store.sets.links.revoke(link.id)
    (ended,) = store.sets.links.all(kept.id)
    assert ended.revoked_at and replace(ended, revoked_at="") == link
    with pytest.raises(UsageError, match="'R9' is not a rater"):
        store.sets.links.add(kept.id, "R9", b"z" * 32)


@pytest.fixture
def whole(file: Path) -> Path:
    """A store in which both raters have rated sample 1, and one of them sample 2."""
    with Store.open(file) as store:
        kept = rated_set(store, answered(store))
        first = store.sets.rate(kept.id, says(jargon=1))
        store.sets.rate(kept.id, says(jargon=0, replaces=first.id))
        store.sets.rate(kept.id, says(rater="R2", jargon=1))
        store.sets.rate(kept.id, says(2, rater="R2", jargon=1))
        store.sets.adjudicate(kept.id, Adjudication(1, "jargon", 1, "clear", "ada"))
    return file


SET = "rating set 1"


@pytest.mark.parametrize(
    ("statement", "where", "what"),
    [
        ("UPDATE sample_ratings SET position = 3 WHERE id = 2", SET, "rating 2 replaces rating 1"),
        ("UPDATE sample_ratings SET verdict_id = 6 WHERE id = 1", SET, "rating 1 is counted as"),
        ("UPDATE sample_ratings SET answers = '{' WHERE id = 3", "sample_ratings", "'answers'"),
        ("UPDATE sample_sets SET form_text_id = 1", SET, "the stored form cannot be read"),
    ],
)
def test_a_backup_has_the_sets_and_what_was_changed_behind_our_back_is_found(
    whole: Path, tmp_path: Path, statement: str, where: str, what: str
) -> None:
    out = tmp_path / "copy.db"
    with Store.open(whole) as store:
        backup(store, out)
        kept, rows = store.sets.all(), store.sets.ratings(1, every=True)
    with Store.open(out) as copy:
        assert (copy.sets.all(), copy.sets.ratings(1, every=True)) == (kept, rows)
    assert check(out) == ()
    with closing(sqlite3.connect(out)) as connection, connection:
        connection.execute(statement)
    damages = [damage for damage in check(out) if what in damage.what]
    assert [damage.where for damage in damages] == [where]
