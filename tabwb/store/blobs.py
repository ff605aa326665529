"""Files beside an embedded store (of batteries, recordings), each once, named by their SHA-256."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tabwb.records.errors import StoreError

PIECE = 1 << 20
"""Bytes that are read at once."""
ABANDONED_S = 3600.0
"""A file that no row names is on its way into the store for so long, then it was left behind."""


def folder_of(store: Path) -> Path:
    """Where the files of a store lie."""
    return store.with_name(f"{store.name}.blobs")


def path_of(folder: Path, digest: str) -> Path:
    """Where the file with this digest lies."""
    return folder / digest[:2] / digest


def keep(folder: Path, digest: str, content: bytes) -> None:
    """Write a file so that it is whole and durable, or not there at all.

    Raises:
        StoreError: it cannot be written.
    """
    if is_whole(path_of(folder, digest), digest):
        return
    with explained(folder):
        _put(folder, lambda file: (file.write(content), digest)[1])


def keep_file(folder: Path, source: BinaryIO) -> tuple[str, int]:
    """Copy an open file, however large, without reading it whole; its digest and size.

    Raises:
        StoreError: it cannot be written.
    """
    with explained(folder):
        size = 0

        def copy(file: BinaryIO) -> str:
            nonlocal size
            digest = hashlib.sha256()
            while piece := source.read(PIECE):
                digest.update(piece)
                file.write(piece)
                size += len(piece)
            return digest.hexdigest()

        return _put(folder, copy), size


def remove(folder: Path, digest: str) -> None:
    """Take a file away; none there is no error.

    Raises:
        StoreError: it cannot be taken away.
    """
    path = path_of(folder, digest)
    with explained(folder):
        if path.parent.is_dir():
            path.unlink(missing_ok=True)
            _sync_folder(path.parent)


def sweep(folder: Path, known: Container[str]) -> None:
    """Take away what a program left that was killed before it had told the store of a file.

    Args:
        folder: of the files.
        known: the digests that the store knows.
    """
    for path in (*folder.glob(".new-*"), *folder.glob("[0-9a-f][0-9a-f]/*")):
        with suppress(OSError):
            # Younger ones may be on their way into the store.
            if path.name not in known and time.time() - path.stat().st_mtime > ABANDONED_S:
                path.unlink()


def _put(folder: Path, write: Callable[[BinaryIO], str]) -> str:
    """Let ``write`` fill a file and tell its digest; the file then has its name."""
    # What people say is nobody else's business: mkstemp's files are their owner's alone.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            digest = write(file)
            file.flush()
            os.fsync(file.fileno())
        path = path_of(folder, digest)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    for changed in (path.parent, folder):
        _sync_folder(changed)
    return digest


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turns errors of the file system into a :class:`StoreError` that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"a file cannot be kept or taken away: {error.strerror}",
            where=str(error.filename or folder),
            hint="free some space or allow writing there, then try again",
        ) from error


def is_whole(path: Path, digest: str) -> bool:
    """Whether the file is there and has the bytes that its name says."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
