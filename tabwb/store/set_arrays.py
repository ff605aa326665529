"""The ratings of a rating set as numpy arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.battery.form_answers import of_attempts, whole_response
from tabwb.battery.forms import Question
from tabwb.records.rating_sets import CANNOT_TELL, Answer
from tabwb.store import set_rows
from tabwb.store.database import Transaction
from tabwb.store.set_ratings import asked_by


@dataclass(frozen=True, slots=True, eq=False)
class SetArrays:
    """What counts at each position. Arrays are raters x samples x measures unless told otherwise.

    Attributes:
        raters: codes, sorted.
        samples: int64, numbers of all samples of the set, ascending; one dimension.
        measures: of the form's questions whose answers are numbers or choices, in its order.
        raw: float64, as answered; of a choice the place in ``options``; nan where not rated and
            where the rater cannot tell.
        values: float64, what results count: of a scale with a cut 1 from the cut on, else 0; of a
            choice the option's number; nan where there is none.
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
    asked = [one for one in asked_by(kept).questions if one.kind not in ("phonemes", "text")]
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
    raw, values = np.full(shape, np.nan), np.full(shape, np.nan)
    unsure = np.zeros(shape, bool)
    seconds = np.full(shape[:2], np.nan)
    # Many ratings have the same answers.
    parsed: dict[str, _Numbers] = {}
    empty = _numbers(asked, {})
    for spec, sample, answers, state, spent in rows:
        place = row_of_rater[spec], row_of_sample[sample]
        complete = state == "complete"
        if complete and answers not in parsed:
            parsed[answers] = _numbers(asked, json.loads(answers))
        raw[place], values[place], unsure[place] = parsed[answers] if complete else empty
        seconds[place] = spent if complete else np.nan
    return SetArrays(
        raters,
        np.array([number for (number,) in numbers], np.int64),
        tuple(one.measure for one in asked),
        raw,
        values,
        unsure,
        tuple(_options(one) for one in asked),
        seconds,
    )


_Numbers = tuple[list[float], list[float], list[bool]]
"""Of each question the answer, its number in results, and whether the rater cannot tell."""


def _options(question: Question) -> tuple[str, ...]:
    chosen = question.options if question.kind == "choice" else ()
    return tuple(option.value for option in chosen)


def _numbers(asked: Sequence[Question], answers: Mapping[str, Answer]) -> _Numbers:
    raw: list[float] = []
    values: list[float] = []
    unsure: list[bool] = []
    for question in asked:
        answer = whole_response(question, of_attempts(question, answers))
        unsure.append(answer == CANNOT_TELL)
        number = question.number(answer)
        values.append(np.nan if number is None else number)
        if answer is None or answer == CANNOT_TELL:
            raw.append(np.nan)
        else:
            chosen = isinstance(answer, str)
            raw.append(_options(question).index(str(answer)) if chosen else float(answer))
    return raw, values, unsure
