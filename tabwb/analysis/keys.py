"""What administrations and responses are grouped and chosen by: one declaration for each key.

Every condition of :data:`tabwb.records.declared_conditions.CONDITIONS` is a key by itself, as is
every column that the study records of participants. The command line, the Python API, documents and
figures read these declarations. A filter is one condition on a key: ``KEY=VALUE``, with ``!=``,
``<`` and ``>``.
"""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from math import isfinite
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from tabwb.analysis.administrations import AdministrationData, name_of, spec_of
from tabwb.analysis.names import name_in, names_of, short_names
from tabwb.battery.model import Item, Subtest
from tabwb.battery.prompts import PromptNoise, parse_noise
from tabwb.battery.task_type import current_study
from tabwb.lesion.spec import PARTS, parse_lesions, role_of, spec_values
from tabwb.records import declared_conditions
from tabwb.records.columns import DECLARED
from tabwb.records.conditions import DOSE, DOSE_NAME, PARENT, Conditions
from tabwb.records.declared_conditions import MODEL as MODELS
from tabwb.records.declared_conditions import Condition, Real, Switch, Whole
from tabwb.records.errors import UsageError
from tabwb.records.speakers import NOT_RECORDED, Column, Study
from tabwb.records.specs import parse_spec
from tabwb.records.words import did_you_mean, separated

Value = str | int | float
"""Of a key; where there is none it is None."""
KeyKind = Literal["text", "number", "date"]
Level = Literal["administration", "response"]
Whom = Literal["all", "model", "speaker"]
Sort = Literal["burden", "name", "keys", "N", "accuracy"]
"""Orders of groups."""


class Key(NamedTuple):
    """The declaration of one key.

    ``id`` is what people write after ``--by`` and ``--where``; ``values`` returns those of an
    administration: none, one, or several (then it belongs to several groups), ``place`` those of an
    item for a key of responses (None: the replicate's number). To whom it does not apply, and who
    has no value where ``absent`` is empty, is a separate group.
    """

    id: str
    title: str  # of its column
    meaning: str
    values: Callable[[AdministrationData], tuple[Value, ...]] = lambda data: ()
    kind: KeyKind = "text"
    level: Level = "administration"
    whom: Whom = "all"
    absent: str = ""  # the name of the group without a value
    # The name of a group from a value and the examinee's name; None: the value, of numbers with
    # the title.
    label: Callable[[AdministrationData, Value, str], str] | None = None
    # Further texts by which --where finds the value.
    also: Callable[[AdministrationData], tuple[str, ...]] = lambda data: ()
    place: Callable[[Subtest, Item], tuple[Value, ...]] | None = None
    # What conditions.compared leaves out so that responses are pooled over the key.
    pooled: tuple[str, ...] = ()
    several: bool = False  # whether one administration or item may have several values
    band: Callable[[Value], Value] | None = None  # the group of a number; None: by its value
    order: tuple[str, ...] = ()  # of the values, where they have one
    read: Callable[[str], Value] | None = None  # what a person typed as a value; None: as it is

    def groups(self, data: AdministrationData) -> tuple[Value, ...]:
        """Return what an administration is grouped by: its values, or the bands of numbers."""
        values = self.values(data) if self.applies_to(data) else ()
        return values if self.band is None else tuple(map(self.band, values))

    @property
    def absent_value(self) -> str | None:
        """What tables have where a person has no value; nothing in a column of numbers."""
        numbers = self.kind == "number" and self.band is None
        return self.absent if self.whom == "speaker" and not numbers else None

    def applies_to(self, data: AdministrationData) -> bool:
        """Return whether the key applies to the examinee of an administration."""
        return self.whom in ("all", data.administration.conditions.kind)

    def group_name(self, data: AdministrationData, value: Value | None, who: str) -> str:
        """Return the name of the group that an administration belongs to."""
        if not self.applies_to(data):
            return who
        if value is None:
            return self.absent or f"{who}, {self.title} unknown"
        if self.label is not None:
            return self.label(data, value, who)
        return f"{self.title} {written(value)}" if self.kind == "number" else written(value)


def written(value: Value) -> str:
    """Return a value as people write it.

    >>> written(0.70), written(7), written("generate")
    ('0.7', '7', 'generate')
    """
    return f"{value:.15g}" if isinstance(value, float) else str(value)


