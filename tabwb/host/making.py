"""Resolves the spec of a component, and makes the component from it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic, Literal, Protocol, cast, get_args

from tabwb.host.guarded import (
    GuardedModel,
    GuardedTranscriber,
    Report,
    error_words,
    plugin_code,
)
from tabwb.host.index import (
    KINDS,
    Component,
    check_name,
    check_needs,
    validate_options,
)
from tabwb.host.settings import Configuration
from tabwb.plugin_api.components import (
    ActivationBackend,
    BatchingBackend,
    Cancel,
    Exporter,
    Judge,
    LaneBackend,
    LesionableBackend,
    LikelihoodBackend,
    Scorer,
)
from tabwb.plugin_api.descriptors import ComponentKind, Descriptor
from tabwb.records.errors import (
    ComponentError,
    Interrupted,
    NeedsNetwork,
    TabwbError,
    UsageError,
    has_key,
)
from tabwb.records.ratings import MeasureKind, Scope
from tabwb.records.reasoning import AUTO, check_option
from tabwb.records.reasoning import OPTION as REASONING
from tabwb.records.specs import Spec, inner_spec, is_writable, parse_spec
from tabwb.records.words import did_you_mean

Find = Callable[[ComponentKind, str], Component]

_DECLARED: dict[str, type] = {
    "batches": BatchingBackend,
    "likelihood": LikelihoodBackend,
    "lesions": LesionableBackend,
    "activations": ActivationBackend,
    "lanes": LaneBackend,
}
"""A field of descriptors of model back ends, and the contract that it declares."""

Cut = Literal["no", "speech", "energy"]
CUT = "cut"
"""The option of every transcriber whether it gets only the stretches with speech.

