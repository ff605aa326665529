"""``tabwb change``: one participant's answers over sessions, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tabwb.cli.common import json_option, opened_store, primary_option, store_option
from tabwb.cli.result_formats import chosen_format, columns_option, format_option
from tabwb.cli.result_tables import print_tables
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.records.trials import Administration
    from tabwb.report.summaries.change import Place
    from tabwb.report.summaries.load import AdministrationData
    from tabwb.store.store import Store


@click.command()
@click.argument("participant")
@click.option("--battery", metavar="ID", help="Which battery, if there are sessions of several.")
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
    help="The first N sessions were before treatment; from 2 on the rate of change is tested.",
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
    administration; sessions are in order of day.
    """
    from tabwb.report.summaries.change import change_of
    from tabwb.report.summaries.load import load_columns
    from tabwb.report.tables import change as tables

    printed = chosen_format(format_id, columns, as_json=as_json, excluded={})
    with opened_store(store_location) as (plugins, store):
        chosen = _sessions(store, participant, battery)
        counting = primary or plugins.configuration.study.primary_rater
        members = load_columns(store, [one.id for one in chosen], primary=counting)
    found = change_of(members, _sets(members, sets), baselines)
    made = [
        (tables.change_table(found), "Change between sessions"),
        (tables.sessions_table(found), "Right answers in each session"),
    ]
    if items or printed == "json":
        made.append((tables.change_items_table(found), "Right answers, item by item"))
    print_tables(made, printed, columns)


def _sessions(store: Store, participant: str, battery: str | None) -> list[Administration]:
    own = [one for one in store.administrations() if one.conditions.study_id == participant]
    if not own:
        known = dict.fromkeys(
            one.conditions.study_id for one in store.administrations() if one.conditions.study_id
        )
        raise UsageError(
            f"there is no session of '{participant}'",
            allowed=", ".join(filter(None, known)) or "the store has no sessions of people",
            hint="tabwb speaker list",
        )
    names = dict.fromkeys(one.battery for one in own)
    if battery is None and len(names) > 1:
        raise UsageError(
            f"'{participant}' has sessions of several batteries",
            allowed=", ".join(names),
            hint="--battery ID",
        )
    chosen = [one for one in own if one.answered and battery in (None, one.battery)]
    if not chosen:
        raise UsageError(
            f"'{participant}' has no answers to '{battery or own[0].battery}'",
            allowed=", ".join(names),
        )
    versions = dict.fromkeys(one.battery_version for one in chosen)
    if len({one.battery_hash for one in chosen}) > 1:
        raise UsageError(
            f"'{participant}' was given several versions of {chosen[0].battery}: "
            + ", ".join(versions),
            allowed="sessions with one version",
        )
    return chosen


def _sets(
    members: Sequence[AdministrationData], sets: str | None
) -> Mapping[str, tuple[Place, ...]]:
    from tabwb.report.summaries.change import sets_of_rows, sets_of_tags

    subtests = members[0].battery.subtests
    if sets is None:
        return {}
    if not sets.endswith(".csv"):
        tags = dict.fromkeys(name.strip() for name in sets.split(",") if name.strip())
        return sets_of_tags(subtests, list(tags))
    import csv

    file = Path(sets)
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            return sets_of_rows(subtests, list(csv.DictReader(lines)), file.name)
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"'{sets}' cannot be read: {problem}", where="--sets") from problem
