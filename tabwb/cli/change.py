"""``tabwb change``: one participant's answers over sessions, item by item."""

from __future__ import annotations

import click

from tabwb.cli.common import json_option, opened_store, primary_option, store_option
from tabwb.cli.result_formats import (
    chosen_format,
    columns_option,
    format_option,
    print_tables,
    warn_unshared,
)


@click.command()
@click.argument("participant")
@click.option(
    "--battery", metavar="ID", help="Which battery, if there are several sessions of more than one."
)
@click.option(
    "--sets",
    metavar="TAG,TAG|FILE.csv",
    help="Sets of items, such as trained,untrained: tags of the battery's items, or a CSV file "
    "with the columns item and set (and subtest, if an id belongs to several).",
)
@click.option(
    "--baselines",
    type=click.IntRange(1),
    metavar="N",
    help="The first N sessions were before treatment; from N = 2 on, the rate of change is tested.",
)
@click.option(
    "--sessions",
    metavar="N,N|DATES",
    help="Only these sessions: numbers of administrations, or days (YYYY-MM-DD).",
)
@click.option("--items", is_flag=True, help="Show each item in each session too.")
@format_option
@columns_option
@primary_option
@store_option
@json_option
def change(
    participant: str,
    battery: str | None,
    sets: str | None,
    baselines: int | None,
    sessions: str | None,
    items: bool,
    format_id: str | None,
    columns: str | None,
    primary: str,
    store_location: str | None,
    as_json: bool,
) -> None:
    """Compare the sessions of PARTICIPANT (a study ID) with one battery.

    For research only: McNemar's test for two sessions, the weighted trend and rate of change (after
    Howard, Best and Nickels 2015) for several, over all items and in sets of items. A session is an
    administration; sessions are in order of day. Only items with one answer in every session count:
    leave an aborted session out with --sessions. p is two-sided; p_one_sided is that of more right
    answers later, of two sets that the first changes more: name the trained set first.
    """
    from tabwb.analysis import change as tables
    from tabwb.analysis.administrations import load_columns
    from tabwb.analysis.change import change_of, chosen_sessions, named_sets, sessions_of

    printed = chosen_format(format_id, columns, as_json=as_json, excluded={})
    with opened_store(store_location) as (plugins, store):
        chosen = chosen_sessions(sessions_of(store, participant, battery), sessions)
        counting = plugins.configuration.study.counting_rater(primary)
        members = load_columns(store, [one.id for one in chosen], primary=counting)
        warn_unshared(store, plugins, chosen, printed)
    found = change_of(members, named_sets(members, sets), baselines)
    whose = f"{found.participant}, {found.battery} {found.version}"
    made = [
        (tables.change_table(found), f"Change between sessions: {whose}"),
        (tables.sessions_table(found), f"Right answers in each session: {whose}"),
    ]
    if items or printed == "json":
        made.append((tables.change_items_table(found), f"Right answers, item by item: {whose}"))
    print_tables(made, printed, columns)