LESION_SEED = "lesion-seed"
"""The key over which responses under one lesion are pooled."""
NOISE_SEED = "prompt-noise-seed"
"""The key over which responses under one kind and amount of prompt noise are pooled."""


def _one(value: Value | None) -> tuple[Value, ...]:
    return () if value is None or value == "" else (value,)


def option_value(text: str, option: str, *, number: bool) -> tuple[Value, ...]:
    """Return the value of an option of a spec; none where the text is not such a spec.

    >>> option_value("noise@severity=0.50", "severity", number=True)
    (0.5,)
    """
    try:
        spec = parse_spec(text)
    except UsageError:  # not a spec, or stored by an earlier version
        return ()
    options = {name.replace("_", "-"): value for name, value in spec.options.items()}
    given = {"id": spec.id, "name": spec.name or "", **options}.get(option)
    return (_number(given) if number else given,) if given else ()


def _number(text: str) -> Value:
    """Return a finite number from its text; any other text as it is.

    >>> _number("0.5"), _number("mlp"), _number("nan")
    (0.5, 'mlp', 'nan')
    """
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text


def without_seed(lesion: str | None) -> str | None:
    """Return a lesion's spec without its seeds; of another tool's as it is.

    >>> without_seed("mlp:zero:0.3@layers=1,seed=7")
    'mlp:zero:0.3@layers=1'
    """
    try:
        return lesion and "+".join(one.kind(amount="") for one in parse_lesions(lesion))
    except UsageError:
        return lesion


def noise_of(given: Conditions) -> PromptNoise | None:
    """Return the prompt noise of conditions; None where there is none, or it is not a spec."""
    try:
        return parse_noise(given.prompt_noise) if given.prompt_noise else None
    except UsageError:  # imported from elsewhere
        return None


def without_noise_seed(given: Conditions) -> Conditions:
    """Return conditions without the seed of their prompt noise.

    >>> noisy = Conditions("echo", "model", prompt_noise="words:drop:0.2@seed=3")
    >>> without_noise_seed(noisy).prompt_noise
    'words:drop:0.2'
    """
    noise = noise_of(given)
    return given if noise is None else replace(given, prompt_noise=noise.without_seed())


_NOISE_PARTS: tuple[tuple[str, str, KeyKind, Callable[[PromptNoise], Value | None]], ...] = (
    ("unit", "characters or words", "text", lambda noise: noise.unit),
    ("operation", "what is done to the units", "text", lambda noise: noise.operation),
    ("amount", "the share of units that is taken", "number", lambda noise: noise.amount),
    ("seed", "of all draws", "number", lambda noise: noise.seed if noise.draws else None),
)


def _role(data: AdministrationData) -> tuple[Value, ...]:
    given = data.conditions
    return (role_of(given.lesion, data.administration.tags),) if given.kind == "model" else ()


def _of_lesion(name: str) -> Callable[[AdministrationData], tuple[Value, ...]]:
    def values(data: AdministrationData) -> tuple[Value, ...]:
        given = data.conditions
        if given.kind != "model" or not given.lesion:
            return ()
        found = spec_values(given.lesion)
        if not found:  # made with another tool
            return option_value(given.lesion, name, number=True)
        return (found[name],) if name in found else ()

    return values


def _of_noise(
    read: Callable[[PromptNoise], Value | None],
) -> Callable[[AdministrationData], tuple[Value, ...]]:
    def values(data: AdministrationData) -> tuple[Value, ...]:
        noise = noise_of(data.conditions)
        return () if noise is None else _one(read(noise))

    return values


def _part_key(
    of: str,
    name: str,
    meaning: str,
    values: Callable[[AdministrationData], tuple[Value, ...]],
    kind: KeyKind,
    *,
    named: bool,
) -> Key:
    """Return the key of a part of a spec; ``named``: its groups are called by its title too."""
    id_ = f"{of.replace(' ', '-')}-{name}"
    return Key(
        id_,
        f"{of} {name}",
        f"of the {of}: {meaning}",
        values,
        kind=kind,
        whom="model",
        absent=f"no {of} {name}",
        label=(lambda data, value, who: f"{of} {name} {written(value)}") if named else None,
        pooled=(id_,) if name == "seed" else (),
    )


