"""Files beside an embedded store (of batteries, recordings), each once, named by their SHA-256.

A file gets its name only inside the writing transaction that inserts its row. So, inside a writing
transaction, a named file without a row was left by a process that ended in between, and
:func:`sweep` may remove it. While a process copies a file, it holds a mark (see
:mod:`tabwb.records.files`); files without the mark of a living process are leftovers.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tabwb.records.errors import StoreError
from tabwb.records.files import (
    claim,
    is_abandoned,
    make_private_folder,
    open_private,
    release,
    sync_folder,
)

PIECE = 1 << 20
"""Bytes that are read at once."""
NEW, MARK = ".new-", ".mark"


def folder_of(store: Path) -> Path:
    """Return where the files of a store lie."""
    return store.with_name(f"{store.name}.blobs")


def path_of(folder: Path, digest: str) -> Path:
    """Return where the file with this digest lies."""
    return folder / digest[:2] / digest


def keep(folder: Path, digest: str, content: bytes) -> None:
    """Write a file durably, whole or not at all."""
    if not is_whole(path_of(folder, digest), digest):
        copy_into(folder, io.BytesIO(content))


def copy_into(folder: Path, source: BinaryIO) -> str:
    """Copy an open file in pieces and return its digest."""
    with staged(folder, source) as new:
        place(folder, new)
    return new.digest


class Staged(NamedTuple):
    """A copied file without a name in the store yet: its path, SHA-256 and size in bytes."""

    path: Path
    digest: str
    size: int


@contextmanager
def marked(folder: Path) -> Iterator[Path]:
    """Hold a mark in the folder for the duration of the block; yield a path for a copy.

    When the block is left by an error, or the process is killed, the mark stays without an owner
    and the next opening of the store sweeps.
    """
    with explained(folder):
        make_private_folder(folder)
        copy = folder / f"{NEW}{secrets.token_hex(8)}"
        mark = copy.with_name(copy.name + MARK)
        descriptor = claim(mark)
    assert descriptor is not None, "nobody else has this name"
    try:
        yield copy
    except BaseException:
        copy.unlink(missing_ok=True)
        release(descriptor)
        raise
    copy.unlink(missing_ok=True)
    release(descriptor, mark)


@contextmanager
def staged(folder: Path, source: BinaryIO) -> Iterator[Staged]:
    """Copy an open file beside the store for the duration of the block; :func:`place` names it."""
    with marked(folder) as copy:
        with explained(folder), os.fdopen(
            open_private(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY), "wb"
        ) as file:  # fmt: skip
            digest, size = _copy(source, file)
            file.flush()
            os.fsync(file.fileno())
        yield Staged(copy, digest, size)


def place(folder: Path, new: Staged, unsynced: set[Path] | None = None) -> None:
    """Give a staged file its name. Inside the writing transaction that inserts its row.

    Folders are synced here, or added to ``unsynced``, which is synced before the commit.
    """
    path = path_of(folder, new.digest)
    with explained(folder):
        if is_whole(path, new.digest):
            return
        make_private_folder(path.parent)
        new.path.replace(path)
        if unsynced is not None:
            unsynced |= {path.parent, folder}
            return
        sync_folder(path.parent)
        sync_folder(folder)


def _copy(source: BinaryIO, file: BinaryIO) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := source.read(PIECE):
        digest.update(piece)
        file.write(piece)
        size += len(piece)
    return digest.hexdigest(), size


def remove(folder: Path, digest: str) -> None:
    """Remove a file, if it exists."""
    path = path_of(folder, digest)
    with explained(folder):
        if path.parent.is_dir():
            path.unlink(missing_ok=True)
            sync_folder(path.parent)


def needs_sweep(folder: Path) -> bool:
    """Return whether an ended process left files."""
    try:
        new = [path for path in folder.glob(f"{NEW}*") if path.suffix != MARK]
        marks = list(folder.glob(f"{NEW}*{MARK}"))
        return any(not path.with_name(path.name + MARK).exists() for path in new) or any(
            is_abandoned(mark) for mark in marks
        )
    except OSError:
        return False


def unnamed(folder: Path, known: Container[str]) -> list[Path]:
    """Return the files that no row names and no living process is copying."""
    paths = [path for path in folder.glob("[0-9a-f][0-9a-f]/*") if path.name not in known]
    for path in folder.glob(f"{NEW}*"):
        with suppress(OSError):
            mark = path if path.suffix == MARK else path.with_name(path.name + MARK)
            if is_abandoned(mark):
                paths.append(path)
    return paths


def sweep(folder: Path, known: Container[str]) -> list[Path]:
    """Remove the files without a row that ended processes left; return their paths.

    Args:
        folder: of the files.
        known: the digests that the store knows, read in a writing transaction that is open.
    """
    # Marks last, so that an interrupted sweep is repeated.
    paths = sorted(unnamed(folder, known), key=lambda path: path.suffix == MARK)
    removed = []
    for path in paths:
        with suppress(OSError):
            path.unlink()
            if path.suffix != MARK:
                removed.append(path)
    return removed


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn errors of the file system into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"a file cannot be kept or removed: {error.strerror}",
            where=str(error.filename or folder),
            hint="free some space or allow writing there, then try again",
        ) from error


def whole_path(folder: Path, digest: str, what: str) -> Path:
    """Return where the file with this digest lies."""
    path = path_of(folder, digest)
    if not is_whole(path, digest):
        hint = "restore it from a backup"
        raise StoreError(f"{what} is missing or damaged", where=str(path), hint=hint)
    return path


def is_whole(path: Path, digest: str) -> bool:
    """Return whether the file exists and has the digest of its name."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False
