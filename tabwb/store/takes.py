"""Folders beside a store: recordings that are being made, and copies of what people said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.records import files
from tabwb.records.errors import StoreError
from tabwb.records.files import make_private_folder
from tabwb.store.location import data_folder, default_path

if TYPE_CHECKING:
    from tabwb.store.store import Store

SUFFIX = ".wav.part"


def folder_of(store: Store) -> Path:
    """Return the folder of a store's growing recordings; create it, private, where missing.

    Beside a store that is a file; of a server in the user's own data folder.
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
    """Return the uid of the administration that a growing recording belongs to."""
    return path.name.partition(".")[0]


def of_administration(store: Store, administration_uid: str) -> tuple[Path, ...]:
    """Return the recordings of an administration that were begun and not kept yet."""
    return tuple(sorted(folder_of(store).glob(f"{administration_uid}.*{SUFFIX}")))


def _place(store: Store) -> Path:
    beside = default_path() if store.embedded is None else store.embedded
    return beside.with_name(f"{beside.name}.takes")


def work_root(store: Store) -> Path:
    """Return the root of the work folders for copies of a store's recordings."""
    return user_work_root() if store.embedded is None else work_root_beside(store.embedded)


def work_root_beside(store: Path) -> Path:
    """Return the root of the work folders beside an embedded store; see :mod:`.files`."""
    return store.with_name(f"{store.name}.takes") / files.FOLDER


def user_work_root() -> Path:
    """Return the root of the work folders that belong to no embedded store."""
    return data_folder() / files.FOLDER
