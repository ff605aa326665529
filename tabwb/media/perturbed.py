"""Facts for the methods about lesions, prompt noise and checkpoints.

A sweep has hundreds of lesions. They are told as the grids that they form, so that the sentences
name exactly the lesions that were given and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import PurePath
from typing import Any

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.file_names import without_folders
from tabwb.analysis.keys import noise_of
from tabwb.analysis.series import parameters_of, perplexity_of
from tabwb.analysis.tables.lesions import localizer_facts
from tabwb.battery import prompts
from tabwb.lesion.declared import (
    CHECK_TEXT,
    CONTROL,
    CONTROL_ROLES,
    CONTROLS,
    DRAWS,
    OPERATIONS,
    SELECTIONS,
    SPREAD_OVER,
    TARGETS,
)
from tabwb.lesion.spec import Lesion, numbers_text, parse_lesions, role_of
from tabwb.media.sentences import listed, percent, spread
from tabwb.media.studied import Members, Studied, is_persons, is_recorded
from tabwb.records.conditions import DOSE, DOSE_NAME, PARENT
from tabwb.records.errors import UsageError
from tabwb.records.words import plural

Facts = dict[str, Any]
_DRAWS: Mapping[str, str] = {
    "tabwb-lesion-1": "SFC64, seeded with the BLAKE2b hash of seed and name",
}
"""Version of the draws to how they are made."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Lesions that are every combination of their targets, layers, amounts, numbers and seeds.

    Targets have plus signs between where lesions were joined; an empty set of layers is all. Where
    nothing was drawn there is no seed. ``kind`` is what all have in common, with any target of
    their unit; None with ``spec``, of joined lesions that differ in more than the target.
    """

    targets: tuple[str, ...] = ()
    layers: tuple[tuple[int, ...], ...] = ()
    amounts: tuple[float, ...] = ()
    numbers: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    kind: Lesion | None = None
    spec: str = ""

    @property
    def n(self) -> int:
        """How many lesions."""
        sides = (self.targets, self.layers, self.amounts, self.numbers, self.seeds)
        return prod(max(1, len(side)) for side in sides)

    @property
    def is_spread(self) -> bool:
        """Whether they take weights anywhere, with no selection."""
        kind = self.kind
        return kind is not None and self.targets == (SPREAD_OVER,) and kind.select == "random"


def lesions(about: Studied) -> Facts:
    """Return which lesions each model was given under, how units were drawn, and the controls."""
    lesioned = [m for m in about.models if _spec(m)]
    if not lesioned:
        return {"given": []}
    given: dict[str, Members] = dict(spread(lesioned, about.name))
    intact: dict[str, list[AdministrationData]] = {name: [] for name in given}
    for member in about.members:
        if not is_persons(member) and not _spec(member):
            intact.setdefault(about.name(member), []).append(member)

    def specs(name: str) -> frozenset[tuple[str, bool]]:
        return frozenset((_spec(member), _is_control(member)) for member in given[name])

    boxes = grids(dict.fromkeys(map(_spec, lesioned)))
    targets = dict.fromkeys(one for box in boxes for each in box.targets for one in each.split("+"))
    found = _lesions_of(lesioned)
    several = len(given) > 1
    checked = [(name, own) for name, own in given.items() if any(map(_check_text, own))]
    return {
        "given": [_given(names, given[names[0]], intact) for _, names in spread(given, specs)],
        "targets": [{"id": one, "meaning": TARGETS[one].meaning} for one in targets],
        "localizer": localizer_facts(found),
        "drawn": _drawn(lesioned, [one for one in found if one.draws]),
        "sizes": [f for name, own in given.items() for f in _sizes(name if several else "", own)],
        "checks": [_check(name if several else "", own, intact[name]) for name, own in checked],
        "texts": list(filter(None, dict.fromkeys(map(_check_text, lesioned)))),
    }


def doses(about: Studied) -> Facts:
    """Return whether values are averaged by amount: of lesions, prompt noise, temperature."""
    members = [m for m in about.models if _spec(m) and not _is_control(m)]
    boxes = grids(dict.fromkeys(map(_spec, members)))
    alone = any(not one.draws for one in _lesions_of(members))
    amounts: dict[str, dict[object, set[float]]] = {"noise": {}, "temperature": {}}
    for member in about.members:
        given, name = member.conditions, about.name(member)
        if is_persons(member) or is_recorded(member) or given.lesion:
            continue
        if found := noise_of(given):
            amounts["noise"].setdefault((name, found.kind()), set()).add(found.amount)
        elif not given.prompt_noise:
            amounts["temperature"].setdefault(name, set()).add(given.decoding.temperature)
    return {
        "doses": any(len(box.amounts) > 1 or len(box.numbers) > 1 for box in boxes),
        "single_case": alone and any(_is_control(one) for one in about.members),
        "amounts": [
            name for name, sets in amounts.items() if any(len(one) > 1 for one in sets.values())
        ],
    }


def perturbations(about: Studied) -> Facts:
    """Return which checkpoints have which parents, and which items were given with noise."""
    members = about.models
    children = [m for m in members if m.conditions.labels.get(PARENT)]
    noisy = [member for member in members if _noise(member)]
    given = dict(spread(noisy, about.name))

    def parent(member: AdministrationData) -> str:
        return without_folders(member.conditions.labels[PARENT])

    def told(own: Members) -> list[Facts]:
        distances = {about.name(m): _distance(m.conditions.labels) for m in own}
        return [{"name": name, "distance": distance} for name, distance in distances.items()]

    def specs(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(_noise, given[name])))

    noises = [noise for m in noisy if (noise := noise_of(m.conditions))]
    both = [member for member in noisy if member.conditions.lesion]
    return {
        "checkpoints": [
            {"parent": name, "children": told(own)} for name, own in spread(children, parent)
        ],
        "noises": [
            {"names": names, "n": len(own), "of": list(_grids(given[names[0]]))}
            for own, names in spread(given, specs)
        ],
        "version": prompts.NOISE_VERSION if any(noise.draws for noise in noises) else "",
        "shares": any(noise.amount < 1 for noise in noises),
        "lesioned": about.some(both) if both else "",
    }


def _given(names: Sequence[str], members: Members, intact: Mapping[str, Sequence[object]]) -> Facts:
    given = dict.fromkeys(
        (_spec(one), role_of(_spec(one), one.administration.tags)) for one in members
    )
    of_roles = {
        noun: grids(spec for spec, role in given if role == noun)
        for noun in ("lesion", *CONTROL_ROLES)
    }
    counts = [plural(sum(box.n for box in own), noun) for noun, own in of_roles.items() if own]
    also = [name for name in names if intact[name]]
    told = [_box(box, "lesion") for box in of_roles["lesion"]]
    for kind in CONTROLS.values():
        controls = of_roles[kind.role]
        told += [_box(box, kind.role) for box in controls if not box.is_spread]
        if out := [box for box in controls if box.is_spread]:
            amounts = [amount for box in out for amount in box.amounts]
            told.append(
                {
                    "spread_over": True, "n": sum(box.n for box in out), "noun": kind.role,
                    "meaning": kind.meaning, "least": percent(min(amounts)),
                    "most": percent(max(amounts)),
                }
            )  # fmt: skip
    all_intact = len(also) == len(names)
    return {
        "names": names,
        "counts": ["no lesion", *counts] if all_intact else counts,
        "intact": [] if all_intact else also,
        "boxes": told,
    }


def _box(box: Grid, noun: str) -> Facts:
    kind = box.kind
    told: Facts = {"spread_over": False, "n": box.n, "noun": noun, "seeds": box.seeds}
    if kind is None:
        return {**told, "spec": without_folders(box.spec)}
    operation, target = OPERATIONS[kind.operation], TARGETS[kind.target]
    numbers = listed((f"{number:g}" for number in box.numbers), last="or")
    is_whole = box.amounts == (1.0,)
    chosen = "" if kind.select == "random" else SELECTIONS[kind.select]
    if kind.file:
        chosen = f"{chosen.replace('file=', PurePath(kind.file).name)}, SHA-256 {kind.sha256}"
    by_layer = any(box.layers) if target.unit == "layer" else target.in_layers
    single = all(len(one) == 1 and one[0] >= 0 for one in box.layers)
    return {
        **told,
        "spec": "",
        "operation": kind.operation,
        "meaning": operation.meaning.replace(f"{operation.option}=", numbers)
        if numbers
        else operation.meaning,
        "shares": [] if is_whole else list(map(percent, box.amounts)),
        "is_list": bool(kind.file),
        "unit": target.unit,
        "numbers": numbers_text(kind.units) if kind.units else "",
        "targets": box.targets,
        "chosen": chosen if kind.file or not is_whole else "",
        "layers": {
            "singles": [one[0] for one in box.layers] if single else [],
            "sets": [numbers_text(one) for one in box.layers],
        }
        if by_layer
        else None,
    }


def grids(specs: Iterable[str]) -> list[Grid]:
    """Return lesions as grids: a side is joined where all other sides are the same."""
    boxes = [_single(spec) for spec in specs]
    for side in ("seeds", "amounts", "numbers", "layers", "targets"):
        alike: dict[Grid, dict[Any, None]] = {}
        for box in boxes:
            rest: Any = {side: ()}
            alike.setdefault(replace(box, **rest), {}).update(dict.fromkeys(getattr(box, side)))
        order = list if side == "targets" else sorted
        joined: list[Any] = [{side: tuple(order(values))} for values in alike.values()]
        boxes = [replace(box, **own) for box, own in zip(alike, joined, strict=True)]
    return boxes


def _single(text: str) -> Grid:
    try:
        found = parse_lesions(text)
    except UsageError:  # made with another tool
        return Grid(spec=text)
    seeds = {one.seed for one in found if one.draws}
    kinds = {_kind(one) for one in found}
    sides = {(one.layers, one.amount, one.number) for one in found}
    if len(seeds) > 1:
        return Grid(spec=text)
    if len(kinds) > 1 or len(sides) > 1:
        return Grid(seeds=tuple(seeds), spec="+".join(one.kind(amount="") for one in found))
    targets = "+".join(one.target for one in found)
    ((layers, amount, number),) = sides
    numbers = () if number is None else (number,)
    return Grid((targets,), (layers,), (amount,), numbers, tuple(seeds), kinds.pop())


def _kind(lesion: Lesion) -> Lesion:
    """Return a lesion without layers, amount, number and seed, with any target of its unit."""
    own = TARGETS[lesion.target]
    like = next(
        one.id for one in TARGETS.values() if (one.unit, one.in_layers) == (own.unit, own.in_layers)
    )
    return replace(
        lesion, target=like, layers=(), amount=1.0, factor=None, sigma=None, bits=None, seed=0
    )


def _lesions_of(members: Members) -> list[Lesion]:
    found: list[Lesion] = []
    for text in dict.fromkeys(map(_spec, members)):
        try:
            found += parse_lesions(text)
        except UsageError:  # made with another tool
            continue
    return found


def _drawn(members: Members, found: Sequence[Lesion]) -> Facts | None:
    """Return how units were chosen, where a seed decided it."""
    if not found:
        return None
    units = {TARGETS[one.target].unit for one in found if one.select == "random" and one.amount < 1}
    versions = filter(None, dict.fromkeys(member.model_facts.get(DRAWS, "") for member in members))
    return {
        "weights": "weight" in units,
        "whole": [f"{unit}s" for unit in sorted(units - {"weight"})],
        "versions": [{"name": one, "how": _DRAWS.get(one, "")} for one in versions],
        "nested": not all(one.is_control for one in found),
        "controls": any(one.is_control for one in found),
    }


def _sizes(name: str, members: Members) -> Iterator[Facts]:
    taken = [size for member in members if (size := parameters_of(member)) is not None]
    wholes = {member.model_facts.get("parameters", "") for member in members}
    if taken and len(wholes) == 1:
        (whole,) = wholes
        yield {
            "name": name,
            "ends": list(dict.fromkeys(f"{size:,}" for size in (min(taken), max(taken)))),
            "whole": f"{int(whole):,}" if whole.isdecimal() else "",
            "controls": any(map(_is_control, members)),
        }


def _check(name: str, members: Members, intact: Members) -> Facts:
    """Return the perplexity of the fixed text, intact and its range under lesions."""
    known, before = (
        [value for m in own if (value := perplexity_of(m.model_facts)) is not None]
        for own in (members, intact)
    )
    return {
        "name": name,
        "intact": list(map(_count, sorted(set(before)))),
        "ends": list(dict.fromkeys(map(_count, (min(known), max(known))))) if known else [],
        "controls": any(map(_is_control, members)),
        "missing": len(members) - len(known),
    }


def _grids(members: Members) -> Iterator[Facts]:
    """Yield the prompt noise of a model: each operation with its shares and seeds."""
    amounts: dict[tuple[str, str], dict[float, set[int]]] = {}
    for member in members:
        noise = noise_of(member.conditions)
        if noise is None:  # made with another tool
            yield {"spec": _noise(member), "meaning": ""}
            continue
        by_amount = amounts.setdefault((noise.unit, noise.operation), {})
        by_amount.setdefault(noise.amount, set()).update([noise.seed] if noise.draws else [])
    for (unit, operation), own in amounts.items():
        by_seeds: dict[frozenset[int], list[str]] = {}
        for amount, seeds in sorted(own.items()):
            by_seeds.setdefault(frozenset(seeds), []).append(percent(amount))
        yield {
            "spec": f"{unit}:{operation}",
            "meaning": prompts.NOISE_OPERATIONS[unit][operation].meaning,
            "shares": [{"amounts": having, "seeds": seeds} for seeds, having in by_seeds.items()],
        }


def _distance(labels: Mapping[str, str]) -> str:
    dose, name = labels.get(DOSE, ""), labels.get(DOSE_NAME, "")
    return f"{dose} {name}".strip() if dose else ""


def _spec(member: AdministrationData) -> str:
    return member.conditions.lesion or ""


def _noise(member: AdministrationData) -> str:
    return member.conditions.prompt_noise or ""


def _is_control(member: AdministrationData) -> bool:
    return CONTROL in member.administration.tags


def _check_text(member: AdministrationData) -> str:
    return member.model_facts.get(CHECK_TEXT, "")


def _count(value: float) -> str:
    return f"{value:,.0f}" if 100 <= value < 1e7 else f"{value:.3g}"
