"""The ratings of a rating set as numpy arrays."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.records.rating_sets import CANNOT_TELL, Answer, measure_of
from tabwb.store import set_rows
from tabwb.store.database import Transaction
from tabwb.store.set_ratings import Asked, asked_of


@dataclass(frozen=True, slots=True, eq=False)
class SetArrays:
    """What counts at each position. Arrays are raters x samples x measures unless told otherwise.

    Attributes:
        raters: codes, sorted.
        samples: int64, numbers of all samples of the set, ascending; one dimension.
        measures: of the form's questions whose answers are numbers or choices, in its order.
        raw: float64, as answered; of a choice the place in ``options``; nan where not rated and
            where the rater cannot tell.
        values: float64, as ``raw`` with the cut of a scale applied (1 from the cut on, else 0).
        cannot_tell: bool.
        options: of each measure the ids of its choices; empty where it has none.
        seconds: float64, raters x samples; nan where not rated.
    """

    raters: tuple[str, ...]
    samples: NDArray[np.int64]
    measures: tuple[str, ...]
    raw: NDArray[np.float64]
    values: NDArray[np.float64]
    cannot_tell: NDArray[np.bool_]
    options: tuple[tuple[str, ...], ...]
    seconds: NDArray[np.float64]


_NUMBERS = ("present-absent", "scale", "choice")


def set_arrays(transaction: Transaction, set_id: int, purpose: str) -> SetArrays:
    """Return the ratings that count, of one purpose.

    Args:
        transaction: to read in.
        set_id: of the set.
        purpose: see :data:`tabwb.records.rating_sets.Purpose`.

    Raises:
        StoreError: there is no such set.
    """
    (kept,) = set_rows.sets(transaction, set_rows.number_of(transaction, set_id))
    asked = [one for one in asked_of(kept.form, kept.ask_source) if one.kind in _NUMBERS]
    numbers = transaction.rows(
        "SELECT number FROM samples WHERE set_id = ? ORDER BY number", kept.id
    )
    rows = transaction.rows(
        "SELECT spec, sample, answers, state, seconds FROM sample_ratings r"
        " JOIN assignments a ON a.set_id = r.set_id AND a.rater_id = r.rater_id"
        " AND a.position = r.position JOIN raters ON raters.id = r.rater_id"
        f" WHERE r.set_id = ? AND purpose = ?{set_rows.COUNTS} ORDER BY r.id",
        kept.id,
        purpose,
    )
    raters = tuple(sorted({spec for spec, *_ in rows}))
    row_of_rater = {rater: row for row, rater in enumerate(raters)}
    row_of_sample = {number: row for row, (number,) in enumerate(numbers)}
    shape = len(raters), len(numbers), len(asked)
    raw = np.full(shape, np.nan)
    unsure = np.zeros(shape, bool)
    seconds = np.full(shape[:2], np.nan)
    parsed: dict[str, tuple[list[float], list[bool]]] = {}
    empty = [np.nan] * len(asked), [False] * len(asked)
    for spec, sample, answers, state, spent in rows:
        place = row_of_rater[spec], row_of_sample[sample]
        if state == "complete":
            if answers not in parsed:
                parsed[answers] = _parsed(asked, json.loads(answers))
            raw[place], unsure[place] = parsed[answers]
            seconds[place] = spent
        else:
            (raw[place], unsure[place]), seconds[place] = empty, np.nan
    values = raw.copy()
    for column, one in enumerate(asked):
        if one.kind == "scale" and one.cut is not None:
            rated = ~np.isnan(raw[:, :, column])
            values[:, :, column][rated] = raw[:, :, column][rated] >= one.cut
    return SetArrays(
        raters,
        np.array([number for (number,) in numbers], np.int64),
        tuple(one.measure for one in asked),
        raw,
        values,
        unsure,
        tuple(one.options for one in asked),
        seconds,
    )


def _parsed(asked: list[Asked], answers: dict[str, Answer]) -> tuple[list[float], list[bool]]:
    first: dict[str, Answer] = {}
    for key in sorted(answers, key=lambda key: measure_of(key)[1] or 0):
        if answers[key] is not None:
            first.setdefault(measure_of(key)[0], answers[key])
    raw: list[float] = []
    for one in asked:
        answer = first.get(one.measure)
        if answer is None or answer == CANNOT_TELL:
            raw.append(np.nan)
        elif isinstance(answer, str):
            raw.append(float(one.options.index(answer)))
        else:
            raw.append(answer)
    return raw, [first.get(one.measure) == CANNOT_TELL for one in asked]
