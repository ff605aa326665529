"""``tabwb tag``: titles and tags of administrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tabwb.cli.common import json_option, note, opened_store, print_json, store_option
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.records.trials import Administration


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
    from tabwb.administer.marking import change_marks, take_back_mark

    if undo and (title is not None or add or remove):
        raise UsageError("--undo cannot be combined with a change", hint="give two commands")
    with opened_store(store_location) as (_, store):
        found = list(dict.fromkeys(store.administration(one).id for one in administrations))
        if undo:
            for number in found:
                if not take_back_mark(store, number):
                    note(f"administration {number} has no change of title or tags to take back")
        elif title is not None or add or remove:
            change_marks(store, found, title=title, add=add, remove=remove)
        shown = [store.administration(number) for number in found]
    if as_json:
        print_json({"format": 1, "administrations": list(map(_document, shown))})
        return
    for record in shown:
        tags = ", ".join(record.tags) or "no tags"
        click.echo(f"{record.id}  {record.title or 'no title'}  ({tags})")


def _document(record: Administration) -> dict[str, object]:
    return {
        "id": record.id,
        "uid": record.uid,
        "title": record.title,
        "tags": list(record.tags),
    }
