"""The tables: made, and reached by migration they are the same; others are refused."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect

from tabwb.records.declared_conditions import CONDITIONS
from tabwb.records.errors import StoreError
from tabwb.records.trials import AttemptEntry
from tabwb.store import migrate, schema
from tabwb.store.store import Store
from tabwb.store.write import STATUSES
from tests.store.conftest import SERVER
from tests.store.parts import attempt, begin


def _statements(path: Path) -> dict[str, list[str]]:
    """What SQLite says each table and index is, its parts sorted, white space aside."""
    with sqlite3.connect(path) as connection:
        found = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        ).fetchall()
    parts = {name: [part.strip(" \t,") for part in sql.split("\n")] for name, sql in found}
    return {name: sorted(part for part in parts[name] if part) for name in parts}


def _made_by_migration(path: Path) -> None:
    sqlite3.connect(path).close()
    migrate.upgrade_embedded(path)


def _engine(location: str) -> Engine:
    if location == SERVER:
        return create_engine(location.replace("postgresql:", "postgresql+psycopg:"))
    return create_engine(f"sqlite:///{location}")


@pytest.mark.parametrize("how", ["new", "migrated"])
def test_a_store_that_was_made_or_migrated_is_current(location: str, how: str) -> None:
    engine = _engine(location)
    if how == "migrated":
        if location != SERVER:
            Path(location).parent.mkdir()
        with engine.begin() as connection:
            migrate.upgrade(connection)
    with Store.open(location) as store:
        assert store.administrations() == ()
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_revision() == schema.CURRENT
        columns = {column["name"] for column in inspect(connection).get_columns("administrations")}
    assert {condition.id for condition in CONDITIONS if condition.stored} <= columns


def test_a_migrated_store_equals_a_new_one_also_where_alembic_does_not_look(
    tmp_path: Path,
) -> None:
    new, migrated = tmp_path / "new.db", tmp_path / "migrated.db"
    Store.open(new).close()
    _made_by_migration(migrated)
    one, other = _statements(new), _statements(migrated)
    for both in (one, other):
        # Alembic writes its own table itself.
        both.pop("alembic_version")
    assert one == other
    for path in (new, migrated):
        with sqlite3.connect(path) as connection:
            rows = connection.execute("SELECT id, name FROM rating_statuses").fetchall()
        assert dict(rows) == {key: status.value for key, status in enumerate(STATUSES)}


def test_the_known_revisions_are_those_of_the_migrations() -> None:
    scripts = ScriptDirectory(str(migrate.SCRIPTS)).walk_revisions()
    assert [script.revision for script in scripts] == list(reversed(schema.REVISIONS))


def test_an_older_store_is_upgraded_when_it_is_opened_and_keeps_its_rows(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(file) as store:
        administration = begin(store)
        store.append(administration.id, [AttemptEntry(1, attempt())])
        before = store.history(administration.id)
    scripts = tmp_path / "migrations"
    shutil.copytree(migrate.SCRIPTS, scripts)
    (scripts / "versions" / "revision_next.py").write_text(
        'revision = "next"\n'
        f'down_revision = "{schema.CURRENT}"\n'
        "import sqlalchemy as sa\n"
        "from alembic import op\n"
        "def upgrade():\n"
        '    op.add_column("administrations", sa.Column("remark", sa.String))\n'
    )
    monkeypatch.setattr(migrate, "SCRIPTS", scripts)
    monkeypatch.setattr(schema, "REVISIONS", (*schema.REVISIONS, "next"))
    monkeypatch.setattr(schema, "CURRENT", "next")
    with Store.open(file) as store:
        assert store.history(administration.id) == before
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [
            ("next",)
        ]
        connection.execute("SELECT remark FROM administrations")


def test_a_store_of_the_first_version_is_upgraded(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = create_engine(f"sqlite:///{file}")
    with monkeypatch.context() as patch, engine.begin() as connection:
        patch.setattr(schema, "CURRENT", schema.REVISIONS[0])
        migrate.upgrade(connection)
    engine.dispose()
    assert "judgements" not in _statements(file)
    with Store.open(file) as store:
        assert store.judgements(begin(store).id) == ()


@pytest.mark.parametrize("name", ["a?b.db", "a%41.db", "a#b.db", "a?mode=memory"])
def test_an_upgrade_changes_the_file_that_was_named(
    file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    engine = create_engine(f"sqlite:///{file}")
    with monkeypatch.context() as patch, engine.begin() as connection:
        patch.setattr(schema, "CURRENT", schema.REVISIONS[0])
        migrate.upgrade(connection)
    engine.dispose()
    file.rename(file.with_name(name))
    with Store.open(file.with_name(name)) as store:
        assert store.judgements(begin(store).id) == ()
    assert {each.name.removesuffix("-wal") for each in file.parent.glob("a*")} == {name}


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.open(file).close()
    before = _statements(file)
    scripts = tmp_path / "migrations"
    shutil.copytree(migrate.SCRIPTS, scripts)
    (scripts / "versions" / "revision_next.py").write_text(
        'revision = "next"\n'
        f'down_revision = "{schema.CURRENT}"\n'
        "from alembic import op\n"
        "def upgrade():\n"
        '    op.execute("CREATE TABLE half (id INTEGER)")\n'
        '    op.execute("CREATE TABLE half (id INTEGER)")\n'
    )
    monkeypatch.setattr(migrate, "SCRIPTS", scripts)
    monkeypatch.setattr(schema, "REVISIONS", (*schema.REVISIONS, "next"))
    monkeypatch.setattr(schema, "CURRENT", "next")
    with pytest.raises(StoreError, match="half"):
        Store.open(file)
    assert _statements(file) == before


def test_a_newer_store_is_refused_and_not_touched(file: Path) -> None:
    Store.open(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreError, match=r"'9999'.*\n.*\n.*upgrade"):
        Store.open(file)
    assert file.read_bytes() == before
