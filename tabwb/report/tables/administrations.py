"""The table of administrations: one row for each, with every condition in a column of its own.

Column names are those of the exported table (``tabwb export --format csv``). What was sent with
each request can differ from what the run asked for; the exported table has the former.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tabwb.plugin_api.config.profiles import stated_parameters
from tabwb.records.columns import condition_columns
from tabwb.report.summaries.load import AdministrationData
from tabwb.tables.table import Column, Table, column_of, records_table

Given = tuple[Column, Callable[[AdministrationData], Any]]
"""A column, and what it takes its value with."""


def administrations_table(chosen: Iterable[AdministrationData]) -> Table:
    """Return one row for each administration.

    Args:
        chosen: administrations; their responses are not needed.
    """
    return records_table("administrations", (*given_columns(), *STATE), chosen)


def given_columns() -> tuple[Given, ...]:
    """Return the columns of what was given to whom and how, which do not change afterwards."""
    return (*SUBJECT, *_conditions(), *MODEL)


def _conditions() -> Iterator[Given]:
    for condition, declared in condition_columns():
        if condition.path.startswith("decoding.") and condition.field is not None:
            of_run = f"of the run: {condition.field.help.partition(';')[0]}"
            yield column_of(replace(declared, meaning=of_run)), _reported(condition)
        else:
            yield column_of(declared), _reported(condition)


def _reported(condition: Any) -> Callable[[AdministrationData], Any]:
    def value(data: AdministrationData) -> Any:
        conditions = data.administration.conditions
        if not condition.applies_to(conditions.kind):
            return None
        return condition.in_document(conditions)

    return value


def _record(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: getattr(data.administration, name) or None


def _label(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: data.administration.conditions.labels.get(name)


def _fact(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: data.model_facts.get(name)


SUBJECT: tuple[Given, ...] = (
    (column_of("id"), _record("id")),
    (column_of("administration"), _record("uid")),
    (column_of("battery"), _record("battery")),
    (column_of("battery_version"), _record("battery_version")),
    (column_of("battery_hash"), _record("battery_hash")),
    (column_of("examinee"), lambda data: data.administration.conditions.examinee),
    (column_of("kind"), lambda data: data.administration.conditions.kind),
    (column_of("origin"), lambda data: data.administration.conditions.made_by),
    (column_of("participant"), lambda data: data.administration.conditions.study_id),
    (column_of("created_at"), _record("created_at")),
    (column_of("session_date"), _record("session_date")),
)
MODEL: tuple[Given, ...] = (
    (column_of("model_family"), _label("family")),
    (column_of("model_tuning"), _label("tuning")),
    (
        column_of("model_parameters"),
        lambda data: stated_parameters(data.administration.conditions.labels),
    ),
    (column_of("model_revision"), _fact("revision")),
    (column_of("model_weights_sha256"), _fact("weights_sha256")),
)
STATE: tuple[Given, ...] = (
    (
        Column("status", "Status", "running, paused, done or discontinued"),
        lambda data: data.administration.status.value,
    ),
    (
        Column("planned", "Planned", "trials planned, practice not counted", "integer"),
        lambda data: data.administration.planned,
    ),
    (
        Column("answered", "Answered", "of these, answered", "integer"),
        lambda data: data.administration.answered,
    ),
    (Column("title", "Title", "given by people"), _record("title")),
    (Column("tags", "Tags", "given by people", "list of text"), _record("tags")),
    (
        Column("notes", "Notes", "on the administration", "list of text"),
        lambda data: data.notes or None,
    ),
)
