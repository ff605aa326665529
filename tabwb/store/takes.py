"""Recordings while they are made: files that grow beside a store until they are whole and kept."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from tabwb.records.errors import StoreError
from tabwb.store.location import resolve
from tabwb.store.store import Store

SUFFIX = ".wav.part"


def folder_of(store: Store) -> Path:
    """Where growing recordings of a store lie; made, for its user alone, where it is not there.

    Beside a store that is a file; of a server in the user's own data folder.

    Raises:
        StoreError: it cannot be made.
    """
    beside = store.embedded
    if beside is None:
        local = resolve(None)
        assert isinstance(local, Path)
        beside = local
    folder = beside.with_name(f"{beside.name}.takes")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"recordings cannot be kept: {error.strerror}",
            where=str(folder),
            hint="allow writing there, or choose another place with --store",
        ) from error
    return folder


def path_of(store: Store, administration_uid: str, recording: str) -> Path:
    """The file of a recording that grows; its name says whose it is, so that it can be deleted."""
    return folder_of(store) / f"{administration_uid}.{recording}{SUFFIX}"


def of_administration(store: Store, administration_uid: str) -> tuple[Path, ...]:
    """The recordings of an administration that were begun and not kept yet."""
    return tuple(sorted(folder_of(store).glob(f"{administration_uid}.*{SUFFIX}")))


def working_folder(store: Store) -> Path:
    """A new folder for copies of what people said, beside the store, for the time of one process.

    Folders of processes that have ended without removing theirs go first: a voice stays nowhere
    where the deletion of its speaker would not find it.
    """
    folder = folder_of(store)
    for left in folder.glob(f"{_WORKING}*"):
        if not _is_alive(left.name.removeprefix(_WORKING).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(dir=folder, prefix=f"{_WORKING}{os.getpid()}-"))


_WORKING = "working-"


def _is_alive(pid: str) -> bool:
    if not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
