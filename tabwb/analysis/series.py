"""What differs in amount between administrations: series of lesions, noise, sizes, conditions."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import fsum, inf, isfinite, sqrt
from typing import NamedTuple, TypeVar

from tabwb.analysis.administrations import AdministrationData, model_of, spec_of
from tabwb.analysis.grouping import Group, Grouped
from tabwb.analysis.keys import noise_of
from tabwb.analysis.names import name_in, names_of
from tabwb.analysis.statistics.summary import pool
from tabwb.lesion.declared import CONTROL, CONTROLS, CONTROLS_OF, PERPLEXITY
from tabwb.lesion.declared import PARAMETERS as TAKEN
from tabwb.lesion.spec import Lesion, control_role, parse_lesions
from tabwb.records.conditions import (
    DOSE,
    DOSE_NAME,
    PARENT,
    Conditions,
    compared,
    declared,
    phrase_of,
)
from tabwb.records.declared_conditions import CONDITIONS, Real, Whole
from tabwb.records.errors import UsageError

LESION, PARAMETERS, TEMPERATURE = "lesion", "parameters", "temperature"
NOISE, CHECKPOINT = "prompt_noise", "checkpoint"
REFERENCED = LESION, NOISE, CHECKPOINT
"""Of these an administration without an amount is the reference: intact, or the parent."""
SIZED = "family", "tuning", "parameters"
"""What profiles say of models that are compared by size."""
SIZES = 5.0
"""Standard deviations by which the mean sizes of a lesion and of its control may differ."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_SEED = re.compile(r"([@,])seed=([^,@]*)")
_IN_LAYERS = tuple(kind.role for kind in CONTROLS.values() if kind.in_layers)
_Key = TypeVar("_Key", bound=Hashable)
Conditioned = tuple[tuple[str, str], ...]
"""Name and value of conditions, in words."""
Model = tuple[str, Conditioned]
"""An examinee, and the conditions that must be alike."""
Members = Sequence[AdministrationData]
Line = Mapping[float, Members]
"""Amount to the administrations of one seed."""
Placed = tuple["Dose", AdministrationData]


def doses() -> tuple[str, ...]:
    """Return what can be an amount: of perturbations, sizes of models, conditions as numbers."""
    numbers = (
        condition.id
        for condition in CONDITIONS
        if isinstance(condition.kind, Real | Whole) and condition.id != "seed"
    )
    return *REFERENCED, PARAMETERS, *numbers


def size_words(parameters: float) -> str:
    """Return a number of parameters in words.

    >>> size_words(1_240_000_000), size_words(494e6), size_words(64_000), size_words(12)
    ('1.24B', '494M', '64K', '12')
    """
    for unit, scale in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if parameters >= scale:
            return f"{parameters / scale:.3g}{unit}"
    return f"{parameters:g}"


# ------------------------------------------------------------------ the dose of an administration


class Dose(NamedTuple):
    """Of an administration: to what series it belongs, the amount, the seed.

    The examinee is without its lesion, of sizes the family with its tuning, of a checkpoint its
    parent. An intact model has no amount. Where nothing is drawn the seed is that of the run.
    """

    examinee: str
    kind: str
    conditions: Conditioned
    amount: float | None
    seed: str
    drawn: bool = True


def lesion_dose(spec: str, key: str = "") -> tuple[str, float, str]:
    """Return the kind of a lesion, its amount, and its seed.

    The kind is the spec with ``*`` for the amount and without the seed. The amount is the only
    number between its marks, or that of an option.

    >>> lesion_dose("mlp.down:zero:0.3@seed=7")
    ('mlp.down:zero:*', 0.3, '7')
    >>> lesion_dose("noise:mlp@layers=2,sigma=0.05,seed=1", "sigma")
    ('noise:mlp@layers=2,sigma=*', 0.05, '1')
    >>> lesion_dose("mlp.up:zero:0.3@layers=0-2,seed=7+mlp.down:zero:0.3@layers=0-2,seed=7")
    ('mlp.up:zero:*@layers=0-2+mlp.down:zero:*@layers=0-2', 0.3, '7')
    """
    lesions = _parsed(spec)
    if not lesions:  # made with another tool
        return _any_dose(spec, key)
    key = key or "amount"
    amounts = {getattr(one, key, None) for one in lesions}
    seeds = {str(one.seed) for one in lesions if one.draws}
    amount = amounts.pop()
    if amounts or not isinstance(amount, float) or len(seeds) > 1:
        raise UsageError(
            f"the lesion '{spec}' has more than one seed"
            if len(seeds) > 1
            else f"the lesion '{spec}' has not one {key}",
            allowed="lesions joined by + with one amount and one seed; or amount=factor, "
            "amount=sigma where these differ",
        )
    return "+".join(one.kind(key) for one in lesions), amount, "".join(seeds)


