"""What tells rows apart: the keys in which conditions differ, and the value that all others share.

Home, explorer, results by model, tables and figures name their rows by this one rule. No row is
named by a hash or a counter, and nothing that all share is repeated in each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tabwb.analysis.administrations import model_of, spec_of
from tabwb.analysis.names import names_of, short_lesions
from tabwb.lesion.declared import CONTROL, CONTROL_ROLES, TARGETS, UNIT_KEYS
from tabwb.lesion.spec import Lesion, numbers_text, parse_lesions, role_of
from tabwb.records.conditions import PARENT, Conditions, compared, title_of
from tabwb.records.errors import UsageError
from tabwb.records.series import Series
from tabwb.records.trials import Administration

if TYPE_CHECKING:
    from tabwb.analysis.grouping import Group

Facts = Mapping[str, str]
"""Titles of keys with their values in words; a key that does not apply is missing."""
ALL = "all"
"""The layers of a lesion that names none."""
INTACT = "intact"
"""Stands for the target of a model without a lesion."""
TARGET = "target"
"""Title of what a lesion changes: a fact wherever there are several lesions."""
LESIONED = "▲"
"""Between a model and its lesion."""
LEAST = 5
"""So many administrations at least are one row as a sweep or a series."""
T = TypeVar("T")


class Differing(NamedTuple):
    """Several conditions, split.

    ``common`` is what all have to whom it applies, which another key says (no amount is that of an
    intact model); ``keys`` are those in which they differ, in order; ``own`` what each has of them.
    """

    common: dict[str, str]
    keys: tuple[str, ...]
    own: tuple[dict[str, str], ...]

    @property
    def telling(self) -> tuple[str, ...]:
        """The keys that are needed to tell all apart, the first ones that do."""
        needed: list[str] = []
        told = 1
        for key in sorted(self.keys, key="administration".__eq__):  # a number is the last resort
            values = {tuple(one.get(own) for own in (*needed, key)) for one in self.own}
            if len(values) > told:
                needed.append(key)
                told = len(values)
        return tuple(needed)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each: the values that tell it, with their keys where these say what it is."""
        told = self.telling
        own = ({key: one[key] for key in told if key in one} for one in self.own)
        return tuple(facts_name(one) or facts_name(self.common) for one in own)

    @property
    def brief(self) -> tuple[str, ...]:
        """A short name for each: values alone, without those that most have of a condition.

        >>> ways = ("generate", "generate", "enforced")
        >>> facts = [{"model": m, "protocol": p} for m, p in zip("aab", ways, strict=True)]
        >>> differing([*facts, {"model": "a", "protocol": "likelihood"}]).brief
        ('a', 'a', 'b · enforced', 'a · likelihood')
        """
        told = self.telling
        usual = {
            key: Counter(one[key] for one in self.own if key in one).most_common(1)[0][0]
            for key in told
            if key not in BARE or key in ("operation", "decoding")
        }
        own = ({key: one[key] for key in told if key in one} for one in self.own)
        kept = ({key: one[key] for key in one if one[key] != usual.get(key)} for one in own)
        return tuple(
            " · ".join(
                value if key in BARE or not _is_vague(value) else f"{key} {value}"
                for key, value in one.items()
            )
            or facts_name(self.common)
            for one in kept
        )


BARE = frozenset(
    {
        "administration",
        "model",
        "participant",
        "target",
        "amount",
        "operation",
        "lesion",
        "part of the battery",
        "token limits",
        "decoding",
    }
)
"""Keys whose values say what they are."""


def facts_name(facts: Facts) -> str:
    """Return facts as one name.

    >>> facts_name({"model": "bundled", "target": "mlp.down", "layer": "0", "amount": "0.5"})
    'bundled · mlp.down · layer 0 · 0.5'
    >>> facts_name({"part of the battery": "whole battery", "seed": "1"})
    'whole battery · seed 1'
    """
    return " · ".join(
        "all layers"
        if (key, value) == ("layer", ALL)
        else value
        if key in BARE or value == INTACT
        else f"{key} {value}"
        for key, value in facts.items()
    )


