"""The lines of a lesion: for each seed its administrations by amount, with controls of its size."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, inf, isfinite, sqrt
from typing import TypeVar

from tabwb.lesion.declared import CONTROL, CONTROLS, CONTROLS_OF
from tabwb.lesion.facts import PARAMETERS, PERPLEXITY
from tabwb.lesion.spec import Lesion, parse_lesions
from tabwb.lesion.values import control_role
from tabwb.records.condition_table import phrase_of
from tabwb.records.errors import UsageError
from tabwb.report.names import names_of
from tabwb.report.summaries.grouping import Group
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.load import AdministrationData, sources_of
from tabwb.report.summaries.severities import SEVERITIES, Severity
from tabwb.report.summaries.summary import pool

SIZES = 5.0
"""Standard deviations by which the mean sizes of a lesion and of its control may differ."""

_IN_LAYERS = tuple(kind.role for kind in CONTROLS.values() if kind.in_layers)
_Key = TypeVar("_Key", bound=Hashable)
Conditioned = tuple[tuple[str, str], ...]
"""Name and value of conditions, in words."""
Line = Mapping[float, Grouped]
"""Amount to the responses of one seed."""


@dataclass(frozen=True, slots=True)
class Series:
    """One lesion, or another perturbation, of one model at several amounts.

    Attributes:
        name: the model with the kind of the lesion.
        kind: of the lesion: its spec with * for the amount and without the seed.
        amounts: ascending, two or more.
        lines: seed to its line.
        controls: as above, of  each role of controls, under the amount of the lesion whose size
        they
            have; only roles that occur.
        intact: the responses of the model without a lesion; None where there are none.
        severity: what the amounts are.
        undrawn: the amounts at which nothing of the lesion is drawn: one condition, no seeds.
    """

    name: str
    kind: str
    amounts: tuple[float, ...]
    lines: Mapping[str, Line]
    controls: Mapping[str, Mapping[str, Line]]
    intact: Grouped | None
    severity: Severity = SEVERITIES[0]
    undrawn: frozenset[float] = frozenset()

    @property
    def shares_streams(self) -> bool:
        """Whether drawn answers of several seeds come from the same random streams."""
        seeds = [
            {one.administration.conditions.seed for one in group.group.members}
            for line in self.lines.values()
            for group in [next(iter(line.values()))]
        ]
        return len(set.union(*seeds)) < len(seeds)


@dataclass(slots=True)
class _Point:
    """The administrations under one lesion and amount, by seed.

    Attributes:
        spec: of one of them.
        drawn: whether a seed draws something of the lesion.
    """

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
    text = data.model_facts.get(PARAMETERS, "")
    return int(text) if text.isdecimal() else None


def dose_lines(members: Iterable[AdministrationData]) -> tuple[tuple[Series, ...], int]:
    """Return what has two amounts or more, and how many administrations belong to none.

    An administration can belong to several series: one for each of
    :data:`tabwb.report.summaries.severities.SEVERITIES`.

    A control (an administration with the tag ``control``) belongs to a lesion with the same
    operation and the same number of parameters, one in layers to a lesion of the same layers: of
    the controls of a role that one whose mean size is nearest, if it differs by no more than chance
    explains. Of n weights, each taken by
    itself, the number taken has at most the standard deviation sqrt(n); the limit is
    :data:`SIZES` times that of a difference of two.
    """
    members = list({one.administration.id: one for one in members}.values())
    found = [series for severity in SEVERITIES for series in _series(members, severity)]
    if not found:
        raise UsageError(
            "no lesion of these administrations has two amounts or more",
            hint="tabwb lesion sweep gives a battery under a grid of lesions and amounts",
        )
    used = {
        one.administration.id
        for series in found
        for lines in (series.lines, *series.controls.values())
        for line in lines.values()
        for group in line.values()
        for one in group.group.members
    }
    left = sum(
        one.administration.id not in used and CONTROL not in one.administration.tags
        for one in members
        if one.administration.conditions.lesion or one.administration.conditions.prompt_noise
    )
    return tuple(found), left


def _series(members: Sequence[AdministrationData], severity: Severity) -> list[Series]:
    """Return the series of one severity, by name."""
    names = names_of(one.administration.conditions for one in members)
    lesions: dict[tuple[object, ...], dict[float, _Point]] = {}
    controls: dict[tuple[object, ...], dict[tuple[object, ...], _Point]] = {}
    intact: dict[tuple[object, ...], list[AdministrationData]] = {}
    kinds: dict[tuple[object, ...], tuple[str, Conditioned]] = {}
    for one in members:
        given = one.administration.conditions
        try:
            dose = severity.dose(given)
        except UsageError:
            continue
        model = (dose.examinee, dose.conditions)
        if dose.amount is None:
            intact.setdefault(model, []).append(one)
            continue
        spec = given.lesion or ""
        if CONTROL in one.administration.tags:
            own = controls.setdefault(model, {})
            point = own.setdefault((dose.kind, dose.amount), _Point(spec, dose.drawn))
        else:
            key: tuple[object, ...] = (*model, dose.kind)
            name = f"{names.get(dose.examinee, dose.examinee)}{severity.between}{dose.kind}"
            kinds[key] = name, dose.conditions
            point = lesions.setdefault(key, {}).setdefault(dose.amount, _Point(spec, dose.drawn))
        point.members.setdefault(dose.seed, []).append(one)
    found = []
    told = told_apart(kinds)
    for series, points in lesions.items():
        if len(points) < 2:
            continue
        of_model = list(controls.get(series[:2], {}).values())
        beside = {
            kind.role: _lines(
                {
                    amount: control
                    for amount, point in points.items()
                    if (control := control_of(point, of_model, kind.role))
                }
            )
            for kind in CONTROLS.values()
        }
        found.append(
            Series(
                told[series],
                str(series[-1]),
                tuple(sorted(points)),
                _lines(points),
                {role: lines for role, lines in beside.items() if lines},
                pooled(intact[series[:2]]) if series[:2] in intact else None,
                severity,
                frozenset(amount for amount, point in points.items() if not point.drawn),
            )
        )
    return sorted(found, key=lambda one: one.name)


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


def control_of(lesion: _Point, controls: Sequence[_Point], role: str) -> _Point | None:
    """Return the control of a lesion's size among controls of its model, or None."""
    size = lesion.size
    if size is None:
        return None
    alike = [(abs(one.size - size), one) for one in controls
             if one.size is not None and one.matched == lesion.matched
             and control_role(one.spec) == role
             and (role not in _IN_LAYERS or one.layers == lesion.layers)]  # fmt: skip
    distance, nearest = min(alike, key=lambda pair: pair[0], default=(inf, None))
    return nearest if distance <= SIZES * sqrt(2.0 * size) else None


def _parsed(spec: str) -> tuple[Lesion, ...]:
    """Return the lesions of a spec; none of another tool's text."""
    try:
        return parse_lesions(spec)
    except UsageError:
        return ()


def _lines(points: Mapping[float, _Point]) -> dict[str, dict[float, Grouped]]:
    found: dict[str, dict[float, Grouped]] = {}
    for amount in sorted(points):
        for seed, own in points[amount].members.items():
            found.setdefault(seed, {})[amount] = pooled(own)
    return dict(sorted(found.items(), key=lambda pair: _seed_order(pair[0])))


def _seed_order(seed: str) -> tuple[bool, int, str]:
    return not seed.isdecimal(), int(seed) if seed.isdecimal() else 0, seed


def pooled(members: Sequence[AdministrationData]) -> Grouped:
    """Return administrations of one battery as one group, without intervals."""
    return Grouped(Group("administration", "", tuple(members)), pool(sources_of(tuple(members))))