def _any_dose(spec: str, key: str) -> tuple[str, float, str]:
    seed = _SEED.search(spec)
    rest = _SEED.sub("", spec)
    if "," in rest and "@" not in rest:  # the seed was the first option
        rest = rest.replace(",", "@", 1)
    parts = re.split(r"([:@,=+])", rest)
    found = [
        at
        for at, part in enumerate(parts)
        if _NUMBER.fullmatch(part) and (not key or parts[max(at - 2, 0) : at] == [key, "="])
    ]
    if len(found) != 1:
        what = f"no amount '{key}'" if key else f"{len(found) or 'no'} numbers"
        raise UsageError(
            f"the lesion '{spec}' has {what}",
            allowed="one number, its amount",
            hint="" if key or not found else "name the option that is the amount: amount=KEY",
        )
    (at,) = found
    kind = "".join((*parts[:at], "*", *parts[at + 1 :]))
    return kind, float(parts[at]), seed[2] if seed else ""


def _parsed(spec: str) -> tuple[Lesion, ...]:
    """Return the lesions of a spec; none of another tool's text."""
    try:
        return parse_lesions(spec)
    except UsageError:
        return ()


class Severity(NamedTuple):
    """An ordered value that administrations differ in: an amount, of a lesion by a key of it."""

    by: str
    key: str = ""

    @property
    def name(self) -> str:
        """The name of the value, in words.

        >>> Severity("lesion").name, Severity("lesion", "bits").name, Severity("max_tokens").name
        ('amount of the lesion', 'bits of the lesion', 'max tokens')
        """
        names = {
            LESION: f"{self.key or 'amount'} of the lesion",
            NOISE: "amount of prompt noise",
            CHECKPOINT: "dose of the checkpoint",
            PARAMETERS: "number of parameters",
        }
        return names.get(self.by) or self.by.replace("_", " ")

    @property
    def referred(self) -> bool:
        """Whether there is a reference, the model without it."""
        return self.by in REFERENCED

    def words(self, amount: float) -> str:
        """Return an amount as an axis has it."""
        return size_words(amount) if self.by == PARAMETERS else f"{amount:g}"

    def dose(self, given: Conditions) -> Dose:
        """Return the dose of an administration."""
        by, alike = self.by, tuple(sorted(compared(given, [self.by]).items()))
        seed, labels = str(given.seed), given.labels
        if by == PARAMETERS:
            family, tuning, size = (labels.get(name, "") for name in SIZED)
            kin = " ".join(filter(None, (family or "family unknown", tuning)))
            amount = float(size) if size.isdecimal() else None
            return Dose(kin, given.lesion or "", alike, amount, seed)
        if by == LESION:
            if given.lesion is None:
                return Dose(spec_of(given), "", alike, None, seed)
            kind, taken, own = lesion_dose(given.lesion, self.key)
            return Dose(spec_of(given), kind, alike, taken, own or seed, bool(own))
        if by == NOISE and given.prompt_noise is not None:
            noise = noise_of(given)
            if noise is None:
                raise UsageError(f"the prompt noise '{given.prompt_noise}' has no amount")
            seed, kind = str(noise.seed) if noise.draws else seed, f"prompt noise {noise.kind()}"
            return Dose(model_of(given), kind, alike, noise.amount, seed, noise.draws)
        if by == CHECKPOINT and PARENT in labels:
            if DOSE not in labels:
                raise UsageError(f"the checkpoint {given.examinee} has no dose")
            kin = model_of(replace(given, examinee=labels[PARENT]))
            kind = f"{labels.get(DOSE_NAME, DOSE)} *"
            return Dose(kin, kind, alike, float(labels[DOSE]), seed, drawn=False)
        value = None if by in REFERENCED else declared(by).of(given)
        return Dose(model_of(given), "", alike, None if value is None else float(value), seed)

    def alone(self, given: Conditions) -> Dose:
        """Return the dose of an administration without another perturbation."""
        noise = given.prompt_noise is not None and self.by != NOISE
        if self.by != LESION and (given.lesion is not None or noise):
            raise UsageError(f"the {self.by} is not given by itself")
        found = self.dose(given)
        if self.by != TEMPERATURE:
            return found
        orders = {given.item_order, given.option_order}
        drawn = not given.decoding.greedy or orders != {"as-given"}
        return found._replace(examinee=spec_of(given), kind=f"{TEMPERATURE} *", drawn=drawn)


