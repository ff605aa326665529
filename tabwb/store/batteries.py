"""Batteries as they were given, kept with their files."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path

from tabwb.battery.model import Battery
from tabwb.records.errors import StoreError
from tabwb.store import blobs, write
from tabwb.store.access import Access
from tabwb.store.database import Conflict, Transaction


def keep(access: Access, battery: Battery, assets: Mapping[str, bytes]) -> None:
    """Keep a battery with its files."""
    for path, digest in battery.assets.items():
        if path not in assets or hashlib.sha256(assets[path]).hexdigest() != digest:
            raise StoreError(
                f"file '{path}' of battery '{battery.id}' has changed since it was read",
                where=battery.origin or None,
                hint="read the battery again",
            )
    folder = None if access.embedded is None else blobs.folder_of(access.embedded)
    absent = {
        digest
        for digest in battery.assets.values()
        if folder and not blobs.is_whole(blobs.path_of(folder, digest), digest)
    }
    try:
        _keep(access, battery, assets, folder, absent)
    except Conflict:
        # On a server another process kept it at this moment.
        _keep(access, battery, assets, folder, absent)


def _keep(
    access: Access,
    battery: Battery,
    assets: Mapping[str, bytes],
    folder: Path | None,
    absent: Collection[str],
) -> None:
    with access.writing() as transaction:
        key = write.insert_battery(transaction, access.keys, battery)
        if key is not None:
            write.insert_assets(transaction, key, battery, assets, with_content=folder is None)
        for path, digest in battery.assets.items():
            # A deletion may have removed one since the check.
            if folder and (digest in absent or not blobs.path_of(folder, digest).is_file()):
                blobs.keep(folder, digest, assets[path])


def canonical(access: Access, content_hash: str) -> str:
    """Return the canonical JSON of a kept battery."""
    with access.reading() as transaction:
        found = transaction.value(
            "SELECT text FROM batteries JOIN texts ON texts.id = canonical_id"
            " WHERE content_hash = ?",
            content_hash,
        )
    where = access.database.location
    if found is None:
        raise StoreError(f"no battery with hash {content_hash} is kept", where=where)
    if hashlib.sha256(str(found).encode()).hexdigest() != content_hash:
        raise StoreError(
            f"the stored battery is not the one that was kept ({content_hash})",
            where=where,
            hint="'tabwb store check' says where; restore a backup, and keep this file",
        )
    return str(found)


def assets_of(access: Access, content_hash: str) -> dict[str, bytes]:
    """Return the files of a kept battery, by their path in it."""
    with access.reading() as transaction:
        rows = transaction.rows(
            "SELECT path, assets.sha256, content FROM batteries"
            " JOIN battery_assets ON battery_id = batteries.id"
            " JOIN assets ON assets.sha256 = battery_assets.sha256"
            " WHERE content_hash = ? ORDER BY path",
            content_hash,
        )
    contents: dict[str, bytes] = {}
    for path, digest, content in rows:
        if content is None and access.embedded is not None:
            folder = blobs.folder_of(access.embedded)
            place = blobs.whole_path(folder, digest, f"the battery's file '{path}'")
            contents[path] = place.read_bytes()
        else:
            contents[path] = bytes(content)
    return contents


def number_of(transaction: Transaction, battery: Battery, where: str) -> int:
    """Return the number of a kept battery in the store."""
    number = transaction.value(
        "SELECT id FROM batteries WHERE content_hash = ?", battery.content_hash
    )
    if number is None:
        raise StoreError(
            f"battery '{battery.id}' ({battery.content_hash}) is not kept in this store",
            where=where,
            hint="keep_battery comes before its administrations",
        )
    return int(number)