def _is_vague(value: str) -> bool:
    """Return whether a value says nothing without its key."""
    return value in ("none", "as-given") or value[0].isdigit()


def differing(several: Sequence[Facts]) -> Differing:
    """Split facts into those that all have alike, and those in which they differ.

    >>> facts = [{"model": "m", "amount": "0.1"}, {"model": "m", "amount": "0.3"}, {"model": "m"}]
    >>> found = differing(facts)
    >>> found.common, found.keys, found.own
    ({'model': 'm'}, ('amount',), ({'amount': '0.1'}, {'amount': '0.3'}, {}))
    """
    every = dict.fromkeys(key for one in several for key in one)
    values = {key: {one.get(key) for one in several} for key in every}
    varying = [key for key in every if len(values[key] - {None}) > 1]

    def implied(key: str) -> bool:
        """Return whether the value of a varying key says which have the only value of this one."""
        return any(
            {one.get(other) for one in several if key in one}.isdisjoint(
                one.get(other) for one in several if key not in one
            )
            for other in varying
        )

    keys = tuple(
        key for key in every if key in varying or (len(values[key]) > 1 and not implied(key))
    )
    common = {key: next(iter(values[key] - {None})) for key in every if key not in keys}
    own = tuple({key: one[key] for key in keys if key in one} for one in several)
    return Differing({key: value for key, value in common.items() if value is not None}, keys, own)


def facts_of(
    given: Sequence[Conditions], *, seeds: bool = False, stated: bool = True
) -> list[dict[str, str]]:
    """Return what each of some examinees and their conditions are, by title: no two are alike.

    A model has its short name, a lesion its parts where there are several lesions.

    Args:
        given: the conditions.
        seeds: whether the seed of an administration and its replicates tell it from others.
        stated: whether conditions beside the examinee are stated.

    >>> lesions = (None, "mlp:zero:0.1@seed=1", "mlp:zero:0.3@seed=1")
    >>> found = facts_of([Conditions("bundled", "model", lesion=one) for one in lesions])
    >>> differing(found).names
    ('intact', 'mlp · 0.1', 'mlp · 0.3')
    """
    names, lesions = names_of(given), short_lesions(given)
    some = len(lesions) > 1
    parts = {lesion: _parts(short) for lesion, short in lesions.items()} if some else {}
    made = []
    for one in given:
        facts = {}
        if one.kind == "speaker":
            facts["participant"] = one.examinee
        else:
            facts["model"], options = _name_and_options(names[spec_of(one)])
            facts |= options
        if one.lesion:
            facts |= parts.get(one.lesion) or {"lesion": lesion_names([one])[one.lesion]}
        elif some and one.kind == "model":
            facts[TARGET] = INTACT
        if stated:
            others = {name: value for name, value in compared(one).items() if name != "lesion"}
            facts |= {title_of(name): value for name, value in others.items()}
        if seeds:
            facts["run seed" if some else "seed"] = str(one.seed)
            facts["replicates"] = str(one.replicates)
        made.append(facts)
    return made


def examinee_names(given: Sequence[Conditions]) -> list[str]:
    """Return what each examinee is called in a list: the short name, and what tells its lesion.

    >>> lesions = (None, "mlp:zero:0.1@seed=1", "mlp:zero:0.3@seed=1")
    >>> examinee_names([Conditions("bundled", "model", lesion=one) for one in lesions])
    ['bundled', 'bundled ▲ mlp · 0.1', 'bundled ▲ mlp · 0.3']
    """
    names, lesions = names_of(given), lesion_names(given)
    return [
        one.examinee
        if one.kind == "speaker"
        else names[spec_of(one)] + (f" {LESIONED} {lesions[one.lesion]}" if one.lesion else "")
        for one in given
    ]


