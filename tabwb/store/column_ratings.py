"""Ratings of the store as arrays, and the prompts of judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.store.database import Transaction

Ints = NDArray[np.integer[Any]]
_BITS = 16
"""Of a measure's id."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings of one measure by one rater, those that it gave last.

    Attributes:
        rows: of the responses rated, ascending.
        values: floats; nan where the status is not *value*.
        statuses: int8, keys of ``rating_statuses`` (0 is *value*).
        reasons: ids of texts; 0 for none.
    """

    rows: Ints
    values: NDArray[np.floating[Any]]
    statuses: NDArray[np.int8]
    reasons: Ints


@dataclass(slots=True)
class ReadRatings:
    """What has been read: arrays of each chunk, by the ids of rater and measure."""

    raters: dict[int, list[tuple[Ints, Ints]]] = field(default_factory=dict)
    ratings: dict[tuple[int, int], list[Ratings]] = field(default_factory=dict)
    prompts: dict[int, list[tuple[Ints, Ints]]] = field(default_factory=dict)


_JOINED = (
    "FROM attempts a JOIN rating_sets s ON s.attempt_id = a.id"
    " WHERE a.administration_id BETWEEN ? AND ?"
)
# Set, measure, status and value in one integer each.
_PACKED = (
    f"CASE WHEN r.status_id BETWEEN 0 AND 3"
    f" THEN (((CAST(r.set_id AS BIGINT) << {_BITS}) | r.measure_id) << 4) | (r.status_id << 2)"
    " | CASE WHEN r.value IS NULL THEN 0 WHEN r.value = 0 THEN 1 WHEN r.value = 1 THEN 2 ELSE 3 END"
    " ELSE -1 END"
)


def read_ratings(
    transaction: Transaction,
    span: tuple[int, int],
    keys: Ints,
    before: int,
    read: ReadRatings,
    explained: Sequence[int],
) -> None:
    """Read what each rater gave last."""
    ids, of, raters = transaction.integers(("s.id", "s.attempt_id", "s.rater_id"), _JOINED, *span)
    if not len(ids):
        return
    rated, limits = _rated(transaction, span, ids)
    packed, reasons = transaction.integers((_PACKED, "coalesce(r.reason_id, 0)"), rated, *limits)
    if (packed < 0).any():
        raise ValueError("a rating has a status that does not exist")
    places = packed >> 4
    rows = found(keys, of)
    # A set without ratings replaces nothing.
    counting = (rows >= 0) & np.isin(ids, places >> _BITS)
    ids, raters, rows = ids[counting], raters[counting], rows[counting] + before
    # Of each response and rater the first set gives the order, the last set the ratings.
    by_set = np.lexsort((ids, raters, rows))
    ids, raters, rows = ids[by_set], raters[by_set], rows[by_set]
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]) | (raters[1:] != raters[:-1])
    heads = np.flatnonzero(new)
    latest = np.append(heads[1:], len(rows))[: len(heads)] - 1
    order, ids, raters, rows = ids[heads], ids[latest], raters[latest], rows[latest]
    for rater in distinct(raters).tolist():
        mine = raters == rater
        read.raters.setdefault(rater, []).append((rows[mine].astype(np.int32), order[mine]))
    at = found(ids, places >> _BITS)
    given = at >= 0
    packed, places, reasons, at = packed[given], places[given], reasons[given], at[given]
    statuses = (packed >> 2 & 3).astype(np.int8)
    values = np.choose(packed & 3, (np.nan, 0.0, 1.0, np.nan))
    others = np.fromiter(
        transaction.each(
            f"SELECT (CAST(r.set_id AS BIGINT) << {_BITS}) | r.measure_id, r.value {rated}"
            " AND r.value NOT IN (0, 1)",
            *limits,
        ),
        np.dtype([("place", np.int64), ("value", np.float64)]),
    )
    other = packed & 3 == 3
    values[other] = _looked_up(others["place"], others["value"], places[other])
    if (np.isfinite(values) != (statuses == 0)).any():
        raise ValueError("a rating has a value exactly when its status is 'value'")
    measures = places & (1 << _BITS) - 1
    reasons[(statuses == 0) & ~np.isin(measures, explained)] = 0
    own_raters, own_rows = raters[at].astype(np.int32), rows[at].astype(np.int32)
    del packed, places, at, given, other
    _add(read, own_raters, measures.astype(np.int32), own_rows, values, statuses, reasons)


def _rated(
    transaction: Transaction, span: tuple[int, int], sets: Ints
) -> tuple[str, tuple[int, int]]:
    """Return SQL for the ratings of sets, and its parameters.

    Sets that follow each other in the store are read without a join, others between them too.
    """
    limits = int(sets.min()), int(sets.max())
    n = transaction.value("SELECT count(*) FROM rating_sets WHERE id BETWEEN ? AND ?", *limits)
    if n <= 2 * len(sets):
        return "FROM ratings r WHERE r.set_id BETWEEN ? AND ?", limits
    return f"{_JOINED.replace(' WHERE', ' JOIN ratings r ON r.set_id = s.id WHERE')}", span


def _add(
    read: ReadRatings,
    raters: Ints,
    measures: Ints,
    rows: Ints,
    values: NDArray[np.float64],
    statuses: NDArray[np.int8],
    reasons: Ints,
) -> None:
    """Add the ratings of a chunk, by rater and measure, in the order of their rows."""
    different = distinct(raters)
    codes = np.searchsorted(different, raters) * (int(measures.max(initial=0)) + 1) + measures
    # Numbers of 16 bits are sorted in one pass, and rows are mostly in order already.
    if codes.max(initial=0) < 1 << 16:
        codes = codes.astype(np.uint16)
    by_kind = np.argsort(codes, kind="stable")
    same = codes[by_kind][1:] == codes[by_kind][:-1]
    if (np.diff(rows[by_kind])[same] < 0).any():
        by_kind = np.lexsort((rows, codes))
    bounds = [0, *(np.flatnonzero(~same) + 1).tolist(), len(rows)] if len(rows) else []
    for start, stop in pairwise(bounds):
        own = by_kind[start:stop]
        key = int(raters[own[0]]), int(measures[own[0]])
        read.ratings.setdefault(key, []).append(
            Ratings(rows[own], small(values[own]), small(statuses[own]), small(reasons[own]))
        )


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different values of a column of integers, ascending.

    ``np.unique`` does the same, but imports ``numpy.ma``.

    >>> distinct(np.array([7, 2, 7])).tolist()
    [2, 7]
    """
    ordered = np.sort(values)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def small(values: NDArray[Any]) -> NDArray[Any]:
    """Return the same values in the smallest type that holds each; equal ones are kept once.

    >>> small(np.array([0.0, 1.0, np.nan])).dtype, small(np.array([7, 7, 7])).strides
    (dtype('float16'), (0,))
    """
    if not len(values):
        return values
    if values.dtype.kind == "f":
        types: tuple[Any, ...] = (np.float16, np.float32, values.dtype)
    else:
        types = (np.int8, np.int16, np.int32, values.dtype)
    with np.errstate(over="ignore"):
        for kind in types:
            made = values.astype(kind)
            if np.array_equal(made, values, equal_nan=values.dtype.kind == "f"):
                break
    if np.array_equal(made, np.broadcast_to(made[:1], len(made)), equal_nan=made.dtype.kind == "f"):
        return np.broadcast_to(made[:1].copy(), len(made))
    return made