PARTS_OF_SPECS: tuple[Key, ...] = (
    Key(
        "lesion-role",
        "lesion role",
        "intact (no lesion), lesion, control or layer control (with the tag control)",
        _role,
        whom="model",
    ),
    *(
        _part_key(
            "lesion",
            name,
            DECLARED[f"lesion_{name}"].meaning,
            _of_lesion(name),
            "text" if DECLARED[f"lesion_{name}"].type == "text" else "number",
            named=name == "layers",
        )
        for name in PARTS
    ),
    *(
        _part_key("prompt noise", name, meaning, _of_noise(read), kind, named=True)
        for name, meaning, kind, read in _NOISE_PARTS
    ),
)
"""Keys that are parts of the spec of a lesion or of prompt noise.

Of joined lesions a key has the value that they share, and none where they differ. A lesion that
another tool made has the options of its own spec.
"""


def _labelled(name: str) -> Callable[[AdministrationData], tuple[Value, ...]]:
    return lambda data: _one(data.conditions.labels.get(name))


def _parameters(data: AdministrationData) -> tuple[Value, ...]:
    given = data.conditions.labels.get("parameters", "")
    return (int(given),) if given.isdecimal() else _one(given)


def _dose(data: AdministrationData) -> tuple[Value, ...]:
    given = data.conditions.labels.get(DOSE, "")
    return (float(given),) if given else ()


def _number_of_parameters(text: str) -> int:
    from tabwb.host.settings import number_of_parameters

    return number_of_parameters(text)


def _model_texts(data: AdministrationData) -> tuple[str, ...]:
    given = data.conditions
    spec, profile = spec_of(given), given.labels.get("profile", "")
    names = {given.examinee, spec, name_of(given), *short_names({spec: ""}).values()}
    return tuple(filter(None, (*names, profile, profile and f"profile:{profile}")))


def _weights(data: AdministrationData) -> tuple[Value, ...]:
    return _one(", ".join(f"{name} {value}" for name, value in data.identity.items()))


def _item_name(data: AdministrationData, value: Value, who: str) -> str:
    _, _, own = str(value).partition("/")
    n = sum(item.id == own for subtest in data.battery.subtests for item in subtest.items)
    return own if n == 1 else str(value)


def _declared(lines: str, level: Level = "administration", **given: Mapping[str, Any]) -> Keys:
    """Return keys from lines of id, kind and whom, meaning and name without a value.

    ``given`` are further fields of keys by their ids.
    """
    made = []
    for line in lines.strip().splitlines():
        first, meaning, *absent = (" ".join(part.split()) for part in line.split("|"))
        id_, kind, whom = first.split()
        own: dict[str, Any] = {name: of[id_] for name, of in given.items() if id_ in of}
        own |= {"kind": kind, "whom": whom, "absent": absent[0] if absent else ""}
        made.append(Key(id_, id_.replace("-", " "), meaning, level=level, **own))
    return tuple(made)