tabwb itself cuts the recording; the transcriber does not get the option.
"""
MEANINGS: dict[Cut, str] = {
    "no": "the whole recording",
    "speech": "speech, found by a model of voice activity and by energy",
    "energy": "speech, found by energy alone",
}


def resolved(
    kind: ComponentKind, text: str, configuration: Configuration, find: Find, *, dry: bool
) -> tuple[Component, Spec]:
    """Return the component of a spec, and the spec with aliases and profiles replaced.

    Args:
        kind: of the component.
        text: the spec.
        configuration: has the profiles, and says whether to stay offline.
        find: returns the component with an id or alias.
        dry: packages and the network may be missing.

    Raises:
        UsageError: there is no such component, or name or options are not allowed.
        MissingExtra: a package that the component needs is not installed.
        NeedsNetwork: the component needs a network and the program is offline.
    """
    spec = _expanded(parse_spec(text, examples=KINDS[kind][1]), configuration)
    if has_key(str(spec)):  # specs are stored
        raise UsageError(
            f"a part of '{spec}' looks like a key",
            allowed="the key of a service in the environment or in the system's keyring",
            hint="name its variable with key_env, or store it: tabwb key set SERVICE. Replace a "
            "key that you typed: the shell may have kept it",
        )
    component = find(kind, spec.id)
    descriptor = component.descriptor
    spec = replace(spec, id=descriptor.id)
    check_name(descriptor, spec)
    if descriptor.locate is not None and spec.name is not None:
        spec = replace(spec, name=descriptor.locate(spec.name))
    if configuration.offline and not dry and descriptor.reaches_out(spec):
        raise NeedsNetwork(
            f"'{descriptor.id}' needs a network, and tabwb is offline",
            hint="leave out --offline (or TABWB_OFFLINE, or 'offline' in tabwb.toml)",
        )
    if not dry:
        check_needs(descriptor)
    if descriptor.wraps is not None:
        _, inner = resolved(descriptor.wraps, inner_spec(spec), configuration, find, dry=dry)
        if not is_writable(inner):  # a profile whose values no spec can hold
            return component, spec
        name = str(replace(inner, options={}))
        return component, replace(spec, name=name, options=inner.options)
    if kind == "transcribers":
        cut_of(descriptor, spec)
    if kind == "models":
        reasoning_of(spec)
    own = own_options(component, spec)
    if own.options:
        validate_options(descriptor, own)
    return component, spec


def _expanded(spec: Spec, configuration: Configuration) -> Spec:
    if spec.id != "profile":
        return spec
    profiles = configuration.profiles
    profile = profiles.get(spec.name or "")
    if profile is None:
        raise UsageError(
            f"there is no profile '{spec.name or ''}'" + did_you_mean(spec.name or "", profiles),
            allowed=", ".join(f"profile:{name}" for name in profiles)
            or "none; a profile is a table [profile.NAME] in tabwb.toml",
        )
    return replace(profile.spec, options={**profile.spec.options, **spec.options})


def make_component(
    component: Component, spec: Spec, make_inner: Callable[[], Any], report: Report
) -> Any:
    """Return a component, checked against its contract; models and transcribers are guarded.

    Raises:
        ComponentError: the factory failed, or made something else.
    """
    descriptor = component.descriptor
    own = own_options(component, spec)
    try:
        with plugin_code:
            if descriptor.wraps is not None:
                made = descriptor.factory(own, None, make_inner)
            else:
                made = descriptor.factory(own, validate_options(descriptor, own))
    except TabwbError:
        raise
    except Exception as error:
        raise ComponentError(
            f"'{descriptor.id}' of plugin '{component.owner}' cannot be made: {error_words(error)}"
        ) from error
    _, _, contract = KINDS[component.kind]
    declared = [_DECLARED[ability] for ability in descriptor.abilities]
    try:
        with plugin_code:  # an attribute may be a property, which is code of the plugin
            made = completed(made, contract)
            for needs in (contract, *declared):
                if not isinstance(made, needs):
                    raise ComponentError(
                        f"the factory of '{descriptor.id}' of plugin '{component.owner}' returned "
                        f"{type(made).__name__}, which lacks {', '.join(_missing(made, needs))}",
                        allowed=f"what has the attributes of tabwb.plugin_api.{needs.__name__}",
                    )
            if component.kind == "scorers":
                kinds_of(made)
            if component.kind == "judges":
                _check_judge(made)
    except TabwbError:
        raise
    except Exception as error:
        kind = component.kind.removesuffix("s")
        raise ComponentError(
            f"{kind} '{descriptor.id}' of plugin '{component.owner}': {error_words(error)}",
        ) from error
    if component.kind == "importers":
        from tabwb.host.guarded import GuardedImporter

        return GuardedImporter(made, descriptor.id)
    if component.kind == "models":
        return GuardedModel(made, descriptor.id, report, reasoning_of(spec), component.owner)
    if component.kind == "transcribers":
        return GuardedTranscriber(made, descriptor.id, report, component.owner)
    return made


_EITHER: Mapping[type, tuple[str, str]] = {
    Judge: ("judge", "judge_many"),
    Exporter: ("export", "export_stream"),
}
"""Contracts with defaults, and the methods of which a component has one: each calls the other."""


def completed(made: Any, contract: type) -> Any:
    """Return a component with the contract's own default for what a plugin left out.

    Nothing is added where something is missing that has no default.
    """
    if contract not in _EITHER or (isinstance(made, contract) and contract in type(made).__mro__):
        return made
    names = _members(contract)
    given = {name for name in names if hasattr(made, name)}
    defaults = {name for name in names if hasattr(contract, name)}
    if not given.intersection(_EITHER[contract]) or not names <= given | defaults:
        return made
    own = {name: _passed_on(made, name) for name in given}
    return type(type(made).__name__, (contract,), own)()


def _missing(made: Any, contract: type) -> list[str]:
    """Return what a component lacks that a contract has no default for."""
    missing = [name for name in sorted(_members(contract)) if not hasattr(made, name)]
    if contract not in _EITHER:
        return missing
    either = _EITHER[contract]
    lacking = [name for name in missing if not hasattr(contract, name)]
    return [*lacking, " or ".join(either)] if {*either} <= {*missing} else lacking


def _passed_on(made: Any, name: str) -> property:
    return property(lambda _: getattr(made, name))


def _members(contract: type) -> set[str]:
    """Return the attributes and methods that a protocol asks for."""
    own = [vars(base) for base in contract.__mro__ if base not in (object, Protocol, Generic)]
    named = {name for space in own for name in (*space, *space.get("__annotations__", ()))}
    return {name for name in named if not name.startswith("_")}


def _check_judge(judge: Judge) -> None:
    """Check what a judge declares of itself.

    Raises:
        ValueError: a declaration cannot be used.
    """
    for name in ("rater", "caution"):
        if not isinstance(value := getattr(judge, name), str):
            raise ValueError(f"'{name}' is {value!r}; it is a text")
    features = judge.features
    if isinstance(features, str) or not isinstance(features, Collection):
        raise ValueError(f"'features' is {features!r}; it is a tuple of ids")
    if not all(isinstance(name, str) for name in features) or len({*features}) < len(features):
        raise ValueError(f"'features' is {features!r}; each is an id, once")
    if judge.scope is not None and judge.scope not in get_args(Scope):
        raise ValueError(f"'scope' is {judge.scope!r}; allowed: {', '.join(get_args(Scope))}")


def kinds_of(scorer: Scorer) -> dict[str, MeasureKind]:
    """Return what the values of a scorer's measures are; those declared by name only are numbers.

    Raises:
        ValueError: its declaration cannot be used.
    """
    declared = scorer.measures
    if isinstance(declared, Mapping):
        kinds = dict(declared)
    elif isinstance(declared, str) or not isinstance(declared, Iterable):
        raise ValueError(f"'measures' is {declared!r}; {_MEASURES}")
    else:
        names = list(declared)
        if len(set(map(str, names))) < len(names):
            raise ValueError(f"'measures' names one twice: {', '.join(map(str, names))}")
        kinds = dict.fromkeys(names, "number")
    for name, kind in kinds.items():
        if not isinstance(name, str) or not name.strip() or "\n" in name:
            raise ValueError(f"'measures' has the name {name!r}; a name is one line of text")
        if kind not in get_args(MeasureKind):
            raise ValueError(f"'measures' has {name!r}: {kind!r}; {_MEASURES}")
    if not kinds:
        raise ValueError(f"'measures' is empty; {_MEASURES}")
    return cast("dict[str, MeasureKind]", kinds)


_MEASURES = f"it maps each measure to one of {', '.join(get_args(MeasureKind))}"


OURS: dict[ComponentKind, str] = {"transcribers": CUT, "models": REASONING}
"""The option of every component of a kind that tabwb itself acts on."""


def own_options(component: Component, spec: Spec) -> Spec:
    """Return the spec as the component gets it: without the option that tabwb acts on.

    A component that declares this option itself gets it too.
    """
    ours = OURS.get(component.kind)
    if ours is None or ours not in spec.options:
        return spec
    declared = component.descriptor.options
    if declared is not None and ours in declared().model_fields:
        return spec
    return replace(spec, options={key: value for key, value in spec.options.items() if key != ours})


def reasoning_of(spec: Spec) -> str:
    """Return the value of ``reasoning`` for a model.

    Raises:
        UsageError: it is not allowed.
    """
    return check_option(spec.options.get(REASONING, AUTO))


def cut_of(descriptor: Descriptor, spec: Spec) -> Cut:
    """Return the value of ``cut`` for a transcriber.

    Raises:
        UsageError: the value is not allowed for this transcriber.
    """
    from tabwb.records.speech import is_typed

    default: Cut = "speech" if descriptor.cuts else "no"
    value = spec.options.get(CUT, default)
    if is_typed(spec.id):
        allowed: tuple[Cut, ...] = ("no",)
    else:
        allowed = ("speech", "energy") if descriptor.cuts else ("no", "speech", "energy")
    if value not in allowed:
        raise UsageError(
            f"option '{CUT}' of '{descriptor.id}': '{value}' is not allowed",
            allowed=", ".join(f"{name} ({MEANINGS[name]})" for name in allowed),
        )
    return value


POLL_S = 0.1
"""Seconds between two looks at whether loading is to stop."""


class Openable(Protocol):
    """A model back end, a judge that asks one, or a transcriber."""

    def open(self) -> Mapping[str, str]:
        """Load it; return its facts."""

    def close(self) -> None:
        """Release it; ends the process of a component that is being loaded in one."""


def opened(component: Openable, cancel: Cancel) -> Mapping[str, str]:
    """Open a component and return its facts; a stop closes it at once, also while it is loaded.

    A component in a child process is asked to end, and terminated after 2 s.

    Raises:
        Interrupted: the loading was stopped; the component is closed.
        TabwbError: the component cannot be loaded.
    """
    done = threading.Event()

    def watch() -> None:
        while not done.wait(POLL_S):
            if cancel.is_set():
                component.close()  # again at the next look: its process may just be starting

    watching = threading.Thread(target=watch, name="loading", daemon=True)
    watching.start()
    try:
        facts = component.open()
    except TabwbError:
        if not cancel.is_set():
            raise
    finally:
        done.set()
        watching.join()  # a process that it closes has ended then
    if cancel.is_set():
        component.close()
        raise Interrupted("loading was stopped")
    return facts
