"""Errors of SQLite in words for people."""

from __future__ import annotations

import sqlite3

from tabwb.records.errors import StoreError

PATIENCE_S = 5.0
"""How long to wait for another program that writes."""
SAFE = "what was recorded before is safe; this step was not recorded"


def name_of(error: sqlite3.Error) -> str:
    """Return the name of an error, such as ``SQLITE_FULL``; empty where it has none."""
    return getattr(error, "sqlite_errorname", "") or ""


_ERRORS = (
    ("SQLITE_FULL", "the disk is full", f"{SAFE}: free some space, then resume"),
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "the store is locked: another program has been writing for {patience_s:g} s",
        f"{SAFE}: wait for that program or close it, then try again",
    ),
    (
        "SQLITE_NOTADB",
        "this is not a tabwb store: it is not an SQLite file, or its beginning is damaged",
        "name another file with --store, or restore a backup",
    ),
    (
        "SQLITE_CANTOPEN",
        "the store cannot be opened: no permission, or its folder cannot be written",
        "SQLite keeps two files beside it while it is open; name a place of your own with --store",
    ),
    (
        "SQLITE_IOERR",
        "the disk failed or refused to write ({name})",
        f"{SAFE}: look for a full disk, a quota or a file size limit",
    ),
)
"""Beginning of the name of an error of SQLite, message and hint."""


def damaged(what: str, where: str) -> StoreError:
    """Return the error for a file that is not as SQLite wrote it."""
    return StoreError(
        f"the store is damaged ({what})",
        where=where,
        hint="'tabwb store check' says where; restore a backup, and keep the damaged file",
    )


def read_only(where: str) -> StoreError:
    """Return the error for a store that may only be read."""
    return StoreError(
        "the store cannot be written: its file or its folder is read-only",
        where=where,
        hint="allow writing there, or name another place with --store",
    )


def explain(error: sqlite3.Error, where: str, patience_s: float = PATIENCE_S) -> StoreError:
    """Return what an error of SQLite means to a person, and what to do about it."""
    name = name_of(error)
    if name.startswith("SQLITE_READONLY"):
        return read_only(where)
    if name.startswith("SQLITE_CORRUPT"):
        return damaged(str(error), where)
    for beginning, message, hint in _ERRORS:
        if name.startswith(beginning):
            text = message.format(name=name, patience_s=patience_s)
            return StoreError(text, where=where, hint=hint)
    return StoreError(f"the store failed: {error}", where=where, hint=SAFE)
