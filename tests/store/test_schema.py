"""The tables: made, and reached by migration they are the same; others are refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tabwb.records.declared_conditions import CONDITIONS
from tabwb.records.errors import StoreError
from tabwb.records.trials import AttemptEntry, RatingsEntry
from tabwb.store import facts, schema
from tabwb.store.database import EmbeddedDatabase, Transaction, version_of
from tabwb.store.maintenance import check
from tabwb.store.schema import CURRENT, copy_of
from tabwb.store.store import Store
from tests.golden.freeze import STORES, unpacked
from tests.store.conftest import SERVER
from tests.store.older import make_older, make_tables
from tests.store.parts import attempt, begin, scores


def _statements(path: Path) -> dict[str, list[str]]:
    """What SQLite says each table and index is: its parts sorted, names of keys aside."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        ).fetchall()
    said = {}
    for name, sql in found:
        plain = " ".join(re.sub(r'CONSTRAINT \w+ |(?<!\()"(?!\))', "", sql).split())
        head, _, body = plain.partition("(")
        parts = re.split(r",(?![^()]*\))", body.removesuffix(" WITHOUT ROWID").removesuffix(")"))
        said[name] = [head.strip(), *sorted(part.strip() for part in parts)]
    return said


def _columns(location: str) -> set[tuple[object, ...]]:
    """What PostgreSQL says of columns and keys, their names aside."""
    import psycopg

    with psycopg.connect(location) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable, column_default"
            " FROM information_schema.columns WHERE table_schema = 'public'"
        ).fetchall()
        keys = connection.execute(
            "SELECT conrelid::regclass::text, contype, pg_get_constraintdef(oid)"
            " FROM pg_constraint WHERE connamespace = 'public'::regnamespace"
        ).fetchall()
        indexes = connection.execute(
            "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'"
            " AND indexname LIKE 'ix%'"
        ).fetchall()
    return {*columns, *keys, *indexes}


