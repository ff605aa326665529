"""The list of administrations as people read it: ``tabwb results`` without an administration."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.records.condition_table import line_of
from tabwb.records.trials import Administration
from tabwb.report.summaries.counted import name_of
from tabwb.report.tables.declared import text, whole
from tabwb.tables.table import Table, records_table


def listing_table(administrations: Sequence[Administration]) -> Table:
    """Return one row for each administration; :data:`COLUMNS` declares the columns."""
    return records_table("administrations", COLUMNS, administrations)


COLUMNS = (
    whole("id", "ID", "its number in the store", lambda one: one.id),
    text("uid", "UID", "its identifier in every store", lambda one: one.uid),
    text("battery", "Battery", "the battery's id", lambda one: one.battery),
    text("battery_version", "Version", "the battery's version", lambda one: one.battery_version),
    text("examinee", "Examinee", "the model's spec with its lesion, or the study ID",
         lambda one: name_of(one.conditions)),
    whole("answered", "Answered", "trials with a response that counts", lambda one: one.answered),
    whole("planned", "Planned", "planned trials without practice", lambda one: one.planned),
    text("status", "Status", "running, interrupted, paused, done or discontinued",
         lambda one: one.status_word),
    text("title", "Title", "given by people", lambda one: one.title),
    text("tags", "Tags", "given by people", lambda one: ", ".join(one.tags)),
    text("conditions", "Conditions", "how it was given",
         lambda one: ", ".join(line_of(one.conditions).values())),
    text("notes", "Notes", "on the administration as a whole", lambda one: " | ".join(one.notes)),
    text("given", "Given (UTC)", "when responses were given", lambda one: one.given_at),
)  # fmt: skip
"""The columns, each with the function that takes its value from an administration."""
