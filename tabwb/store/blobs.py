"""Files of batteries beside an embedded store, each once, named by the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from tabwb.records.errors import StoreError


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
    path = path_of(folder, digest)
    if is_whole(path, digest):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        for changed in (path.parent, folder):
            _sync_folder(changed)
    except OSError as error:
        raise StoreError(
            f"a file of the battery cannot be kept: {error.strerror}",
            where=str(path),
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
