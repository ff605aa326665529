"""``tabwb results``: one administration, several side by side, or the list of what there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tabwb.cli.common import (
    json_option,
    missing_store,
    open_plugins,
    open_store,
    print_json,
    store_option,
)

if TYPE_CHECKING:
    from tabwb.records.trials import Administration
    from tabwb.report.load import Group


@click.command()
@click.argument("administrations", nargs=-1)
@click.option(
    "--by",
    type=click.Choice(["administration", "model", "battery"]),
    help="Group administrations and pool their responses.",
)
@store_option
@json_option
def results(
    administrations: tuple[str, ...], by: str | None, store_location: str | None, as_json: bool
) -> int:
    """Show the results of ADMINISTRATIONS (numbers or uids); without any, list what there is."""
    from tabwb.report import document, load, tables

    plugins = open_plugins()
    try:
        if not administrations and missing_store(store_location, plugins):
            if by is None:
                _show_list((), as_json=as_json)
            else:
                _show_groups((), as_json=as_json)
            return 0
        with open_store(store_location, plugins, create=False) as store:
            if not administrations and by is None:
                _show_list(store.administrations(), as_json=as_json)
                return 0
            chosen = load.loaded(store, administrations)
            if len(chosen) == 1 and by is None:
                only = chosen[0]
                if as_json:
                    print_json(
                        document.administration_document(
                            only.administration,
                            only.battery,
                            only.trials,
                            model_facts=only.model_facts,
                            notes=only.notes,
                            declarations=only.declarations,
                            interval=True,
                        )
                    )
                else:
                    tables.print_administration(
                        only.administration,
                        only.battery,
                        only.trials,
                        declarations=only.declarations,
                        interval=True,
                    )
                return 0
            _show_groups(load.grouped(chosen, by or "administration"), as_json=as_json)
            return 0
    finally:
        plugins.close()


def _show_list(administrations: Sequence[Administration], *, as_json: bool) -> None:
    from tabwb.report import document, tables

    if as_json:
        print_json(document.list_document(administrations))
    else:
        tables.print_list(administrations)


def _show_groups(groups: Sequence[Group], *, as_json: bool) -> None:
    from tabwb.report import document, tables

    if as_json:
        print_json(document.groups_document(groups))
    else:
        tables.print_groups(groups)
