"""The table of administrations: one row for each, with every condition in its own column.

Column names are those of the exported table (``tabwb export --format csv``). What was sent with
each request can differ from what the run asked for; the exported table has the former.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tabwb.analysis.series import parameters_of, perplexity_of
from tabwb.lesion.facts import PARAMETERS, PERPLEXITY
from tabwb.lesion.values import PARTS, role_of, spec_values
from tabwb.plugin_api.config.profiles import stated_parameters
from tabwb.records.columns import condition_columns
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.tables.declared import shared, text, texts, whole
from tabwb.tables.table import RecordColumn, Table, column_of, records_table


def administrations_table(chosen: Iterable[AdministrationData]) -> Table:
    """Return one row for each administration."""
    return records_table("administrations", (*given_columns(), *STATE), chosen)


def given_columns() -> tuple[RecordColumn, ...]:
    """Return the columns of what was given to whom and how, which do not change afterwards."""
    return (*SUBJECT, *_conditions(), *MODEL, *LESION)


def _conditions() -> Iterator[RecordColumn]:
    for condition, declared in condition_columns():
        reported = _reported(condition)
        if condition.path.startswith("decoding.") and condition.field is not None:
            of_run = f"of the run: {condition.field.help.partition(';')[0]}"
            yield RecordColumn(column_of(replace(declared, meaning=of_run)), reported)
        else:
            yield RecordColumn(column_of(declared), reported)


def _reported(condition: Any) -> Callable[[AdministrationData], Any]:
    def value(data: AdministrationData) -> Any:
        conditions = data.administration.conditions
        if not condition.applies_to(conditions.kind):
            return None
        return condition.in_document(conditions)

    return value


def _record(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: getattr(data.administration, name)


def _condition(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: getattr(data.administration.conditions, name)


def _label(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: data.administration.conditions.labels.get(name)


def _fact(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: data.model_facts.get(name)


def _role(data: AdministrationData) -> str | None:
    given = data.administration.conditions
    return role_of(given.lesion, data.administration.tags) if given.kind == "model" else None


def _of_lesion(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: spec_values(data.administration.conditions.lesion or "").get(name)


SUBJECT = (
    shared("id", _record("id")),
    shared("administration", _record("uid")),
    shared("battery", _record("battery")),
    shared("battery_version", _record("battery_version")),
    shared("battery_hash", _record("battery_hash")),
    shared("examinee", _condition("examinee")),
    shared("kind", _condition("kind")),
    shared("origin", _condition("made_by")),
    shared("participant", _condition("study_id")),
    shared("created_at", _record("created_at")),
    shared("session_date", _record("session_date")),
)
MODEL = (
    shared("model_family", _label("family")),
    shared("model_tuning", _label("tuning")),
    shared("model_parameters", lambda data: stated_parameters(_condition("labels")(data))),
    shared("model_revision", _fact("revision")),
    shared("model_weights_sha256", _fact("weights_sha256")),
)
LESION = (
    shared("lesion_role", _role),
    *(shared(f"lesion_{name}", _of_lesion(name)) for name in PARTS),
    shared(PARAMETERS, parameters_of),
    shared(PERPLEXITY, lambda data: perplexity_of(data.model_facts)),
)
STATE = (
    text("status", "Status", "running, paused, done or discontinued",
         lambda data: data.administration.status.value),
    whole("planned", "Planned", "trials planned, practice not counted", _record("planned")),
    whole("answered", "Answered", "of these, answered", _record("answered")),
    text("title", "Title", "given by people", _record("title")),
    texts("tags", "Tags", "given by people", _record("tags")),
    texts("notes", "Notes", "on the administration", lambda data: data.notes),
)  # fmt: skip
