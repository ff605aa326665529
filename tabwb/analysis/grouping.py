"""Groups of administrations: which belong together, what they are called, and their summaries.

Conditions that tell groups of one name apart are named, but not those that all rows shown share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from tabwb.analysis.administrations import AdministrationData, Cell, Part, Place, model_of, part_of
from tabwb.analysis.differing import TARGET, Differing, differing, facts_name, facts_of_groups
from tabwb.analysis.keys import (
    LESION_SEED,
    NOISE_SEED,
    REPLICATE,
    Key,
    Sort,
    Value,
    key_of,
    pooling_keys,
    read_keys,
    without_noise_seed,
    without_seed,
    written,
)
from tabwb.analysis.names import judge_called, name_in, names_of, short_lesions
from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions, compared, described, phrase_of
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Decoding
from tabwb.records.specs import Spec, parse_spec
from tabwb.records.trials import HASHES
from tabwb.scoring.estimate import Estimate, item_mean

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.analysis.statistics.naming import NamedSubtest
    from tabwb.analysis.statistics.results import Part as SubtestResults
    from tabwb.analysis.statistics.results import Results, Terms

Values = tuple[Value | None, ...]
"""Of the keys, in order."""
Facts = tuple[tuple[str, str], ...]
"""Names of conditions with their values."""


EXAMINEES = "examinees"
"""Of groups of models and of people that have one name: which of them a group is of."""
_HASH = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{24,}\b")


def phrase_in_name(name: str, value: str) -> str:
    """Return a condition as the name of a group has it: of a hash the first eight digits.

    >>> phrase_in_name("weights_sha256", "0123abcd" * 8)
    'weights_sha256 0123abcd…'
    """
    if name == EXAMINEES:
        return value
    return _HASH.sub(r"\1…", phrase_of(name, value))


class KeyValue(NamedTuple):
    """What a group has of one key.

    ``name`` is what the group is called by this key alone, with the model's whole spec; ``cell`` is
    the value as a table has it below the title; ``told`` is the value as data have it, *not
    recorded* of a person without one.
    """

    key: str
    title: str
    value: Value | None
    name: str
    cell: str
    told: Value | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Administrations whose responses are pooled.

    ``by`` are the ids of the keys that they have in common, with commas between; ``label`` their
    values, with the model's whole spec; ``members``, oldest first, have one battery version, are
    all models or all persons, given under like conditions where :func:`grouped` made it.
    """

    by: str
    label: str
    members: tuple[AdministrationData, ...]
    apart: Facts = ()  # conditions that tell it from other groups of the same label
    values: tuple[KeyValue, ...] = ()
    short: str = ""  # its label with the short name of the model; empty: as the label
    together: tuple[str, ...] = ()  # the keys over which it is pooled on purpose
    shared: Facts = ()  # what would be in apart if not all groups shown had the same
    called: str = ""  # its name beside other lesions: what tells it from them
    told: Facts = ()  # keys in which lesions shown differ, where they fit as columns of a table
    usual: Facts = ()  # what most groups of its label have of apart: not in their names

    @property
    def keys(self) -> tuple[str, ...]:
        """The ids of the keys in ``by``."""
        return tuple(self.by.split(","))

    @property
    def named(self) -> Mapping[str, str]:
        """Key to what the group is called by that key alone."""
        return {one.key: one.name for one in self.values} or {self.by: self.label}

    @property
    def conditions(self) -> str:
        """What is unusual among groups of the same label, in words; may be empty."""
        return _in_words(fact for fact in self.apart if fact not in self.usual)

    @property
    def name(self) -> str:
        """What tells it from the other groups shown: its label with conditions, or keys alone."""
        return self.called or self.with_conditions(self.short or self.label)

    @property
    def whole_name(self) -> str:
        """Its name with the model's whole spec and all conditions in which others differ."""
        return f"{self.label} ({_in_words(self.apart)})" if self.apart else self.label

    def with_conditions(self, label: str) -> str:
        """Return a name for it, with what is unusual among groups of the same label."""
        return f"{label} ({self.conditions})" if self.conditions else label

    @property
    def battery(self) -> Battery:
        """The battery that all members were given."""
        return self.members[0].battery

    @property
    def has_model(self) -> bool:
        """Whether its examinees are models."""
        return self.members[0].conditions.kind == "model"

    @property
    def has_lesion(self) -> bool:
        """Whether any of its administrations were given under a lesion."""
        return any(one.conditions.lesion is not None for one in self.members)

    @property
    def lesion(self) -> str:
        """The lesion that all its administrations have; empty: none, or not one."""
        lesions = {one.conditions.lesion or "" for one in self.members}
        return lesions.pop() if len(lesions) == 1 else ""

    @property
    def labels(self) -> Mapping[str, str]:
        """What profiles say of the models; without whatever they do not agree on."""
        values = _values(member.conditions.labels for member in self.members)
        return {name: given[0] for name, given in values.items() if len(given) == 1}

    @property
    def tunings(self) -> tuple[str, ...]:
        """What profiles say that the members are tuned to; ``unknown`` where one does not."""
        labels = (member.conditions.labels for member in self.members)
        return tuple(dict.fromkeys(given.get("tuning") or "unknown" for given in labels))

    @property
    def title(self) -> str:
        """Its name; of a family also the tunings, because its base and instruct models share it."""
        keys = self.keys
        if "family" not in keys or "tuning" in keys or "family" not in self.labels:
            return self.name
        return f"{self.name} (tuning: {', '.join(self.tunings)})"

    @property
    def circumstances(self) -> Mapping[str, tuple[str, ...]]:
        """How its members were given: name to the different values, in order of appearance."""
        return _values(map(described, self._different))

    @property
    def mixed(self) -> Mapping[str, tuple[str, ...]]:
        """In what its members differ although their responses are pooled."""
        facts = ({"examinee": model_of(given), **described(given)} for given in self._different)
        values = _values(facts)
        if len(values["examinee"]) == 1:
            # The same name, but perhaps other weights.
            values |= _values(member.identity for member in self.members)
        return {name: given for name, given in values.items() if len(given) > 1}

    @property
    def _different(self) -> Iterable[Conditions]:
        """The conditions of its members that differ in more than seeds."""
        return {_but_seeds(one.conditions): one.conditions for one in self.members}.values()


