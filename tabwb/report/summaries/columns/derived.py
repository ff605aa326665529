"""Derived raters over columns: the same verdicts as over trials, computed array by array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tabwb.administer.rating.derived import Derivation, people_of
from tabwb.records.counting import NO_MAJORITY, NOT_SETTLED, UNSURE, Rule
from tabwb.records.ratings import Declaration
from tabwb.records.states import RatingStatus
from tabwb.report.summaries.columns.prepared import Bools
from tabwb.store.columns import Ints, RaterColumns, Ratings, ResponseColumns
from tabwb.store.verdicts import STATUSES

Floats = NDArray[np.float64]
VALUE, UNDEFINED = STATUSES.index(RatingStatus.VALUE), STATUSES.index(RatingStatus.UNDEFINED)
REASONS = (UNSURE, NO_MAJORITY, NOT_SETTLED)
_CANNOT, _NO_MAJORITY, _NOT_SETTLED = range(3)


@dataclass(slots=True)
class _Made:
    """What one derived rater gives, in parts of ascending rows."""

    rows: list[Ints] = field(default_factory=list)
    measures: dict[str, list[tuple[Ints, Floats, Ints]]] = field(default_factory=dict)


def with_derived_columns(
    columns: ResponseColumns,
    declared: Sequence[Mapping[str, Declaration]],
    derivations: Mapping[int, Derivation],
) -> ResponseColumns:
    """Return columns with those of the derived raters."""
    made: dict[Rule, _Made] = {}
    for place, number in enumerate(columns.administrations):
        derivation = derivations.get(number)
        people = people_of(declared[place])
        if derivation is None or not derivation.rules or not people:
            continue
        first, last = columns.starts[place : place + 2].tolist()
        features = dict.fromkeys(one for code in people for one in declared[place][code].features)
        for measure in features:
            values, rated = _given(columns, people, measure, first, last)
            if not rated.any():
                continue
            held, is_held = _settled(columns, derivation, measure, first, last)
            rows = np.flatnonzero(rated)
            for rule in derivation.rules:
                found, reasons = _by_rule(rule, values, held, is_held)
                one = made.setdefault(rule, _Made())
                one.rows.append(rows + first)
                one.measures.setdefault(measure, []).append(
                    (rows + first, found[rows], reasons[rows])
                )
    if not made:
        return columns
    base = max((0, *columns.reasons)) + 1
    order = 1 + max(
        (int(given.order.max()) for given in columns.ratings.values() if len(given.order)),
        default=0,
    )
    ratings = dict(columns.ratings)
    for at, (rule, one) in enumerate(made.items()):
        rows = np.unique(np.concatenate(one.rows))
        none = np.empty(0, np.int64)
        ratings[rule] = RaterColumns(
            rows,
            np.full(len(rows), order + at),
            {measure: _joined(parts, base) for measure, parts in one.measures.items()},
            none,
            none,
        )
    texts = {**columns.reasons, **{base + at: words for at, words in enumerate(REASONS)}}
    return replace(columns, ratings=ratings, reasons=texts)


def _joined(parts: Sequence[tuple[Ints, Floats, Ints]], base: int) -> Ratings:
    rows, values, reasons = (np.concatenate(each) for each in zip(*parts, strict=True))
    defined = ~np.isnan(values)
    statuses = np.where(defined, VALUE, UNDEFINED).astype(np.int8)
    return Ratings(rows, values, statuses, np.where(defined, 0, reasons + base))


def _given(
    columns: ResponseColumns, people: Sequence[str], measure: str, first: int, last: int
) -> tuple[Floats, Bools]:
    """Return what people gave in some rows: (people, rows), nan without a value; and where."""
    values = np.full((len(people), last - first), np.nan)
    rated = np.zeros(last - first, bool)
    for at, rater in enumerate(people):
        given = columns.ratings[rater].measures.get(measure) if rater in columns.ratings else None
        if given is None:
            continue
        low, high = np.searchsorted(given.rows, (first, last))
        rows = given.rows[low:high] - first
        values[at, rows] = given.values[low:high]
        rated[rows] = True
    return values, rated


def _settled(
    columns: ResponseColumns, derivation: Derivation, measure: str, first: int, last: int
) -> tuple[Floats, Bools]:
    held, is_held = np.full(last - first, np.nan), np.zeros(last - first, bool)
    wanted = {
        response: given[measure]
        for response, given in derivation.settled.items()
        if measure in given
    }
    if wanted:
        places = zip(
            columns.trials[first:last].tolist(), columns.attempts[first:last].tolist(), strict=True
        )
        for row, response in enumerate(places):
            if response in wanted:
                value = wanted[response]
                held[row], is_held[row] = np.nan if value is None else value, True
    return held, is_held


def _by_rule(rule: Rule, values: Floats, held: Floats, is_held: Bools) -> tuple[Floats, Ints]:
    """Return the value of each row, nan without one, and then the place of the reason."""
    given = ~np.isnan(values)
    n = given.sum(axis=0)
    found = np.full(values.shape[1], np.nan)
    for value in np.unique(values[given]):
        same = (values == value).sum(axis=0)
        found[(same == n) if rule == "adjudicated" else (2 * same > n)] = value
    found[n == 0] = np.nan
    open_reason = _NOT_SETTLED if rule == "adjudicated" else _NO_MAJORITY
    reasons = np.where(n == 0, _CANNOT, open_reason)
    if rule != "majority":
        found = np.where(is_held, held, found)
        reasons = np.where(is_held, _CANNOT, reasons)
    return found, reasons
