"""Tables of rating sets: what there is, and how far raters are."""

from __future__ import annotations

from dataclasses import astuple

from tabwb.records.rating_sets import RatingSet
from tabwb.report.rating_progress import progress_of
from tabwb.store.store import Store
from tabwb.tables.table import Column, Table, table_of

_SETS = (
    Column("rating_set", "Set", "name of the rating set"),
    Column("rating_set_uid", "Uid", "its uid"),
    Column("form", "Form", "id of the form"),
    Column("raters", "Raters", "codes of who rates"),
    Column("status", "Status", "open or closed"),
    Column("counts", "Counts", "whose ratings count"),
    Column("done", "Done", "complete ratings, repeats and calibration included", "integer"),
    Column("assigned", "Assigned", "ratings planned", "integer"),
    Column("created_at", "Created", "when it was planned, ISO 8601, UTC"),
)
_PROGRESS = (
    Column("rater", "Rater", "code of the person"),
    Column("done", "Done", "complete samples, repeats and calibration included", "integer"),
    Column("assigned", "Assigned", "samples planned for this rater", "integer"),
    Column("begun", "Begun", "samples that are half-filled or opened again", "integer"),
    Column("minutes", "Minutes", "spent in all", "number", "minutes", 1),
    Column("median_seconds", "s/sample", "median time of a sample", "number", "seconds", 1),
    Column(
        "flagged",
        "Flagged",
        "complete samples confirmed without an answer or in less time than the form's minimum",
        "integer",
    ),
    Column("last", "Last", "when something was saved last, ISO 8601, UTC"),
)
_ASSIGNMENTS = (
    Column("rater", "Rater", "code of the person"),
    Column("position", "Position", "in the order of this rater, from 1", "integer"),
    Column("sample", "Sample", "its number in the set", "integer"),
    Column("purpose", "Purpose", "rate, again or calibration"),
    Column("complete", "Complete", "it is rated", "boolean"),
    Column("stratum", "Stratum", "of the sampling"),
    Column("weight", "Weight", "how many responses the sample stands for", "number", "responses"),
    Column("prompt", "Prompt", "what was asked, as the rater sees it"),
    Column("text", "Text", "the response as the rater sees it"),
)


def sets_table(store: Store) -> Table:
    """Return one row for each rating set of a store, oldest first."""
    rows = []
    for kept in store.sets.all():
        progress = list(progress_of(store, kept))
        done, assigned = (
            sum(getattr(one, name) for one in progress) for name in ("done", "assigned")
        )
        rows.append(
            (
                kept.name, kept.uid, kept.form_id, ", ".join(kept.raters), kept.status, kept.counts,
                done, assigned, kept.created_at,
            )
        )  # fmt: skip
    return table_of("rating-sets", _SETS, rows)


def progress_table(store: Store, kept: RatingSet) -> Table:
    """Return one row for each rater of a set."""
    rows = [astuple(one) for one in progress_of(store, kept)]
    return table_of("progress", _PROGRESS, rows, (f"How far the raters of '{kept.name}' are.",))


def assignments_table(store: Store, kept: RatingSet) -> Table:
    """Return one row for each sample of each rater, in the rater's order."""
    samples = {sample.number: sample for sample in store.sets.samples(kept.id)}
    complete = {(one.rater, one.position) for one in store.sets.ratings(kept.id)}
    rows = []
    for one in store.sets.assignments(kept.id):
        sample = samples[one.sample]
        rows.append(
            (
                one.rater, one.position, one.sample, one.purpose,
                (one.rater, one.position) in complete, sample.stratum or None, sample.weight,
                sample.prompt or None, sample.text or None,
            )
        )  # fmt: skip
    return table_of("assignments", _ASSIGNMENTS, rows, (f"Who rates what in '{kept.name}'.",))