def _in_words(facts: Iterable[tuple[str, str]]) -> str:
    return ", ".join(phrase_in_name(*fact) for fact in facts)


_FIELDS = attrgetter(
    *(one.name for one in fields(Conditions) if one.name not in ("seed", "labels", "decoding")),
    *(f"decoding.{one.name}" for one in fields(Decoding) if one.name != "seed"),
)


def _but_seeds(given: Conditions) -> tuple[object, ...]:
    """Return what is equal where conditions differ in seeds alone, which no group needs."""
    return *_FIELDS(given), *given.labels.items()


def _values(facts: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    values: dict[str, dict[str, None]] = {}
    for given in facts:
        for name, value in given.items():
            values.setdefault(name, {})[value] = None
    return {name: tuple(different) for name, different in values.items()}


def grouped(
    chosen: Sequence[AdministrationData],
    by: str | Sequence[str],
    *,
    together: Collection[str] = (),
) -> tuple[Group, ...]:
    """Return administrations in groups, in order of first appearance.

    Administrations of different batteries or battery versions never share a group, nor do models
    and persons, nor unlike conditions (:func:`~tabwb.records.conditions.compared`): only what
    ``together`` names is pooled over, and what no comparison needs, such as seeds. To whom a key
    does not apply is a separate group: by what only models have, each person is ``speaker ID``.
    """
    asked = _Asked(chosen, by, together)
    found: dict[tuple[object, ...], dict[Facts, list[AdministrationData]]] = {}
    labels: dict[tuple[object, ...], tuple[str, tuple[KeyValue, ...], str]] = {}
    for member in chosen:
        administration = member.administration
        facts = asked.facts(member)
        for values, part in asked.cells(member):
            named = asked.named(member, values)
            identity = (named, values, administration.battery_hash, administration.conditions.kind)
            own = member if part is None else replace(member, part=part)
            found.setdefault(identity, {}).setdefault(facts, []).append(own)
            if identity not in labels:
                short = asked.named(member, values, short=True)
                labels[identity] = (
                    _joined(named),
                    tuple(map(_key_value, asked.keys, values, named, short)),
                    _joined(short),
                )
    # Groups of one name and battery whose examinees are models and people say which.
    kinds: dict[tuple[object, ...], set[object]] = {}
    for each in found:
        kinds.setdefault(each[:3], set()).add(each[3])
    # Rows of one first name state the same conditions: also those whose other keys are unlike.
    telling: dict[tuple[object, ...], dict[str, None]] = {}
    for each, alike in found.items():
        names = telling.setdefault((_first(each[0]), *each[2:]), {})
        names |= dict.fromkeys(_differing([dict(other) for other in alike]))
    return tuple(
        Group(
            ",".join(asked.ids),
            label,
            tuple(members),
            (
                *(((EXAMINEES, f"{identity[3]}s"),) if len(kinds[identity[:3]]) > 1 else ()),
                *(
                    (name, dict(facts).get(name, "none"))
                    for name in telling[_first(identity[0]), *identity[2:]]
                ),
            ),
            values,
            short,
            asked.together,
        )
        for identity, alike in found.items()
        for label, values, short in (labels[identity],)
        for facts, members in alike.items()
    )


class _Asked:
    """How to group what is chosen."""

    def __init__(
        self, chosen: Sequence[AdministrationData], by: str | Sequence[str], together: Iterable[str]
    ) -> None:
        self.ids = read_keys(by if isinstance(by, str) else ",".join(by))
        if not self.ids:
            raise UsageError("no key is named", hint="for example: --by model,temperature")
        pooled = [_pooled(name, self.ids) for name in together]
        self.keys, self.together = [*map(key_of, self.ids)], tuple(key.id for key in pooled)
        self._pooled = [condition for key in pooled for condition in key.pooled]
        self._moved = _moved(chosen)
        given = [self.at_one_path(member).conditions for member in chosen]
        self._short, self._lesions = names_of(given), short_lesions(given)
        self._whole = {spec: spec for spec in self._short}
        self._facts: dict[object, Facts] = {}

    def facts(self, member: AdministrationData) -> Facts:
        """Return what must be alike for a member to be pooled with others."""
        if "administration" in self.ids:
            return ()
        given, identity = self.conditions(member), {}
        if "model" in self.ids and "weights" not in self.together:
            identity = dict(member.identity)
            if HASHES[0] in identity:
                identity.pop("model", None)  # only its path
        known = _but_seeds(given), *identity.items()
        if known not in self._facts:
            facts = compared(given, self._pooled) | identity
            self._facts[known] = tuple(sorted(facts.items()))
        return self._facts[known]

    def at_one_path(self, member: AdministrationData) -> AdministrationData:
        """Return a member with the path at which its model was first."""
        record = member.administration
        if record.id not in self._moved:
            return member
        conditions = replace(record.conditions, examinee=self._moved[record.id])
        return replace(member, administration=replace(record, conditions=conditions))

    def conditions(self, member: AdministrationData) -> Conditions:
        """Return the conditions of a member; without seeds over which it is pooled."""
        given = self.at_one_path(member).conditions
        if LESION_SEED in self.together:
            given = replace(given, lesion=without_seed(given.lesion))
        return without_noise_seed(given) if NOISE_SEED in self.together else given

    def cells(self, member: AdministrationData) -> Iterator[tuple[Values, Part | None]]:
        """Yield the values of a member and the part of it that has them; None: all of it."""
        at_one_path = self.at_one_path(member)
        own = [key.groups(at_one_path) or (None,) for key in self.keys]
        if all(key.level == "administration" for key in self.keys):
            yield from ((values, None) for values in product(*own))
            return
        plan = member.planned_cells
        of_place: dict[Place, list[Values]] = {}
        found: dict[Values, list[Cell]] = {}
        for cell in plan:
            subtest, item, replicate = cell
            if (subtest, item) not in of_place:
                given = member.battery.subtest(subtest)
                of_place[subtest, item] = [
                    values if key.place is None else key.place(given, given.item(item)) or (None,)
                    for key, values in zip(self.keys, own, strict=True)
                ]
            several = [
                (replicate,) if key.id == REPLICATE else values
                for key, values in zip(self.keys, of_place[subtest, item], strict=True)
            ]
            for values in product(*several):
                found.setdefault(values, []).append(cell)
        for values, cells in found.items():
            yield values, part_of(plan, cells)

    def named(
        self, member: AdministrationData, values: Values, *, short: bool = False
    ) -> tuple[str, ...]:
        """Return what a member is called by each key."""
        member = self.at_one_path(member)
        given = self.conditions(member)
        has_lesion = "lesion" not in {*self.together, *self.ids}
        names, lesions = (self._short, self._lesions) if short else (self._whole, {})
        who = name_in(names, given, lesion=has_lesion, lesions=lesions)
        who = f"speaker {who}" if given.kind == "speaker" else who
        return tuple(
            key.group_name(member, value, who) for key, value in zip(self.keys, values, strict=True)
        )


def _moved(chosen: Iterable[AdministrationData]) -> dict[int, str]:
    """Return the administrations whose model was at another path before, with their spec there."""
    first: dict[tuple[str, ...], Spec] = {}
    moved: dict[int, str] = {}
    for member in chosen:
        record, hashes = member.administration, tuple(map(member.model_facts.get, HASHES))
        known = tuple(digest for digest in hashes if digest)
        if record.conditions.kind != "model" or len(known) < len(HASHES):
            continue
        with suppress(UsageError):  # stored by an earlier version
            spec = parse_spec(record.conditions.examinee)
            before = first.setdefault(known, spec)
            if (before.id, before.name) != (spec.id, spec.name):
                moved[record.id] = str(replace(spec, id=before.id, name=before.name))
    return moved


def _pooled(name: str, ids: Collection[str]) -> Key:
    key = key_of(name)
    if not key.pooled:
        raise UsageError(
            f"responses are pooled over '{key.id}' anyway, unless --by names it",
            allowed=", ".join(one.id for one in pooling_keys()),
        )
    if key.id in ids:
        raise UsageError(
            f"'{key.id}' cannot be both split by and pooled over",
            hint="leave it out of --by or of --together",
        )
    return key


def _joined(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _key_value(key: Key, value: Value | None, name: str, short: str) -> KeyValue:
    cell = written(value) if key.kind == "number" and value is not None else short
    cell = cell if key.id != "administration" else short
    # A model's group has its own name.
    told = key.absent_value if value is None and name == key.absent else value
    return KeyValue(key.id, key.title, value, name, cell, told)


def _first(named: object) -> object:
    return named[0] if isinstance(named, tuple) and named else named


def _differing(alike: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield the names of conditions in which groups of one name differ."""
    for name in dict.fromkeys(name for other in alike for name in other):
        if len({other.get(name) for other in alike}) > 1:
            yield name


def unlike(
    first: Sequence[AdministrationData], second: Sequence[AdministrationData]
) -> tuple[tuple[str, str, str], ...]:
    """Return the conditions beside the examinee that two sides do not share: name, both values."""
    sides = [[compared(member.conditions) for member in side] for side in (first, second)]
    names = dict.fromkeys(name for side in sides for given in side for name in given)
    values = {
        name: [
            ", ".join(dict.fromkeys(given.get(name, "none") for given in side)) for side in sides
        ]
        for name in names
    }
    return tuple((name, mine, other) for name, (mine, other) in values.items() if mine != other)


def titles_of(groups: Sequence[Group]) -> tuple[str, ...]:
    """Return the title over what groups have of each key.

    Groups of examinees to whom the key does not apply are named by their examinee: where there are
    others the title is such as *participant or model*, else *model*.
    """
    kinds = {("model" if group.has_model else "speaker"): None for group in groups}
    titles = []
    for one in groups[0].values:
        whom = key_of(one.key).whom
        without = [kind for kind in kinds if whom not in ("all", kind)]
        own = [one.title] if len(without) < len(kinds) else []
        titles.append(" or ".join(dict.fromkeys(own + without)))
    return tuple(titles)


@dataclass(frozen=True, slots=True)
class Grouped:
    """A group with the results of its responses."""

    group: Group
    results: Results

    @property
    def label(self) -> str:
        """The group's name, see :attr:`Group.name`."""
        return self.group.name

    @property
    def battery(self) -> Battery:
        """What its members were given."""
        return self.group.battery

    def judge(self, terms: Terms | None) -> Judge | None:
        """Return a judge under these terms, or None."""
        return self.results.judge(terms)

    def part(self, subtest: str) -> SubtestResults | None:
        """Return the results of a subtest, or None."""
        return self.results.part(subtest)

    def named(self, subtest: str) -> NamedSubtest | None:
        """Return the summary of a subtest that is named aloud, or None."""
        return next((part for part in self.results.named if part.id == subtest), None)

    @property
    def right(self) -> Estimate:
        """Share right by the exact policy, the mean over the items of all subtests."""
        tallies = [tally for part in self.results.parts if (tally := part.right.tally)]
        right = [n for tally in tallies for n in tally.hits]
        scored = [n for tally in tallies for n in tally.sizes]
        items = None
        if any(tally.items for tally in tallies):
            items = [
                (at, item)
                for at, tally in enumerate(tallies)
                for item in (tally.items or range(len(tally.sizes)))
            ]
        return item_mean(right, scored, "nothing was scored right or wrong", items)

    def not_judged(self, rater: str) -> int:
        """Return the number of connected texts that a judge has not judged, under any terms."""
        for judge in self.results.judges:
            if judge.rater == rater:
                return judge.not_judged
        connected = (part for part in self.results.parts if part.subtest.task.connected)
        return sum(part.number("counted") for part in connected)


def summarised(
    groups: Sequence[Group],
    *,
    judge: str | None = None,
    sort: Sort | None = None,
    interval: bool = True,
) -> tuple[Grouped, ...]:
    """Return groups with their summaries."""
    from tabwb.analysis.statistics.summary import pool  # loads numpy

    rows = tuple(Grouped(group, pool(group.members, interval=interval)) for group in groups)
    if judge is not None and rows:
        rater = judge_called(judge, (one.rater for row in rows for one in row.results.judges))
        rows = tuple(replace(row, results=row.results.only_judges([rater])) for row in rows)
    return rows if sort is None else in_order(rows, sort)


def in_order(rows: Sequence[Grouped], sort: Sort) -> tuple[Grouped, ...]:
    """Return the groups sorted; equal ones keep their order."""
    if sort == "name":
        return tuple(sorted(rows, key=lambda row: row.label.casefold()))
    if sort == "keys":
        return tuple(sorted(rows, key=by_keys))
    terms = [judge.terms for row in rows for judge in row.results.judges]

    def value(row: Grouped) -> float | None:
        if sort == "N":
            return row.results.value("responses")
        if sort == "accuracy":
            return row.right.value
        burdens = {judge.terms: judge.burden.ranked for judge in row.results.judges}
        return burdens.get(terms[0]) if terms else None

    known = [(amount, row) for row in rows if (amount := value(row)) is not None]
    unknown = [row for row in rows if value(row) is None]
    return (*(row for _, row in sorted(known, key=lambda pair: -pair[0])), *unknown)


def by_keys(row: Grouped) -> list[tuple[bool, bool, float, str]]:
    """Return what sorts by the values of the keys: numbers, then texts, then no value.

    Texts that have an order are sorted by it.
    """
    orders = [key_of(one.key).order for one in row.group.values]
    return [
        (
            one.value is None,
            isinstance(one.value, str),
            order.index(one.value) - len(order)
            if one.value in order
            else one.value
            if isinstance(one.value, int | float)
            else 0.0,
            one.value.casefold() if isinstance(one.value, str) else "",
        )
        for one, order in zip(row.group.values, orders, strict=True)
    ]


def specs_of(rows: Sequence[Grouped]) -> Iterator[str]:
    """Yield the specs of the models, lesions and judges of groups."""
    for row in rows:
        for member in row.group.members:
            conditions = member.conditions
            yield conditions.examinee
            yield from conditions.judges
            if conditions.lesion is not None:
                yield conditions.lesion
        yield from (judge.rater for judge in row.results.judges)


Rename = Callable[[str, Grouped], str]
"""Returns how a text that names a group is printed."""
WIDEST = 48
"""The most characters of keys that are columns of a table; wider ones are one name."""
FEWEST = 3
"""Groups of one name that have something usual."""
MOST_NAMED = 3
"""Labels that the sentence of :func:`shared_note` names before it counts the others."""


def _unchanged(text: str, row: Grouped) -> str:
    return text


def as_shown(rows: Sequence[Grouped]) -> tuple[Grouped, ...]:
    """Return groups whose names have that in which those *among them* differ.

    Groups of one first key and battery state the same conditions; several lesions are named by the
    keys in which they differ. What all share is left out, and so is what most of them have where
    they differ in several conditions: :func:`shared_note` says it once.
    """
    alike: dict[tuple[object, ...], list[dict[str, str]]] = {}
    kinds: dict[object, set[bool]] = {}
    for row in rows:
        alike.setdefault(_kin(row.group), []).append(dict(row.group.apart))
        kinds.setdefault(_kin(row.group)[:2], set()).add(row.group.has_model)
    apart = {kin: {*_differing(several)} for kin, several in alike.items()}
    for kin, names in apart.items():
        if len(kinds[kin[:2]]) > 1:
            names.add(EXAMINEES)
    usual = {kin: _usual(several, apart[kin]) for kin, several in alike.items()}
    kept = [_keeping(row, apart[(kin := _kin(row.group))], usual[kin]) for row in rows]
    split = _of_lesions(kept)
    split = split if split and split.keys else None
    told: list[tuple[str, Facts]] = [("", ())] * len(kept)
    if split is not None:
        # A row of which nothing is known, such as a person without a name in a report: its label.
        known = [
            one or {split.keys[0]: row.label} for one, row in zip(split.own, kept, strict=True)
        ]
        own = [tuple((key, one.get(key, "")) for key in split.keys) for one in known]
        columns = zip(*own, strict=True)
        wide = sum(max(len(text) for cell in column for text in cell) for column in columns)
        called = [name if one else "" for name, one in zip(split.names, split.own, strict=True)]
        told = [*zip(called, own if wide <= WIDEST else [()] * len(kept), strict=True)]
    return tuple(
        replace(row, group=replace(row.group, called=name, told=keys))
        if (name, keys) != (row.group.called, row.group.told)
        else row
        for row, (name, keys) in zip(kept, told, strict=True)
    )


def _usual(several: Sequence[Mapping[str, str]], names: Collection[str]) -> Facts:
    """Return what most groups of one name have of the conditions in which these differ.

    Nothing of few groups, or where only one condition differs: it is in all names.
    """
    names = [name for name in dict.fromkeys(several[0]) if name in names and name != EXAMINEES]
    if len(several) < FEWEST or len(names) < 2:
        return ()
    found = ((name, Counter(given.get(name) for given in several)) for name in names)
    most = ((name, *counts.most_common(1)[0]) for name, counts in found if None not in counts)
    return tuple((name, value) for name, value, n in most if value and 2 * n > len(several))


def _of_lesions(rows: Sequence[Grouped]) -> Differing | None:
    """Return what groups of several lesions share and in what they differ; of others None."""
    if len({one.conditions.lesion for row in rows for one in row.group.members} - {None}) < 2:
        return None
    split = differing(facts_of_groups([row.group for row in rows]))
    return split if any(TARGET in one for one in (split.common, *split.own)) else None


def names_of_groups(rows: Sequence[Grouped]) -> list[str]:
    """Return a name for each group, no two alike: with its battery or whole hashes, if needed."""
    shown = as_shown(rows)
    named = [row.label for row in shown]
    for more in (_battery, _whole_conditions):
        named = [
            name if named.count(name) == 1 else f"{name} ({more(row)})"
            for name, row in zip(named, shown, strict=True)
        ]
    return named


def _battery(row: Grouped) -> str:
    return f"{row.battery.id} {row.battery.version}"


def _whole_conditions(row: Grouped) -> str:
    return ", ".join(phrase_of(*fact) for fact in row.group.apart)


def shared_note(rows: Sequence[Grouped], rename: Rename = _unchanged) -> list[str]:
    """Return the conditions that names leave out because all of their rows, or most, have them,
    each once.
    """
    left_out: dict[tuple[str, str], dict[str, None]] = {}
    shown = as_shown(rows)
    split = _of_lesions(shown)
    common = [f"All groups: {facts_name(split.common)}."] if split and split.common else []
    usual: dict[Facts, dict[str, None]] = {}
    for row in shown:
        label = rename(row.group.called or row.group.short or row.group.label, row)
        for fact in row.group.shared:
            left_out.setdefault(fact, {})[label] = None
        if row.group.usual and not row.group.called:
            usual.setdefault(row.group.usual, {})[label] = None
    said: dict[tuple[str, ...], list[str]] = {}
    for (name, value), labels in left_out.items():
        whose = () if _all_have(rows, name, value) else tuple(labels)
        said.setdefault(whose, []).append(phrase_in_name(name, value))
    return [
        *common,
        *(f"{_listed(whose)}: {', '.join(phrases)}." for whose, phrases in said.items()),
        *(
            f"{_listed([*whose])}, unless the name says otherwise: {_in_words(facts)}."
            for facts, whose in usual.items()
        ),
    ]


def _kin(group: Group) -> tuple[object, ...]:
    first = group.values[0].name if group.values else group.label
    return first, group.battery.content_hash, group.has_model


def _keeping(row: Grouped, names: set[str], usual: Facts) -> Grouped:
    group = row.group
    left_out = tuple(fact for fact in group.apart if fact[0] not in names)
    if group.usual != usual:
        row = replace(row, group=(group := replace(group, usual=usual)))
    if not left_out:
        return row
    kept = tuple(fact for fact in group.apart if fact[0] in names)
    said = (fact for fact in left_out if fact[0] != EXAMINEES)
    return replace(row, group=replace(group, apart=kept, shared=(*group.shared, *said)))


def _all_have(rows: Sequence[Grouped], name: str, value: str) -> bool:
    return all(
        compared(member.conditions).get(name) == value
        for row in rows
        for member in row.group.members
    )


def _listed(labels: Sequence[str]) -> str:
    if not labels:
        return "All groups"
    if len(labels) <= MOST_NAMED:
        return ", ".join(labels)
    return f"{', '.join(labels[:MOST_NAMED])} and {len(labels) - MOST_NAMED} more"