Keys = tuple[Key, ...]
MODEL = "model"
SUBJECTS = _declared(
    """
    administration number all | each administration by itself
    model text model | the model, without options that change no answer
    family text model | the model's family, as its profile says
    tuning text model | base or instruct, as the model's profile says | tuning unknown
    parameters number model | number of parameters, as the model's profile says | parameters unknown
    profile text model | the name of the profile by which the model was given | no profile
    parent text model | of a checkpoint, the model that it comes from, as the grid of its sweep\
    says | no parent
    dose number model | of a checkpoint, how far it is from its parent (steps of training), as the\
    grid says | no dose
    weights text model | revision, hashes, dtype and template, as the back end says\
    | weights unknown
    battery text all | the battery with its version
    part text all | the part of the battery that was given: the whole, or some of its items
    session date all | the day on which the answers were given (UTC) | date not known
    participant text speaker | the study ID of the person who answered
    tag text all | a tag of the administration; with several it is in the group of each | no tag
    title text all | the title of the administration | no title
    examinee text all | model or speaker
    origin text all | who made the answers: human, model or unknown
    status text all | of the administration: running, interrupted, paused, done or discontinued
    """,
    values={
        "administration": lambda data: (data.administration.id,),
        MODEL: lambda data: (spec_of(data.conditions),),
        **{name: _labelled(name) for name in ("family", "tuning", "profile", PARENT)},
        "parameters": _parameters,
        DOSE: _dose,
        "weights": _weights,
        "battery": lambda data: (
            f"{data.administration.battery} {data.administration.battery_version}",
        ),
        "part": lambda data: (data.conditions.part,),
        "session": lambda data: _one(data.administration.session_date),
        "participant": lambda data: _one(data.conditions.study_id),
        "tag": lambda data: data.administration.tags,
        "title": lambda data: _one(data.administration.title),
        "examinee": lambda data: (data.conditions.kind,),
        "origin": lambda data: (data.conditions.made_by,),
        "status": lambda data: (data.administration.status_word,),
    },
    label={
        "administration": lambda data, value, who: f"#{value} {who.removeprefix('speaker ')}",
        MODEL: lambda data, value, who: who,
        PARENT: lambda data, value, who: f"of {value}",
        DOSE: lambda data, value, who: f"{data.conditions.labels.get(DOSE_NAME, DOSE)} {value:g}",
        "battery": lambda data, value, who: (
            f"{value}, speakers" if data.conditions.kind == "speaker" else str(value)
        ),
        "participant": lambda data, value, who: f"speaker {value}",
    },
    also={
        "administration": lambda data: (data.administration.uid,),
        MODEL: _model_texts,
        "battery": lambda data: (data.administration.battery,),
        "part": lambda data: ("part" if data.conditions.is_part else "whole",),
    },
    pooled={"weights": ("weights",), "part": ("part_subtests", "part_items", "part_limit")},
    several={"tag": True},
    read={"parameters": _number_of_parameters},
)
"""Keys of who was tested, what was given and when."""
REPLICATE = "replicate"
RESPONSES = _declared(
    """
    subtest text all | the subtest
    item text all | the item
    item-tag text all | a tag of the item; an item with several is in the group of each | no tag
    replicate number all | the repetition of the item, from 0
    """,
    "response",
    label={"item": _item_name},
    place={
        "subtest": lambda subtest, item: (subtest.id,),
        "item": lambda subtest, item: (f"{subtest.id}/{item.id}",),
        "item-tag": lambda subtest, item: tuple(item.tags),
    },
    several={"item-tag": True},
)
"""Keys of responses."""
FROM_SPECS = {"lesion": "lesion", "model": "model"}
"""Beginnings of keys of an option in a spec: ``lesion-severity``, ``model-dtype``."""


def _condition_key(condition: Condition) -> Key:
    kind = condition.kind
    number = isinstance(kind, Whole | Real)

    def values(data: AdministrationData) -> tuple[Value, ...]:
        given = data.conditions
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
    return lambda data, value, who: condition.in_words(data.conditions)


PARTICIPANT = "participant-"
"""Begins the long name of a key of participants, for a column that has the name of another key."""


@cache
def keys_of_participants(study: Study) -> Keys:
    """Return a key for each column that a study records of participants."""
    return tuple(map(_participant_key, study.columns))


def _participant_key(column: Column) -> Key:
    number = column.type in ("whole", "number")
    title = column.title or column.name.replace("_", " ")

    def values(data: AdministrationData) -> tuple[Value, ...]:
        return column.parts(data.speaker.get(column.name))

    def read(text: str) -> Value:
        try:
            return column.read(text)
        except UsageError:  # the name of a band, or recorded when the column was another one
            return text

    def also(data: AdministrationData) -> tuple[str, ...]:
        found = values(data)
        return tuple(filter(None, map(column.band, found))) if found else (NOT_RECORDED,)

    def label(data: AdministrationData, value: Value, who: str) -> str:
        if isinstance(value, str):
            return value
        return " ".join(filter(None, (title, written(value), column.unit)))

    return Key(
        column.name,
        f"{title} ({column.unit})" if column.unit else title,
        f"{title} of the participant, as the participant's record says",
        values,
        kind="number" if number else "text",
        whom="speaker",
        absent=NOT_RECORDED,
        label=label,
        also=also,
        several=column.type == "choices",
        band=column.group if column.bands else None,
        order=column.order,
        read=read,
    )