def _looked_up(keys: Ints, values: NDArray[Any], wanted: Ints) -> NDArray[np.float64]:
    at = found(keys, wanted)
    return np.where(at >= 0, values[at] if len(values) else np.nan, np.nan)


def found(values: Ints, wanted: Ints) -> Ints:
    """Return where each wanted value is among different values, or -1."""
    if not len(values) or not len(wanted):
        return np.full(len(wanted), -1)
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * len(values) + 1000:
        table = np.full(high - low + 3, -1)
        table[values - low + 1] = np.arange(len(values))
        return table[np.clip(wanted, low - 1, high + 1) - low + 1]
    order = np.argsort(values)
    at = order[np.minimum(np.searchsorted(values, wanted, sorter=order), len(values) - 1)]
    return np.where(values[at] == wanted, at, -1)


def read_prompts(
    transaction: Transaction, span: tuple[int, int], keys: Ints, before: int, read: ReadRatings
) -> None:
    """Read what judges were told for the verdicts that count; see :func:`read_ratings`."""
    calls, of, raters, prompts = transaction.integers(
        ("j.id", "j.attempt_id", "j.rater_id", "j.prompt_id"),
        "FROM attempts a JOIN judgements j ON j.attempt_id = a.id"
        " WHERE a.administration_id BETWEEN ? AND ? AND j.repeat = 0",
        *span,
    )
    rows = found(keys, of)
    counting = rows >= 0
    calls, raters, prompts = calls[counting], raters[counting], prompts[counting]
    rows = rows[counting] + before
    by_call = np.lexsort((calls, raters, rows))
    raters, prompts, rows = raters[by_call], prompts[by_call], rows[by_call]
    last = np.ones(len(rows), bool)
    last[:-1] = (rows[1:] != rows[:-1]) | (raters[1:] != raters[:-1])
    raters, prompts, rows = raters[last], prompts[last], rows[last]
    for rater in distinct(raters).tolist():
        mine = raters == rater
        read.prompts.setdefault(rater, []).append((rows[mine], prompts[mine]))
