"""The list of administrations as a table."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.records.condition_table import line_of
from tabwb.records.trials import Administration
from tabwb.report.summaries.counted import name_of
from tabwb.tables.table import Column, Table, records_table


def administrations_table(administrations: Sequence[Administration]) -> Table:
    """Return one row for each administration; :data:`COLUMNS` declares the columns."""
    return records_table("administrations", COLUMNS, administrations)


COLUMNS = (
    (Column("id", "ID", "its number in the store", "integer"), lambda one: one.id),
    (Column("uid", "UID", "its identifier in every store"), lambda one: one.uid),
    (Column("battery", "Battery", "the battery's id"), lambda one: one.battery),
    (
        Column("battery_version", "Version", "the battery's version"),
        lambda one: one.battery_version,
    ),
    (
        Column("examinee", "Examinee", "the model's spec with its lesion, or the study ID"),
        lambda one: name_of(one.conditions),
    ),
    (
        Column("answered", "Answered", "trials with a response that counts", "integer"),
        lambda one: one.answered,
    ),
    (
        Column("planned", "Planned", "planned trials without practice", "integer"),
        lambda one: one.planned,
    ),
    (
        Column("status", "Status", "running, interrupted, paused, done or discontinued"),
        lambda one: one.status_word,
    ),
    (Column("title", "Title", "given by people"), lambda one: one.title or None),
    (Column("tags", "Tags", "given by people"), lambda one: ", ".join(one.tags) or None),
    (
        Column("conditions", "Conditions", "how it was given"),
        lambda one: ", ".join(line_of(one.conditions).values()),
    ),
    (
        Column("notes", "Notes", "on the administration as a whole"),
        lambda one: " | ".join(one.notes) or None,
    ),
    (Column("given", "Given (UTC)", "when responses were given"), lambda one: one.given_at),
)
"""The columns, each with the function that takes its value from an administration."""
