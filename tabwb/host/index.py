"""Components, batteries and extensions of plugins by id, and the checks of registrations."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args

from tabwb.battery.task_type import Judged, TaskType, own_tasks
from tabwb.plugin_api.components import (
    Exporter,
    Importer,
    Judge,
    ModelBackend,
    Scorer,
    Transcriber,
)
from tabwb.plugin_api.descriptors import BatterySource, ComponentKind, Descriptor
from tabwb.plugin_api.extensions import (
    CommandSource,
    Extension,
    ExtensionKind,
    OperationSource,
    PageSource,
    Per,
    Pooling,
    Statistic,
)
from tabwb.records import specs
from tabwb.records.errors import MissingExtra, MissingPackage, UsageError
from tabwb.records.speakers import (
    BUILT_IN,
    COLUMN_NAME,
    COLUMN_TYPES,
    KIND,
    Column,
    SubjectKind,
)
from tabwb.records.specs import Spec, is_component_id, is_kebab
from tabwb.records.states import Protocol, ResponseKind
from tabwb.records.system import is_installed
from tabwb.records.words import did_you_mean

Conflicts = Sequence[tuple[str, Sequence[str]]]
EXTENSIONS: Mapping[ExtensionKind, tuple[str, type]] = {
    "statistics": ("statistic", Statistic),
    "commands": ("command", CommandSource),
    "pages": ("page", PageSource),
    "operations": ("operation", OperationSource),
    "tasks": ("task type", TaskType),
    "subjects": ("kind of subject", SubjectKind),
}
"""Kind: its noun, and what plugins register."""

MEASURES = frozenset((
    "accuracy", "burden", "code", "correct-any", "correct-first", "difference", "difficulty",
    "discrimination", "fer", "guessing", "infit", "latency", "mattr", "mtld", "outcome", "outfit",
    "per", "person", "rate", "slope", "trend", "ttr", "words",
))  # fmt: skip
"""Measures of tabwb itself that are kebab-case: a statistic shares their column in tables."""
MOST_DIGITS = 12
MOST_CHARACTERS = 300
"""Of a text that is shown with an extension."""


class Owned(typing.Protocol):
    """A registration with the plugin that made it."""

    @property
    def owner(self) -> str:
        """The plugin's name."""
        ...


@dataclass(frozen=True, slots=True)
class Extended:
    """An extension and the plugin that registered it."""

    extension: Any
    owner: str


T = TypeVar("T", bound=Owned)


class Index(Generic[T]):
    """Registrations of one kind by id. Two with one id are both refused, save those of tabwb."""

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self._claims: dict[str, list[T]] = {}

    @property
    def usable(self) -> tuple[T, ...]:
        """Those that can be used, in the order in which they were registered."""
        return tuple(claims[0] for claims in self._claims.values() if len(claims) == 1)

    @property
    def conflicts(self) -> Conflicts:
        """The words that are registered more than once, with their owners."""
        named = self._named()
        return [(word, [one.owner for one in claims]) for word, claims in named if len(claims) > 1]

    def _named(self) -> Iterable[tuple[str, Sequence[T]]]:
        return self._claims.items()

    def _words(self, id_: str, one: T) -> set[str]:
        return {id_}

    def reserved(self, own: Collection[str]) -> set[str]:
        """Return the words under which plugins that come with tabwb registered something."""
        given = [(id_, one) for id_, claims in self._claims.items() for one in claims]
        return {word for id_, one in given if one.owner in own for word in self._words(id_, one)}

    def take_back(self, own: Collection[str]) -> list[tuple[str, str]]:
        """Remove what plugins registered under words of tabwb; return word and plugin."""
        reserved, taken = self.reserved(own), []
        for id_, claims in self._claims.items():
            for one in [one for one in claims if one.owner not in own]:
                if words := reserved & self._words(id_, one):
                    claims.remove(one)
                    taken.append((min(words), one.owner))
        return taken


