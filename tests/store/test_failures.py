"""What can go wrong with a disk and a file, and stores that cannot be written."""

from __future__ import annotations

import codecs
import os
import shutil
import signal
import sqlite3
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tabwb.records.errors import StoreError
from tabwb.records.trials import AttemptEntry, EventEntry, RatingsEntry
from tabwb.store import schema
from tabwb.store.database import Transaction
from tabwb.store.maintenance import backup, check
from tabwb.store.schema import copy_of
from tabwb.store.store import Store
from tests.builders import small_files
from tests.store.older import make_tables
from tests.store.parts import attempt, begin, scores, small_battery, together

NOBODY = 65534


@contextmanager
def fails(text: str) -> Iterator[pytest.ExceptionInfo[StoreError]]:
    """The block raises a store error with this text, a place and something to do."""
    with pytest.raises(StoreError, match=text) as caught:
        yield caught
    assert caught.value.where
    assert caught.value.hint or caught.value.allowed


def in_a_child(work: Callable[[], None], *, as_nobody: bool = False) -> None:
    """Run ``work`` in a child, if wanted without a superuser's rights: nothing forbids root."""
    codecs.lookup("ascii")  # nobody may not read its module
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if as_nobody and os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            work()
            status = 0
        except BaseException:  # noqa: BLE001 - a child must not go on as a second test run
            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def filled(file: Path) -> Path:
    """A store with one answer, closed."""
    with Store.open(file) as store:
        store.append(begin(store).id, [AttemptEntry(1, attempt())])
    return file


