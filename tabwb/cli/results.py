"""``tabwb results`` and ``diff``: results as tables, and compared."""

from __future__ import annotations

import sys
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
from tabwb.cli.result_formats import (
    baseline_option,
    check_options,
    chosen_format,
    columns_option,
    format_option,
    measure_option,
    table_option,
    warn_unshared,
)
from tabwb.cli.result_printing import Asked, check_form, listed, printer, show_list
from tabwb.cli.selecting import requested_selection, selection_options, sort_option
from tabwb.cli.shown_cautions import cautions_for
from tabwb.cli.streams import is_utf8
from tabwb.media.views.tables import VIEWS
from tabwb.operations.files import resolved_selection
from tabwb.records.words import json_escaped, unfiltered

if TYPE_CHECKING:
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

    Each may be several, separated by commas: 3,4,5. Accuracies under every policy, burdens and
    each feature are compared, with 95 % intervals and p values for prompts like these and for these
    prompts, and with the smallest p value and difference that the items can show.
    """
    from tabwb.analysis.administrations import load_columns
    from tabwb.analysis.cautions import battery_cautions
    from tabwb.analysis.contrast import members_compared

    with opened_store(store_location) as (plugins, store):
        counting = plugins.configuration.study.counting_rater(primary)
        sides = (load_columns(store, side.split(","), primary=counting) for side in (first, second))
        left, right = sides
        compared = members_compared(left, right)
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