class ExtensionIndex(Index[Extended]):
    """The extensions of one kind by id."""

    def __init__(self, kind: ExtensionKind) -> None:
        noun, self._type = EXTENSIONS[kind]
        super().__init__(noun)

    def add(self, extension: Extension, owner: str) -> None:
        """Register an extension.

        Raises:
            TypeError: it is of another type.
            UsageError: one of its fields cannot be used.
        """
        if not isinstance(extension, self._type):
            given = type(extension).__name__
            raise TypeError(f"register() takes a {self._type.__name__}, not {given}")
        _check_extension(extension, self.noun)
        if isinstance(extension, SubjectKind):
            self._check_columns(extension)
        if isinstance(extension, TaskType):
            self._check_keys(extension)
        self._claims.setdefault(extension.id, []).append(Extended(extension, owner))

    def _check_keys(self, task: TaskType) -> None:
        """Check that no other plugin's task type has its keys: a file's items are of one model."""
        tasks = [one.extension for claims in self._claims.values() for one in claims]
        there = {key: other.id for other in tasks if other.id != task.id for key in keys_of(other)}
        if taken := there.keys() & keys_of(task):
            where = f"{self.noun} '{task.id}'"
            raise _refused(where, "tables", min(taken), f"keys that '{there[min(taken)]}' lacks")

    def _check_columns(self, kind: SubjectKind) -> None:
        """Check that columns which another kind has too are the same there."""
        others = [one.extension for claims in self._claims.values() for one in claims]
        there = {column.name: (column, other.id) for other in others for column in other.columns}
        for column in kind.columns:
            same, other = there.get(column.name, (column, ""))
            if column != same:
                where = f"{self.noun} '{kind.id}'"
                allowed = f"the column '{column.name}' of '{other}' as it is there, or another name"
                raise _refused(where, "columns", column.name, allowed)


def _check_extension(extension: Extension, noun: str) -> None:
    """Check every field of an extension."""
    name: object = extension.id
    where = f"{noun} {name!r:.60}"
    grouped = isinstance(extension, OperationSource)
    words = name.split(" ", 1) if grouped and isinstance(name, str) else [name]
    if not all(isinstance(word, str) and is_kebab(word) for word in words):
        allowed = "kebab-case: a-z, 0-9 and single hyphens"
        allowed += "; of an operation in a group two such words" if grouped else ""
        raise _refused(where, "id", name, allowed)
    for one in fields(extension):
        value = getattr(extension, one.name)
        if one.type == "str":
            text = value if isinstance(value, str) else ""
            if (
                "\n" in text
                or len(text) > MOST_CHARACTERS
                or not (text.strip() or (value == "" and one.default == ""))
            ):
                allowed = f"one line of text, of {MOST_CHARACTERS} characters at most"
                raise _refused(where, one.name, value, allowed)
        elif one.type == "bool" and not isinstance(value, bool):
            raise _refused(where, one.name, value, "True or False")
        elif one.type == "float" and not _is_positive(value):
            raise _refused(where, one.name, value, "seconds, above 0")
        elif one.name in ("compute", "load", "build") and not callable(value):
            raise _refused(where, one.name, value, "a function")
    if isinstance(extension, Statistic):
        _check_statistic(extension, where)
    if isinstance(extension, TaskType):
        _check_task(extension, where)
    if isinstance(extension, SubjectKind):
        _check_subject(extension, where)


def _check_statistic(statistic: Statistic, where: str) -> None:
    for place in ("digits", "judges"):
        number: object = getattr(statistic, place)
        if (
            isinstance(number, bool)
            or not isinstance(number, int)
            or not 0 <= number <= MOST_DIGITS
        ):
            raise _refused(where, place, number, f"a whole number from 0 to {MOST_DIGITS}")
    for place, allowed in (("per", get_args(Per)), ("pooled", get_args(Pooling))):
        if getattr(statistic, place) not in allowed:
            raise _refused(where, place, getattr(statistic, place), ", ".join(allowed))
    if statistic.percent and statistic.unit not in ("", "share"):
        raise _refused(where, "unit", statistic.unit, "'share' or '', because percent is True")
    if statistic.id in MEASURES:
        raise UsageError(
            "tabwb has a measure of this id",
            where=where,
            hint=f"give the statistic another id, for example 'our-{statistic.id}'",
        )


