"""``tabwb lesion repeat``: a stored condition given again, and what differs."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from tabwb.administer.repetition import Difference, repeat
from tabwb.cli.common import inform, on_terminal, opened_store, print_json
from tabwb.cli.signals import stopping
from tabwb.records.errors import TabwbError


def repeat_condition(options: Mapping[str, Any]) -> None:
    """Give a stored condition again, and print what differs."""
    cancel = threading.Event()
    with (
        opened_store(options["store_location"], options["offline"]) as (plugins, store),
        stopping(cancel),
    ):
        given = store.administration(options["administration"])
        if on_terminal():
            inform(f"giving administration {given.id} again")
        found = repeat(
            store, plugins, given, cancel, model=options["model"], together=options["batch_size"]
        )
    same = found.answers - len(found.different)
    if options["as_json"]:
        print_json(
            {
                "format": 1,
                "administration": given.id,
                "lesion": given.conditions.lesion,
                "answers": found.answers,
                "same": same,
                "different": list(map(asdict, found.different)),
                "facts": list(map(asdict, found.facts)),
            }
        )
    else:
        click.echo(f"{same} of {found.answers} answers are the same")
        _print("item", found.different)
        _print("fact", found.facts)
        if not found.facts:
            click.echo("model, lesion and versions are those that are stored")
    if found.different:
        raise TabwbError(
            f"{len(found.different)} of {found.answers} answers differ",
            hint="answers are reproducible only in float32 with equal weights and versions"
            if found.facts
            else "in bfloat16 and on accelerators answers also depend on the batch",
        )


def _print(what: str, differences: Sequence[Difference]) -> None:
    from tabwb.media.terminal import print_view, table

    if differences:
        view = table(first=(what, "stored", "now"), fold=True)
        for one in differences:
            view.add_row(one.what, one.stored, one.now)
        print_view(view)