@pytest.fixture
def shared() -> Iterator[Path]:
    """A store with one answer in a folder that everybody may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        file = Path(folder) / "tabwb.db"
        with Store.open(file) as store:
            store.append(begin(store).id, [AttemptEntry(1, attempt())])
            store.trials(1)  # loads the modules that nobody may read
        yield file
        Path(folder).chmod(0o777)


def still_whole(file: Path, answers: int) -> None:
    """The store is whole and has so many entries."""
    assert check(file) == ()
    with Store.open(file) as store:
        assert len(store.history(1).steps) == answers
        store.append(1, [EventEntry("noted", None, "goes on")])


def test_a_full_disk_is_named_and_what_was_recorded_stays(filled: Path) -> None:
    with Store.open(filled) as store:
        with store.database.reading() as transaction:
            pages = transaction.value("PRAGMA page_count")
        with store.database.reading() as transaction:
            transaction.execute(f"PRAGMA max_page_count = {pages}")
        with fails("the disk is full"):
            store.append(
                1, [EventEntry("paused"), AttemptEntry(1, attempt(2, response="long " * 100_000))]
            )
        assert len(store.history(1).steps) == 1
        with store.database.reading() as transaction:
            transaction.execute("PRAGMA max_page_count = 100000")
        # Space was freed: the same store continues.
        store.append(1, [AttemptEntry(1, attempt(2))])
    still_whole(filled, 2)


def test_a_limit_on_the_size_of_files_loses_nothing(filled: Path) -> None:
    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with Store.open(filled) as store:
            size = sum(Path(f"{filled}{tail}").stat().st_size for tail in ("", "-wal"))
            recorded = 0
            with small_files(size), pytest.raises(StoreError, match="disk"):
                for number in range(2, 2000):
                    store.append(1, [AttemptEntry(1, attempt(number, response="x" * 4000))])
                    recorded += 1
            assert len(store.history(1).steps) == 1 + recorded

    in_a_child(work)
    assert check(filled) == ()
    with Store.open(filled) as store:
        assert len(store.history(1).steps) >= 1
        store.append(1, [EventEntry("noted", None, "goes on")])


def test_a_locked_store_is_waited_for_and_then_named(filled: Path) -> None:
    with Store.open(filled, patience_s=0.2) as store, closing(sqlite3.connect(filled)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with fails("another program has been writing for 0.2 s"):
            store.append(1, [EventEntry("paused")])
        assert time.monotonic() - began > 0.15
        # Readers are not kept waiting by a writer.
        assert len(store.trials(1)) == 3
        other.rollback()
        store.append(1, [EventEntry("paused")])
    still_whole(filled, 2)


def test_a_short_lock_is_waited_out(filled: Path) -> None:
    held = threading.Event()
    thread = threading.Thread(target=_hold, args=(filled, 0.2, held))
    with Store.open(filled) as store:
        thread.start()
        held.wait()
        store.append(1, [EventEntry("paused")])
        thread.join()
    still_whole(filled, 2)


def _hold(file: Path, seconds: float, held: threading.Event) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        held.set()
        time.sleep(seconds)
        connection.rollback()


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "said"),
    [
        (0o444, 0o777, "read-only"),
        (0o666, 0o555, r"read-only|cannot be written"),
        (0o000, 0o777, "no permission"),
    ],
)
def test_a_file_or_folder_that_forbids_it_is_named(
    shared: Path, file_mode: int, folder_mode: int, said: str
) -> None:
    shared.chmod(file_mode)
    shared.parent.chmod(folder_mode)

    def work() -> None:
        with fails(said), Store.open(shared) as store:
            store.append(1, [EventEntry("paused")])
        if folder_mode == 0o555:
            with fails("no store can be made"):
                Store.open(shared.parent / "new" / "tabwb.db")

    in_a_child(work, as_nobody=True)
    shared.parent.chmod(0o777)
    shared.chmod(0o644)
    still_whole(shared, 1)


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o777), (0o444, 0o555)])
def test_an_older_store_that_is_read_only_is_not_upgraded(
    shared: Path, file_mode: int, folder_mode: int
) -> None:
    old = shared.parent / "old.db"
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        make_tables(Transaction(connection.cursor()), 4)
        connection.execute("PRAGMA journal_mode = WAL")
    old.chmod(file_mode)
    shared.parent.chmod(folder_mode)

    def work() -> None:
        with fails(r"(?s)older tabwb.*read-only.*needs about 1 MB"):
            Store.open(old)
        assert not copy_of(old).exists()

    in_a_child(work, as_nobody=True)
    shared.parent.chmod(0o777)


def test_a_full_disk_says_what_an_upgrade_needs(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        make_tables(Transaction(connection.cursor()), 4)
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorname = "SQLITE_FULL"

    def fail(*_: object) -> None:
        raise full

    for step in ("_copy", "_change"):
        with monkeypatch.context() as patch:
            patch.setattr(schema, step, fail)
            with fails("the disk is full") as caught:
                Store.open(file)
        assert "needs about 1 MB" in str(caught.value) and "resume" not in str(caught.value)
        assert not copy_of(file).exists()
    Store.open(file).close()


def test_a_backup_needs_no_data_folder(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(shared) as store:  # loads the modules that nobody may read
        backup(store, tmp_path / "first.db")
    monkeypatch.setenv("TABWB_DATA_DIR", "/proc/none")
    shared.chmod(0o666)

    def work() -> None:
        with Store.open(shared) as store:
            backup(store, shared.parent / "copy.db")
        assert check(shared.parent / "copy.db") == ()

    in_a_child(work, as_nobody=True)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (".", "this is a folder"),
        ("data/tabwb.db", "no store can be made or reached"),
        ("a/tabwb.db", "there is no store here yet"),
        (os.devnull, "device or a pipe"),
    ],
)
def test_what_is_no_place_for_a_store_is_named(tmp_path: Path, place: str, said: str) -> None:
    (tmp_path / "data").write_text("not a folder")
    with fails(said):
        Store.open(tmp_path / place, create=place != "a/tabwb.db")
    assert not (tmp_path / "a").exists()
    with pytest.raises(StoreError, match="not a valid place for a store"):
        Store.open("mysql://localhost/lab")


def test_folders_that_are_not_there_are_made_and_an_empty_file_becomes_a_store(
    tmp_path: Path, file: Path
) -> None:
    Store.open(tmp_path / "a" / "b" / "tabwb.db").close()
    assert (tmp_path / "a" / "b" / "tabwb.db").is_file()
    assert (tmp_path / "a" / "b").stat().st_mode & 0o077 == 0
    file.touch()
    with Store.open(file) as store:
        assert store.administrations() == ()


@pytest.mark.parametrize("content", [b"id,answer\n" * 500, b"\x00" * 8192, b"SQLite format 3\x00"])
def test_a_file_that_is_no_store_is_refused_and_not_touched(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with fails("not a tabwb store|damaged"):
        Store.open(file)
    assert file.read_bytes() == content


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
@pytest.mark.parametrize("killed", [False, True])
def test_a_file_of_another_program_is_refused_and_not_touched(
    file: Path, mode: str, killed: bool, tmp_path: Path
) -> None:
    written = tmp_path / "other" / file.name
    written.parent.mkdir()
    with closing(sqlite3.connect(written)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE bookmarks (url)")
        if killed:  # its log remains
            shutil.copytree(written.parent, file.parent, dirs_exist_ok=True)
    if not killed:
        shutil.copytree(written.parent, file.parent, dirs_exist_ok=True)
    file.with_name(f"{file.name}-shm").unlink(missing_ok=True)  # is made of the log
    before = {path.name: path.read_bytes() for path in file.parent.glob(f"{file.name}*")}
    assert (f"{file.name}-wal" in before) == (killed and mode == "WAL")
    with Store.open(tmp_path / "own" / "own.db") as own:
        for use in (Store.open, check, own.merge):
            with fails("another program"):
                use(file)
            assert {name: (file.parent / name).read_bytes() for name in before} == before
    assert killed or [*file.parent.glob(f"{file.name}*")] == [file]


def test_a_truncated_store_and_a_damaged_page_are_found_by_check(filled: Path) -> None:
    whole = filled.read_bytes()
    filled.write_bytes(whole[: len(whole) // 2])
    assert check(filled) != ()
    with fails("damaged"), Store.open(filled) as store:
        store.trials(1)
        store.append(1, [EventEntry("paused")])
    damaged = bytearray(whole)
    for page in range(4096, len(whole), 4096):
        damaged[page : page + 100] = b"\xde\xad\xbe\xef" * 25
    filled.write_bytes(bytes(damaged))
    assert check(filled) != ()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE attempts SET stop_reason = 'whim'",
        "UPDATE attempts SET sequence = 77",
        "UPDATE administrations SET conditions = '{'",
        "UPDATE trials SET options_id = prompt_id",
    ],
)
def test_rows_that_nobody_wrote_are_damage_too(filled: Path, statement: str) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute(statement)
        connection.commit()
    with fails("damaged"), Store.open(filled) as store:
        store.administrations()
        store.trials(1)


@pytest.mark.parametrize(
    "change",
    [
        "attempts SET status = 'whim'",
        *(f"verdicts SET {change}" for change in (
            "codes = X'0001'", "codes = X'000109'", "codes = X'000105'", "measures_id = 1",
            "codes = X''", "codes = X'' WHERE id = 1", "rater_id = 9", "numbers = '[1, 2]'",
        )),
    ],
)  # fmt: skip
def test_answers_and_ratings_that_nobody_gave_are_damage_in_both_readings(
    filled: Path, change: str
) -> None:
    with Store.open(filled) as store:
        store.append(1, [RatingsEntry(1, 1, scores())])
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(f"UPDATE {change}")
        connection.commit()
    with Store.open(filled) as store:
        with fails("damaged"):
            store.trials(1)
        with fails("damaged"):
            store.columns([1])


def test_one_store_serves_several_threads(filled: Path) -> None:
    with Store.open(filled) as store:

        def note(thread: int) -> None:
            for number in range(10):
                store.append(1, [EventEntry("noted", None, f"{thread}.{number}")])
                store.trials(1)

        together(4, note)
        assert len(store.history(1).notes) == 40


def test_a_forked_child_uses_the_store_too(filled: Path) -> None:
    with Store.open(filled) as store:
        child = os.fork()
        if child == 0:
            try:
                store.append(1, [EventEntry("noted", None, "from the child")])
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert store.history(1).notes == ("from the child",)
        store.append(1, [EventEntry("noted", None, "from the parent")])
    still_whole(filled, 3)


def test_a_file_of_a_battery_that_is_gone_or_changed_is_named(file: Path) -> None:
    battery = small_battery(assets={"cat.png": b"cat"})
    with Store.open(file) as store:
        store.keep_battery(battery, {"cat.png": b"cat"})
        (blob,) = (path for path in Path(f"{file}.blobs").rglob("*") if path.is_file())
        blob.write_bytes(b"dog")
        with fails("missing or damaged"):
            store.battery_assets(battery.content_hash)
        assert [each.where for each in check(file)] == [str(blob)]
        blob.unlink()
        assert "missing" in check(file)[0].what
        # Keeping the battery again mends it.
        store.keep_battery(battery, {"cat.png": b"cat"})
    assert check(file) == ()


def test_a_schema_that_is_no_text_is_damage(filled: Path) -> None:
    content = bytearray(filled.read_bytes())
    # A keyword of the schema and the name that SQLite quotes in its message.
    place = content.index(b"CREATE TABLE administrations")
    content[place + 3] = 0xE9
    content[place + 15] = 0xE9
    filled.write_bytes(bytes(content))
    with fails("damaged"):
        Store.open(filled)
    assert check(filled)


@pytest.mark.parametrize("replaced", [False, True], ids=["deleted", "replaced"])
def test_a_store_that_was_taken_away_records_nothing_unnoticed(file: Path, replaced: bool) -> None:
    with Store.open(file) as store:
        number = begin(store).id
        store.append(number, [AttemptEntry(1, attempt())])
        file.unlink()
        if replaced:
            file.write_bytes(b"")
        with fails("moved, deleted or replaced"):
            store.append(number, [EventEntry("finished", None)])


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="no other users here")
def test_a_store_in_a_folder_of_others_is_read_and_not_written(shared: Path) -> None:
    shared.chmod(0o444)
    shared.parent.chmod(0o555)
    before = shared.read_bytes()

    def work() -> None:
        with Store.open(shared, create=False) as store:
            states = [trial.state.value for trial in store.trials(1)]
            assert states == ["answered", "planned", "planned"]
            with fails("the store cannot be written"):
                begin(store)

    in_a_child(work, as_nobody=True)
    assert shared.read_bytes() == before
    kept = [child.name for child in shared.parent.iterdir() if child.is_file()]
    assert kept == ["tabwb.db"]


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="no other users here")
def test_what_another_program_has_not_put_into_the_file_yet_is_not_passed_over(
    shared: Path,
) -> None:
    copy = shared.with_name("copy.db")
    with closing(sqlite3.connect(shared)) as writer:
        # Held open, the log is not put into the file; a copy of both is a store in the middle.
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("UPDATE administrations SET seed = 7")
        writer.commit()
        for tail in ("", "-wal"):
            shutil.copy(f"{shared}{tail}", f"{copy}{tail}")
            Path(f"{copy}{tail}").chmod(0o444)
    shared.parent.chmod(0o555)

    def work() -> None:
        with pytest.raises(StoreError), Store.open(copy, create=False) as store:
            store.trials(1)

    in_a_child(work, as_nobody=True)
