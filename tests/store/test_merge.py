"""Merging stores: everything comes once, conflicts are named, deleted speakers stay deleted."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from tabwb.cli.groups import made
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError
from tabwb.records.rating_sets import SampleRating, SetEvent
from tabwb.records.ratings import Judged, Judgement, valued
from tabwb.records.speakers import Consent, LogEntry, Speaker
from tabwb.records.trials import AttemptEntry, EventEntry, RatingsEntry
from tabwb.store.maintenance import check
from tabwb.store.store import Store
from tests.store.older import make_older
from tests.store.parts import attempt, begin, rated_set, scores, small_battery

PICTURE = b"\x89PNG\r\n" * 100


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A store of two administrations, one with a rating set, a battery's picture and a speaker."""
    path = tmp_path / "other.db"
    with Store.open(path) as store:
        first = begin(store, 3)
        for trial in (1, 2, 3):
            entries = AttemptEntry(trial, attempt()), RatingsEntry(trial, 1, scores())
            store.append(first.id, entries)
        store.append(first.id, [RatingsEntry(1, 1, scores(value=False))])
        rated_set(store, first.id)
        second = begin(store, 1, conditions=Conditions("S01", "speaker", research_protocol="P"))
        store.append(second.id, [AttemptEntry(1, attempt(response="hat"))])
        battery = small_battery(version="2", content="two", assets={"cat.png": PICTURE})
        store.keep_battery(battery, {"cat.png": PICTURE})
    return path


def merge(store: Store, other: Path) -> tuple[dict[str, int], list[str]]:
    merged = store.merge(other)
    return dict(merged.added), [left.where for left in merged.not_merged]


def copy_of(path: Path, name: str) -> Path:
    copy = path.with_name(name)
    shutil.copyfile(path, copy)
    shutil.copytree(f"{path}.blobs", f"{copy}.blobs")
    return copy


def seen(path: Path) -> list[object]:
    """Everything that a user of a store reads, without its row numbers."""
    with Store.open(path) as store:
        found: list[object] = []
        for one in sorted(store.administrations(), key=lambda one: one.uid):
            trials = store.trials(one.id)
            found.append((one.uid, one.conditions, one.status, one.created_at, trials))
        with closing(sqlite3.connect(path)) as rows:
            tables = ("samples", "assignments", "ratings", "verdicts", "messages")
            found += [rows.execute(f"SELECT count(*) FROM {t}").fetchone() for t in tables]
        return found


def test_everything_comes_over_once_with_other_row_numbers(other: Path, file: Path) -> None:
    with Store.open(file) as store:
        merge(store, other)
    assert seen(file) == seen(other), "into an empty store"
    file.unlink()
    with Store.open(file) as store:
        begin(store, 2)  # numbers, texts and raters differ between the stores
        store.append(
            1, [AttemptEntry(1, attempt(response="mine")), RatingsEntry(1, 1, scores("a"))]
        )
        added, not_merged = merge(store, other)
        assert (added["administrations"], added["attempts"], added["verdicts"]) == (2, 4, 4)
        assert not_merged == []
        digest = small_battery(version="2", content="two").content_hash
        assert store.battery_assets(digest) == {"cat.png": PICTURE}
        assert merge(store, other) == ({}, [])
        assert [found.name for found in store.sets.all()] == ["pilot"]
    assert check(file) == ()
    mine = [entry for entry in seen(file) if isinstance(entry, tuple) and len(entry) > 1]
    theirs = [entry for entry in seen(other) if isinstance(entry, tuple) and len(entry) > 1]
    assert all(entry in mine for entry in theirs)


def test_later_answers_and_verdicts_of_a_copy_come_over(other: Path, tmp_path: Path) -> None:
    copy = copy_of(other, "copy.db")
    with Store.open(copy) as store:
        store.append(1, [RatingsEntry(2, 1, scores("gemini"))])
        store.append(1, [RatingsEntry(1, 1, scores())])  # one more correction by one rater
        store.append(2, [EventEntry("noted", 1, "loud")])
    with Store.open(other) as store:
        added, not_merged = merge(store, copy)
        assert (added["verdicts"], added["entries"]) == (2, 1)
        assert not_merged == []
        rated = {rating.rater for rating in store.trials(1)[1].ratings}
    assert "gemini" in rated
    assert check(other) == ()


