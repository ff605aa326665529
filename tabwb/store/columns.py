"""Responses and their ratings as numpy columns: what summaries of large stores read.

One row stands for each answer that counts, in the order of administrations and trials. Which
answer counts is decided as in :mod:`tabwb.store.derive`: an administration in which something was
skipped, voided, taken back or corrected is folded there; in all others the last attempt that is
``ok`` counts.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.records.ratings import Declaration
from tabwb.scoring.calibrated import Calibration
from tabwb.store import read as reading
from tabwb.store.column_ratings import Ints, Ratings, ReadRatings, distinct, small
from tabwb.store.column_rows import NOTES, ROWS, Read, read_chunk
from tabwb.store.database import Transaction
from tabwb.store.derive import taken_back
from tabwb.store.response_texts import Texts

CHUNK = 20_000
"""Trials whose ratings are read at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class RaterColumns:
    """What one rater gave.

    Attributes:
        rows: of all responses that it rated, ascending.
        order: of each, a number that is higher for raters who rated the response later.
        measures: name to ratings, in the order in which measures were first stored.
        judged: rows whose verdict that counts came from a call of a model, and prompts: the ids of
            what it was told.
        calibration: of a calibrated judge, by measure, what its values were made with.
    """

    rows: Ints
    order: Ints
    measures: Mapping[str, Ratings]
    judged: Ints
    prompts: Ints
    calibration: Mapping[str, Calibration] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ResponseColumns:
    """The answers that count of some administrations. Arrays have one element per response.

    Attributes:
        administrations: their numbers, in the order read.
        starts: of administration ``i`` the rows are ``starts[i]`` to ``starts[i + 1]`` - 1.
        planned: of each administration, subtest to number of its trials without practice.
        trials, attempts: numbers of the trial and of the attempt that counts.
        items: places in ``places``, the (subtest, item) pairs.
        replicates: from 0.
        options: places in ``shown``, the options in the order shown.
        asked: from 0, equal where the same messages were sent, or the same prompt was shown.
        texts: places in ``responses``, the different texts.
        statuses: places in :data:`STATUSES`, or -1.
        seeds: of the draws; -1 without one. Where it is not a number below 10 to the 18th: -2 minus
            its place in ``noted``.
        notes: by name, places in ``noted``, or -1.
        ratings: by rater.
        reasons: id to text, of ratings without a value and of the verdicts asked for.
        prompts: id to text, of what judges were told.
        mapped: the file of which arrays are parts, or None.
    """

    administrations: tuple[int, ...]
    starts: Ints
    planned: tuple[Mapping[str, int], ...]
    trials: Ints
    attempts: Ints
    items: Ints
    replicates: Ints
    options: Ints
    asked: Ints
    texts: Ints
    statuses: Ints
    places: tuple[tuple[str, str], ...]
    shown: tuple[tuple[str, ...], ...]
    responses: Texts
    seeds: Ints
    notes: Mapping[str, Ints]
    noted: tuple[str, ...]
    ratings: Mapping[str, RaterColumns]
    reasons: Mapping[int, str]
    prompts: Mapping[int, str]
    mapped: mmap.mmap | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.trials)

    def release(self) -> None:
        """Let the system take back the memory of what was read from a file; it is read again."""
        if self.mapped is not None and hasattr(self.mapped, "madvise"):
            self.mapped.madvise(mmap.MADV_DONTNEED)

    def selected(self, administrations: Sequence[int]) -> ResponseColumns:
        """Return the columns of some of the administrations."""
        if tuple(administrations) == self.administrations:
            return self
        place_of = {number: place for place, number in enumerate(self.administrations)}
        if missing := [number for number in administrations if number not in place_of]:
            raise ValueError(f"administration {missing[0]} was not read")
        places = [place_of[number] for number in administrations]
        ranges: list[tuple[int, int]] = []
        for place in places:
            start, stop = self.starts[place : place + 2].tolist()
            if ranges and ranges[-1][1] == start:
                start = ranges.pop()[0]
            ranges.append((start, stop))
        ratings = {}
        for name, rater in self.ratings.items():
            rows, order = _taken(ranges, rater.rows, rater.order)
            if not len(rows):
                continue
            measures = {}
            for measure, given in rater.measures.items():
                own, *values = _taken(
                    ranges, given.rows, given.values, given.statuses, given.reasons
                )
                if len(own):
                    own = rows if given.rows is rater.rows else own
                    measures[measure] = Ratings(own, *values)
            judged, prompts = _taken(ranges, rater.judged, rater.prompts)
            ratings[name] = replace(
                rater, rows=rows, order=order, measures=measures, judged=judged, prompts=prompts
            )
        ints: dict[str, Any] = {
            name: _joined_slices(ranges, getattr(self, name)) for name in ROWS if name not in NOTES
        }
        return replace(
            self,
            administrations=tuple(administrations),
            starts=np.cumsum([0, *np.diff(self.starts)[places]]),
            planned=tuple(self.planned[place] for place in places),
            notes={name: _joined_slices(ranges, codes) for name, codes in self.notes.items()},
            ratings=ratings,
            **ints,
        )