_TASK_FUNCTIONS = (
    "read", "tables", "strategy", "rule_lines", "item_lines", "read_item", "new_battery",
)  # fmt: skip


def keys_of(task: TaskType) -> dict[str, Any]:
    """Return the keys of subtests and items that only a task type has, with their fields."""
    if task.tables is None:
        return {}
    subtest, item = task.tables()
    return {**subtest.model_fields, **item.model_fields}


def _check_task(task: TaskType, where: str) -> None:
    if task.kind in set(ResponseKind):
        hint = f"give it another one, for example 'our-{task.kind}'"
        raise UsageError("tabwb has a task type of this name", where=where, hint=hint)
    for place in ("scorers", "needs", "takes", "rules", "answers", "errors"):
        if not _is_names(value := getattr(task, place)):
            raise _refused(where, place, value, 'a tuple of names: ("NAME",)')
    if not callable(task.check):
        raise _refused(where, "check", task.check, "a function")
    for place in _TASK_FUNCTIONS:
        value = getattr(task, place)
        if not (value is None or callable(value)):
            raise _refused(where, place, value, "a function, or None")
    if not isinstance(task.instead, Mapping):
        raise _refused(where, "instead", task.instead, "keys, each with those that take its place")
    if not task.is_installed:
        raise _refused(where, "is_installed", False, "True")
    if task.judged not in get_args(Judged):
        raise _refused(where, "judged", task.judged, ", ".join(get_args(Judged)))
    if not (task.rated_as is None or task.rated_as in set(ResponseKind)):
        raise _refused(where, "rated_as", task.rated_as, ", ".join(ResponseKind))
    if not (task.typed or task.spoken):
        raise _refused(where, "typed", task.typed, "True, or 'spoken' is True")
    if task.tables is not None:
        from tabwb.battery.toml_schema import ItemKeys, SubtestKeys  # pydantic

        known, own = {*SubtestKeys.model_fields, *ItemKeys.model_fields}, keys_of(task)
        known |= {key for one in own_tasks().values() for key in keys_of(one)}
        if taken := known & own.keys():
            raise _refused(where, "tables", min(taken), "keys that no other task type has")
        if required := [name for name, key in own.items() if key.is_required()]:
            allowed = "keys with a default; 'needs' names those that items must have"
            raise _refused(where, "tables", required[0], allowed)


def _check_subject(kind: SubjectKind, where: str) -> None:
    taken = {KIND, *(column.name for column in BUILT_IN)}
    names: list[str] = []
    for column in kind.columns:
        if not isinstance(column, Column) or not _is_column_name(column.name):
            raise _refused(
                where,
                "columns",
                column,
                "each a Column, its name of letters, digits and underscores",
            )
        if column.name in taken or column.name in names:
            raise _refused(where, "columns", column.name, "names that no other column has")
        if column.type not in COLUMN_TYPES:
            raise _refused(where, "columns", column.type, ", ".join(COLUMN_TYPES))
        if not (isinstance(column.title, str) and isinstance(column.unit, str)):
            raise _refused(where, "columns", column.name, "a title and a unit that are text")
        chosen = column.type in ("choice", "choices")
        if not _is_names(column.choices) or chosen != bool(column.choices):
            raise _refused(where, "columns", column.choices, 'choices: ("NAME", "OTHER")')
        for bound in (column.minimum, column.maximum):
            if not (bound is None or _is_finite(bound)):
                raise _refused(where, "columns", bound, "a number, or None: no bound")
        names.append(column.name)
    if not _is_names(kind.required):
        raise _refused(where, "required", kind.required, 'a tuple of names: ("NAME",)')
    for name in kind.required:
        if name not in (*names, *taken - {KIND}):
            raise _refused(where, "required", name, ", ".join(names))


