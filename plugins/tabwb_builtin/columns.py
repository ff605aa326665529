"""What exporters of tables share: their columns, notices, and the responses that count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Literal

from tabwb.host.settings import stated_parameters
from tabwb.lesion.declared import PARAMETERS, PERPLEXITY
from tabwb.lesion.spec import PARTS, role_of, spec_values
from tabwb.records.columns import DECLARED, condition_columns, participant_column
from tabwb.records.columns import Column as DeclaredColumn
from tabwb.records.declared_conditions import ColumnType
from tabwb.records.speakers import Column as Recorded
from tabwb.records.states import AdministrationStatus
from tabwb.records.words import RESEARCH_ONLY

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


def _number(key: str, kind: type[int] | type[float]) -> Callable[[Part], Any]:
    def value(administration: Part) -> Any:
        try:
            number = kind(_fact(key)(administration) or "")
        except ValueError:
            return None
        return number if isfinite(number) else None

    return value


def _role(administration: Part) -> Any:
    if administration["kind"] != "model":
        return None
    return role_of(administration["lesion"], administration.get("tags") or ())


def _of_lesion(name: str) -> Callable[[Part], Any]:
    return lambda administration: spec_values(administration["lesion"] or "").get(name)


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


def _of(scope: Scope, *columns: Column) -> tuple[Column, ...]:
    return tuple(replace(column, scope=scope) for column in columns)


def _declared(
    declared: DeclaredColumn | str, value: Callable[[Any], Any], *, required: bool = False
) -> Column:
    one = DECLARED[declared] if isinstance(declared, str) else declared
    return Column(
        one.name, one.type, one.meaning, value, one.unit, required=required, allowed=one.allowed
    )


def _conditions(*, sent: bool) -> Iterator[Column]:
    """Columns of the declared conditions."""
    for condition, declared in condition_columns():
        record, name = condition.place
        if sent and record:
            yield _declared(replace(declared, name=f"{record}_{name}"), _sent(name))
        elif not sent and not record:
            yield _declared(declared, _given(condition.id))


GIVEN = _of(
    "administration",
    _declared("administration", _given("uid"), required=True),
    _declared("id", _given("id"), required=True),
    _declared("battery", _given("battery"), required=True),
    _declared("battery_version", _given("battery_version"), required=True),
    _declared("battery_hash", _given("battery_hash"), required=True),
    _declared("examinee", _given("examinee"), required=True),
    _declared("kind", _given("kind"), required=True),
    Column("model", "text", "the model's spec; empty for a speaker", _given("model")),
    *_conditions(sent=False),
    _declared("session_date", _given("session_date")),
    _declared("created_at", _given("created_at"), required=True),
    Column("administration_title", "text", "given by people (tabwb tag)", _marked("title")),
    Column("administration_tags", "list of text", "given by people (tabwb tag)", _marked("tags")),
    Column("model_profile", "text", "name of the profile of the model", _label("profile")),
    _declared("model_family", _label("family")),
    _declared("model_tuning", _label("tuning")),
    _declared(
        "model_parameters",
        lambda administration: stated_parameters(administration.get("labels", {})),
    ),
    _declared("model_revision", _fact("revision")),
    _declared("model_weights_sha256", _fact("weights_sha256")),
    Column("model_dtype", "text", "number format of the weights", _fact("dtype")),
    Column("model_device", "text", "the device on which the model ran", _fact("device")),
    Column("model_template", "text", "the prompt template", _fact("template")),
    Column("model_template_sha256", "text", "of that template", _fact("template_sha256")),
    Column("model_torch", "text", "version of torch", _fact("torch")),
    Column("model_transformers", "text", "version of transformers", _fact("transformers")),
    _declared("lesion_role", _role),
    *(_declared(f"lesion_{name}", _of_lesion(name)) for name in PARTS),
    _declared(PARAMETERS, _number(PARAMETERS, int)),
    _declared(PERPLEXITY, _number(PERPLEXITY, float)),
    _declared("origin", _given("origin")),
    _declared("participant", lambda administration: administration["participant"] or None),
    Column(
        "administration_status",
        "text",
        "running, paused, done or discontinued",
        _given("status"),
        allowed=tuple(status.value for status in AdministrationStatus),
    ),
)
"""Columns of the administration."""


def of_participants(recorded: Sequence[Recorded]) -> tuple[Column, ...]:
    """Return the columns of what is recorded of participants."""
    return _of(
        "administration",
        *(_declared(participant_column(one), _of_record(one.name)) for one in recorded),
    )


def _of_record(name: str) -> Callable[[Part], Any]:
    return lambda administration: administration.get("speaker", {}).get(name)


ANSWERED = (
    *_conditions(sent=True),
    _declared("decoding_seed", _sent("seed")),
    _declared("trial_number", _trial("number"), required=True),
    _declared("subtest", _trial("subtest"), required=True),
    _declared("item", _trial("item"), required=True),
    _declared("replicate", _trial("replicate"), required=True),
    Column("practice", "boolean", "true: not counted", _trial("practice"), required=True),
    _declared("options", _trial("options")),
    _declared("expected", _trial("expected")),
    _declared("tags", _trial("tags")),
    Column("foils", "JSON", "the kind of each foil", _trial("foils")),
    Column(
        "foil",
        "text",
        "kind of the error under the policy extracted: a kind of foil, other-option, ambiguous or "
        "no-option; empty for a right answer and for other subtests",
        _trial("foil"),
    ),
    _declared("prompt", _trial("prompt")),
    _declared("system", _trial("system")),
    _declared("response", _trial("response")),
    _declared("reasoning", _trial("reasoning")),
    _declared("trial_status", _trial("status")),
    _declared("effective_status", _trial("effective_status")),
    _declared("usable", _trial("usable")),
    Column(
        "drawn",
        "boolean",
        "whether it was sampled, or a person's; if not, identical responses to an item count once",
        _trial("drawn"),
    ),
    _declared("stop_reason", _trial("stop_reason")),
    _declared("latency_s", _trial("latency_s")),
    _declared("response_attempt", _reply("attempt")),
    _declared("response_recorded_at", _reply("recorded_at")),
    _declared("response_protocol", _noted("protocol")),
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
    _declared("rater", _rating("rater")),
    _declared("measure", _rating("measure")),
    _declared("value", _rating("value")),
    _declared("rating_status", _rating("status")),
    _declared("rating_reason", _rating("reason")),
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
"""Every column, in order; those of participants follow the columns of the administration."""


class Notices:
    """Collects what is said of documents while they are written."""

    def __init__(self, *explanation: str) -> None:
        self._explanation = explanation
        self._heard: dict[str, None] = {RESEARCH_ONLY: None}

    def heard(self, documents: Iterable[Part]) -> Iterator[Part]:
        """Yield the documents again, after noting what is said of each."""
        for document in documents:
            self._heard.update(dict.fromkeys(document.get("notices", ())))
            yield document

    def notes(self) -> list[str]:
        """Return the program's purpose, the cautions, the explanation."""
        return [*self._heard, *self._explanation]


def documents_of(document: Part) -> Sequence[Part]:
    """Return the documents of administrations: itself, or those under ``documents``."""
    several = document.get("documents")
    return [document] if several is None else several


def answered(document: Part) -> Iterator[Part]:
    """Yield the trials whose responses count."""
    return (trial for trial in document["trials"] if trial["state"] == "answered")


def rated(trial: Part) -> list[Rated]:
    """Return the ratings of a trial with the calls of judges; one without any if it has none."""
    calls = {call["rater"]: call for call in trial.get("judgements", ()) if call["repeat"] == 0}
    if not trial["ratings"]:
        return [Rated({}, calls.get(None, {}))]
    return [Rated(rating, calls.get(rating["rater"], {})) for rating in trial["ratings"]]
