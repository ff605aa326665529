"""Imports ratings that people gave elsewhere, as a rating set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tabwb.administer.answers.examinee import Stated
from tabwb.administer.rating.elsewhere.into_set import (
    LabelRequest,
    PreparedLabels,
    import_labels,
    prepare_labels,
)
from tabwb.cli.common import inform, note, open_store, print_json
from tabwb.host.plugins import Plugins
from tabwb.records.rating_sets import checked_counts


def import_file(plugins: Plugins, path: Path, options: Mapping[str, Any]) -> None:
    """Import the ratings of a file, as the options of ``tabwb import`` say."""
    request = LabelRequest(
        path,
        options["set_name"],
        options["form"],
        options["mapping"],
        Stated(options["model"], options["speaker"], options["origin"]),
        options["judges"],
        checked_counts(options["counts"]) if options["counts"] else None,
    )
    prepared = prepare_labels(plugins, request)
    inform(prepared.told)
    for what, count in prepared.labels.left_out.items():
        note(f"left out: {count:,} {what}")
    if options["dry_run"]:
        if options["as_json"]:
            print_json({"format": 1, "ratings": _document(prepared)})
        note("nothing was imported (--dry-run)")
        return
    with open_store(options["store_location"], plugins) as store:
        made = import_labels(store, plugins, prepared)
    if options["as_json"]:
        row = {"id": made.id, "uid": made.uid, "name": made.name, "form": made.form_id}
        print_json({"format": 1, "rating_set": row, "ratings": _document(prepared)})
        return
    click.echo(f"rating set {made.id} ({made.name}); see: tabwb agreement {made.name}")


def _document(prepared: PreparedLabels) -> dict[str, Any]:
    given = prepared.given
    return {
        "source": prepared.labels.title,
        "form": prepared.form.id,
        "raters": list(given.raters),
        "responses": len(given.responses),
        "ratings": len(given.ratings),
        "answers": given.answered,
        "settled": len(given.settled),
        "texts": len(prepared.labels.texts),
        "left_out": dict(prepared.labels.left_out),
    }
