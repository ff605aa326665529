"""``tabwb store``: what is in the store, a backup of it, whether it is whole."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from tabwb.cli.common import (
    configuration,
    json_option,
    note,
    print_json,
    store_option,
)
from tabwb.cli.signals import ENDING, caught
from tabwb.records.errors import UsageError
from tabwb.records.words import size_text
from tabwb.store.location import resolve, without_password


@click.group()
def store() -> None:
    """Manage the store: info, backup, check."""


@store.command()
@store_option
@json_option
def info(store_location: str | None, as_json: bool) -> None:
    """Show the path, size and content of the store."""
    from tabwb.store import maintenance
    from tabwb.store.store import Store

    with Store.open(_place(store_location), create=False) as opened:
        content = maintenance.info(opened)
    if as_json:
        print_json({"format": 1, "store": asdict(content)})
        return
    lines = {
        "store": content.location,
        "kind": content.kind,
        "size": size_text(content.size),
        "files of batteries": size_text(content.blobs_size),
        "schema": content.schema,
        **{name: f"{count:,}" for name, count in content.counts.items()},
    }
    width = max(map(len, lines))
    for name, text in lines.items():
        click.echo(f"{name:<{width}}  {text}")


@store.command()
@click.argument("out", type=click.Path(path_type=Path))
@store_option
@json_option
def backup(out: Path, store_location: str | None, as_json: bool) -> None:
    """Copy the store to OUT and check the copy.

    The store may be in use. OUT is a new file. Files of batteries are copied beside it.
    """
    from tabwb.store import maintenance
    from tabwb.store.store import Store

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt  # what is half written is removed on the way out

    with Store.open(_place(store_location), create=False) as opened, caught(stop, *ENDING):
        maintenance.backup(opened, out)
    if as_json:
        print_json({"format": 1, "backup": {"store": opened.location, "out": str(out.absolute())}})
    else:
        click.echo(f"{opened.location} is copied to {out.absolute()}; the copy was checked")


@store.command()
@store_option
@json_option
def check(store_location: str | None, as_json: bool) -> int:
    """Check the store for damage. Exit status 1 if there is any.

    Files beside the store that no row names, which a killed process left, are removed; nothing else
    is changed.
    """
    from tabwb.store import maintenance

    path = resolve(_place(store_location))
    if not isinstance(path, Path):
        raise UsageError(
            "a store on a server is checked with the server's own means",
            where=without_password(path),
            hint="for example pg_amcheck",
        )
    damage = maintenance.check(path)
    removed = [] if damage else [str(file) for file in maintenance.remove_unnamed(path)]
    if as_json:
        rows = [asdict(place) for place in damage]
        document = {"store": str(path), "whole": not damage, "damage": rows, "removed": removed}
        print_json({"format": 1, **document})
    else:
        for name in removed:
            click.echo(f"{name}: removed, because no row names it")
        for place in damage:
            click.echo(f"{place.where}: {place.what}")
        if not damage:
            click.echo(f"{path} is whole")
    if damage:
        note("damaged: restore a backup, and keep the damaged file; it may still be readable")
    return int(bool(damage))


def _place(store_location: str | None) -> str | None:
    return configuration().store_at(store_location)
