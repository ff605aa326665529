"""``tabwb results``, ``diff`` and ``export``: results as tables, compared, and in files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tabwb.cli.common import (
    inform,
    is_quiet,
    json_option,
    missing_store,
    note,
    open_store,
    opened_plugins,
    opened_store,
    primary_option,
    print_json,
    statistics_of,
    store_option,
    verbosity_options,
    within_study_option,
)
from tabwb.cli.result_document import print_document
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
from tabwb.cli.selecting import (
    requested_selection,
    resolved_selection,
    selection_options,
    sort_option,
    where_option,
)
from tabwb.cli.shown_cautions import cautions_for
from tabwb.media.views.tables import VIEWS
from tabwb.records.errors import UsageError
from tabwb.records.files import is_stdout


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


@click.command()
@click.argument("administrations", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every administration of the store.")
@where_option
@click.option(
    "--wide", is_flag=True, help="One row for each response, one column for each measure (parquet)."
)
@click.option(
    "--partition-by",
    metavar="COLUMN[,COLUMN...]",
    default="",
    help="Write a folder with a file for each value of these columns (parquet).",
)
@click.option(
    "--format",
    "format_id",
    metavar="F",
    default="jsonl",
    show_default=True,
    help="jsonl, csv, parquet, inspect, lm-eval, or one of a plugin: see 'tabwb plugins list'.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The file; '-' for standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--judge",
    metavar="calibrated:JUDGE",
    default="",
    help="Add a calibrated judge: for each verdict of JUDGE the probability that people find the "
    "feature.",
)
@within_study_option
@primary_option
@verbosity_options
@store_option
def export(
    administrations: tuple[str, ...],
    everything: bool,
    where: tuple[str, ...],
    wide: bool,
    partition_by: str,
    format_id: str,
    out: Path,
    force: bool,
    judge: str,
    within_study: bool,
    primary: str,
    store_location: str | None,
) -> None:
    """Write ADMINISTRATIONS (numbers or uids) to a file; or --all, or those --where.

    jsonl has one line per counted response and can be read by the model replay:FILE.
    """
    from tabwb.analysis.selection import matching
    from tabwb.cli.progress import Countdown
    from tabwb.media.destination import check_destination
    from tabwb.media.documents import exporting
    from tabwb.media.documents.exporting import with_options
    from tabwb.operations.operation import check_chosen

    check_chosen(administrations, where, everything=everything)
    format_id = with_options(format_id, wide=wide, partition_by=partition_by)
    with opened_plugins() as plugins:
        try:
            plugins.exporter(format_id)
        except UsageError as error:
            if wide or partition_by:
                error.hint = error.hint or "--wide and --partition-by are for --format parquet"
            raise
        if not is_stdout(out):
            out = check_destination(out, force=force, remedy="choose another name, or use --force")
        shown = Countdown("response", quiet=is_quiet() or is_stdout(out))
        with open_store(store_location, plugins, create=False) as store:
            try:
                permit = exporting.export(
                    store,
                    plugins,
                    matching(store, administrations, where) if where else administrations,
                    format_id,
                    out,
                    within_study=within_study,
                    primary=primary,
                    judge=judge,
                    progress=shown.of,
                )
            finally:
                shown.status.close()
            if permit.notice:
                note(f"warning: {permit.notice}")
        if not is_stdout(out):
            inform(f"{out} written")
