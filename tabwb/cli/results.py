"""``tabwb results``: one administration, several side by side, or the list of what there is."""

from __future__ import annotations

import click

from tabwb.cli.common import json_option, open_plugins, open_store, print_json, store_option


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
        with open_store(store_location, plugins) as store:
            if not administrations and by is None:
                listed = store.administrations()
                if as_json:
                    print_json(document.list_document(listed))
                else:
                    tables.print_list(listed)
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
                            interval=True,
                        )
                    )
                else:
                    tables.print_administration(
                        only.administration, only.battery, only.trials, interval=True
                    )
                return 0
            groups = load.grouped(chosen, by or "administration")
            if as_json:
                print_json(document.groups_document(groups))
            else:
                tables.print_groups(groups)
            return 0
    finally:
        plugins.close()
