"""What is put into the store comes back, from an SQLite file and from a server."""

from __future__ import annotations

import sqlite3
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabwb.records.conditions import Conditions
from tabwb.records.errors import MissingExtra, NeedsNetwork, StoreError
from tabwb.records.exchange import Decoding, Message
from tabwb.records.ratings import Rating, valued
from tabwb.records.states import Protocol, RatingStatus, TrialState
from tabwb.records.trials import Attempt, AttemptEntry, EventEntry, RatingsEntry
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, planned, scores, small_battery


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


def test_an_administration_is_found_by_number_by_uid_and_by_its_beginning(store: Store) -> None:
    first, second = begin(store), begin(store)
    for reference in (second.id, str(second.id), second.uid, second.uid.upper()):
        assert store.administration(reference) == second
    length = next(n for n in range(8, 37) if not first.uid.startswith(second.uid[:n]))
    assert store.administration(second.uid[:length]) == second


@pytest.mark.parametrize("reference", [99, "99", "no-such", "", "0123abc", "%", "ffffffff-ffff"])
def test_an_unknown_administration_is_a_clear_error(store: Store, reference: int | str) -> None:
    begin(store)
    with pytest.raises(StoreError, match="there is no administration"):
        store.administration(reference)


def test_a_beginning_that_two_share_is_refused_and_names_both(store: Store) -> None:
    first, second = begin(store), begin(store)
    if first.uid[:8] != second.uid[:8]:
        pytest.skip("the two were made in different minutes")
    with pytest.raises(StoreError, match="beginning of 2"):
        store.administration(first.uid[:8])


def test_administrations_are_listed_newest_last(store: Store) -> None:
    made = [begin(store) for _ in range(3)]
    assert store.administrations() == tuple(made)
    assert store.administrations(newest=2) == tuple(made[1:])
    assert store.administrations(newest=9) == tuple(made)


def test_the_battery_comes_back_after_its_file_has_changed(store: Store) -> None:
    battery = small_battery(assets={"cat.png": b"\x89PNG\x00", "sub/dog.png": b"dog"})
    store.keep_battery(battery, {"cat.png": b"\x89PNG\x00", "sub/dog.png": b"dog"})
    store.keep_battery(battery, {"cat.png": b"\x89PNG\x00", "sub/dog.png": b"dog"})
    assert store.battery_canonical(battery.content_hash) == battery.canonical
    assert store.battery_assets(battery.content_hash) == {
        "cat.png": b"\x89PNG\x00",
        "sub/dog.png": b"dog",
    }


def test_the_same_version_with_other_content_is_refused_and_both_hashes_named(store: Store) -> None:
    one, other = small_battery(), small_battery(content="two")
    store.keep_battery(one, {})
    with pytest.raises(StoreError) as caught:
        store.keep_battery(other, {})
    assert one.content_hash in str(caught.value)
    assert other.content_hash in str(caught.value)
    store.keep_battery(small_battery(version="2", content="two"), {})


def test_a_file_that_changed_since_it_was_read_is_refused(store: Store) -> None:
    battery = small_battery(assets={"cat.png": b"cat"})
    for assets in ({"cat.png": b"dog"}, {}):
        with pytest.raises(StoreError, match=r"cat\.png"):
            store.keep_battery(battery, assets)


def test_a_battery_that_is_not_kept_cannot_be_given(store: Store) -> None:
    with pytest.raises(StoreError, match="not kept"):
        store.create_administration(small_battery(), Conditions("echo", "model"), planned(1), {})


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


def test_a_null_character_comes_back_from_a_file(file: Path) -> None:
    with Store.open(file) as store:
        administration = begin(store)
        store.append(administration.id, [AttemptEntry(1, attempt(response="a\x00b"))])
        assert store.trials(administration.id)[0].attempts[0].response == "a\x00b"


def test_text_that_is_no_unicode_is_refused_and_nothing_recorded(file: Path) -> None:
    with Store.open(file) as store:
        administration = begin(store)
        broken: Attempt = attempt(response="house\ud800")
        with pytest.raises(StoreError, match="cannot be stored"):
            store.append(administration.id, [EventEntry("paused"), AttemptEntry(1, broken)])
        assert store.history(administration.id).steps == ()


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


def test_an_url_that_cannot_be_read_is_a_clear_error() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="this URL cannot be read"):
        Store.open("postgresql://[::1/x")


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


def test_the_hosts_of_the_environment_count(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setenv("PGHOSTADDR", "192.0.2.7")
    with pytest.raises(NeedsNetwork, match=r"192\.0\.2\.7"):
        Store.open("postgresql://localhost/lab")


def test_a_question_mark_in_an_url_is_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not part of a path in a URL"):
        Store.open(f"sqlite:///{tmp_path}/a.db?mode=ro")


def test_a_server_without_its_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"tabwb\[server\]"):
        Store.open("postgresql://localhost/lab")


def test_eight_first_openings_make_one_store(location: str) -> None:
    gate = threading.Barrier(8)
    failed: list[Exception] = []

    def first() -> None:
        gate.wait()
        try:
            with Store.open(location) as store:
                begin(store)
        except Exception as error:  # noqa: BLE001 - told by the assertion below
            failed.append(error)

    threads = [threading.Thread(target=first) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with Store.open(location) as store:
        assert len(store.administrations()) == 8
