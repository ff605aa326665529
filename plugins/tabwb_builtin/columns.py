"""The columns of the long table (CSV, Parquet): declared once, with type, unit and meaning.

Column names are stable: new ones are added, old ones keep their name and meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tabwb.records.condition import ColumnType
from tabwb.records.conditions import CONDITIONS
from tabwb.records.states import AdministrationStatus, RatingStatus, ResponseStatus, StopReason

Type = ColumnType | Literal["JSON", "list of JSON"]
Scope = Literal["administration", "trial", "rating"]
Part = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: stable.
        type: of its values; an empty cell (a null) has no value.
        meaning: for people.
        value: reads it from that part of the document to which the column belongs: an
            administration, a trial, or a rating with the call of its judge.
        unit: of a number, or empty.
        scope: to which part it belongs.
        required: whether every row has a value.
        allowed: the values that there can be; empty: any.
    """

    name: str
    type: Type
    meaning: str
    value: Callable[[Any], Any]
    unit: str = ""
    scope: Scope = "trial"
    required: bool = False
    allowed: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """Name, type, unit and meaning in one line."""
        unit = f", {self.unit}" if self.unit else ""
        return f"{self.name} ({self.type}{unit}): {self.meaning}"


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating, and the call of a judge that it comes from; both empty where there is none."""

    rating: Part
    call: Part


def noted(trial: Part) -> Part:
    """Return the metadata of the attempt that counts."""
    ok = [attempt for attempt in trial["attempts"] if attempt["state"] == "ok"]
    metadata: Part = ok[-1]["metadata"] if ok else {}
    return metadata


def _given(key: str) -> Callable[[Part], Any]:
    return lambda administration: administration[key]


def _label(key: str) -> Callable[[Part], Any]:
    return lambda administration: administration.get("labels", {}).get(key)


def _marked(key: str) -> Callable[[Part], Any]:
    return lambda administration: administration.get(key) or None


def _fact(key: str) -> Callable[[Part], Any]:
    return lambda administration: administration.get("model_facts", {}).get(key)


def _trial(key: str) -> Callable[[Part], Any]:
    return lambda trial: trial.get(key)


def _reply(key: str) -> Callable[[Part], Any]:
    return lambda trial: (trial.get("reply") or {}).get(key)


def _sent(key: str) -> Callable[[Part], Any]:
    return lambda trial: ((trial.get("reply") or {}).get("decoding") or {}).get(key)


def _noted(key: str) -> Callable[[Part], Any]:
    return lambda trial: noted(trial).get(key)


def _rating(key: str) -> Callable[[Rated], Any]:
    return lambda rated: rated.rating.get(key)


def _judgement(key: str) -> Callable[[Rated], Any]:
    return lambda rated: rated.call.get(key)


_SCALES = {"": 1, "K": 1_000, "M": 1_000_000, "B": 1_000_000_000}
_COUNT = re.compile(r"(\d+(?:\.\d+)?) ?([KMB]?)", re.IGNORECASE)


def _whole(text: str | None) -> int | None:
    """Return a number of parameters; labels are text, and older profiles took any.

    >>> _whole("124439808"), _whole("1.2B"), _whole("many")
    (124439808, 1200000000, None)
    """
    found = _COUNT.fullmatch(text or "")
    return None if found is None else round(float(found[1]) * _SCALES[found[2].upper()])


def _of(scope: Scope, *columns: Column) -> tuple[Column, ...]:
    return tuple(replace(column, scope=scope) for column in columns)


def _conditions(*, sent: bool) -> Iterator[Column]:
    """Columns of the declared conditions.

    Args:
        sent: those sent with each request (``decoding_temperature``), or those of the whole run.
    """
    for condition in CONDITIONS:
        column, (record, name) = condition.column, condition.place
        if column is not None and bool(record) is sent:
            yield Column(
                f"{record}_{name}" if sent else condition.id,
                condition.kind.column,
                column.meaning,
                _sent(name) if sent else _given(condition.id),
                column.unit,
            )


RESPONSE_STATUSES = tuple(status.value for status in ResponseStatus)

GIVEN = _of(
    "administration",
    Column("administration", "text", "the administration's uid", _given("uid"), required=True),
    Column("id", "integer", "its number in the store", _given("id"), required=True),
    Column("battery", "text", "the battery's id", _given("battery"), required=True),
    Column(
        "battery_version", "text", "the battery's version", _given("battery_version"), required=True
    ),
    Column(
        "battery_hash",
        "text",
        "SHA-256 of the battery's content",
        _given("battery_hash"),
        required=True,
    ),
    Column(
        "examinee",
        "text",
        "the model's spec, or the speaker's participant code",
        _given("examinee"),
        required=True,
    ),
    Column(
        "kind",
        "text",
        "model or speaker",
        _given("kind"),
        required=True,
        allowed=("model", "speaker"),
    ),
    Column("model", "text", "the model's spec; empty for a speaker", _given("model")),
    *_conditions(sent=False),
    Column(
        "session_date",
        "text",
        "the day of the responses, ISO 8601; empty if not known",
        _given("session_date"),
    ),
    Column(
        "created_at",
        "text",
        "when the run began, ISO 8601, UTC",
        _given("created_at"),
        required=True,
    ),
    Column("administration_title", "text", "given by people (tabwb tag)", _marked("title")),
    Column("administration_tags", "list of text", "given by people (tabwb tag)", _marked("tags")),
    Column("model_profile", "text", "name of the profile of the model", _label("profile")),
    Column("model_family", "text", "from the model's profile", _label("family")),
    Column("model_tuning", "text", "from the model's profile", _label("tuning")),
    Column(
        "model_parameters",
        "integer",
        "number of parameters, from the model's profile",
        lambda administration: _whole(_label("parameters")(administration)),
    ),
    Column("model_revision", "text", "of the model's repository", _fact("revision")),
    Column("model_weights_sha256", "text", "of the model's weights", _fact("weights_sha256")),
    Column("model_dtype", "text", "number format of the weights", _fact("dtype")),
    Column("model_device", "text", "the device on which the model ran", _fact("device")),
    Column("model_template", "text", "the prompt template", _fact("template")),
    Column("model_template_sha256", "text", "of that template", _fact("template_sha256")),
    Column("model_torch", "text", "version of torch", _fact("torch")),
    Column("model_transformers", "text", "version of transformers", _fact("transformers")),
    Column(
        "origin",
        "text",
        "who made the responses: human, model or unknown",
        _given("origin"),
        allowed=("human", "model", "unknown"),
    ),
    Column(
        "participant",
        "text",
        "participant code of the person who made them; empty for a model",
        lambda administration: administration["participant"] or None,
    ),
    Column(
        "administration_status",
        "text",
        "running, paused, done or discontinued",
        _given("status"),
        allowed=tuple(status.value for status in AdministrationStatus),
    ),
)
"""Columns of the administration."""

ANSWERED = (
    *_conditions(sent=True),
    Column(
        "decoding_seed",
        "integer",
        "this response's own seed, as sent; empty if nothing was sampled, if it was not sent, "
        "and for responses of versions that stored none",
        _sent("seed"),
    ),
    Column(
        "trial_number",
        "integer",
        "position in the administration, from 1",
        _trial("number"),
        required=True,
    ),
    Column("subtest", "text", "the subtest's id", _trial("subtest"), required=True),
    Column("item", "text", "the item's id", _trial("item"), required=True),
    Column("replicate", "integer", "from 0", _trial("replicate"), required=True),
    Column("practice", "boolean", "true: not counted", _trial("practice"), required=True),
    Column("options", "list of text", "in the order shown", _trial("options")),
    Column("expected", "text", "the right answer, if there is one", _trial("expected")),
    Column("tags", "list of text", "the item's tags", _trial("tags")),
    Column("foils", "JSON", "the kind of each foil", _trial("foils")),
    Column(
        "foil",
        "text",
        "kind of the error under the policy extracted: a kind of foil, other-option, ambiguous or "
        "no-option; empty for a right answer and for other subtests",
        _trial("foil"),
    ),
    Column("prompt", "text", "the user message, exactly as sent", _trial("prompt")),
    Column("response", "text", "unaltered", _trial("response")),
    Column(
        "trial_status",
        "text",
        "the status of the response (ok, empty, truncated ...), as stored",
        _trial("status"),
        allowed=RESPONSE_STATUSES,
    ),
    Column(
        "effective_status",
        "text",
        "the status under which it counts: the stored one, or repeated-answer if the same text "
        "answers three or more prompts; features of an unusable response are undefined, "
        "whatever a rating says",
        _trial("effective_status"),
        allowed=RESPONSE_STATUSES,
    ),
    Column("usable", "boolean", "whether its features count", _trial("usable")),
    Column(
        "drawn",
        "boolean",
        "whether it was sampled, or a person's; if not, identical responses to an item count once",
        _trial("drawn"),
    ),
    Column(
        "stop_reason",
        "text",
        "end, length, stop-string, refused, or none for a person",
        _trial("stop_reason"),
        allowed=tuple(reason.value for reason in StopReason),
    ),
    Column("latency_s", "number", "from request to end", _trial("latency_s"), "seconds"),
    Column(
        "response_attempt",
        "integer",
        "number of the attempt that counts, from 1",
        _reply("attempt"),
    ),
    Column("response_recorded_at", "text", "ISO 8601, UTC", _reply("recorded_at")),
    Column("response_protocol", "text", "how this response was obtained", _noted("protocol")),
    Column("response_prompt_tokens", "integer", "of the prompt", _reply("prompt_tokens"), "tokens"),
    Column(
        "response_reply_tokens",
        "integer",
        "of the reply, reasoning included",
        _reply("reply_tokens"),
        "tokens",
    ),
    Column(
        "response_reasoning_tokens",
        "integer",
        "of these, reasoning; empty if not counted",
        _reply("reasoning_tokens"),
        "tokens",
    ),
    Column(
        "response_batch_exact",
        "text",
        "no: near tie; the text may depend on batch size or device",
        _noted("batch_exact"),
    ),
    Column(
        "response_model_version",
        "text",
        "the model that answered, as the service names it",
        _reply("model_version"),
    ),
    Column(
        "response_finish_reason",
        "text",
        "why the reply ended, as the service names it",
        _reply("finish_reason"),
    ),
    Column("response_cause", "text", "why there is no text, if known", _reply("cause")),
    Column(
        "option_log_probabilities",
        "JSON",
        "the log probability of each option, summed over its tokens; protocol likelihood",
        _reply("option_log_probabilities"),
        "nats",
    ),
)
"""Columns of the trial and the response that counts."""

RATED = _of(
    "rating",
    Column("rater", "text", "the rater: a scorer, a judge, or a person", _rating("rater")),
    Column("measure", "text", "the measure that was rated", _rating("measure")),
    Column("value", "number", "of the rating; empty: see rating_status", _rating("value")),
    Column(
        "rating_status",
        "text",
        "value, undefined, unparsed or error",
        _rating("status"),
        allowed=tuple(status.value for status in RatingStatus),
    ),
    Column(
        "rating_reason", "text", "the reason of the value, or of its absence", _rating("reason")
    ),
    Column(
        "judge_repaired",
        "boolean",
        "the judge's reply was readable only after a second request",
        _judgement("repaired"),
    ),
    Column(
        "judge_structured",
        "boolean",
        "the service restricted the judge to a schema",
        _judgement("structured"),
    ),
    Column("judge_prompt_sha256", "text", "of the judge's prompt", _judgement("prompt_sha256")),
)
"""Columns of the rating."""

TABLE: tuple[Column, ...] = (*GIVEN, *ANSWERED, *RATED)
"""Every column, in order."""

COLUMNS = tuple(column.name for column in TABLE)