def _joined_slices(ranges: Sequence[tuple[int, int]], values: NDArray[Any]) -> NDArray[Any]:
    slices = [values[start:stop] for start, stop in ranges]
    return slices[0] if len(slices) == 1 else np.concatenate([*slices, values[:0]])


def _taken(
    ranges: Sequence[tuple[int, int]], rows: Ints, *columns: NDArray[Any]
) -> list[NDArray[Any]]:
    """Return the rows in some ranges, renumbered from 0, and the values of columns there."""
    limits = [tuple(np.searchsorted(rows, limits).tolist()) for limits in ranges]
    moved, before = [rows[:0]], 0
    for (low, high), (start, stop) in zip(limits, ranges, strict=True):
        moved.append(rows[low:high] - (start - before))
        before += stop - start
    return [np.concatenate(moved), *(_joined_slices(limits, values) for values in columns)]


def response_columns(
    transaction: Transaction, administrations: Sequence[int], explained: Collection[str] = ()
) -> ResponseColumns:
    """Read the answers that count, with their ratings."""
    read = Read()
    measures = transaction.rows("SELECT id, name FROM measures")
    for first, last in _chunks(transaction, administrations):
        chosen = [number for number in administrations if first <= number <= last]
        read_chunk(
            transaction, chosen, read, [number for number, name in measures if name in explained]
        )
    ints: dict[str, Any] = {
        name: small(np.concatenate([*read.ints.pop(name, ()), np.empty(0, np.int32)]))
        for name in ROWS
    }
    ints["asked"] = small(np.unique(ints["asked"], return_inverse=True)[1])
    ratings = _by_rater(transaction, read.ratings)
    reasons: set[int] = set()
    prompts: set[int] = set()
    for rater in ratings.values():
        prompts.update(distinct(rater.prompts).tolist())
        for measure in rater.measures.values():
            same = measure.reasons.strides == (0,)
            reasons.update(distinct(measure.reasons[:1] if same else measure.reasons).tolist())
    return ResponseColumns(
        administrations=tuple(administrations),
        starts=np.cumsum([0, *read.sizes]),
        planned=tuple(read.planned),
        places=tuple(read.places),
        shown=tuple(tuple(json.loads(options)) for options in read.shown),
        responses=Texts.of(tuple(read.texts)),
        notes={name: ints.pop(name) for name in NOTES},
        noted=tuple(read.noted),
        ratings=ratings,
        reasons=_texts(transaction, "reasons", reasons - {0}),
        prompts=_texts(transaction, "texts", prompts),
        **ints,
    )