def _is_column_name(value: object) -> bool:
    return isinstance(value, str) and COLUMN_NAME.fullmatch(value) is not None


def _is_finite(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)  # type: ignore[arg-type]


def _is_positive(value: object) -> bool:
    return _is_finite(value) and value > 0  # type: ignore[operator]


def _refused(where: str, field: str, value: object, allowed: str) -> UsageError:
    return UsageError(f"{value!r:.60} cannot be used", where=f"{where}, {field}", allowed=allowed)


EXTRAS: Mapping[str, tuple[str, ...]] = {
    "local": ("torch", "transformers", "safetensors"),
    "gemini": ("google.genai",),
    "openai": ("openai",),
    "keyring": ("keyring",),
    "tables": ("pyarrow",),
    "plots": ("textual_plotext",),
    "figures": ("matplotlib",),
    "audio": ("sounddevice", "soundfile", "soxr", "scipy", "pyloudnorm"),
    "annotations": ("praatio", "pympi"),
    "interchange": ("zstandard",),
    "panphon": ("panphon",),
    "server": ("psycopg",),
    "onnx": ("onnxruntime", "onnx", "onnxscript"),
    "pictures": ("textual_image",),
    "cluster": ("distributed", "dask_jobqueue"),
}
"""Extra of tabwb: the modules that it brings."""

_JUDGES = "rules or tab-2026+likelihood:bundled or tab-2026:gemini:gemini-2.5-flash"
KINDS: Mapping[ComponentKind, tuple[str, str, type]] = {
    "models": ("model back end", specs.EXAMPLES, ModelBackend),
    "judges": ("judge", _JUDGES, Judge),
    "transcribers": ("transcriber", "wav2vec2:PATH-OR-ID or manual:FILE", Transcriber),
    "scorers": ("scorer", "choice", Scorer),
    "exporters": ("export format", "csv", Exporter),
    "importers": ("import format", "table", Importer),
}
"""Kind: its noun, examples of specs for messages, and the protocol that components must fulfil."""


@dataclass(frozen=True, slots=True)
class Component:
    """A descriptor and the plugin that registered it."""

    kind: ComponentKind
    descriptor: Descriptor
    owner: str


class Registry(Index[Component]):
    """The components of one kind."""

    def __init__(self, kind: ComponentKind) -> None:
        super().__init__(KINDS[kind][0])
        self.kind = kind

    def add(self, descriptor: Descriptor, owner: str) -> None:
        """Register a component.

        Raises:
            TypeError: it is not a descriptor, or one of its fields has another type.
            ValueError: its id or an alias is malformed, or its title is empty.
        """
        if not isinstance(descriptor, Descriptor):
            raise TypeError(f"register() takes a Descriptor, not {type(descriptor).__name__}")
        _check_types(descriptor)
        for word in (descriptor.id, *descriptor.aliases):
            if not is_component_id(word):
                raise ValueError(
                    f"'{word}' is not a kebab-case id (a-z, 0-9 and single hyphens; variants "
                    "joined by '+')"
                )
        if not descriptor.title.strip():
            raise ValueError(f"'{descriptor.id}' has no title: one line of text for lists")
        self._claims.setdefault(descriptor.id, []).append(Component(self.kind, descriptor, owner))

    def _named(self) -> Iterable[tuple[str, Sequence[Component]]]:
        aliases = self._aliases()
        both = [
            (word, [*self._claims[word], *aliases[word]])
            for word in aliases
            if word in self._claims
        ]
        return [*self._claims.items(), *aliases.items(), *both]

    def _words(self, id_: str, one: Component) -> set[str]:
        return {id_, *one.descriptor.aliases}

    def _aliases(self) -> dict[str, list[Component]]:
        aliases: dict[str, list[Component]] = {}
        for component in self.usable:
            for alias in component.descriptor.aliases:
                aliases.setdefault(alias, []).append(component)
        return aliases

    def find(self, word: str) -> Component:
        """Return the component with an id or alias.

        Raises:
            UsageError: there is none, or there are two.
        """
        claims = self._claims.get(word) or self._aliases().get(word) or []
        noun = self.noun
        if len(claims) > 1:
            owners = " and ".join(f"'{claim.owner}'" for claim in claims)
            raise UsageError(
                f"{noun} '{word}' is registered by {owners}; neither is used",
                hint="uninstall one of the plugins, or rename its component",
            )
        if not claims:
            aliases = [word for word, claims in self._aliases().items() if len(claims) == 1]
            ids = [component.descriptor.id for component in self.usable]
            known = list(dict.fromkeys((*aliases, *ids)))  # the short words first
            hint = "'tabwb plugins list' shows what is loaded and what failed"
            if self.kind in ("models", "judges"):
                hint = f"'tabwb {noun.split()[0]} list' shows what is there, "
                hint += "'tabwb plugins list' what failed"
            if self.kind == "models" and word == "python":
                hint = "the model was a Python function: tabwb.resume(STORE, ID, FUNCTION)"
            raise UsageError(
                f"there is no {noun} '{word}'" + did_you_mean(word, known),
                allowed=", ".join(known) or "none is installed",
                hint=hint,
            )
        return claims[0]


