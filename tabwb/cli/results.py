"""``tabwb results``, ``responses``, ``diff`` and ``change``: results as tables, and compared."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    json_option,
    missing_store,
    open_store,
    opened_plugins,
    opened_store,
    primary_option,
    print_json,
    statistics_of,
    store_option,
)
from tabwb.cli.process import is_utf8
from tabwb.cli.result_printing import (
    Asked,
    baseline_option,
    check_form,
    check_options,
    chosen_format,
    columns_option,
    filter_option,
    format_option,
    listed,
    measure_option,
    print_tables,
    printer,
    requested_selection,
    selection_options,
    show_list,
    sort_option,
    table_option,
    warn_unshared,
    where_option,
)
from tabwb.cli.shown_cautions import cautions_for
from tabwb.media.views.tables import VIEWS
from tabwb.operations.files import resolved_selection
from tabwb.records.words import json_escaped, unfiltered

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData
    from tabwb.analysis.selection import Selection
    from tabwb.plugin_api.extensions import Statistic
    from tabwb.store.store import Store


@click.command()
@click.argument("administrations", nargs=-1)
@selection_options
@sort_option
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the groups of models to FILE, one row for each with every figure; "
    "never overwritten.",
)
@table_option
@measure_option
@baseline_option
@click.option("--details", is_flag=True, help="Also show every feature, category and error.")
@click.option("--arpabet", is_flag=True, help="Show spoken responses in ARPAbet instead of IPA.")
@click.option(
    "--cautions",
    is_flag=True,
    help="Show every caution whole; otherwise those of the store that were shown before "
    "are one line.",
)
@format_option
@columns_option
@primary_option
@store_option
@json_option
def results(
    administrations: tuple[str, ...],
    csv_file: Path | None,
    table_name: str | None,
    measures: tuple[str, ...],
    baseline: str | None,
    details: bool,
    arpabet: bool,
    cautions: bool,
    format_id: str | None,
    columns: str | None,
    primary: str,
    store_location: str | None,
    as_json: bool,
    **chosen_by: Any,
) -> None:
    """Show the results of ADMINISTRATIONS (numbers or uids); without any, list all."""
    printed = chosen_format(
        format_id, columns, as_json=as_json, excluded={"csv": csv_file, "details": details}
    )
    check_options(table_name, baseline, {"csv": csv_file, "details": details, "arpabet": arpabet})
    with opened_plugins() as plugins:
        default = VIEWS[table_name].by if table_name else "administration"
        choice = requested_selection(chosen_by, default)
        grouping = bool(chosen_by["by"] or chosen_by["together"] or choice.has_cells or table_name)
        single = len(administrations) == 1 and not grouping
        asked = Asked(
            printed, columns, details, arpabet, csv_file, table_name, baseline, single, measures
        )
        listing = not administrations and not grouping
        check_form(asked, choice, listing=listing)
        empty = not administrations and csv_file is None and table_name is None
        if empty and missing_store(store_location, plugins):
            if listing:
                show_list((), choice, asked)
            else:
                printer(asked)((), choice, asked)
            return
        with open_store(store_location, plugins, create=False) as store:
            choice = resolved_selection(choice, plugins, primary)
            if listing:
                found = listed(store, choice)
                warn_unshared(store, plugins, found, printed)
                show_list(found, choice, asked)
                return
            if single and printed == "json" and not choice.where:
                warn_unshared(store, plugins, [store.administration(administrations[0])], printed)
                print_document(store, administrations[0], choice, statistics_of(plugins))
                return
            from tabwb.analysis.selection import selected

            statistics = statistics_of(plugins)
            chosen = selected(store, administrations, choice, statistics=statistics)
            warn_unshared(store, plugins, (one.administration for one in chosen), printed)
            asked = replace(asked, cautions=cautions_for(store.location, whole=cautions))
    printer(asked)(chosen, choice, asked)


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
) -> None:
    """Compare administrations FIRST and SECOND of one battery, item by item.

    Each may be several, separated by commas: 3,4,5; or what filters choose: 'severity=mild site=A'.
    Accuracies under every policy, burdens and
    each feature are compared, with 95 % intervals and p values for prompts like these and for these
    prompts, and with the smallest p value and difference that the items can show.
    """
    from tabwb.analysis.administrations import load_columns
    from tabwb.analysis.cautions import battery_cautions
    from tabwb.analysis.contrast import members_compared
    from tabwb.analysis.selection import label_of, named_in

    with opened_store(store_location) as (plugins, store):
        counting = plugins.configuration.study.counting_rater(primary)
        sides = (
            load_columns(store, named_in(store, [side]), primary=counting)
            for side in (first, second)
        )
        left, right = sides
        compared = members_compared(left, right, [label_of(side) for side in (first, second)])
    battery = left[0].battery
    given = [one.administration.conditions for one in (*left, *right)]
    notices = list(
        battery_cautions(
            battery,
            model=any(one.kind == "model" for one in given),
            lesion=any(one.lesion is not None for one in given),
        )
    )
    if as_json:
        from tabwb.media.documents.contrasts import difference_json

        print_json({"format": 1, **difference_json(compared), "notices": notices})
        return
    from rich.text import Text

    from tabwb.media.terminal import print_view
    from tabwb.media.views.contrasts import difference_view

    print_view(difference_view(compared, battery, everything=everything))
    print_view(Text("\n" + "\n".join(notices), style="dim"))


PIECE = 1_000_000
"""Characters that are printed at a time."""


def print_document(
    store: Store, reference: str, choice: Selection, statistics: tuple[Statistic, ...]
) -> None:
    """Print the document of an administration."""
    from tabwb.media.documents.streamed import Indented, document_of

    written = Indented(ascii_only=not is_utf8(sys.stdout))
    out = unfiltered(sys.stdout)  # what follows is escaped already
    with store.unchanged():
        document = document_of(store, reference, choice, statistics)
        pieces: list[str] = []
        size = 0
        for piece in written.document(document):
            pieces.append(piece)
            size += len(piece)
            if size > PIECE:
                out.write(json_escaped("".join(pieces)))
                pieces, size = [], 0
        out.write(json_escaped("".join(pieces)) + "\n")
        out.flush()


SHOWN = 200
"""Responses that are printed where ``--limit`` does not say how many."""
OF_RESPONSE = (
    "administration", "examinee", "subtest", "item", "replicate", "prompt", "response",
    "expected", "exact", "effective_status", "usable", "words", "latency_s",
)  # fmt: skip


@click.command()
@click.argument("administrations", nargs=-1)
@where_option
@click.option("--subtest", multiple=True, metavar="ID", help="Only responses to this; repeatable.")
@click.option("--item", multiple=True, metavar="ID", help="Only responses to this; repeatable.")
@click.option(
    "--feature",
    multiple=True,
    metavar="ID",
    help="Only responses in which a rater found this; repeatable: one of them is enough.",
)
@click.option("--judge", metavar="RATER", help="Only features that this rater found.")
@click.option("--reasoning", is_flag=True, help="Also show what a model wrote in its thinking.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help=f"At most N; default: {SHOWN}.")
@store_option
@json_option
def responses(
    administrations: tuple[str, ...],
    where: tuple[str, ...],
    subtest: tuple[str, ...],
    item: tuple[str, ...],
    feature: tuple[str, ...],
    judge: str | None,
    reasoning: bool,
    limit: int | None,
    store_location: str | None,
    as_json: bool,
) -> None:
    """Show the responses of ADMINISTRATIONS, or of all, with the features that raters found.

    Each feature has its rater and the reason, in which the rules judge quotes the words.
    """
    from tabwb.analysis.selection import Selection, selected

    with opened_plugins() as plugins:
        if not administrations and missing_store(store_location, plugins):
            found: list[dict[str, Any]] = []
        else:
            choice = Selection.of(
                "administration", where, judge=judge, subtests=subtest, items=item
            )
            with open_store(store_location, plugins, create=False) as store:
                choice = resolved_selection(choice, plugins, "")
                chosen = selected(store, administrations, choice)
                given = (one.administration for one in chosen)
                warn_unshared(store, plugins, given, "json" if as_json else "table")
                found = list(_responses(store, chosen, choice.judge, feature))
                if reasoning:
                    _add_reasoning(store, found)
    if as_json:
        rows = found if limit is None else found[:limit]
        print_json({"format": 1, "responses": rows})
        return
    shown = found[: limit or SHOWN]
    for row in shown:
        click.echo("\n".join(_lines(row)))
    if len(found) > len(shown):
        click.echo(f"{len(found) - len(shown):,} more; --limit N shows N, --json all")
    if not found:
        click.echo("no responses")


def _responses(
    store: Store,
    chosen: tuple[AdministrationData, ...],
    judge: str | None,
    features: tuple[str, ...],
) -> Iterator[dict[str, Any]]:
    """Yield the responses with what raters found in them; of ``features``, one is needed."""
    from tabwb.analysis.selection import check_features
    from tabwb.analysis.tables.responses import ratings_table, responses_table

    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    rated: dict[str, None] = {}
    known = {feature.id for one in chosen for feature in one.battery.features}
    ratings = ratings_table(store, chosen, judge)
    names = ("id", "trial_number", "rater", "measure", "value", "rating_reason")
    for number, trial, rater, measure, value, reason in zip(
        *(ratings[name].to_list() for name in names), strict=True
    ):
        if measure not in known:
            continue
        rated[measure] = None
        if value == 1:
            said = {"feature": measure, "rater": rater, "reason": reason or ""}
            found.setdefault((number, trial), []).append(said)
    check_features(rated, features)
    table = responses_table(store, chosen)
    own = {name: table[name].to_list() for name in ("id", "trial_number", *OF_RESPONSE)}
    for place in range(len(table)):
        row = {name: values[place] for name, values in own.items()}
        row["features"] = found.get((row["id"], row["trial_number"]), [])
        wanted = {each["feature"] for each in row["features"]} & set(features)
        if wanted or not features:
            yield row


def _add_reasoning(store: Store, rows: list[dict[str, Any]]) -> None:
    trials = {
        number: {trial.plan.number: trial for trial in store.trials(number)}
        for number in {row["id"] for row in rows}
    }
    for row in rows:
        counting = trials[row["id"]][row["trial_number"]].counting
        row["reasoning"] = counting.reasoning if counting is not None else ""


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of one response."""
    from tabwb.records.words import visible

    status = row["effective_status"]
    parts = [f"#{row['id']}", row["examinee"], f"{row['subtest']}/{row['item']}"]
    if row["replicate"]:
        parts.append(f"replicate {row['replicate'] + 1}")
    if status != "ok":
        parts.append(status if row["usable"] else f"{status}, not usable")
    if row["exact"] is not None:
        parts.append("right" if row["exact"] else f"wrong; expected: {row['expected']}")
    yield visible("  ".join(parts))
    if row.get("reasoning"):
        yield f"  thinking: {visible(' '.join(row['reasoning'].split()))}"
    for line in (row["response"] or "(no text)").split("\n"):
        yield f"  {visible(line)}"
    for each in row["features"]:
        reason = f": {' '.join(each['reason'].split())}" if each["reason"] else ""
        yield visible(f"    {each['feature']} ({each['rater']}){reason}")
    yield ""


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
@filter_option
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
    where: tuple[str, ...],
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
    from tabwb.analysis.change import change_of, members_of, named_sets

    printed = chosen_format(format_id, columns, as_json=as_json, excluded={})
    with opened_store(store_location) as (plugins, store):
        counting = plugins.configuration.study.counting_rater(primary)
        members = members_of(
            store, participant, battery, sessions=sessions, where=where, primary=counting
        )
        warn_unshared(store, plugins, [one.administration for one in members], printed)
    found = change_of(members, named_sets(members, sets), baselines)
    whose = f"{found.participant}, {found.battery} {found.version}"
    made = [
        (tables.change_table(found), f"Change between sessions: {whose}"),
        (tables.sessions_table(found), f"Right answers in each session: {whose}"),
    ]
    if items or printed == "json":
        made.append((tables.change_items_table(found), f"Right answers, item by item: {whose}"))
    print_tables(made[:1] if printed == "csv" else made, printed, columns)