def _chunks(transaction: Transaction, administrations: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last numbers of administrations that follow each other in the store."""
    if not administrations:
        return
    between = "administration_id BETWEEN ? AND ?"
    sizes = dict(
        transaction.rows(
            f"SELECT administration_id, count(*) FROM trials WHERE {between} GROUP BY 1",
            administrations[0],
            administrations[-1],
        )
    )
    chosen = set(administrations)
    first, last, size = administrations[0], administrations[0], 0
    for number in administrations:
        gap = any(other not in chosen for other in sizes.keys() & set(range(last + 1, number)))
        if size and (gap or size + sizes.get(number, 0) > CHUNK):
            yield first, last
            first, size = number, 0
        last, size = number, size + sizes.get(number, 0)
    yield first, last


def _by_rater(transaction: Transaction, read: ReadRatings) -> dict[str, RaterColumns]:
    names = dict(transaction.rows("SELECT id, name FROM measures"))
    specs = dict(transaction.rows("SELECT id, spec FROM raters"))
    columns = {}
    for rater, parts in sorted(read.raters.items()):
        rows, order = _joined(parts)
        measures = {}
        for key in sorted(read.ratings):
            if key[0] == rater:
                measures[names[key[1]]] = _whole(read.ratings.pop(key), rows)
        judged, prompts = _joined(read.prompts.get(rater, []))
        columns[specs[rater]] = RaterColumns(rows, small(order), measures, judged, prompts)
    return columns


def _whole(parts: Sequence[Ratings], rated: Ints) -> Ratings:
    """Return parts joined; where every response of the rater was rated the rows are shared."""
    rows = np.concatenate([part.rows for part in parts])
    return Ratings(
        rated if np.array_equal(rows, rated) else rows,
        small(np.concatenate([part.values for part in parts])),
        small(np.concatenate([part.statuses for part in parts])),
        small(np.concatenate([part.reasons for part in parts])),
    )


def _joined(parts: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([ids for _, ids in parts])


def _texts(transaction: Transaction, table: str, ids: Collection[int]) -> dict[int, str]:
    texts: dict[int, str] = {}
    ordered = sorted(ids)
    for at in range(0, len(ordered), 500):
        part = ordered[at : at + 500]
        marks = ", ".join("?" * len(part))
        texts.update(transaction.rows(f"SELECT id, text FROM {table} WHERE id IN ({marks})", *part))
    return texts


def planned_cells(
    transaction: Transaction, administrations: Sequence[int]
) -> dict[int, dict[tuple[str, str, int], int]]:
    """Return the number of planned trials of each item and replicate, practice not counted."""
    planned: dict[int, dict[tuple[str, str, int], int]] = {number: {} for number in administrations}
    for first, last in _chunks(transaction, administrations):
        for number, subtest, item, replicate, n in transaction.rows(
            "SELECT administration_id, subtest, item, replicate, count(*) FROM trials"
            " WHERE administration_id BETWEEN ? AND ? AND NOT practice"
            " GROUP BY administration_id, subtest, item, replicate"
            " ORDER BY administration_id, min(number)",
            first,
            last,
        ):
            planned[number][subtest, item, replicate] = n
    return planned


@dataclass(frozen=True, slots=True)
class Facts:
    """What is recorded of one administration as a whole; of the model and the raters the latest."""

    model: Mapping[str, str]
    notes: tuple[str, ...]
    declarations: Mapping[str, Declaration]


def facts_of(transaction: Transaction, administration: int) -> Facts:
    """Return what is recorded of an administration as a whole, without its trials."""
    events = transaction.rows(
        "SELECT sequence, kind, text, undoes FROM entries WHERE administration_id = ?"
        " AND (kind = 'undone' OR trial IS NULL AND kind IN ('noted', 'model-opened'))"
        " ORDER BY sequence",
        administration,
    )
    back = taken_back([(at, undoes) for at, _, _, undoes in events if undoes is not None])
    opened = [text for _, kind, text, _ in events if kind == "model-opened"]
    return Facts(
        json.loads(opened[-1]) if opened else {},
        tuple(text for at, kind, text, _ in events if kind == "noted" and at not in back),
        reading.declared(reading.declarations(transaction, administration)),
    )