def _is_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) and one for one in value)


def _check_types(descriptor: Descriptor) -> None:
    """Check the type of every field of a descriptor."""
    text: tuple[Callable[[Any], bool], str] = (lambda value: isinstance(value, str), "text")
    flag: tuple[Callable[[Any], bool], str] = (
        lambda value: isinstance(value, bool), "True or False"
    )  # fmt: skip
    names = (_is_names, 'a tuple of names: ("NAME",)')
    function = (callable, "a function")
    maybe = (lambda value: value is None or callable(value), "a function, or None")
    kinds: Mapping[str, tuple[Callable[[Any], bool], str]] = {
        **dict.fromkeys(("id", "title", "name_help", "remarks", "install"), text),
        **dict.fromkeys(("needs", "aliases", "variables"), names),
        **dict.fromkeys(("options", "locate", "made_by", "replicates", "reply_tokens"), maybe),
        "factory": function,
        "needs_network": (
            lambda value: isinstance(value, bool) or callable(value),
            "True, False, or a function of the spec",
        ),
        "runs": (lambda value: value in ("here", "child"), "'here' or 'child'"),
        **dict.fromkeys(
            ("protocols", "unsampled"),
            (
                lambda value: _is_names(value) and set(value) <= set(Protocol),
                f"a tuple of names, each one of {', '.join(Protocol)}",
            ),
        ),
        "wraps": (lambda value: value is None or value in KINDS, f"one of {', '.join(KINDS)}"),
    }
    for field_ in fields(descriptor):
        value = getattr(descriptor, field_.name)
        fits, allowed = kinds.get(field_.name, flag)
        if not fits(value):
            where = f"the field '{field_.name}' of '{descriptor.id}'"
            raise TypeError(f"{where} is {value!r:.80}; allowed: {allowed}")