def _make_empty(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        make_tables(Transaction(connection.cursor()), version)


@pytest.mark.parametrize("version", range(1, CURRENT))
def test_a_migrated_store_equals_a_new_one(tmp_path: Path, version: int) -> None:
    new, migrated = tmp_path / "new.db", tmp_path / "migrated.db"
    Store.open(new).close()
    _make_empty(migrated, version)
    with Store.open(migrated) as store:
        assert store.administrations() == ()
    assert _statements(new) == _statements(migrated)
    assert not list(tmp_path.glob("*before*"))
    with closing(sqlite3.connect(migrated)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (CURRENT,)
        columns = {row[1] for row in connection.execute("PRAGMA table_info(administrations)")}
    assert {condition.id for condition in CONDITIONS if condition.stored} <= columns


@pytest.mark.skipif(not SERVER, reason="no server is named")
def test_a_migrated_server_equals_a_new_one(location: str) -> None:
    if location != SERVER:
        pytest.skip("a file")
    import psycopg

    Store.open(location).close()
    new = _columns(location)
    with psycopg.connect(location) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        make_tables(Transaction(connection.cursor(), "%s"), 1)
    with Store.open(location) as store:
        assert store.administrations() == ()
    assert _columns(location) == new


def test_the_versions_are_those_of_the_files() -> None:
    folder = Path(schema.__file__).parent / "migrations"
    assert sorted(path.name for path in folder.glob("*.sql")) == [
        f"{number:04}.sql" for number in range(1, CURRENT + 1)
    ]


@pytest.mark.parametrize("name", ["a?b.db", "a%41.db", "a#b.db", "a?mode=memory"])
def test_an_older_store_keeps_its_rows(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    with Store.open(file) as store:
        number = begin(store).id
        store.append(number, [AttemptEntry(1, attempt()), RatingsEntry(1, 1, scores())])
        before = store.history(number)
    make_older(file, 5)
    with Store.open(file) as store:
        assert store.history(number) == before
        assert store.judgements(begin(store).id) == ()
    assert {each.name.removesuffix(".locks") for each in tmp_path.glob("a*")} == {name}


def _before(folder: Path) -> tuple[Path, list[str]]:
    folder.mkdir(exist_ok=True)
    path = unpacked("sets", folder)
    return path, _dump(path)


def _dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize("step", ["_copy", "migrate", "foreign keys", "_check", "unlink"])
def test_an_upgrade_that_fails_anywhere_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path, before = _before(tmp_path)
    expected, _ = _before(tmp_path / "other")
    Store.open(expected).close()

    def fail(*_: object, **__: object) -> None:
        raise StoreError("stopped here")

    with monkeypatch.context() as patch:
        if step == "foreign keys":
            real = EmbeddedDatabase._still_there
            patch.setattr(EmbeddedDatabase, "_still_there", fail)
            assert real is not fail
        elif step == "unlink":
            patch.setattr(Path, "unlink", fail)
        else:
            patch.setattr(schema, step, fail)
        with pytest.raises(StoreError, match="stopped here"):
            Store.open(path)
    if step in ("_check", "unlink"):
        assert _dump(copy_of(path)) == before
    else:
        assert _dump(path) == before
    with Store.open(path):
        assert not copy_of(path).exists()
    assert _dump(path) == _dump(expected)


LONG = """
SELECT uid, a.trial, a.number, spec, m.name, r.value, s.name, coalesce(w.text, '')
FROM rating_sets v JOIN attempts a ON a.id = attempt_id
JOIN administrations d ON d.id = administration_id
JOIN raters ON raters.id = rater_id JOIN ratings r ON r.set_id = v.id
JOIN measures m ON m.id = measure_id JOIN rating_statuses s ON s.id = status_id
LEFT JOIN reasons w ON w.id = reason_id
WHERE v.id = (SELECT max(id) FROM rating_sets x WHERE x.attempt_id = v.attempt_id
    AND x.rater_id = v.rater_id)
"""


def _read(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return sorted(connection.execute(sql).fetchall(), key=repr)


@pytest.mark.parametrize("name", STORES)
def test_ratings_and_answers_are_those_of_the_older_store(name: str, tmp_path: Path) -> None:
    path = unpacked(name, tmp_path)
    ratings = _read(path, LONG)
    trials = _read(path, "SELECT administration_id, number, subtest, item, options FROM trials")
    answers = _read(path, "SELECT id, response, metadata FROM attempts")
    with Store.open(path) as store:
        read = {
            (one.uid, trial.plan.number, trial.counting and trial.counting.number, given.rater,
             given.measure, given.value, given.status.value, given.reason)
            for one in store.administrations()
            for trial in store.trials(one.id) for given in trial.ratings
        }  # fmt: skip
    assert [one for one in check(path) if "blobs" not in one.where] == []
    assert len(ratings) > 400 and read <= set(ratings)
    view = "SELECT uid, trial, attempt, rater, measure, value, r.status, reason FROM ratings r"
    assert _read(path, f"{view} JOIN administrations d ON d.id = administration") == ratings
    assert trials == _read(
        path,
        "SELECT administration_id, number, subtest, item, text FROM trials"
        " JOIN items i ON i.id = item_id JOIN texts o ON o.id = options_id",
    )
    kept = _read(
        path,
        "SELECT a.id, text, spoken, words, blank, thinks, seed, line, notes FROM attempts a"
        " LEFT JOIN (SELECT id, text AS notes FROM texts) t ON t.id = notes_id",
    )
    assert kept == sorted(
        (
            (id, *facts.of_text(str(text)), noted.seed, noted.line, noted.notes or None)
            for id, text, metadata in answers
            for noted in [facts.of_notes(json.loads(str(metadata)))]
        ),
        key=repr,
    )


@pytest.mark.crash
def test_killed_at_any_moment_an_upgrade_loses_nothing(tmp_path: Path) -> None:
    old, path = unpacked("naming", tmp_path).read_bytes(), tmp_path / "killed.db"

    def upgraded(at_call: int) -> int:
        """Open the old store in a child that is killed at a call; the number of calls made."""
        for left in tmp_path.glob("killed*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        path.write_bytes(old)
        counted, calls = tmp_path / "calls", 0
        counted.unlink(missing_ok=True)

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1
            if calls == at_call:
                os.kill(os.getpid(), signal.SIGKILL)

        child = os.fork()
        if child == 0:
            try:
                sys.setprofile(count)
                Store.open(path).close()
                sys.setprofile(None)
                counted.write_text(str(calls))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return int(counted.read_text()) if counted.exists() else 0

    n = upgraded(0)
    expected = _dump(path)
    for at in range(1, 7):
        assert upgraded(n * at // 7) == 0
        with Store.open(path):
            assert not list(tmp_path.glob("killed.db.before*"))
        assert _dump(path) == expected


def test_two_openings_at_once_upgrade_a_store_once(tmp_path: Path) -> None:
    path = unpacked("study", tmp_path)
    counts: list[int] = []

    def opened() -> None:
        with Store.open(path) as store:
            counts.append(len(store.administrations()))

    threads = [threading.Thread(target=opened) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counts) == 4 and len(set(counts)) == 1


@pytest.mark.parametrize("version", [0, 9999])
@pytest.mark.parametrize("named", [True, False])
def test_a_newer_store_is_refused_and_not_touched(file: Path, version: int, named: bool) -> None:
    Store.open(file).close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {0 if named else version or 9998}")
        if named:
            connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
            connection.execute("INSERT INTO alembic_version VALUES (?)", (f"{version:04}",))
        connection.commit()
    before = file.read_bytes()
    with pytest.raises(StoreError, match=r"schema '(0000|999[89])'(.*\n)*.*upgrade"):
        Store.open(file)
    assert file.read_bytes() == before


def test_the_stores_that_are_kept_for_tests_are_older_ones(tmp_path: Path) -> None:
    for name in STORES:
        path = unpacked(name, tmp_path)
        with closing(EmbeddedDatabase(path)) as database, database.reading() as transaction:
            assert version_of(transaction, "") == 5


def test_an_upgrade_removes_the_copies_of_responses_beside_a_store(tmp_path: Path) -> None:
    path = unpacked("study", tmp_path)
    ((uid,),) = _read(path, "SELECT uid FROM administrations LIMIT 1")
    for name, held in (("store.db", uid), ("earlier.db", uid), ("another.db", "1-2-3")):
        folder = tmp_path / f"{name}.columns"
        folder.mkdir()
        (folder / "administrations").write_text(f"{held}\n")
    Store.open(path).close()
    assert [folder.name for folder in tmp_path.glob("*.columns")] == ["another.db.columns"]
