"""The columns of administrations, responses and ratings: name, title, meaning, type and unit.

Exported files, their descriptions, the tables of the Python interface and the data dictionary take
them from here. Column names are stable: new ones are added, old ones keep their name and meaning.
A missing value is an empty cell of a file, and missing in a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabwb.records import declared_conditions
from tabwb.records.declared_conditions import ColumnType, Condition
from tabwb.records.states import RatingStatus, ResponseStatus, StopReason


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """What a column is, in every table."""

    name: str
    title: str
    meaning: str
    type: ColumnType = "text"
    unit: str = ""
    allowed: tuple[str, ...] = ()


_STATUSES = tuple(status.value for status in ResponseStatus)

_COLUMNS = (
    DeclaredColumn("id", "Id", "its number in the store", "integer"),
    DeclaredColumn("administration", "Uid", "the administration's uid"),
    DeclaredColumn("battery", "Battery", "the battery's id"),
    DeclaredColumn("battery_version", "Version", "the battery's version"),
    DeclaredColumn("battery_hash", "Hash", "SHA-256 of the battery's content"),
    DeclaredColumn("examinee", "Examinee", "the model's spec, or the speaker's participant code"),
    DeclaredColumn("kind", "Kind", "model or speaker", allowed=("model", "speaker")),
    DeclaredColumn(
        "origin",
        "Origin",
        "who made the responses: human, model or unknown",
        allowed=("human", "model", "unknown"),
    ),
    DeclaredColumn(
        "participant",
        "Participant",
        "participant code of the person who made the responses; none for a model",
    ),
    DeclaredColumn("created_at", "Created", "when the run began, ISO 8601, UTC"),
    DeclaredColumn(
        "session_date", "Day", "the day of the responses, ISO 8601; none if it is not known"
    ),
    DeclaredColumn("model_family", "Family", "from the model's profile"),
    DeclaredColumn("model_tuning", "Tuning", "from the model's profile"),
    DeclaredColumn(
        "model_parameters",
        "Parameters",
        "number of parameters, from the model's profile",
        "integer",
    ),
    DeclaredColumn("model_revision", "Revision", "of the model's repository"),
    DeclaredColumn("model_weights_sha256", "Weights", "SHA-256 of the model's weights"),
    DeclaredColumn(
        "lesion_role",
        "Role",
        "of a model in a lesion study: controls have the tag control, a layer control takes "
        "weights in the lesion's layers alone; intact has no lesion",
        allowed=("intact", "lesion", "control", "layer control"),
    ),
    DeclaredColumn("lesion_target", "Target", "what is lesioned; of joined lesions all targets"),
    DeclaredColumn("lesion_operation", "Operation", "what is done to the units"),
    DeclaredColumn("lesion_amount", "Amount", "the share of units that is taken", "number"),
    DeclaredColumn("lesion_factor", "Factor", "by which the units are multiplied", "number"),
    DeclaredColumn(
        "lesion_sigma", "Sigma", "of noise, in standard deviations of the tensor", "number"
    ),
    DeclaredColumn("lesion_bits", "Bits", "to which weights are rounded", "number", "bits"),
    DeclaredColumn(
        "lesion_layers", "Layers", "in which layers; all where the lesion's spec names none"
    ),
    DeclaredColumn("lesion_seed", "Seed", "of the choice of units, of noise and orders", "integer"),
    DeclaredColumn(
        "lesion_kind", "Kind", "the lesion's spec with * for the amount and without the seed"
    ),
    DeclaredColumn(
        "lesion_parameters", "Parameters", "how many parameters the lesion takes", "integer"
    ),
    DeclaredColumn(
        "lesion_perplexity",
        "Perplexity",
        "of a fixed text, where it was measured",
        "number",
        "tokens",
    ),
    DeclaredColumn("trial_number", "Trial", "position in the administration, from 1", "integer"),
    DeclaredColumn("subtest", "Subtest", "the subtest's id"),
    DeclaredColumn("item", "Item", "the item's id"),
    DeclaredColumn("replicate", "Replicate", "from 0", "integer"),
    DeclaredColumn("options", "Options", "in the order shown", "list of text"),
    DeclaredColumn("expected", "Expected", "the right answer, if there is one"),
    DeclaredColumn("tags", "Tags", "the item's tags", "list of text"),
    DeclaredColumn("prompt", "Prompt", "the user message, exactly as sent"),
    DeclaredColumn("system", "System", "the system message that was sent; empty without one"),
    DeclaredColumn(
        "response", "Response", "unaltered, without what the model wrote in its thinking"
    ),
    DeclaredColumn(
        "reasoning",
        "Reasoning",
        "what the model wrote in its thinking; part of no score and of no judgement",
    ),
    DeclaredColumn("words", "Words", "words of the response", "integer", "words"),
    DeclaredColumn(
        "trial_status",
        "Stored status",
        "the status of the response (ok, empty, truncated ...), as stored",
        allowed=_STATUSES,
    ),
    DeclaredColumn(
        "effective_status",
        "Status",
        "the status under which it counts: the stored one, or repeated-answer if the same text "
        "answers three or more prompts; features of an unusable response are undefined, "
        "whatever a rating says",
        allowed=_STATUSES,
    ),
    DeclaredColumn("usable", "Usable", "whether its features count", "boolean"),
    DeclaredColumn(
        "stop_reason",
        "Stop",
        "end, length, stop-string, refused, or none for a person",
        allowed=tuple(reason.value for reason in StopReason),
    ),
    DeclaredColumn("latency_s", "Latency", "from request to end", "number", "seconds"),
    DeclaredColumn(
        "response_attempt", "Attempt", "number of the attempt that counts, from 1", "integer"
    ),
    DeclaredColumn("response_recorded_at", "Recorded", "ISO 8601, UTC"),
    DeclaredColumn(
        "response_protocol", "Obtained", "how this response was obtained, where it is noted"
    ),
    DeclaredColumn(
        "decoding_seed",
        "Seed of the draw",
        "this response's own seed, as sent; none if nothing was sampled, if it was not sent, and "
        "for responses of versions that stored none",
        "integer",
    ),
    DeclaredColumn("rater", "Rater", "a scorer, a judge, or a person"),
    DeclaredColumn("measure", "Measure", "the measure that was rated"),
    DeclaredColumn("value", "Value", "of the rating; none: see rating_status", "number"),
    DeclaredColumn(
        "rating_status",
        "Status",
        "value, undefined, unparsed or error",
        allowed=tuple(status.value for status in RatingStatus),
    ),
    DeclaredColumn("rating_reason", "Reason", "the reason of the value, or of its absence"),
)
DECLARED = {column.name: column for column in _COLUMNS}
"""The columns by name; those of conditions are in :func:`condition_columns`."""


def condition_columns() -> Iterator[tuple[Condition, DeclaredColumn]]:
    """Yield the conditions that have a column, each with it."""
    for condition in declared_conditions.CONDITIONS:
        if condition.column is not None:
            yield (
                condition,
                DeclaredColumn(
                    condition.id,
                    condition.name.capitalize(),
                    condition.column.meaning,
                    condition.kind.column,
                    condition.column.unit,
                ),
            )