class BatteryIndex(Index[BatterySource]):
    """Batteries by id."""

    def add(self, source: BatterySource, owner: str) -> None:
        """Register a battery; see :meth:`Registry.add`.

        Raises:
            TypeError: it is not a battery source.
            ValueError: its id is malformed.
        """
        if not isinstance(source, BatterySource):
            raise TypeError(f"register() takes a BatterySource, not {type(source).__name__}")
        if not isinstance(source.path, Path):
            raise TypeError(f"the path of battery '{source.id}' is {source.path!r}, not a Path")
        if not is_kebab(source.id):
            raise ValueError(f"'{source.id}' is not a kebab-case id")
        self._claims.setdefault(source.id, []).append(replace(source, owner=owner))

    def find(self, identifier: str) -> Path:
        """Return the file of the battery with an id.

        Raises:
            UsageError: there is none, or there are two.
        """
        sources = self._claims.get(identifier, [])
        if len(sources) > 1:
            owners = " and ".join(f"'{source.owner}' ({source.path})" for source in sources)
            raise UsageError(
                f"battery '{identifier}' is registered by {owners}; neither is used",
                hint="name the file itself: a path with '/'",
            )
        if not sources:
            raise UsageError(
                f"there is no battery '{identifier}'" + did_you_mean(identifier, self._claims),
                allowed=", ".join(sorted(self._claims)) or "none is installed",
                hint="a file is named by a path with '/' or ending in .toml",
            )
        return sources[0].path


def battery_file(argument: str) -> Path:
    """Return the battery file that a path names; of a folder its ``battery.toml``.

    Raises:
        UsageError: there is no such file.
    """
    path = Path(argument)
    try:
        path = path.expanduser()
        path = path / "battery.toml" if path.is_dir() else path
        if not path.is_file():
            raise UsageError("there is no such file", where=str(path))
    except (OSError, ValueError, RuntimeError) as error:
        # A name too long, a NUL in it, a home directory that does not exist.
        raise UsageError(f"this cannot be a file: {error}", where=argument[:80]) from error
    return path


def check_name(descriptor: Descriptor, spec: Spec) -> None:
    """Check the NAME of a spec.

    Raises:
        UsageError: the name is missing or not allowed.
    """
    if spec.name is None and descriptor.name_required:
        allowed = f"{descriptor.id}:{descriptor.name_help or 'NAME'}"
        raise UsageError(f"'{descriptor.id}' needs a name", allowed=allowed)
    if spec.name is not None and not descriptor.name_help:
        raise UsageError(f"'{descriptor.id}' takes no name, but got '{spec.name}'")


def check_needs(descriptor: Descriptor) -> None:
    """Check that extras and the plugin's own packages are installed, without importing them.

    Raises:
        MissingExtra: an extra is not installed; the hint names the command that installs it.
        MissingPackage: a package, such as ``openai-whisper``, is not installed, as above.
    """
    for name in descriptor.needs:
        for module in EXTRAS.get(name, ()):
            if not is_installed(module):
                raise MissingExtra(f"'{descriptor.id}'", name, package=module)
        if name not in EXTRAS and not is_installed(name) and not _is_distributed(name):
            raise MissingPackage(f"'{descriptor.id}'", name, descriptor.install)


def _is_distributed(name: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(name) is not None
    except (PackageNotFoundError, ValueError):
        return False


def validate_options(descriptor: Descriptor, spec: Spec) -> Any:
    """Return the options as an instance of the component's model, or None.

    Raises:
        UsageError: an option is unknown or its value is not allowed.
    """
    if descriptor.options is None:
        if spec.options:
            key = next(iter(spec.options))
            raise UsageError(f"'{descriptor.id}' has no options, but got '{key}'")
        return None
    model = descriptor.options()
    known = tuple(model.model_fields)
    given: dict[str, Any] = {}
    for key, value in spec.options.items():
        table, dot, name = key.partition(".")
        if dot and table in known:
            given.setdefault(table, {})[name] = value
        elif key in known:
            given[key] = value
        else:
            message = f"'{descriptor.id}' has no option '{key}'" + did_you_mean(key, known)
            raise UsageError(message, allowed=", ".join(known))
    from pydantic import ValidationError

    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        message = first["msg"].removeprefix("Value error, ")
        described = key in known and model.model_fields[key].description
        # A key may have been typed into an option beside which it belongs.
        is_shown = key not in {"base_url", "key_env"}
        value = f"'{spec.options.get(key, '')}'" if is_shown else "what was given"
        raise UsageError(
            f"option '{key}' of '{descriptor.id}': {value} is not allowed",
            allowed=described or message[:1].lower() + message[1:],
        ) from error
