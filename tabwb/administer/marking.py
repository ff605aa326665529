"""Titles and tags of stored administrations: given, changed, taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tabwb.records.trials import EventEntry, Marks, changes
from tabwb.store.store import Store


def change_marks(
    store: Store,
    references: Iterable[int | str],
    *,
    title: str | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> None:
    """Change the titles and tags of administrations: of all, or of none."""
    records = {record.id: record for record in map(store.administration, references)}
    for known in records.values():  # before anything is changed
        changes(Marks(known.title, known.tags), title=title, add=add, remove=remove)
    for number in records:
        with store.lock(number):
            known = store.administration(number)
            marks = Marks(known.title, known.tags)
            if made := changes(marks, title=title, add=add, remove=remove):
                store.append(number, made)


def take_back_mark(store: Store, number: int) -> bool:
    """Take back the latest change of title or tags; return whether there was one."""
    with store.lock(number):
        latest = store.history(number).latest_mark
        if latest is not None:
            store.append(number, [EventEntry("undone", None, "", latest)])
    return latest is not None
