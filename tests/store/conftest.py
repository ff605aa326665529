"""Stores for the tests: an SQLite file; a PostgreSQL database too where one is named.

``TABWB_TEST_POSTGRESQL`` names a server's empty database, for example
``postgresql://postgres@/lab?host=/tmp``; its tables are dropped before each test.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabwb.store.store import Store

SERVER = os.environ.get("TABWB_TEST_POSTGRESQL", "")


@pytest.fixture(params=["embedded", "server"] if SERVER else ["embedded"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store may be made."""
    if request.param == "embedded":
        return str(tmp_path / "lab" / "tabwb.db")
    import psycopg

    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return SERVER


@pytest.fixture
def store(location: str) -> Iterator[Store]:
    """A new store."""
    with Store.open(location) as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Path of an embedded store that is not there yet."""
    return tmp_path / "tabwb.db"
