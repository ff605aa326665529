"""What administrations and responses are grouped and chosen by: one declaration for each key.

Every condition of :data:`tabwb.records.declared_conditions.CONDITIONS` is a key by itself. The
command line, the Python API, documents and figures read these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tabwb.analysis.administrations import name_of, spec_of
from tabwb.records import declared_conditions
from tabwb.records.condition import MODEL as MODELS
from tabwb.records.condition import Condition
from tabwb.records.condition_kinds import Real, Switch, Whole
from tabwb.records.conditions import DOSE, DOSE_NAME, PARENT, Conditions
from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean, separated
from tabwb.report.key import Key, Value
from tabwb.report.lesion_keys import lesion_keys, option_value
from tabwb.report.noise_keys import noise_keys

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData


def _given(data: AdministrationData) -> Conditions:
    return data.administration.conditions


def _one(value: Value | None) -> tuple[Value, ...]:
    return () if value is None or value == "" else (value,)


def _labelled(name: str) -> Callable[[AdministrationData], tuple[Value, ...]]:
    return lambda data: _one(_given(data).labels.get(name))


def _parameters(data: AdministrationData) -> tuple[Value, ...]:
    given = _given(data).labels.get("parameters", "")
    return (int(given),) if given.isdecimal() else _one(given)


def _dose(data: AdministrationData) -> tuple[Value, ...]:
    given = _given(data).labels.get(DOSE, "")
    return (float(given),) if given else ()


def _number_of_parameters(text: str) -> int:
    from tabwb.plugin_api.config.profiles import number_of_parameters

    return number_of_parameters(text)


def _battery_name(data: AdministrationData, value: Value, who: str) -> str:
    return f"{value}, speakers" if _given(data).kind == "speaker" else str(value)


def _model_texts(data: AdministrationData) -> tuple[str, ...]:
    from tabwb.report.names import short_names

    given = _given(data)
    spec, profile = spec_of(given), given.labels.get("profile", "")
    names = {given.examinee, spec, name_of(given), *short_names({spec: ""}).values()}
    return tuple(filter(None, (*names, profile, profile and f"profile:{profile}")))


def _weights(data: AdministrationData) -> tuple[Value, ...]:
    return _one(", ".join(f"{name} {value}" for name, value in data.identity.items()))


def _item_name(data: AdministrationData, value: Value, who: str) -> str:
    _, _, own = str(value).partition("/")
    n = sum(item.id == own for subtest in data.battery.subtests for item in subtest.items)
    return own if n == 1 else str(value)


def _given_battery(data: AdministrationData) -> tuple[Value, ...]:
    return (f"{data.administration.battery} {data.administration.battery_version}",)


MODEL = "model"
SUBJECTS: tuple[Key, ...] = (
    Key(
        "administration",
        "administration",
        "each administration by itself",
        lambda data: (data.administration.id,),
        kind="number",
        label=lambda data, value, who: f"#{value} {who.removeprefix('speaker ')}",
        also=lambda data: (data.administration.uid,),
    ),
    Key(
        MODEL,
        "model",
        "the model, without options that change no answer",
        lambda data: (spec_of(_given(data)),),
        whom="model",
        label=lambda data, value, who: who,
        also=_model_texts,
    ),
    Key(
        "family",
        "family",
        "the model's family, as its profile says",
        _labelled("family"),
        whom="model",
    ),
    Key(
        "tuning",
        "tuning",
        "base or instruct, as the model's profile says",
        _labelled("tuning"),
        whom="model",
        absent="tuning unknown",
    ),
    Key(
        "parameters",
        "parameters",
        "number of parameters, as the model's profile says",
        _parameters,
        kind="number",
        whom="model",
        absent="parameters unknown",
        read=_number_of_parameters,
    ),
    Key(
        "profile",
        "profile",
        "the name of the profile by which the model was given",
        _labelled("profile"),
        whom="model",
        absent="no profile",
    ),
    Key(
        PARENT,
        "parent",
        "of a checkpoint, the model that it comes from, as the grid of its sweep says",
        _labelled(PARENT),
        whom="model",
        absent="no parent",
        label=lambda data, value, who: f"of {value}",
    ),
    Key(
        DOSE,
        "dose",
        "of a checkpoint, how far it is from its parent (steps of training), as the grid says",
        _dose,
        kind="number",
        whom="model",
        absent="no dose",
        label=lambda data, value, who: f"{_given(data).labels.get(DOSE_NAME, DOSE)} {value:g}",
    ),
    Key(
        "weights",
        "weights",
        "revision, hashes, dtype and template, as the back end says",
        _weights,
        whom="model",
        absent="weights unknown",
        pooled=("weights",),
    ),
    Key(
        "battery",
        "battery",
        "the battery with its version",
        _given_battery,
        label=_battery_name,
        also=lambda data: (data.administration.battery,),
    ),
    Key(
        "part",
        "part",
        "the part of the battery that was given: the whole, or some of its items",
        lambda data: (_given(data).part,),
        also=lambda data: ("part" if _given(data).is_part else "whole",),
        pooled=("part_subtests", "part_items", "part_limit"),
    ),
    Key(
        "session",
        "session",
        "the day on which the answers were given (UTC)",
        lambda data: _one(data.administration.session_date),
        kind="date",
        absent="date not known",
    ),
    Key(
        "participant",
        "participant",
        "the study ID of the person who answered",
        lambda data: _one(_given(data).study_id),
        whom="speaker",
        label=lambda data, value, who: f"speaker {value}",
    ),
    Key(
        "group",
        "group",
        "the group of the participant, as the participant's record says",
        lambda data: _one(str(data.speaker.get("group", ""))),
        whom="speaker",
    ),
    Key(
        "tag",
        "tag",
        "a tag of the administration; with several it is in the group of each",
        lambda data: data.administration.tags,
        absent="no tag",
        several=True,
    ),
    Key(
        "title",
        "title",
        "the title of the administration",
        lambda data: _one(data.administration.title),
        absent="no title",
    ),
    Key(
        "examinee",
        "examinee",
        "model or speaker",
        lambda data: (_given(data).kind,),
    ),
    Key(
        "origin",
        "origin",
        "who made the answers: human, model or unknown",
        lambda data: (_given(data).made_by,),
    ),
    Key(
        "status",
        "status",
        "of the administration: running, interrupted, paused, done or discontinued",
        lambda data: (data.administration.status_word,),
    ),
)
"""Keys of who was tested, what was given and when."""

REPLICATE = "replicate"
RESPONSES: tuple[Key, ...] = (
    Key(
        "subtest",
        "subtest",
        "the subtest",
        level="response",
        place=lambda subtest, item: (subtest.id,),
    ),
    Key(
        "item",
        "item",
        "the item",
        level="response",
        label=_item_name,
        place=lambda subtest, item: (f"{subtest.id}/{item.id}",),
    ),
    Key(
        "item-tag",
        "item tag",
        "a tag of the item; an item with several is in the group of each",
        level="response",
        absent="no tag",
        place=lambda subtest, item: tuple(item.tags),
        several=True,
    ),
    Key(
        REPLICATE,
        "replicate",
        "the repetition of the item, from 0",
        kind="number",
        level="response",
    ),
)
"""Keys of responses."""
FROM_SPECS = {"lesion": "lesion", "model": "model"}
"""Beginnings of keys of an option in a spec: ``lesion-severity``, ``model-dtype``."""


def _condition_key(condition: Condition) -> Key:
    kind = condition.kind
    number = isinstance(kind, Whole | Real)

    def values(data: AdministrationData) -> tuple[Value, ...]:
        given = _given(data)
        if not condition.applies_to(given.kind):
            return ()
        reported = condition.in_document(given)
        if reported is None or number:
            return _one(reported)
        return _one(kind.written(condition.of(given)))

    return Key(
        condition.id.replace("_", "-"),
        condition.name,
        condition.column.meaning if condition.column else f"the {condition.name} of the run",
        values,
        kind="number" if number else "text",
        whom="model" if condition.given_to == MODELS else "all",
        absent=f"no {condition.name}",
        label=_switched(condition) if isinstance(kind, Switch) else None,
        pooled=(condition.id,) if condition.comparison else (),
    )


def _switched(condition: Condition) -> Callable[[AdministrationData, Value, str], str]:
    return lambda data, value, who: condition.in_words(_given(data))


def keys() -> tuple[Key, ...]:
    """Return every key, in the order in which people read them.

    >>> {"model", "option-order", "temperature", "item-tag"} <= {key.id for key in keys()}
    True
    """
    declared = map(_condition_key, declared_conditions.CONDITIONS)
    return (*SUBJECTS, *declared, *lesion_keys(), *noise_keys(), *RESPONSES)


def key_of(name: str) -> Key:
    """Return the key of this id; ``lesion-NAME`` and ``model-NAME`` are options of the spec.

    >>> key_of("option_order").id, key_of("model-dtype").title
    ('option-order', 'model dtype')
    """
    wanted = name.strip().lower().replace("_", "-")
    known = {key.id: key for key in keys()}
    if wanted in known:
        return known[wanted]
    beginning, _, option = wanted.partition("-")
    if beginning in FROM_SPECS and option:
        return _option_key(beginning, option)
    raise UsageError(
        f"'{name}' is not a key" + did_you_mean(wanted, known),
        allowed=", ".join(known),
        hint="lesion-NAME and model-NAME are options of the lesion's and the model's spec",
    )


def _option_key(of: str, option: str) -> Key:
    # A revision such as 12e5 must stay text; the strength of a lesion is a number.
    number = of == "lesion" and option not in ("id", "name")

    def values(data: AdministrationData) -> tuple[Value, ...]:
        given = _given(data)
        text = given.lesion if of == "lesion" else given.examinee
        if given.kind != "model" or not text:
            return ()
        return option_value(text, option, number=number)

    return Key(
        f"{of}-{option}",
        f"{of} {option}",
        f"'{option}' in the spec of the {of}",
        values,
        kind="number" if number else "text",
        whom="model",
        absent=f"{of} {option} not given",
        label=lambda data, value, who: f"{of} {option} {value}",
    )


def read_keys(text: str) -> tuple[str, ...]:
    """Return the ids of the keys that a person typed with commas between.

    >>> read_keys("model, temperature")
    ('model', 'temperature')
    """
    ids = tuple(key_of(name).id for name in separated(text))
    for id_ in ids:
        if ids.count(id_) > 1:
            raise UsageError(f"key '{id_}' is named twice", hint="name each key once")
    return ids


def pooling_keys() -> Iterator[Key]:
    """Yield the keys that keep responses apart unless people pool over them on purpose."""
    return (key for key in keys() if key.pooled)
