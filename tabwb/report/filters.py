"""Which administrations and responses are chosen: ``KEY=VALUE``, with ``!=``, ``<`` and ``>``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from tabwb.analysis.administrations import AdministrationData
from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean
from tabwb.report.key import Key, Value, written
from tabwb.report.keys import MODEL, key_of
from tabwb.report.names import name_in, names_of

_FILTER = re.compile(r"\s*([A-Za-z][A-Za-z0-9_-]*)\s*(!=|<=|>=|==?|<|>)(.*)", re.DOTALL)
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
    """One condition on a key.

    Attributes:
        key: its id.
        sign: ``=`` (any of the values), ``!=`` (none of them), ``<``, ``<=``, ``>`` or ``>=``.
        values: as people write them; the signs that compare have one.
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
        _check_bound(key, sign, values)
    return Filter(key.id, sign, values)


def _typed(key: Key, text: str) -> str:
    """Return a text as the value that it stands for is written."""
    return text if key.read is None or text == NOTHING else written(key.read(text))


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


def _check_bound(key: Key, sign: str, values: Sequence[str]) -> None:
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
    _bound(key, values[0])


def _bound(key: Key, text: str) -> float | str:
    try:
        return date.fromisoformat(text).isoformat() if key.kind == "date" else float(text)
    except ValueError:
        allowed = "a day as 2026-03-09" if key.kind == "date" else "a number"
        raise UsageError(f"'{text}' is not a value of '{key.id}'", allowed=allowed) from None


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a filter is applied to.

    Attributes:
        values: of the key; empty: none.
        texts: by which the values are found.
    """

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
    names = names_of(data.administration.conditions for data in known) if key.id == MODEL else {}
    candidates = {}
    for data in known:
        given = data.administration.conditions
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
        key = key_of(filter_.key)
        bound, compare = _bound(key, filter_.values[0]), _COMPARE[filter_.sign]
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
