"""``tabwb tag``: titles and tags of administrations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from tabwb.cli.common import json_option, note, opened_store, print_json, store_option
from tabwb.records.errors import UsageError
from tabwb.records.marks import Marks, changes
from tabwb.records.trials import EventEntry

if TYPE_CHECKING:
    from tabwb.records.trials import Administration
    from tabwb.store.store import Store


@click.command()
@click.argument("administrations", nargs=-1, required=True)
@click.option("--title", metavar="TEXT", help="The new title; '' removes it.")
@click.option("--add", multiple=True, metavar="TAG", help="Add this tag; repeatable.")
@click.option("--remove", multiple=True, metavar="TAG", help="Remove this tag; repeatable.")
@click.option("--undo", is_flag=True, help="Take back the latest change of title or tags.")
@store_option
@json_option
def tag(
    administrations: tuple[str, ...],
    title: str | None,
    add: tuple[str, ...],
    remove: tuple[str, ...],
    undo: bool,
    store_location: str | None,
    as_json: bool,
) -> None:
    """Give a title and tags to ADMINISTRATIONS (numbers or uids); without options, show them.

    Every change is kept in the store and can be taken back. Results are grouped and chosen by tags:
    tabwb results --by tag, tabwb results --where tag=pilot. Never use a person's name.
    """
    if undo and (title is not None or add or remove):
        raise UsageError("--undo cannot be combined with a change")
    with opened_store(store_location) as (_, store):
        found = {record.id: record for record in map(store.administration, administrations)}
        asked = partial(changes, title=title, add=add, remove=remove)
        for record in found.values():
            asked(Marks(record.title, record.tags))  # before anything is changed
        for number in found:
            if undo:
                _take_back(store, number)
            elif title is not None or add or remove:
                _change(store, number, asked)
        shown = [store.administration(number) for number in found]
    if as_json:
        print_json({"format": 1, "administrations": list(map(_document, shown))})
        return
    for record in shown:
        tags = ", ".join(record.tags) or "no tags"
        click.echo(f"{record.id}  {record.title or 'no title'}  ({tags})")


def _change(store: Store, number: int, asked: Callable[[Marks], tuple[EventEntry, ...]]) -> None:
    with store.lock(number):
        known = store.administration(number)
        if made := asked(Marks(known.title, known.tags)):
            store.append(number, made)


def _take_back(store: Store, number: int) -> None:
    with store.lock(number):
        latest = store.history(number).latest_mark
        if latest is None:
            note(f"administration {number} has no change of title or tags to take back")
        else:
            store.append(number, [EventEntry("undone", None, "", latest)])


def _document(record: Administration) -> dict[str, object]:
    return {
        "id": record.id,
        "uid": record.uid,
        "title": record.title,
        "tags": list(record.tags),
    }