def keys() -> tuple[Key, ...]:
    """Return every key, in the order in which people read them.

    A column of participants that has the name of another key is there under its long name.

    >>> {"model", "option-order", "temperature", "item-tag"} <= {key.id for key in keys()}
    True
    """
    return tuple(key for group in _grouped().values() for key in group)


def _grouped() -> dict[str, tuple[Key, ...]]:
    """Return every key by what it is a fact of."""
    conditions = tuple(map(_condition_key, declared_conditions.CONDITIONS))
    taken = {_plain(key.id) for key in (*SUBJECTS, *conditions, *PARTS_OF_SPECS, *RESPONSES)}
    people: dict[str, Key] = {}
    for key in keys_of_participants(current_study()):
        id_ = key.id if _plain(key.id) not in {*taken, *people} else f"{PARTICIPANT}{key.id}"
        people[_plain(id_)] = key._replace(id=id_)
    return {
        "administrations": SUBJECTS,
        "participants": tuple(people.values()),
        "conditions": conditions,
        "lesions and noise": PARTS_OF_SPECS,
        "responses": RESPONSES,
    }


def _plain(name: str) -> str:
    """Return the name of a key in the form in which names are compared."""
    return name.strip().lower().replace("_", "-")


def key_of(name: str) -> Key:
    """Return the key of this id; ``lesion-NAME`` and ``model-NAME`` are options of the spec.

    ``participant-NAME`` is a column of participants.

    >>> key_of("option_order").id, key_of("model-dtype").title
    ('option-order', 'model dtype')
    """
    wanted = _plain(name)
    known = {_plain(key.id): key for key in keys()}
    if wanted in known:
        return known[wanted]
    for key in keys_of_participants(current_study()):
        if wanted == _plain(f"{PARTICIPANT}{key.id}"):
            return key
    beginning, _, option = wanted.partition("-")
    if beginning in FROM_SPECS and option:
        return _option_key(beginning, option)
    raise UsageError(
        f"'{name}' is not a key" + did_you_mean(wanted, known),
        allowed="\n  ".join(f"of {of}: {_named(of, group)}" for of, group in _grouped().items()),
        hint="lesion-NAME and model-NAME are options of the lesion's and the model's spec",
    )


FIRST = 7
"""Keys of participants that an error lists: a command lists all."""


def _named(of: str, group: Keys) -> str:
    ids = [key.id for key in group]
    if of == "participants" and (more := len(ids) - FIRST) > 0:
        ids[FIRST:] = [f"{more} more (tabwb speaker columns)"]
    return ", ".join(ids)


def _option_key(of: str, option: str) -> Key:
    # A revision such as 12e5 must stay text; the strength of a lesion is a number.
    number = of == "lesion" and option not in ("id", "name")

    def values(data: AdministrationData) -> tuple[Value, ...]:
        given = data.conditions
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


_FILTER = re.compile(r"\s*([A-Za-z][A-Za-z0-9_-]*)\s*(!=|<=|>=|==?|<|>)(.*)", re.DOTALL)
_STARTS = re.compile(r"\s+(?=[A-Za-z][A-Za-z0-9_-]*\s*(?:!=|<=|>=|==?|<|>))")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
FORMS = "KEY=VALUE, KEY=A,B, KEY!=VALUE, KEY<NUMBER or KEY>NUMBER (also <=, >=, and days)"
NOTHING = "none"
"""Stands for administrations without a value of a key."""
LONGEST = 20
"""Values that an error lists."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on a key, with values as people write them.

    ``sign`` is ``=`` (any of the values), ``!=`` (none of them), ``<``, ``<=``, ``>`` or ``>=``;
    those that compare have one value.
    """

    key: str
    sign: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.key}{self.sign}{','.join(self.values)}"


