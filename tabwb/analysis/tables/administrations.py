"""Tables of administrations: one row for each, in short, or with every condition in its column.

Column names are those of the exported table (``tabwb export --format csv``). What was sent with
each request can differ from what the run asked for; the exported table has the former.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from tabwb.analysis.administrations import AdministrationData, name_of
from tabwb.analysis.series import parameters_of, perplexity_of
from tabwb.analysis.tables.declared import number, shared, text, texts, whole
from tabwb.battery.task_type import current_study
from tabwb.host.settings import stated_parameters
from tabwb.lesion.declared import PARAMETERS, PERPLEXITY
from tabwb.lesion.spec import PARTS, role_of, spec_values
from tabwb.records.columns import condition_columns, participant_column
from tabwb.records.conditions import line_of
from tabwb.records.trials import Administration
from tabwb.tables.table import RecordColumn, Table, records_table


def administrations_table(chosen: Iterable[AdministrationData]) -> Table:
    """Return one row for each administration."""
    chosen = tuple(chosen)
    return records_table("administrations", (*given_columns(chosen), *STATE), chosen)


def listing_table(administrations: Iterable[Administration]) -> Table:
    """Return the list of administrations as people read it: ``tabwb results`` without an id."""
    return records_table("administrations", LISTED, administrations)


def judgements_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row for each judge and administration, with what judging took."""
    return records_table("judging", JUDGED, rows)


def given_columns(chosen: Iterable[AdministrationData] = ()) -> tuple[RecordColumn, ...]:
    """Return the columns of what was given to whom and how, which do not change afterwards.

    Also those that the records of participants have, as they are now.
    """
    recorded = current_study().columns_in(data.speaker for data in chosen if data.speaker)
    people = (RecordColumn(participant_column(one), _recorded(one.name)) for one in recorded)
    return (*SUBJECT, *people, *_conditions(), *MODEL, *LESION)


def _recorded(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: data.speaker.get(name)


def _conditions() -> Iterator[RecordColumn]:
    for condition, declared in condition_columns():
        reported = _reported(condition)
        if condition.path.startswith("decoding.") and condition.field is not None:
            of_run = f"of the run: {condition.field.help.partition(';')[0]}"
            yield RecordColumn(replace(declared, meaning=of_run), reported)
        else:
            yield RecordColumn(declared, reported)


def _reported(condition: Any) -> Callable[[AdministrationData], Any]:
    def value(data: AdministrationData) -> Any:
        conditions = data.administration.conditions
        if not condition.applies_to(conditions.kind):
            return None
        return condition.in_document(conditions)

    return value


def _label(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: data.administration.conditions.labels.get(name)


def _fact(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: data.model_facts.get(name)


def _role(data: AdministrationData) -> str | None:
    given = data.administration.conditions
    return role_of(given.lesion, data.administration.tags) if given.kind == "model" else None


def _of_lesion(name: str) -> Callable[[AdministrationData], Any]:
    return lambda data: spec_values(data.administration.conditions.lesion or "").get(name)


_CONDITIONS = "administration.conditions"
SUBJECT = (
    shared("id", "administration.id"),
    shared("administration", "administration.uid"),
    shared("battery", "administration.battery"),
    shared("battery_version", "administration.battery_version"),
    shared("battery_hash", "administration.battery_hash"),
    shared("examinee", f"{_CONDITIONS}.examinee"),
    shared("kind", f"{_CONDITIONS}.kind"),
    shared("origin", f"{_CONDITIONS}.made_by"),
    shared("participant", f"{_CONDITIONS}.study_id"),
    shared("created_at", "administration.created_at"),
    shared("session_date", "administration.session_date"),
)
MODEL = (
    shared("model_family", _label("family")),
    shared("model_tuning", _label("tuning")),
    shared("model_parameters",
           lambda data: stated_parameters(data.administration.conditions.labels)),
    shared("model_revision", _fact("revision")),
    shared("model_weights_sha256", _fact("weights_sha256")),
)  # fmt: skip
LESION = (
    shared("lesion_role", _role),
    *(shared(f"lesion_{name}", _of_lesion(name)) for name in PARTS),
    shared(PARAMETERS, parameters_of),
    shared(PERPLEXITY, lambda data: perplexity_of(data.model_facts)),
)
STATE = (
    text("status", "Status", "running, paused, done or discontinued",
         "administration.status.value"),
    whole("planned", "Planned", "trials planned, practice not counted", "administration.planned"),
    whole("answered", "Answered", "of these, answered", "administration.answered"),
    text("title", "Title", "given by people", "administration.title"),
    texts("tags", "Tags", "given by people", "administration.tags"),
    texts("notes", "Notes", "on the administration"),
)  # fmt: skip
LISTED = (
    whole("id", "ID", "its number in the store"),
    text("uid", "UID", "its identifier in every store"),
    text("battery", "Battery", "the battery's id"),
    text("battery_version", "Version", "the battery's version"),
    text("examinee", "Examinee", "the model's spec with its lesion, or the study ID",
         lambda one: name_of(one.conditions)),
    whole("answered", "Answered", "trials with a response that counts"),
    whole("planned", "Planned", "planned trials without practice"),
    text("status", "Status", "running, interrupted, paused, done or discontinued", "status_word"),
    text("title", "Title", "given by people"),
    text("tags", "Tags", "given by people", lambda one: ", ".join(one.tags)),
    text("conditions", "Conditions", "how it was given",
         lambda one: ", ".join(line_of(one.conditions).values())),
    text("notes", "Notes", "on the administration as a whole", lambda one: " | ".join(one.notes)),
    text("given", "Given (UTC)", "when responses were given", "given_at"),
)  # fmt: skip
"""The columns of :func:`listing_table`."""
JUDGED = (
    whole("id", "Id", "the administration's number", itemgetter("administration")),
    text("rater", "Rater", "the judge's stored name", itemgetter("rater")),
    whole("judged", "Judged", "judgements recorded", itemgetter("judged")),
    whole("from_store", "From the store", "of these, without a request",
          itemgetter("from_store")),
    whole("unparsed", "Unparsed", "of these, with a reply that cannot be read",
          itemgetter("unparsed")),
    whole("requests", "Requests", "sent", itemgetter("requests")),
    number("cost", "Cost", "missing where the price is unknown", itemgetter("cost"),
           unit="US dollars", digits=None),
)  # fmt: skip
"""The columns of :func:`judgements_table`."""