def lesion_names(given: Sequence[Conditions]) -> dict[str, str]:
    """Return what each lesion is called in a list: its target, and what tells it from others.

    >>> lesion_names([Conditions("bundled", "model", lesion="mlp.down:zero:0.3@seed=7")])
    {'mlp.down:zero:0.3@seed=7': 'mlp.down · 0.3'}
    """
    parts = {lesion: _parts(short) for lesion, short in short_lesions(given).items()}
    own = differing([*parts.values()]).own if len(parts) > 1 else ({},)
    always = (TARGET, "lesion", *(("amount",) if len(parts) == 1 else ()))
    return {
        lesion: facts_name({key: facts[key] for key in facts if key in always or key in its})
        for (lesion, facts), its in zip(parts.items(), own, strict=False)
    }


def _name_and_options(name: str) -> tuple[str, dict[str, str]]:
    """Return a short name, and the options in which it differs from others of that name.

    >>> _name_and_options("Llama-3.2-1B@dtype=float32,device=cpu")
    ('Llama-3.2-1B', {'dtype': 'float32', 'device': 'cpu'})
    """
    head, at, tail = name.partition("@")
    pairs = [part.partition("=") for part in tail.split(",")] if at else []
    if not all(key.isidentifier() and sign for key, sign, _ in pairs):
        return name, {}
    return head, {key: value for key, _, value in pairs}


def _parts(lesion: str) -> dict[str, str]:
    """Return the parts of a lesion by title; of lesions joined the first has no number.

    >>> _parts("mlp.down:zero:0.3@layers=0-2,seed=7")
    {'target': 'mlp.down', 'layer': '0-2', 'amount': '0.3', 'operation': 'zero', 'seed': '7'}
    """
    try:
        several = parse_lesions(lesion)
    except UsageError:  # made with another tool
        return {"lesion": lesion}
    facts: dict[str, str] = {}
    for number, one in enumerate(several, 1):
        before = f"{number}. " if number > 1 else ""
        facts |= {f"{before}{key}": value for key, value in _parts_of(one).items()}
    return facts


def _parts_of(one: Lesion) -> dict[str, str]:
    facts = {
        TARGET: one.target,
        "layer": numbers_text(one.layers) if one.layers else ALL,
        UNIT_KEYS.get(TARGETS[one.target].unit, "units"): numbers_text(one.units)
        if one.units
        else "",
        "amount": f"{one.amount:g}",
        "operation": one.operation,
        "select": "" if one.select == "random" else one.select,
        "list": one.file,
        "list sha256": one.sha256,
        **{
            name: f"{value:g}"
            for name in ("factor", "sigma", "bits")
            if (value := getattr(one, name)) is not None
        },
        "seed": str(one.seed) if one.draws else "",
    }
    return {key: value for key, value in facts.items() if value}


def facts_of_groups(groups: Sequence[Group]) -> list[dict[str, str]]:
    """Return what each of some groups has of the keys by which they are grouped, by title.

    Of an examinee that is what all administrations of the group share: not a seed that is pooled.
    """
    stated = dict.fromkeys(name for group in groups for name, _ in group.apart)
    known = iter(
        facts_of([one.conditions for group in groups for one in group.members], stated=False)
    )
    made = []
    for group in groups:
        first, *others = islice(known, len(group.members))
        who = {
            key: value
            for key, value in first.items()
            if key == "model" or all(one.get(key) == value for one in others)
        }
        facts: dict[str, str] = {}
        for one in group.values:
            if one.key != "model":
                facts[one.title] = f"#{one.value}" if one.key == "administration" else one.cell
            if one.key in WHO:
                facts |= who
        apart = dict(group.apart)
        has = compared(group.members[0].conditions) | apart
        told = apart if TARGET not in facts else stated
        made.append(facts | {title_of(name): has[name] for name in told if name in has})
    return made


WHO = ("model", "administration")
"""Keys that have the examinee in what they call a group."""


# ------------------------------------------------------------------ sweeps and series