def read_filter(text: str) -> Filter:
    """Return the filter that a person typed.

    >>> read_filter("temperature > 0.5")
    Filter(key='temperature', sign='>', values=('0.5',))
    >>> read_filter("parameters == 1.2B").values
    ('1200000000',)
    >>> str(read_filter("option_order=shuffled, rotated"))
    'option-order=shuffled,rotated'
    """
    matched = _FILTER.fullmatch(text)
    if matched is None:
        raise UsageError(f"'{text}' is not a filter", where="--where", allowed=FORMS)
    name, sign, rest = matched.groups()
    key, sign = key_of(name), sign.replace("==", "=")
    # A spec may contain commas: 'model-name=a,b' is asked for as a whole first.
    values = tuple(_typed(key, part.strip()) for part in rest.split(",") if part.strip())
    if not values:
        raise UsageError(f"after '{sign}' of '{text}' a value is missing", allowed=FORMS)
    if sign in _COMPARE:
        values = (_check_bound(key, sign, values),)
    return Filter(key.id, sign, values)


def _typed(key: Key, text: str) -> str:
    """Return a text as the value that it stands for is written."""
    return text if key.read is None or text == NOTHING else written(key.read(text))


def is_filter(text: str) -> bool:
    """Return whether a text has the form of a filter.

    >>> is_filter("AQ<50"), is_filter("12"), is_filter("transformers:m@dtype=float32")
    (True, False, False)
    """
    return _FILTER.fullmatch(text) is not None


def filters_in(text: str) -> tuple[Filter, ...]:
    """Return the filters of a text, which has nothing else; values may have spaces.

    >>> [str(one) for one in filters_in("severity=very severe, mild  AQ < 50")]
    ['severity=very severe,mild', 'AQ<50']
    """
    return tuple(map(read_filter, _STARTS.split(text.strip())))


def words_and_filters(text: str) -> tuple[str, tuple[Filter, ...]]:
    """Return the words that a person typed to search for, and the filters among them.

    >>> words, filters = words_and_filters('york AQ<50 severity="very severe"')
    >>> words, [str(one) for one in filters]
    ('york', ['AQ<50', 'severity=very severe'])
    """
    try:
        parts = shlex.split(text)
    except ValueError:  # a quotation mark is still to come
        parts = text.split()
    found = [part for part in parts if is_filter(part)]
    words = " ".join(part for part in parts if part not in found)
    return words, tuple(map(read_filter, found))


def filters_of(where: str | Iterable[str | Filter] | Mapping[str, object]) -> tuple[Filter, ...]:
    """Return filters from texts, or from keys with a value or several each.

    >>> [str(one) for one in filters_of({"model": ["a", "b"], "seed": 3})]
    ['model=a,b', 'seed=3']
    """
    if isinstance(where, str):
        return (read_filter(where),)
    if not isinstance(where, Mapping):
        return tuple(one if isinstance(one, Filter) else read_filter(one) for one in where)
    made = []
    for name, given in where.items():
        several = given if isinstance(given, list | tuple | set | frozenset) else (given,)
        texts = tuple(
            NOTHING if one is None else written(one) if isinstance(one, float) else str(one)
            for one in several
        )
        if not texts:
            raise UsageError(f"'{name}' needs a value", allowed=FORMS)
        key = key_of(name)
        made.append(Filter(key.id, "=", tuple(_typed(key, text) for text in texts)))
    return tuple(made)


def _check_bound(key: Key, sign: str, values: Sequence[str]) -> str:
    """Return the one value of a filter that compares, a number or a day."""
    if key.kind == "text":
        raise UsageError(
            f"'{key.id}' has no order: '{sign}' cannot be used",
            allowed=f"{key.id}=VALUE or {key.id}!=VALUE",
        )
    if len(values) > 1:
        raise UsageError(
            f"'{key.id}{sign}' takes one value, not {len(values)}",
            where="--where",
            allowed=f"{key.id}{sign}VALUE; for several values {key.id}=A,B",
        )
    text = values[0]
    try:
        if key.kind == "date":
            return date.fromisoformat(text).isoformat()
        if isfinite(float(text)):
            return text
        raise ValueError
    except ValueError:
        allowed = "a day as 2026-03-09" if key.kind == "date" else "a number"
        raise UsageError(f"'{text}' is not a value of '{key.id}'", allowed=allowed) from None