def test_what_differs_in_both_stores_is_named_and_left(other: Path) -> None:
    copy = copy_of(other, "copy.db")
    with Store.open(copy) as store:
        uid = store.administration(1).uid
        store.append(1, [RatingsEntry(2, 1, scores(value=False))])
        store.append(1, [EventEntry("noted", 1, "theirs"), EventEntry("noted", 2, "theirs too")])
    with Store.open(other) as store:
        store.append(1, [RatingsEntry(2, 1, scores(value=True))])
        store.append(1, [EventEntry("noted", 1, "mine")])
        before = store.history(1)
        added, not_merged = merge(store, copy)
        assert "verdicts" not in added and "entries" not in added
        assert store.history(1) == before
    assert not_merged == [
        f"administration {uid}, sequence 4, trial 1",
        f"administration {uid}, trial 2, attempt 1, rater repetition",
    ]


def test_a_battery_with_other_content_is_named(other: Path, file: Path) -> None:
    with Store.open(file) as store:
        store.keep_battery(small_battery(content="changed"), {})
        added, not_merged = merge(store, other)
        assert "administrations" not in added
    assert not_merged == ["battery small 1"]


def test_a_deleted_speaker_does_not_come_back(other: Path, file: Path) -> None:
    with Store.open(file) as store:
        merge(store, other)
        store.people.delete_speaker("S01", "withdrawn")
        added, not_merged = merge(store, other)
    assert (added, not_merged) == ({}, ["speaker S01"])
    assert b"hat" not in file.read_bytes()


def test_a_store_of_an_earlier_version_is_merged_and_not_changed(other: Path, file: Path) -> None:
    make_older(other, 4)
    before = other.read_bytes()
    with Store.open(file) as store:
        added, _ = merge(store, other)
    assert added["administrations"] == 2
    assert other.read_bytes() == before
    Store.open(other).close()


def test_a_dry_run_changes_nothing(other: Path, file: Path) -> None:
    with Store.open(file) as store:
        planned = store.merge(other, dry_run=True)
        assert store.administrations() == ()
        assert not Path(f"{file}.blobs").exists()
        assert store.merge(other) == planned


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE texts SET text = 'other'",
        "ALTER TABLE trials ADD COLUMN more TEXT",
        "ALTER TABLE trials RENAME TO t2; CREATE VIEW trials AS SELECT * FROM t2",
        "DROP TABLE rater_links",
        "UPDATE texts SET text = x'ff'",
        "UPDATE administrations SET conditions = '[1]'",
        "UPDATE verdicts SET codes = x'07'",
        "UPDATE attempts SET status = 'odd'",
        "UPDATE sample_sets SET name = '../pilot'",
    ],
)
def test_a_damaged_store_is_named_and_nothing_of_it_merged(
    sql: str, other: Path, file: Path
) -> None:
    with closing(sqlite3.connect(other)) as connection:
        connection.executescript(sql)
    with Store.open(file) as store:
        with pytest.raises(StoreError) as caught:
            store.merge(other)
        assert caught.value.where == str(other)
        assert store.administrations() == ()


@pytest.mark.parametrize("records", [True, False])
def test_a_code_of_two_people_is_not_merged_unless_they_are_one(
    other: Path, file: Path, records: bool
) -> None:
    def given(store: Store, note: str) -> None:
        if records:
            consent = Consent("S01", "share", given=True, on="2026-01-02", note=note)
            store.people.keep_consents([consent])
        else:
            begin(store, 1, conditions=Conditions("S01", "speaker", research_protocol="P"))

    if records:
        with Store.open(other) as store:
            given(store, "there")
    with Store.open(file) as store:
        given(store, "here")
        added, not_merged = merge(store, other)
        assert (added["administrations"], not_merged) == (1, ["speaker S01"])
        if records:
            assert [one.note for one in store.people.consents("S01")] == ["here"]
            again = store.merge(other, same_people=True)
            assert (again.added["administrations"], again.not_merged) == (1, ())
            assert len(store.people.consents("S01")) == 2


def test_what_was_said_last_in_either_store_counts(other: Path) -> None:
    copy = copy_of(other, "copy.db")
    said = ((copy, True, "closed"), (other, False, "closed"), (other, False, "reopened"))
    for path, given, status in said:
        with Store.open(path) as store:
            store.people.keep_consents([Consent("S01", "share", given=given, on="2026-01-02")])
            store.people.keep_speaker(Speaker("S01", {"notes": status}))
            store.sets.log(1, SetEvent(status))
        time.sleep(0.002)  # times have milliseconds

    with Store.open(other) as store, Store.open(copy) as second:
        assert store.merge(copy, same_people=True).added["consents"] == 1
        assert second.merge(other).added["consents"] == 2
        for one in (store, second):
            assert not one.people.allowed("S01", "share")
            assert one.people.speaker("S01").values == {"notes": "reopened"}
            assert one.sets.get(1).status == "open"


