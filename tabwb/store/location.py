"""Where a store lies: a path, an URL, or the default in the user's data folder."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from tabwb.records.errors import StoreError

_SERVER = ("postgresql", "postgresql+psycopg", "postgres")


def data_folder() -> Path:
    """Return the user's data folder; ``TABWB_DATA_DIR`` overrides it."""
    if folder := os.environ.get("TABWB_DATA_DIR"):
        return Path(folder).expanduser()
    from platformdirs import user_data_path

    return user_data_path("tabwb", appauthor=False)


def default_path() -> Path:
    """Return the store where none is named: ``tabwb.db`` in the user's data folder."""
    return data_folder() / "tabwb.db"


def resolve(location: str | Path | None) -> Path | str:
    """Return the path of an SQLite file, or the URL of a PostgreSQL database.

    >>> resolve("sqlite:////data/lab.db").as_posix(), resolve("postgresql+psycopg://me@host/lab")
    ('/data/lab.db', 'postgresql://me@host/lab')
    """
    if location is None:
        return default_path()
    text = str(location)
    scheme, separator, rest = text.partition("://")
    if not separator:
        return Path(text).expanduser()
    if scheme in _SERVER:
        return f"postgresql://{rest}"
    if scheme == "sqlite" and len(rest) > 1:
        if "?" in rest or "#" in rest:
            raise StoreError(
                "'?' and '#' are not part of a path in a URL",
                where=text,
                allowed="%3F and %23 in a URL, or the path without sqlite://",
            )
        return Path(unquote(rest.removeprefix("/")))
    raise StoreError(
        f"'{without_password(text)}' is not a valid place for a store",
        allowed="a path, sqlite:///PATH, or postgresql://USER@HOST/DATABASE",
    )


_PLAIN = r"[\w.~+%-]*"
_HOST = r"(?:(?:[\w.-]|%2F|%2f)*|\[[0-9A-Fa-f:.%]*\])(?::\d*)?"
_URL = re.compile(
    rf"""postgres(?:ql)?(?:\+psycopg)?://
    (?:(?P<user>{_PLAIN})(?P<password>:[^\s/@?\#:]*)?@)?
    (?P<hosts>{_HOST}(?:,{_HOST})*)
    (?:/(?P<database>{_PLAIN}))?
    (?:\?(?P<query>[^\s\#]*))?""",
    re.VERBOSE,
)
"""URLs that can be read in one way only. libpq accepts more, and then takes a part of a password
for a host, which it looks up."""
_SHOWN = {"host", "hostaddr", "port", "dbname", "sslmode", "connect_timeout"}
_VALUE = re.compile(r"[\w.,/~-]*")
NOT_SHOWN = "a PostgreSQL URL that is not shown, because it may hold a password"


def without_password(url: str) -> str:
    """Return the URL as it may be shown, built from the parts that can hold no secret.

    A URL that is not written plainly is not shown at all: where its password ends is unknown.

    >>> without_password("postgresql://me:secret@host:5432/lab?sslmode=require&password=x")
    'postgresql://me:***@host:5432/lab?sslmode=require'
    >>> without_password("postgresql://me:se#cret@host/lab")
    'a PostgreSQL URL that is not shown, because it may hold a password'
    >>> without_password("/data/lab.db")
    '/data/lab.db'
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    if scheme == "sqlite":
        return f"sqlite://{rest}"
    parts = _URL.fullmatch(url)
    if parts is None:
        return NOT_SHOWN if scheme in _SERVER else f"{scheme}://***" if scheme.isalpha() else "***"
    user, database = (
        # What is escaped may hold a colon, and with it a password.
        "***" if "%" in (parts[name] or "") else parts[name] or ""
        for name in ("user", "database")
    )
    user += ":***" if parts["password"] else ""
    at = "@" if parts["user"] is not None else ""
    database = f"/{database}" if parts["database"] is not None else ""
    pairs = [pair.partition("=") for pair in (parts["query"] or "").split("&")]
    shown = [
        f"{key}={value}" for key, _, value in pairs if key in _SHOWN and _VALUE.fullmatch(value)
    ]
    query = f"?{'&'.join(shown)}" if shown else ""
    return f"{scheme}://{user}{at}{parts['hosts']}{database}{query}"


def is_plain(url: str) -> bool:
    """Return whether the URL of a server can be read in one way only.

    >>> is_plain("postgresql://me:a%23b@host/lab"), is_plain("postgresql://me:a#b@host/lab")
    (True, False)
    """
    return _URL.fullmatch(url) is not None
