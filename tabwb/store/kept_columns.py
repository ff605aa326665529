"""Columns of responses: from the file beside the store while it is valid, else from the store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress

from tabwb.records.errors import StoreError
from tabwb.store import column_file
from tabwb.store.access import Access
from tabwb.store.columns import ResponseColumns, response_columns


def columns_of(
    access: Access, administration_ids: Sequence[int], explained: Collection[str]
) -> ResponseColumns:
    """Return the answers that count; the columns of a large store are kept in a file."""
    with access.reading() as transaction:
        state = column_file.state_of(transaction) if access.embedded else ""
        if access.embedded:
            kept = column_file.load(access.embedded, state, administration_ids, explained)
            if kept is not None:
                return kept
        columns = response_columns(transaction, administration_ids, explained)
        n = transaction.value("SELECT count(*) FROM administrations")
    if len(columns) >= column_file.LEAST and len(columns.administrations) == n:
        keep(access, columns, state, explained)
    return columns


def keep(access: Access, columns: ResponseColumns, state: str, explained: Collection[str]) -> None:
    """Keep the columns of all administrations in a file, where one can be written."""
    if access.embedded is None or access.only_read or access.held:
        return
    # Without the file, columns are read from the store again.
    with suppress(StoreError, OSError), access.writing() as transaction:
        if column_file.state_of(transaction) == state:
            uids = column_file.uids_of(transaction)
            column_file.save(access.embedded, columns, state, explained, uids)