def test_a_link_that_both_stores_ended_is_ended(other: Path) -> None:
    with Store.open(other) as store:
        store.sets.links.add(1, "R1", b"k" * 32)
    copy = copy_of(other, "copy.db")
    for path in (other, copy):
        with Store.open(path) as store:
            store.sets.links.revoke(1, who=path.name)
    with Store.open(other) as store:
        assert merge(store, copy) == ({}, [])


def test_verdicts_of_a_sample_that_was_rated_in_both_stores_do_not_count(other: Path) -> None:
    copy = copy_of(other, "copy.db")
    for path, complete in ((other, False), (copy, True)):
        given = SampleRating("R1", 1, 1, "rate", {"jargon": 1.0, "anomia": 2.0}, complete)
        with Store.open(path) as store:
            store.sets.rate(1, given)
    with Store.open(other) as store:
        added, not_merged = merge(store, copy)
        assert "verdicts" not in added
        assert not_merged == ["rating set pilot, rater R1, position 1"]
        assert "R1" not in {one.rater for one in store.trials(1)[0].ratings}


def test_a_judgement_that_was_not_asked_for_again_comes_with_its_verdicts(other: Path) -> None:
    def judge(store: Store, administration: int, same_as: int | None) -> None:
        ratings = (valued("j", "jargon", True),)
        judgement = Judgement(
            ratings, "raw", rater="j", prompt_text="p", key="ab" * 32, same_as=same_as
        )
        store.keep_judgements(administration, [Judged(1, 1, judgement)])

    with Store.open(other) as store:
        judge(store, 1, None)
        (first,) = store.judgements(1)
    copy = copy_of(other, "copy.db")
    with Store.open(copy) as store:
        judge(store, 2, first.judgement.id)
    with Store.open(other) as store:
        assert merge(store, copy)[0]["judgements"] == 1
        assert store.judgements(2)[0].judgement.same_as == first.judgement.id


def test_the_log_of_a_deleted_speaker_comes_and_a_code_may_be_used_anew(
    other: Path, file: Path
) -> None:
    with Store.open(other) as store:
        store.people.log(LogEntry("exported", "S01", 2, "table.csv", "me"))
        store.people.delete_speaker("S01", "entered-by-mistake")
        time.sleep(0.002)  # times have milliseconds
        store.people.keep_speaker(Speaker("S01", {"notes": "anew"}))
    with Store.open(file) as store:
        merge(store, other)
        assert merge(store, other) == ({}, [])
        log = [(one.act, one.administration) for one in store.people.log_entries("S01")]
        assert ("exported", None) in log
        assert store.people.speaker("S01").values == {"notes": "anew"}


def test_answers_of_a_deleted_speaker_that_were_replayed_do_not_come_back(other: Path) -> None:
    replayed = Conditions("replay:a.jsonl", "model", origin="human", participant="S01")
    with Store.open(other) as store:
        begin(store, 1, conditions=replayed)
    copy = copy_of(other, "copy.db")
    with Store.open(other) as store:
        store.people.delete_speaker("S01", "withdrawn")
        assert merge(store, copy) == ({}, ["speaker S01"])


def test_a_merge_that_fails_leaves_no_files(
    other: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    with Store.open(file) as store, monkeypatch.context() as patch:
        patch.setattr("tabwb.store.merge._Merge._put_in_order", fail)
        with pytest.raises(OSError, match="full"):
            store.merge(other)
    with Store.open(file):
        assert not [one for one in Path(f"{file}.blobs").rglob("*") if one.is_file()]


@pytest.mark.parametrize("name", ["absent.db", "other.db", "text.db"])
def test_what_is_no_other_store_is_refused(name: str, other: Path) -> None:
    (other.parent / "text.db").write_text("no database" * 1000)
    with Store.open(other) as store, pytest.raises(StoreError):
        store.merge(other.parent / name)


def test_the_command_says_what_came(other: Path, file: Path) -> None:
    given = [str(other), "--store", str(file)]
    said = CliRunner().invoke(made("store"), ["merge", *given, "--json"], standalone_mode=False)
    assert '"administrations": 2' in said.output
