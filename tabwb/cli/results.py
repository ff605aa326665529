"""``tabwb results``: one administration, several side by side, or the list of what there is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tabwb.cli.common import (
    json_option,
    missing_store,
    note,
    open_store,
    opened_plugins,
    primary_option,
    print_json,
    store_option,
)
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.trials import Administration
    from tabwb.report.summaries.groups import By, Grouped, Sort
    from tabwb.report.summaries.load import AdministrationData

_BY = ("administration", "model", "battery", "lesion", "protocol", "family", "tuning")
_SORT = ("burden", "name", "N", "accuracy")


@click.command()
@click.argument("administrations", nargs=-1)
@click.option(
    "--by",
    type=click.Choice(_BY),
    help="Group administrations and pool their responses. Each model and lesion has its own row; "
    "unlike conditions (protocol, decoding, option order) are never pooled.",
)
@click.option(
    "--sort",
    type=click.Choice(_SORT),
    help="Order of groups: name ascending, others from high to low (by model: burden).",
)
@click.option("--judge", metavar="RATER", help="Show only the burdens of this judge.")
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the groups of models to FILE, one row for each with every figure; "
    "never overwritten.",
)
@click.option("--details", is_flag=True, help="Show every feature, category and error too.")
@click.option("--arpabet", is_flag=True, help="Show spoken responses in ARPAbet instead of IPA.")
@primary_option
@store_option
@json_option
def results(
    administrations: tuple[str, ...],
    by: By | None,
    sort: Sort | None,
    judge: str | None,
    csv_file: Path | None,
    details: bool,
    arpabet: bool,
    primary: str,
    store_location: str | None,
    as_json: bool,
) -> int:
    """Show the results of ADMINISTRATIONS (numbers or uids); without any, list all."""
    from tabwb.report.summaries import load

    with opened_plugins() as plugins:
        listing = not administrations and by is None
        _refuse_csv(csv_file, listing=listing, details=details, as_json=as_json)
        _refuse_idle(listing, len(administrations), by, sort, judge, details=details)
        if not administrations and csv_file is None and missing_store(store_location, plugins):
            if listing:
                _show_list((), as_json=as_json)
            else:
                _show_groups((), by, sort, None, details=details, as_json=as_json)
            return 0
        rater = None if judge is None else _rater(plugins, judge)
        with open_store(store_location, plugins, create=False) as store:
            if listing:
                _show_list(store.administrations(), as_json=as_json)
                return 0
            counting = primary or plugins.configuration.study.primary_rater
            chosen = load.load_administrations(store, administrations, primary=counting)
    if csv_file is not None:
        _write_groups(chosen, by, sort, rater, csv_file)
    elif len(chosen) == 1 and by is None:
        _show_one(chosen[0], rater, details=details, arpabet=arpabet, as_json=as_json)
    else:
        _show_groups(chosen, by, sort, rater, details=details, as_json=as_json)
    return 0


def _refuse_idle(
    listing: bool,
    named: int,
    by: By | None,
    sort: Sort | None,
    judge: str | None,
    *,
    details: bool,
) -> None:
    """An option that would change nothing is refused rather than passed over."""
    if listing and (sort or judge or details):
        raise UsageError(
            "a list of administrations has no burdens to sort, choose or detail",
            hint="tabwb results --by model, or name administrations",
        )
    if named == 1 and by is None and sort:
        raise UsageError("one administration has no order", hint="name several, or use --by")


def _refuse_csv(out: Path | None, *, listing: bool, details: bool, as_json: bool) -> None:
    if out is None:
        return
    if listing:
        raise UsageError("--csv writes groups", hint="tabwb results --by model --csv FILE")
    if details or as_json:
        other = "--json" if as_json else "--details"
        raise UsageError(f"--csv and {other} exclude each other")


def _write_groups(
    chosen: Sequence[AdministrationData],
    by: By | None,
    sort: Sort | None,
    judge: str | None,
    out: Path,
) -> None:
    from tabwb.report.documents.exporting import check_destination
    from tabwb.report.documents.groups_csv import of_models, write_groups

    check_destination(out)  # before anything is computed
    models, left, unknown = of_models(chosen)
    place = write_groups(_summarised(models, by or "administration", sort, judge), out)
    if left:
        note(f"left out: {plural(left, 'administration')} of people (use 'tabwb export')")
    if unknown:
        note(
            f"left out: {plural(unknown, 'administration')} of recorded answers of unknown origin "
            "(if a model responded, give them again as replay:FILE@origin=model)"
        )
    note(f"{place} written")


def _summarised(
    chosen: Sequence[AdministrationData], by: By, sort: Sort | None, judge: str | None
) -> tuple[Grouped, ...]:
    from tabwb.report.summaries.groups import grouped, summarised

    order: Sort | None = sort or ("burden" if by == "model" else None)
    return summarised(grouped(chosen, by), judge=judge, sort=order)


def _rater(plugins: Plugins, judge: str) -> str:
    """The rater's stored name: an alias resolved; a judge that is not installed by its own name."""
    try:
        return str(plugins.resolve("judges", judge)[1])
    except TabwbError:
        return judge


def _show_list(administrations: Sequence[Administration], *, as_json: bool) -> None:
    from tabwb.report.documents import document
    from tabwb.report.render import tables
    from tabwb.report.render.printing import print_view

    if as_json:
        print_json(document.list_document(administrations))
    else:
        print_view(tables.list_view(administrations))


def _show_one(
    only: AdministrationData, judge: str | None, *, details: bool, arpabet: bool, as_json: bool
) -> None:
    from tabwb.report.documents import document
    from tabwb.report.render import tables
    from tabwb.report.render.printing import print_view
    from tabwb.report.summaries.groups import check_judge, only_judge
    from tabwb.report.summaries.summary import pool

    summary = pool([only.source], interval=True)
    if judge is not None:
        check_judge(judge, [each.rater for each in summary.judges])
        summary = only_judge(summary, judge)
    if as_json:
        print_json(document.administration_document(only, summary))
    else:
        view = tables.administration_view(
            only.administration, only.battery, summary, details=details, arpabet=arpabet
        )
        print_view(view)


def _show_groups(
    chosen: Sequence[AdministrationData],
    by: By | None,
    sort: Sort | None,
    judge: str | None,
    *,
    details: bool,
    as_json: bool,
) -> None:
    from tabwb.report.documents import document
    from tabwb.report.render.groups import groups_view
    from tabwb.report.render.printing import print_view
    from tabwb.report.summaries.groups import grouped, summarised
    from tabwb.report.summaries.pairs import pairs_of

    by = by or "administration"
    made = _summarised(chosen, by, sort, judge)
    models = (
        made if by == "model" else summarised(grouped(chosen, "model"), judge=judge, interval=False)
    )
    pairs = pairs_of(models)
    if as_json:
        print_json(document.groups_document(made, pairs))
    else:
        print_view(groups_view(made, pairs, details=details))