def in_series(
    rows: Sequence[T], of: Callable[[T], Administration], *, least: int = LEAST
) -> list[T | Series[T]]:
    """Return rows with those of a sweep, or of a series, together at the place of their first.

    A sweep is the administrations of one battery with one tag, some of them with a lesion or with
    noise; a series the checkpoints of one model, or what was given to one examinee under the same
    conditions but for seed and day.
    """
    found: dict[tuple[Hashable, ...], list[T]] = {}
    swept = {
        (tag, one.battery_hash)
        for one in map(of, rows)
        for tag in one.tags
        if one.conditions.lesion or one.conditions.prompt_noise
    }
    keys = [tuple(_series_keys(of(row), swept)) for row in rows]
    for row, own in zip(rows, keys, strict=True):
        for key in own:
            found.setdefault(key, []).append(row)
    first = [next((key for key in own if len(found[key]) >= least), None) for own in keys]
    made: dict[Hashable, list[T]] = {}
    for place, (row, one) in enumerate(zip(rows, first, strict=True)):
        made.setdefault(place if one is None else one, []).append(row)
    return [
        Series(key, str(key[1]), str(key[0]), tuple(members))
        if isinstance(key, tuple)
        else members[0]
        for key, members in made.items()
    ]


def _series_keys(one: Administration, swept: Collection[object]) -> Iterator[tuple[Hashable, ...]]:
    """Yield the series that an administration may be of: what it has, its name, the rest."""
    given, battery = one.conditions, one.battery_hash
    for tag in one.tags:
        if tag != CONTROL and (tag, battery) in swept:
            yield "conditions", tag, battery
    if parent := given.labels.get(PARENT):
        yield "checkpoints", parent, battery
    if given.kind == "speaker":
        yield "sessions", given.examinee, battery
    else:
        decoding = replace(given.decoding, seed=1)
        same = replace(given, seed=1, decoding=decoding, session_date=None)
        yield "runs", model_of(given), battery, same


class Curve(NamedTuple):
    """The mean of a value by the amount that differs most: what a small line shows.

    ``by`` is the key, such as ``amount``; ``ends`` are its first and last value; both are empty
    where the order of the members is that of their days.
    """

    by: str
    ends: tuple[str, ...]
    values: tuple[float | None, ...]

    @property
    def words(self) -> str:
        """What the line goes along, such as ``by amount 0.1-0.5``."""
        return f"by {self.by} {'-'.join(self.ends)}" if self.by else ""


def curve_of(
    members: Sequence[Administration], values: Sequence[float | None], facts: Sequence[Facts] = ()
) -> Curve:
    """Return a value of the members of a series by amount, else by another number, else by day.

    Controls are left out, although they have amounts too. The intact model is at amount 0.

    Args:
        members: administrations.
        values: of each; None: it is not known.
        facts: of each, where they are known; else made here.
    """
    facts = facts or facts_of([one.conditions for one in members])
    rows = [
        row
        for row in zip(members, values, facts, strict=True)
        if role_of(row[0].conditions.lesion, row[0].tags) not in CONTROL_ROLES
    ]
    split = differing([one for *_, one in rows])
    numeric = [
        key
        for key in sorted(split.keys, key=lambda key: key != "amount")
        if "seed" not in key and all(_number(one.get(key, "0")) is not None for *_, one in rows)
    ]
    if not numeric:
        days = sorted(rows, key=lambda row: _day(row[0]))
        return Curve("", (), tuple(value for _, value, _ in days))
    at: dict[float, list[float]] = {}
    for _, value, fact in rows:
        own = at.setdefault(_number(fact.get(numeric[0], "0")) or 0.0, [])
        own += [] if value is None else [value]
    places = sorted(at)
    means = tuple(fmean(own) if (own := at[place]) else None for place in places)
    return Curve(numeric[0], (f"{places[0]:g}", f"{places[-1]:g}"), means)


def _day(one: Administration) -> tuple[str, int]:
    return one.session_date, one.id


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