def records_filter(filters: Sequence[Filter]) -> Callable[[Mapping[str, Value]], bool]:
    """Return what tells whether a participant's record, with what follows from it, has all of them.

    >>> is_low = records_filter([read_filter("AQ<50")])
    >>> is_low({"AQ": 48.5}), is_low({"AQ": 50})
    (True, False)
    """
    known = {key.id: key for key in _grouped()["participants"]}
    for one in filters:
        if one.key not in known:
            raise UsageError(f"'{one.key}' is not recorded of participants")

    def has_all(record: Mapping[str, Value]) -> bool:
        data: Any = SimpleNamespace(speaker=record)  # all that a key of participants reads
        found = ((one, known[one.key]) for one in filters)
        return all(
            matches(one, Candidate.of(key.values(data), key.also(data))) for one, key in found
        )

    return has_all


class Candidate(NamedTuple):
    """What a filter is applied to: the values of a key, and the texts by which they are found."""

    values: tuple[Value, ...]
    texts: frozenset[str]

    @classmethod
    def of(cls, values: tuple[Value, ...], also: Iterable[str] = ()) -> Candidate:
        """Return a candidate."""
        own = map(written, values) if values else (NOTHING,)
        return cls(values, frozenset((*own, *also)))


def of_administrations(key: Key, known: Iterable[AdministrationData]) -> dict[int, Candidate]:
    """Return, by number, what a filter on a key of administrations is applied to.

    A model is found by its name among all of them too.
    """
    known = tuple(known)
    names = names_of(data.conditions for data in known) if key.id == MODEL else {}
    candidates = {}
    for data in known:
        given = data.conditions
        applies = key.applies_to(data)
        also = [*key.also(data), *([name_in(names, given)] if names else [])] if applies else []
        candidates[data.administration.id] = Candidate.of(key.values(data) if applies else (), also)
    return candidates


def of_cell(key: Key, data: AdministrationData, cell: tuple[str, str, int]) -> Candidate:
    """Return what a filter on a key of responses is applied to."""
    subtest, item, replicate = cell
    if key.place is None:
        return Candidate.of((replicate,))
    given = data.battery.subtest(subtest)
    also = (item,) if key.id == "item" else (given.title,) if key.id == "subtest" else ()
    return Candidate.of(key.place(given, given.item(item)), also)


def matches(filter_: Filter, candidate: Candidate) -> bool:
    """Return whether a candidate is chosen."""
    if filter_.sign in _COMPARE:
        bound, compare = _number(filter_.values[0]), _COMPARE[filter_.sign]
        return any(
            compare(value, bound)
            for value in candidate.values
            if isinstance(value, str) == isinstance(bound, str)
        )
    found = any(_is(value, candidate) for value in _wanted(filter_, candidate))
    return found == (filter_.sign == "=")


def _wanted(filter_: Filter, candidate: Candidate) -> tuple[str, ...]:
    whole = ",".join(filter_.values)
    return (whole,) if whole in candidate.texts else filter_.values


def _is(wanted: str, candidate: Candidate) -> bool:
    if wanted in candidate.texts:
        return True
    try:
        number = float(wanted)
    except ValueError:
        return False
    return any(not isinstance(value, str) and value == number for value in candidate.values)


def check(filter_: Filter, candidates: Sequence[Candidate]) -> None:
    """Check that every value of a filter is one of something, and that a bound is."""
    key = key_of(filter_.key)
    if not candidates:
        return
    there = {written(value): value for one in candidates for value in one.values}
    if filter_.sign in _COMPARE:
        if not any(matches(filter_, one) for one in candidates):
            raise UsageError(f"nothing has {filter_}", where="--where", allowed=_listed(there))
        return
    texts = frozenset().union(*(one.texts for one in candidates))
    if ",".join(filter_.values) in texts:
        return
    for value in filter_.values:
        if not any(_is(value, one) for one in candidates):
            raise UsageError(
                f"nothing has {key.id} '{value}'" + did_you_mean(value, texts),
                where="--where",
                allowed=_listed(there) or f"{key.id}={NOTHING}: '{key.id}' has no values here",
            )


def _listed(there: Mapping[str, Value]) -> str:
    ordered = sorted(there, key=lambda text: (isinstance(there[text], str), there[text]))
    more = f" ... ({len(ordered)} in all)" if len(ordered) > LONGEST else ""
    return ", ".join(ordered[:LONGEST]) + more
