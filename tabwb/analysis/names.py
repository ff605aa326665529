"""Short names of models and judges: the profile's, else as much of the spec as tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from types import MappingProxyType

from tabwb.analysis.administrations import spec_of
from tabwb.lesion.spec import lesion_text, parse_lesions
from tabwb.records.conditions import RECORDED, Conditions
from tabwb.records.errors import UsageError
from tabwb.records.specs import Spec, parse_spec


def short_names(models: Mapping[str, str]) -> dict[str, str]:
    """Return a name for each model: its profile's, else the last part of the model's own name.

    Models that would share a name get as much more as tells them apart: the whole name, the back
    end, or the options in which they differ; else the whole spec.

    >>> llama = "transformers:meta-llama/Llama-3.2-1B"
    >>> short_names({f"{llama}@dtype=float32": "", "bundled": "mine"})
    {'transformers:meta-llama/Llama-3.2-1B@dtype=float32': 'Llama-3.2-1B', 'bundled': 'mine'}
    >>> list(short_names({f"{llama}@dtype=float32,device=cpu": "",
    ...                   f"{llama}@dtype=float16,device=cpu": ""}).values())
    ['Llama-3.2-1B@dtype=float32', 'Llama-3.2-1B@dtype=float16']
    >>> short_names({"echo": "mine", "echo@text=Yes": ""})
    {'echo': 'mine', 'echo@text=Yes': 'echo@text=Yes'}
    """
    named = {spec: profile or _short(spec) for spec, profile in models.items()}
    for name in dict.fromkeys(named.values()):
        alike = [spec for spec, given in named.items() if given == name]
        # A model beside one that only its profile calls otherwise must not seem to be that one.
        kin = [spec for spec in models if spec in alike or _short(spec) == name]
        if len(alike) > 1 or (len(kin) > 1 and not models[alike[0]]):
            others = set(named.values()) - {name}
            named |= _apart(name, alike, kin, models, others)
    return named


def names_of(given: Iterable[Conditions]) -> dict[str, str]:
    """Return a short name for each model that was given a battery, by :func:`spec_of`.

    A profile's name is used where all that name one name the same.
    """
    profiles: dict[str, set[str]] = {}
    for conditions in given:
        if conditions.kind == "model":
            named = conditions.labels.get("profile", "")
            profiles.setdefault(spec_of(conditions), set()).add(named)
    return short_names(
        {
            spec: next(iter(names)) if len(names := found - {""}) == 1 else ""
            for spec, found in profiles.items()
        }
    )


def judge_names(raters: Iterable[str]) -> dict[str, str]:
    """Return a name for each judge: its id and the short name of the model that it asks.

    >>> judge_names(["rules-2", "tab-2026:openai:org/m@base_url=http://localhost:1/v1"])
    {'rules-2': 'rules-2', 'tab-2026:openai:org/m@base_url=http://localhost:1/v1': 'tab-2026:m'}
    """
    asked: dict[str, dict[str, str]] = {}
    given = list(dict.fromkeys(raters))
    for rater in given:
        judge, colon, model = rater.partition(":")
        if colon:
            asked.setdefault(judge, {})[model] = ""
    names = {judge: short_names(models) for judge, models in asked.items()}
    parts = ((rater, *rater.partition(":")) for rater in given)
    return {
        rater: f"{judge}:{names[judge][model]}" if colon else rater
        for rater, judge, colon, model in parts
    }


def judge_called(judge: str, raters: Iterable[str]) -> str:
    """Return the one of some raters that a text names: its spec, its short name or its id."""
    names = judge_names(raters)
    if judge in names:
        return judge
    found = [rater for rater, name in names.items() if name == judge]
    found = found or [rater for rater in names if rater.partition(":")[0] == judge]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"several judges are called '{judge}'", allowed=", ".join(names[one] for one in found)
        )
    raise UsageError(
        f"'{judge}' has rated none of these",
        allowed=", ".join(names.values()) or "nobody has",
        hint=f"a judge rates them with: tabwb judge run ID --judge {judge}",
    )


def short_lesions(given: Iterable[Conditions]) -> dict[str, str]:
    """Return lesions with their amounts in two digits, or in as many as tell all lesions apart.

    The amount of a control has six. Lesions that other tools made stay as they are.

    >>> several = ("mlp:zero:0.3@seed=7", "projections:zero:0.0153846@seed=7")
    >>> list(short_lesions(Conditions("bundled", "model", lesion=one) for one in several).values())
    ['mlp:zero:0.3@seed=7', 'projections:zero:0.015@seed=7']
    """
    lesions = dict.fromkeys(one.lesion for one in given if one.lesion)
    for digits in (2, 3, 4):
        named = {lesion: _rounded(lesion, digits) for lesion in lesions}
        if len({*named.values()}) == len(named):
            return named
    return {lesion: lesion for lesion in lesions}


def _rounded(lesion: str, digits: int) -> str:
    try:
        parts = parse_lesions(lesion)
    except UsageError:
        return lesion
    return lesion_text([replace(one, amount=float(f"{one.amount:.{digits}g}")) for one in parts])


def name_in(
    names: Mapping[str, str],
    given: Conditions,
    *,
    lesion: bool = True,
    lesions: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return what an examinee is called: the model with its lesion, or the study ID.

    >>> name_in({"echo": "echo"}, Conditions("echo", "model", lesion="noise:0.1"))
    'echo + noise:0.1'
    """
    if given.kind == "speaker":
        return given.examinee
    own = given.lesion or ""
    return names[spec_of(given)] + (f" + {lesions.get(own, own)}" if lesion and own else "")


def _apart(
    name: str,
    alike: Collection[str],
    kin: Collection[str],
    models: Mapping[str, str],
    taken: Collection[str],
) -> dict[str, str]:
    specs = [spec for text in kin if (spec := _parsed(text)) is not None]
    differing = {
        key
        for spec in specs
        for key in spec.options
        if len({other.options.get(key) for other in specs}) > 1
    }

    def options(spec: Spec) -> str:
        given = ",".join(
            f"{key}={value}" for key, value in spec.options.items() if key in differing
        )
        return f"@{given}" if given else ""

    forms: tuple[Callable[[str, Spec], str], ...] = (
        lambda text, spec: name + options(spec),
        lambda text, spec: _whole(spec) + options(spec),
        lambda text, spec: str(Spec(spec.id, spec.name)) + options(spec),
        lambda text, spec: f"{name} ({text})" if models[text] else text,
    )
    for form in forms:
        made = {text: form(text, spec) for text in alike if (spec := _parsed(text)) is not None}
        if len(made) == len(alike) == len({*made.values()} - {*taken}):
            return made
    return {text: text for text in alike}


def _parsed(text: str) -> Spec | None:
    try:
        return parse_spec(text)
    except UsageError:  # stored by an earlier version
        return None


def _whole(spec: Spec) -> str:
    return spec.id if spec.name is None else spec.name


def _short(text: str) -> str:
    """Return the last part of a model's own name; of recorded answers the name of the file.

    >>> [_short(text) for text in ("bundled", "openai:llama3.2:1b", "replay:runs/a.jsonl")]
    ['bundled', 'llama3.2:1b', 'replay:a.jsonl']
    """
    spec = _parsed(text)
    if spec is None:
        return text
    if spec.name is None:
        return spec.id
    last = PurePosixPath(spec.name.replace("\\", "/")).name or spec.name
    return f"{RECORDED}{last}" if text.startswith(RECORDED) else last
