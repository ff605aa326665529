"""Where a store lies: a path, an URL, or the default in the user's data folder."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from tabwb.records.errors import StoreError

FILE_NAME = "tabwb.db"
_SERVER = ("postgresql", "postgresql+psycopg", "postgres")


def data_folder() -> Path:
    """The user's data folder; ``TABWB_DATA_DIR`` overrides it."""
    if folder := os.environ.get("TABWB_DATA_DIR"):
        return Path(folder).expanduser()
    from platformdirs import user_data_path

    return user_data_path("tabwb", appauthor=False)


def resolve(location: str | Path | None) -> Path | str:
    """The path of an SQLite file, or the URL of a PostgreSQL database.

    Raises:
        StoreError: the URL is of a kind that cannot be used.

    >>> resolve("sqlite:////data/lab.db").as_posix(), resolve("postgresql+psycopg://me@host/lab")
    ('/data/lab.db', 'postgresql://me@host/lab')
    """
    if location is None:
        return data_folder() / FILE_NAME
    text = str(location)
    scheme, separator, rest = text.partition("://")
    if not separator:
        return Path(text).expanduser()
    if scheme in _SERVER:
        return f"postgresql://{rest}"
    if scheme == "sqlite" and len(rest) > 1:
        return Path(unquote(rest.removeprefix("/")))
    raise StoreError(
        f"'{without_password(text)}' is no place for a store",
        allowed="a path, sqlite:///PATH, or postgresql://USER@HOST/DATABASE",
    )


def without_password(url: str) -> str:
    """The URL as it may be shown.

    >>> without_password("postgresql://me:secret@host:5432/lab")
    'postgresql://me:***@host:5432/lab'
    """
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    netloc = f"{name}:***{at}{host}" if colon else parts.netloc
    query = "&".join(
        "password=***" if pair.startswith("password=") else pair for pair in parts.query.split("&")
    )
    return urlunsplit(parts._replace(netloc=netloc, query=query))
