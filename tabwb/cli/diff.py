"""``tabwb diff``: two administrations of one battery, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tabwb.cli.common import (
    json_option,
    open_store,
    opened_plugins,
    primary_option,
    print_json,
    store_option,
)

if TYPE_CHECKING:
    from tabwb.report.summaries.load import AdministrationData


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--all", "everything", is_flag=True, help="Include items with equal responses.")
@primary_option
@store_option
@json_option
def diff(
    first: str,
    second: str,
    everything: bool,
    primary: str,
    store_location: str | None,
    as_json: bool,
) -> int:
    """Compare administrations FIRST and SECOND of one battery, item by item.

    Each may be several, separated by commas: 3,4,5. Accuracies under every policy, burdens and
    each feature are compared, with 95 % intervals and p values for prompts like these and for these
    prompts, and with the smallest p value and difference that the items can show.
    """
    from tabwb.report.summaries.difference import difference
    from tabwb.report.summaries.groups import unlike
    from tabwb.report.summaries.load import load_administrations, sources_of

    with (
        opened_plugins() as plugins,
        open_store(store_location, plugins, create=False) as store,
    ):
        counting = primary or plugins.configuration.study.primary_rater
        sides = [
            load_administrations(store, side.split(","), primary=counting)
            for side in (first, second)
        ]
        found = difference(
            sources_of(sides[0]),
            sources_of(sides[1]),
            (_label(sides[0]), _label(sides[1])),
            unlike(*sides),
        )
    if as_json:
        print_json({"format": 1, **found.to_json()})
        return 0
    from tabwb.report.render.difference import difference_view
    from tabwb.report.render.printing import print_view

    print_view(difference_view(found, sides[0][0].battery, everything=everything))
    return 0


def _label(side: tuple[AdministrationData, ...]) -> str:
    from tabwb.report.summaries.counted import name_of

    numbers = ", ".join(f"#{one.administration.id}" for one in side)
    names = dict.fromkeys(name_of(one.administration.conditions) for one in side)
    return f"{numbers} {', '.join(names)}"
