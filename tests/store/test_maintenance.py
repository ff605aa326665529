"""``tabwb store``: info, backup and check, as functions and as commands."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from tabwb.cli.groups import made
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError
from tabwb.records.files import claim, release
from tabwb.records.ratings import Declaration
from tabwb.records.speakers import KeptRecording
from tabwb.records.trials import AttemptEntry, DeclarationEntry, Entry, RatingsEntry
from tabwb.store import blobs, takes
from tabwb.store.database import Transaction
from tabwb.store.maintenance import Damage, backup, check, info, remove_unnamed
from tabwb.store.schema import CURRENT
from tabwb.store.store import Store
from tests.store.older import make_tables
from tests.store.parts import attempt, begin, scores, small_battery

PICTURE = b"\x89PNG\r\n" * 100


@pytest.fixture
def filled(file: Path) -> Path:
    """A store with an answer and a battery's picture."""
    with Store.open(file) as store:
        administration = begin(store)
        said = DeclarationEntry(Declaration("repetition", (), measures={"extracted": "count"}))
        given: list[Entry] = [AttemptEntry(1, attempt()), RatingsEntry(1, 1, scores()), said]
        store.append(administration.id, given)
        store.append(begin(store).id, [said])
        battery = small_battery(version="2", content="two", assets={"cat.png": PICTURE})
        store.keep_battery(battery, {"cat.png": PICTURE})
    return file


def test_info_counts_what_there_is(filled: Path) -> None:
    with Store.open(filled) as store:
        found = info(store)
    assert found.location == str(filled)
    assert (found.kind, found.schema, found.blobs_size) == ("sqlite", f"{CURRENT:04}", len(PICTURE))
    assert found.size >= filled.stat().st_size
    assert found.counts == {
        "administrations": 2, "batteries": 2, "trials": 6, "attempts": 1, "ratings": 3,
        "recordings": 0, "rating-sets": 0, "samples": 0, "sample-ratings": 0, "files": 1,
    }  # fmt: skip


def test_info_of_a_server_counts_too(store: Store) -> None:
    begin(store)
    assert info(store).counts["trials"] == 3


def test_a_backup_is_a_store_with_everything(filled: Path, tmp_path: Path) -> None:
    out = tmp_path / "safe" / "copy.db"
    with Store.open(filled) as store:
        backup(store, out)
        original = store.administrations(), store.history(1)
    assert sorted(path.name for path in out.parent.iterdir()) == ["copy.db", "copy.db.blobs"]
    with Store.open(out) as copy:
        assert (copy.administrations(), copy.history(1)) == original
        digest = small_battery(version="2", content="two").content_hash
        assert copy.battery_assets(digest) == {"cat.png": PICTURE}
    assert check(out) == ()


