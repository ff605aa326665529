"""Recordings while they are made: files that grow beside a store until they are whole and kept."""

from __future__ import annotations

from pathlib import Path

from tabwb.records.errors import StoreError
from tabwb.records.files import make_private_folder
from tabwb.store import working
from tabwb.store.location import resolve
from tabwb.store.store import Store

SUFFIX = ".wav.part"


def folder_of(store: Store) -> Path:
    """Return the folder of a store's growing recordings; create it, private, where missing.

    Beside a store that is a file; of a server in the user's own data folder.

    Raises:
        StoreError: it cannot be made.
    """
    folder = _place(store)
    try:
        make_private_folder(folder)
    except OSError as error:
        raise StoreError(
            f"recordings cannot be kept: {error.strerror}",
            where=str(folder),
            hint="allow writing there, or choose another place with --store",
        ) from error
    return folder


def path_of(store: Store, administration_uid: str, recording: str) -> Path:
    """Return the file of a growing recording; the name holds whose it is, for deletion."""
    return folder_of(store) / f"{administration_uid}.{recording}{SUFFIX}"


def interrupted(store: Store) -> tuple[Path, ...]:
    """Return the recordings of all administrations that were begun and not kept yet."""
    return tuple(sorted(_place(store).glob(f"*{SUFFIX}")))


def whose(path: Path) -> str:
    """Uid of the administration that a growing recording belongs to."""
    return path.name.partition(".")[0]


def of_administration(store: Store, administration_uid: str) -> tuple[Path, ...]:
    """Return the recordings of an administration that were begun and not kept yet."""
    return tuple(sorted(folder_of(store).glob(f"{administration_uid}.*{SUFFIX}")))


def _place(store: Store) -> Path:
    beside = store.embedded
    if beside is None:
        local = resolve(None)
        assert isinstance(local, Path)
        beside = local
    return beside.with_name(f"{beside.name}.takes")


def work_root(store: Store) -> Path:
    """Return where work folders for copies of a store's recordings lie."""
    beside = store.embedded
    return working.of_user() if beside is None else working.beside(beside)
