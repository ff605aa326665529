"""Imports answers of other tools: report, dry run, rating, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tabwb.administer.answers.examinee import Stated
from tabwb.administer.answers.importing import Imported, import_answers, told
from tabwb.administer.answers.plan import ImportPlan, PlannedRun
from tabwb.administer.answers.prepared import (
    ImportRequest,
    columns_of,
    left_out,
    planned_lines,
    prepare_import,
)
from tabwb.administer.consent import Guard
from tabwb.administer.session import remarks
from tabwb.cli.command import judged
from tabwb.cli.common import inform, is_quiet, note, on_terminal, open_store, print_json, renew_line
from tabwb.host.plugins import Plugins
from tabwb.media.documents.document import list_document
from tabwb.plugin_api.components import Importer
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.trials import Marks, changes
from tabwb.records.words import plural
from tabwb.store.store import Store

SHOWN = 5
"""How many places, items or administrations one line or output names."""


def import_file(
    plugins: Plugins, importer: Importer, path: Path, options: Mapping[str, Any]
) -> None:
    """Import the answers of a file, as the options of ``tabwb import`` say."""
    marked = changes(Marks(), title=options["title"], add=options["tags"])
    request = ImportRequest(
        path,
        options["battery"],
        Stated(options["model"], options["speaker"], options["origin"]),
        columns=columns_of(options["columns"]),
        judges=options["judges"],
        date=options["date"] or "",
        **{
            name: options[name]
            for name in ("number_replicates", "skip_unknown", "research_protocol")
        },
    )
    prepared = prepare_import(plugins, importer, request)
    battery, plan, conditions = prepared.battery, prepared.plan, prepared.conditions
    as_json = options["as_json"]
    inform(f"{plan.source.title}: {plural(len(plan.source.answers), 'answer')}")
    for line in left_out(plan, battery.id):
        note(line)
    asked = bool(options["judges"])
    for text in remarks.before_run(plugins, battery, conditions[0], asked=asked):
        note(f"warning: {text}")
    if options["dry_run"]:
        _show_plan(plan, conditions, as_json=as_json)
        return
    with open_store(options["store_location"], plugins) as store:
        progress = _Progress(len(plan.source.answers))
        try:
            imported = import_answers(
                store,
                plugins,
                battery,
                plan,
                conditions,
                progress.add,
                again=options["again"],
                marks=marked,
            )
        finally:
            progress.close()
        for notice in Guard.notices_of(Guard(store, plugins, given) for given in conditions):
            note(notice)
        for each, run, given in zip(imported, plan.runs, conditions, strict=True):
            inform(f"administration {each.administration.id}: {given.examinee}: {told(run)}")
        judges = imported[0].administration.conditions.judges
        later = [spec for spec in judges if plugins.resolve("judges", spec)[0].wraps is not None]
        numbers = [each.administration.id for each in imported]
        failure = judged(plugins, store, numbers, later, quiet=as_json)
        _show(store, imported, plan, conditions, as_json=as_json)
    if failure is not None:
        raise failure
    _check_raters(imported)


class _Progress:
    """How many answers are rated, on a terminal."""

    def __init__(self, of: int) -> None:
        self._of, self._done = of, 0
        self._shown = on_terminal() and not is_quiet() and of >= 500

    def add(self, count: int) -> None:
        """Count answers that were rated."""
        self._done += count
        if self._shown and self._done % 100 == 0:
            renew_line(f"rated {self._done:,} of {self._of:,} answers")

    def close(self) -> None:
        """Remove the line."""
        if self._shown:
            renew_line()


def _show_plan(plan: ImportPlan, conditions: Sequence[Conditions], *, as_json: bool) -> None:
    if as_json:
        print_json({"format": 1, "imports": _documents(plan, conditions)})
        return
    for run, given in zip(plan.runs, conditions, strict=True):
        for line in planned_lines(run, given, SHOWN):
            click.echo(line)
    note("nothing was imported (--dry-run)")


def _documents(plan: ImportPlan, conditions: Sequence[Conditions]) -> list[dict[str, Any]]:
    return [_document(plan, run, given) for run, given in zip(plan.runs, conditions, strict=True)]


def _document(plan: ImportPlan, run: PlannedRun, given: Conditions) -> dict[str, Any]:
    return {
        "source": run.run.tool or plan.source.title,
        "examinee": given.examinee,
        "kind": given.kind,
        "origin": given.made_by,
        "decoding": given.drawn,
        "replicates": run.replicates,
        "answers": run.answers,
        "matched": dict(run.matched),
        "unmatched": len(plan.unmatched),
        "left_out": dict(plan.source.left_out),
        "repeated": list(run.repeated),
        "missing": list(run.missing),
        "missing_replicates": run.gaps,
    }


def _show(
    store: Store,
    imported: Sequence[Imported],
    plan: ImportPlan,
    conditions: Sequence[Conditions],
    *,
    as_json: bool,
) -> None:
    stored = [store.administration(each.administration.id) for each in imported]
    if as_json:
        print_json({**list_document(stored), "imports": _documents(plan, conditions)})
        return
    from tabwb.analysis.administrations import load_administrations
    from tabwb.analysis.statistics.summary import pool
    from tabwb.media.terminal import print_view
    from tabwb.media.views.administration import administration_view

    for administration in stored[:SHOWN]:
        data = load_administrations(store, [administration.id])[0]
        results = pool([data], interval=True)
        print_view(administration_view(administration, data.battery, results))
    if len(stored) > SHOWN:
        note(f"and {plural(len(stored) - SHOWN, 'administration')} more: tabwb results")


def _check_raters(imported: Sequence[Imported]) -> None:
    failed = [(each, rater) for each in imported for rater in each.failed]
    if failed:
        numbers = dict.fromkeys(each.administration.id for each, _ in failed)
        raise TabwbError(
            "\n".join(dict.fromkeys(str(rater) for _, rater in failed)),
            hint="every response is stored; after the cause is removed: "
            + "; ".join(f"tabwb trial rescore {number}" for number in numbers),
        )
