"""The table of administrations: one row for each, with every condition in a column of its own.

Column names are those of the exported table (``tabwb export --format csv``). What was sent with
each request can differ from what the run asked for; the exported table has the former.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tabwb.records.conditions import CONDITIONS
from tabwb.report.summaries.load import AdministrationData
from tabwb.tables.table import Column, Table, records_table

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
    for condition in CONDITIONS:
        if condition.column is None:
            continue
        meaning, unit = condition.column.meaning, condition.column.unit
        if condition.path.startswith("decoding.") and condition.field is not None:
            meaning = f"of the run: {condition.field.help.partition(';')[0]}"
        column = Column(
            condition.id, condition.name.capitalize(), meaning, condition.kind.column, unit
        )
        yield column, _reported(condition)


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


def _parameters(data: AdministrationData) -> int | None:
    text = data.administration.conditions.labels.get("parameters")
    return int(text) if text and text.isdecimal() else None


def _fact(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: data.model_facts.get(name)


SUBJECT: tuple[Given, ...] = (
    (Column("id", "Id", "its number in the store", "integer"), _record("id")),
    (Column("administration", "Uid", "the administration's uid"), _record("uid")),
    (Column("battery", "Battery", "the battery's id"), _record("battery")),
    (Column("battery_version", "Version", "the battery's version"), _record("battery_version")),
    (
        Column("battery_hash", "Hash", "SHA-256 of the battery's content"),
        _record("battery_hash"),
    ),
    (
        Column("examinee", "Examinee", "the model's spec, or the speaker's participant code"),
        lambda data: data.administration.conditions.examinee,
    ),
    (
        Column("kind", "Kind", "model or speaker"),
        lambda data: data.administration.conditions.kind,
    ),
    (
        Column("origin", "Origin", "who made the responses: model, human or unknown"),
        lambda data: data.administration.conditions.made_by,
    ),
    (
        Column("participant", "Participant", "the participant code; missing for a model"),
        lambda data: data.administration.conditions.study_id,
    ),
    (
        Column("created_at", "Created", "when the run began, ISO 8601, UTC"),
        _record("created_at"),
    ),
    (
        Column("session_date", "Day", "the day of the responses, ISO 8601; missing if not known"),
        _record("session_date"),
    ),
)
MODEL: tuple[Given, ...] = (
    (Column("model_family", "Family", "from the model's profile"), _label("family")),
    (Column("model_tuning", "Tuning", "from the model's profile"), _label("tuning")),
    (
        Column("model_parameters", "Parameters", "from the model's profile", "integer"),
        _parameters,
    ),
    (Column("model_revision", "Revision", "of the model's repository"), _fact("revision")),
    (
        Column("model_weights_sha256", "Weights", "SHA-256 of the model's weights"),
        _fact("weights_sha256"),
    ),
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