LESIONS = tuple(Severity(LESION, key) for key in ("", "factor", "sigma", "bits"))
SEVERITIES = (*LESIONS, *(Severity(by) for by in (NOISE, CHECKPOINT, TEMPERATURE)))
"""In the order of tables."""


# ------------------------------------------------------------------ series


@dataclass(frozen=True, slots=True)
class Series:
    """One lesion, or another perturbation, of one model at its amounts, by seed.

    Controls are under the amount of the lesion whose size they have, by role; a lesion with one
    amount has none. ``undrawn``: the amounts at which nothing of the lesion is drawn: one
    condition, no seeds.
    """

    name: str
    intact_name: str
    kind: str
    amounts: tuple[float, ...]
    lines: Mapping[str, Line]
    controls: Mapping[str, Mapping[str, Line]]
    intact: Members
    undrawn: frozenset[float]
    severity: Severity = SEVERITIES[0]

    @property
    def shares_streams(self) -> bool:
        """Whether drawn answers of several seeds come from the same random streams."""
        firsts = [next(iter(line.values())) for line in self.lines.values()]
        seeds = [{one.administration.conditions.seed for one in members} for members in firsts]
        return len(set.union(*seeds)) < len(seeds)

    @property
    def numbers(self) -> set[int]:
        """The administrations under the lesion, and its controls."""
        sides = (self.lines, *self.controls.values())
        lines = (line for side in sides for line in side.values())
        return {one.administration.id for line in lines for own in line.values() for one in own}


@dataclass(slots=True)
class _Point:
    """The administrations under one lesion and amount, by seed; ``spec`` is that of one of them."""

    spec: str
    drawn: bool
    members: dict[str, list[AdministrationData]] = field(default_factory=dict)

    @property
    def size(self) -> float | None:
        """The mean number of parameters that are taken; None where one is not known."""
        taken = [parameters_of(one) for own in self.members.values() for one in own]
        known = [size for size in taken if size is not None]
        return fsum(known) / len(known) if known and len(known) == len(taken) else None

    @property
    def matched(self) -> frozenset[str]:
        """What the lesions share with their controls; of another tool's text the text.

        The operation with its number; of selected units, which random units of the same layers
        replace, the whole spec without the seed.
        """
        return frozenset(
            replace(one, select=one.source).kind(amount="")
            if one.source in CONTROLS_OF.values()
            else f"{one.operation} {one.number}"
            for one in _parsed(self.spec)
        ) or frozenset((self.spec,))

    @property
    def layers(self) -> frozenset[int]:
        """The layers as the spec names them; empty: all, or those of another tool's spec."""
        named = [one.layers for one in _parsed(self.spec)]
        return frozenset(number for one in named for number in one) if all(named) else frozenset()

    def control(self, controls: Iterable[_Point], role: str) -> _Point | None:
        """Return the control of its size among controls of its model, or None."""
        size = self.size
        if size is None:
            return None
        alike = [
            (abs(one.size - size), one)
            for one in controls
            if one.size is not None
            and one.matched == self.matched
            and control_role(one.spec) == role
            and (role not in _IN_LAYERS or one.layers == self.layers)
        ]
        distance, nearest = min(alike, key=lambda pair: pair[0], default=(inf, None))
        return nearest if distance <= SIZES * sqrt(2.0 * size) else None