def test_a_backup_replaces_nothing(filled: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy.db"
    out.write_text("mine")
    with Store.open(filled) as store, pytest.raises(StoreError, match="never overwrites"):
        backup(store, out)
    assert out.read_text() == "mine"


def test_a_backup_while_somebody_writes_is_one_state(filled: Path, tmp_path: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        with Store.open(filled) as writer:
            number = 2
            while not stop.is_set():
                writer.append(
                    1, [AttemptEntry(1, attempt(number)), RatingsEntry(1, number, scores())]
                )
                number += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with Store.open(filled) as store:
            for number in range(5):
                out = tmp_path / f"copy-{number}.db"
                backup(store, out)
                with Store.open(out) as copy:
                    (answered, *_) = copy.trials(1)
                assert answered.ratings == scores()
    finally:
        stop.set()
        thread.join()


def test_a_backup_that_lacks_a_file_is_not_made(filled: Path, tmp_path: Path) -> None:
    (blob,) = (path for path in Path(f"{filled}.blobs").rglob("*") if path.is_file())
    blob.unlink()
    out = tmp_path / "safe" / "copy.db"
    with Store.open(filled) as store, pytest.raises(StoreError, match="cannot be written"):
        backup(store, out)
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("statement", "where", "what"),
    [
        ("UPDATE texts SET text = 'Say 2!' WHERE text = 'Say 2'", "texts", "not the one"),
        ("DELETE FROM raters", "verdicts", "refers to a row of 'raters'"),
        ("UPDATE verdicts SET codes = X'0001'", "verdicts", "not one code for each measure"),
        ("UPDATE verdicts SET codes = X'000105'", "verdicts", "not the numbers"),
        ("UPDATE verdicts SET reasons = '{\"0\":99}'", "verdicts", "a reason that is not there"),
        ("DELETE FROM entries", "attempts", "refers to a row of 'entries'"),
        (
            "UPDATE entries SET sequence = 3; UPDATE attempts SET sequence = 3",
            "administration 1",
            "2 of 3 steps are missing",
        ),
        (
            "DELETE FROM verdicts; DELETE FROM messages; DELETE FROM attempts",
            "administration 1",
            "step 1 has lost its attempt",
        ),
        *(
            (f"UPDATE attempts SET {name} = {value}", "attempts", f"a value of '{name}' is not")
            for name, value in (
                ("ok", 0),
                ("text", 1),
                ("spoken", 1),
                ("words", -5),
                ("blank", 1),
                ("thinks", 1),
                ("asked", 1),
                ("seed", 1),
                ("line", 1),
            )
        ),
        ("UPDATE attempts SET response = 'changed'", "attempts", "a value of 'text' is not"),
        ('UPDATE attempts SET metadata = \'{"sampled":"no"}\'', "attempts", "'notes' is not"),
        ("UPDATE attempts SET latency_s = 9e999", "attempts", "attempt 1 has a latency of inf s"),
        ("UPDATE attempts SET latency_s = -1", "attempts", "attempt 1 has a latency of -1.0 s"),
        (
            "UPDATE verdicts SET codes = X'000105', numbers = '{\"2\":1e999}'",
            "verdicts",
            "verdict 1 has a number that is infinite",
        ),
        (
            "UPDATE verdicts SET codes = X'000105', numbers = '{\"2\":1e308}'",
            "verdicts",
            "verdict 1 has a number that is infinite or beyond 1e+100",
        ),
        ("UPDATE attempts SET status = NULL", "attempts", "attempt 1 has an answer without a sta"),
        ("UPDATE entries SET recorded_at = 'now-ish'", "entries", "'recorded_at' are not moments"),
        ("UPDATE administrations SET created_at = 1e9", "administrations", "'created_at' are not"),
        (
            "UPDATE verdicts SET codes = X'000105', numbers = '{\"2\":-1}'",
            "verdicts",
            "verdict 1 has a negative number where its rater counts",
        ),
        ("UPDATE verdicts SET reasons = '{\"7\":1}'", "verdicts", "a reason that is not there"),
        ("UPDATE verdicts SET replaces = id", "verdicts", "verdict 1 replaces verdict 1"),
        ("UPDATE entries SET kind = 'zz'", "entries", "'zz' is not a valid kind"),
        ("UPDATE rater_declarations SET scope = 'z'", "rater_declarations", "not a valid scope"),
        ("UPDATE rater_declarations SET kind = 'z'", "rater_declarations", "not a valid kind"),
        (
            "DELETE FROM rater_declarations WHERE administration_id = 1",
            "administration 1",
            "the declaration of judge repetition is missing",
        ),
        ("DROP VIEW ratings", "file", "the view 'ratings' is missing"),
        (
            "CREATE TRIGGER t AFTER INSERT ON texts BEGIN DELETE FROM texts; END",
            "file",
            "the trigger 't' is not tabwb's",
        ),
        ("UPDATE batteries SET content_hash = id", "batteries", "battery 1 is not the one"),
        ("UPDATE batteries SET canonical_id = 1", "batteries", "battery 2 is not the one"),
        ("UPDATE items SET item = 'x' WHERE item = 'item-1'", "items", "no item 'repetition/x'"),
    ],
)
def test_what_was_changed_behind_our_back_is_found(
    filled: Path, statement: str, where: str, what: str
) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        connection.executescript(statement)
    damage = check(filled)
    assert any(each.where == where and what in each.what for each in damage), damage


def test_an_older_store_is_whole_and_is_not_touched(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        make_tables(Transaction(connection.cursor()), 1)
    assert check(file) == ()
    assert remove_unnamed(file) == ()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)


def test_what_is_newer_empty_or_not_there_is_not_called_damaged(filled: Path, file: Path) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        connection.executescript("PRAGMA user_version = 9999")
    with pytest.raises(StoreError, match="schema '9999'"):
        check(filled)
    for path in (file, *file.parent.glob(f"{file.name}-*")):
        path.unlink()
    for name in ("info", "check"):
        with pytest.raises(StoreError, match="no store here"):
            words = [name, "--store", str(file)]
            CliRunner().invoke(made("store"), words, standalone_mode=False, catch_exceptions=False)
    assert not file.exists(), "nothing is made by asking"
    with closing(sqlite3.connect(file)) as connection:  # its making was killed
        connection.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(StoreError, match="nothing has been stored here yet") as caught:
        check(file)
    assert "backup" not in str(caught.value)
    file.write_text("id,answer\n" * 100)
    assert [type(each) for each in check(file)] == [Damage]


def test_the_commands_print_and_exit_as_they_should(filled: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(
            made("store"), [*arguments, "--store", str(filled)], standalone_mode=False
        )
        return int(done.return_value or 0), done.stdout

    status, out = run("info", "--json")
    document = json.loads(out)
    assert (status, document["format"]) == (0, 1)
    assert document["store"]["counts"]["administrations"] == 2
    assert run("info")[0] == 0
    copy = str(tmp_path / "copy.db")
    assert run("backup", copy)[0] == 0
    assert Path(copy).is_file()
    status, out = run("check", "--json")
    assert (status, json.loads(out)["whole"]) == (0, True)
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("DELETE FROM raters")
        connection.commit()
    status, out = run("check", "--json")
    assert (status, json.loads(out)["whole"]) == (1, False)
    status, out = run("check")
    assert status == 1
    assert "raters" in out


VOICE = b"RIFF a voice"


@pytest.fixture
def orphan(file: Path) -> Path:
    """A named file without a row, as a process leaves that is killed before its commit."""
    with Store.open(file) as store:
        begin(store)
    path = blobs.path_of(blobs.folder_of(file), "ab" * 32)
    path.parent.mkdir(parents=True)
    path.write_bytes(VOICE)
    return path


def test_check_finds_and_removes_a_file_without_a_row(file: Path, orphan: Path) -> None:
    assert remove_unnamed(file) == (orphan,)
    assert not orphan.exists()
    assert check(file) == ()
    assert remove_unnamed(file) == ()


def test_the_next_opening_removes_what_a_mark_without_an_owner_tells_of(
    file: Path, orphan: Path
) -> None:
    mark = blobs.folder_of(file) / f"{blobs.NEW}1{blobs.MARK}"
    half = blobs.folder_of(file) / f"{blobs.NEW}1"
    mark.touch()
    half.write_bytes(VOICE)
    Store.open(file).close()
    assert not orphan.exists()
    assert list(blobs.folder_of(file).glob(".new-*")) == []


def test_a_file_that_is_being_copied_is_left_to_its_process(file: Path, orphan: Path) -> None:
    mark = blobs.folder_of(file) / f"{blobs.NEW}1{blobs.MARK}"
    half = blobs.folder_of(file) / f"{blobs.NEW}1"
    held = claim(mark)
    assert held is not None
    half.write_bytes(VOICE)
    assert remove_unnamed(file) == (orphan,)
    assert half.exists()
    assert mark.exists()
    release(held, mark)


def test_a_deletion_removes_files_without_a_row(file: Path, orphan: Path) -> None:
    with Store.open(file) as store:
        store.keep_battery(small_battery(), {})
        store.create_administration(
            small_battery(), Conditions("S-014", "speaker"), [], {"tabwb": "0"}
        )
        store.people.delete_speaker("S-014", "withdrawn")
    assert not orphan.exists()


def _keep(file: Path, sound: Path, count: int) -> None:
    with Store.open(file) as store:
        for number in range(count):
            sound.write_bytes(VOICE + f"{os.getpid()} {number}".encode())
            uid = f"{os.getpid()}-{number}"
            store.people.keep_recording(1, KeptRecording(uid, 1, 16_000), sound)


def _open_again_and_again(file: Path, until_s: float) -> None:
    while time.monotonic() < until_s:
        Store.open(file).close()
        remove_unnamed(file)


def test_sweeping_takes_nothing_from_living_writers(file: Path, tmp_path: Path) -> None:
    with Store.open(file) as store:
        begin(store)
    context = multiprocessing.get_context("spawn")
    until = time.monotonic() + 60
    sweepers = [context.Process(target=_open_again_and_again, args=(file, until)) for _ in range(2)]
    writers = [
        context.Process(target=_keep, args=(file, tmp_path / f"{number}.wav", 8))
        for number in range(2)
    ]
    for process in (*sweepers, *writers):
        process.start()
    for process in writers:
        process.join()
    for process in sweepers:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    assert [process.exitcode for process in writers] == [0, 0]
    with Store.open(file) as store:
        kept = store.people.recordings(1)
        assert len(kept) == 16
        for recording in kept:
            store.people.recording_path(recording.sha256)
    assert check(file) == ()


def test_a_recording_that_grows_is_found_by_its_administration(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        path = takes.path_of(store, "uid-1", "rec-1")
        path.write_bytes(b"")
        assert takes.of_administration(store, "uid-1") == (path,)
        assert takes.of_administration(store, "uid-2") == ()
        assert takes.folder_of(store).stat().st_mode & 0o777 == 0o700


def test_the_deletion_of_a_speaker_sweeps_what_a_dead_process_left(tmp_path: Path) -> None:
    from tabwb.store.people import remove_takes

    path = tmp_path / "store.db"
    with Store.open(path) as store:
        left = takes.work_root(store) / "work-abc" / "files"
        left.mkdir(parents=True)
        (left / "dog.wav").write_bytes(b"a voice")
        remove_takes(path, ["uid-1"])
        assert not left.parent.exists()
