"""Upgrading a store that an earlier tabwb made. Imported only when there is one to upgrade."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, event, exc
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import NullPool

from tabwb.records.errors import StoreError
from tabwb.store import schema
from tabwb.store.sqlite_errors import explain

SCRIPTS = Path(__file__).parent / "migrations"


def upgrade_embedded(path: Path) -> None:
    """Upgrade an SQLite store to the current schema, in one transaction."""
    # A path in a URL would be parsed again: "?" and "%41" would name another file.
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(path), poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def _leave_transactions_to_us(connection: DBAPIConnection, _: object) -> None:
        # The driver would commit by itself before it changes a table.
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def _exclusive(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN EXCLUSIVE")

    try:
        with engine.begin() as connection:
            upgrade(connection)
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
            if broken is not None:
                raise StoreError(
                    f"the upgrade would leave rows of '{broken[0]}' without what they refer to",
                    where=str(path),
                    hint="the store is unchanged; please report this",
                )
    except exc.DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise explain(error.orig, str(path)) from error
        raise
    finally:
        engine.dispose()


def upgrade(connection: Connection) -> None:
    """Run every revision that the store behind ``connection`` does not have yet."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, schema.CURRENT)