def perplexity_of(facts: Mapping[str, str]) -> float | None:
    """Return the perplexity of the fixed text among the facts of a model, or None.

    >>> perplexity_of({"lesion_perplexity": "12.5"}), perplexity_of({})
    (12.5, None)
    """
    try:
        value = float(facts.get(PERPLEXITY, ""))
    except ValueError:
        return None
    return value if isfinite(value) and value > 0.0 else None


def parameters_of(data: AdministrationData) -> int | None:
    """Return how many parameters the lesion of an administration takes, or None."""
    text = data.model_facts.get(TAKEN, "")
    return int(text) if text.isdecimal() else None


def distinct(members: Iterable[AdministrationData]) -> list[AdministrationData]:
    """Return administrations, each once."""
    return list({one.administration.id: one for one in members}.values())


def series_of(members: Iterable[AdministrationData]) -> tuple[tuple[Series, ...], int]:
    """Return what has two amounts or more, and how many administrations belong to none.

    An administration can belong to several series: one for each of :data:`SEVERITIES`.
    """
    members = distinct(members)
    found: list[Series] = []
    for severity in SEVERITIES:
        placed: list[Placed] = []
        for one in members:
            with suppress(UsageError):
                placed.append((severity.alone(one.administration.conditions), one))
        found += (one for one in arranged(placed, severity) if len(one.amounts) > 1)
    if not found:
        raise UsageError(
            "no lesion of these administrations has two amounts or more",
            hint="tabwb lesion sweep gives a battery under a grid of lesions and amounts",
        )
    used = set[int]().union(*(one.numbers for one in found))
    left = sum(
        one.administration.id not in used and CONTROL not in one.administration.tags
        for one in members
        if one.administration.conditions.lesion or one.administration.conditions.prompt_noise
    )
    return tuple(found), left


def arranged(
    placed: Sequence[Placed], severity: Severity, *, controls: bool = True
) -> list[Series]:
    """Return administrations with their doses as series, by name.

    A control (an administration with the tag ``control``) belongs to a lesion with the same
    operation and the same number of parameters, one in layers to a lesion of the same layers: of
    the controls of a role that one whose mean size is nearest, if it differs by no more than chance
    explains. Of n weights, each taken by itself, the number taken has at most the standard
    deviation sqrt(n); the limit is :data:`SIZES` times that of a difference of two. Without
    ``controls`` they are lesions as others.
    """
    lesions: dict[tuple[Model, str], dict[float, _Point]] = {}
    beside: dict[Model, dict[tuple[str, float], _Point]] = {}
    intact: dict[Model, list[AdministrationData]] = {}
    for dose, one in placed:
        model = dose.examinee, dose.conditions
        if dose.amount is None:
            intact.setdefault(model, []).append(one)
            continue
        point = _Point(one.administration.conditions.lesion or "", dose.drawn)
        if controls and CONTROL in one.administration.tags:
            point = beside.setdefault(model, {}).setdefault((dose.kind, dose.amount), point)
        else:
            point = lesions.setdefault((model, dose.kind), {}).setdefault(dose.amount, point)
        point.members.setdefault(dose.seed, []).append(one)
    names = short_examinees(one for _, one in placed)
    between = ", " if severity.by == TEMPERATURE else " + "
    told = told_apart(
        {
            (model, kind): (
                between.join(filter(None, (names.get(model[0], model[0]), kind))), model[1]
            )
            for model, kind in (*lesions, *((model, "") for model in intact))
        }
    )  # fmt: skip
    found = []
    for (model, kind), points in lesions.items():
        of_roles: dict[str, dict[float, _Point]] = {}
        for role in (one.role for one in CONTROLS.values()) if len(points) > 1 else ():
            for amount, point in points.items():
                if control := point.control(beside.get(model, {}).values(), role):
                    of_roles.setdefault(role, {})[amount] = control
        found.append(
            Series(
                told[model, kind],
                told.get((model, ""), ""),
                kind,
                tuple(sorted(points)),
                _lines(points),
                {role: _lines(own) for role, own in of_roles.items()},
                intact.get(model, ()),
                frozenset(amount for amount, point in points.items() if not point.drawn),
                severity,
            )
        )
    return sorted(found, key=lambda one: one.name)


def short_examinees(members: Iterable[AdministrationData]) -> dict[str, str]:
    """Return short names of examinees, with and without their lesions."""
    given = [one.administration.conditions for one in members]
    names = names_of(given)
    return {model_of(one): name_in(names, one) for one in given} | {
        spec_of(one): name_in(names, one, lesion=False) for one in given
    }


def told_apart(given: Mapping[_Key, tuple[str, Conditioned]]) -> dict[_Key, str]:
    """Return a name for each series: where several share one, with the conditions that differ.

    >>> told_apart({1: ("a", (("decoding", "greedy"),)), 2: ("a", (("decoding", "sampled"),))})
    {1: 'a (greedy)', 2: 'a (sampled)'}
    """
    named: dict[str, list[_Key]] = {}
    for key, (name, _) in given.items():
        named.setdefault(name, []).append(key)
    names: dict[_Key, str] = {}
    for name, keys in named.items():
        shared = set.intersection(*(set(given[key][1]) for key in keys))
        for key in keys:
            apart = [phrase_of(*one) for one in given[key][1] if one not in shared]
            names[key] = f"{name} ({', '.join(apart)})" if apart else name
    return names


def control_name(series: str, role: str) -> str:
    """Return the name of a control of a series.

    >>> control_name("m + mlp:zero:* (greedy)", "layer control")
    'm + layer control of mlp:zero:* (greedy)'
    """
    return series.replace(" + ", f" + {role} of ", 1)


def series_words(series: Sequence[str]) -> tuple[list[str], str]:
    """Return names of series without specs, and what all of them share.

    >>> series_words(["m + mlp:zero:*", "m + control of mlp:zero:*"])
    (['mlp', 'control of mlp'], 'm, zero')
    >>> series_words(["m + mlp:zero:* (greedy)", "m + mlp:noise:* (greedy)"])
    (['mlp zero', 'mlp noise'], 'm (greedy)')
    >>> series_words(["llama base", "llama instruct"])
    (['llama base', 'llama instruct'], '')
    """
    parts = [_SERIES.fullmatch(name) for name in series]
    models = {(part["model"], part["given"]) for part in parts if part}
    if None in parts or len(models) > 1:
        return [*series], ""
    how = {part["how"] for part in parts if part}
    alone = len(how) == 1
    names = [
        f"{part['role'] or ''}{part['target']}" + f" {part['how'].replace(':', ' ')}" * (not alone)
        for part in parts
        if part
    ]
    if len({*names}) < len(names):
        return [*series], ""
    ((model, given),) = models
    return names, f"{model}{', ' + how.pop().replace(':', ' ') if alone else ''}{given}"


_SERIES = re.compile(
    r"(?P<model>.+?) \+ (?P<role>.* of )?(?P<target>[^:+ ]+):(?P<how>[^+ ]+?):\*"
    r"(?P<given>( \(.*\))?)"
)
"""The name of a series of lesions: one target under one operation."""


def _lines(points: Mapping[float, _Point]) -> dict[str, Line]:
    found: dict[str, dict[float, Members]] = {}
    for amount in sorted(points):
        for seed, own in points[amount].members.items():
            found.setdefault(seed, {})[amount] = own
    return dict(sorted(found.items(), key=lambda pair: seed_order(pair[0])))


def seed_order(seed: str) -> tuple[bool, int, str]:
    """Return by what seeds are sorted: numbers first."""
    return not seed.isdecimal(), int(seed) if seed.isdecimal() else 0, seed


def pooled(members: Members, *, interval: bool = False) -> Grouped:
    """Return administrations of one battery as one group."""
    own = tuple(members)
    return Grouped(Group("administration", "", own), pool(own, interval=interval))
