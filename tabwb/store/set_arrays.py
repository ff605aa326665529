"""The ratings of a rating set as numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.battery.form_answers import flag_of, is_fast, of_attempts, whole_response
from tabwb.battery.forms import Form, Question
from tabwb.records.rating_sets import CANNOT_TELL, Answer, SampleRating
from tabwb.store import sets
from tabwb.store.database import Transaction
from tabwb.store.sets import asked_by


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
        flagged: bool, raters x samples; see :func:`tabwb.battery.form_answers.flag_of`.
    """

    raters: tuple[str, ...]
    samples: NDArray[np.int64]
    measures: tuple[str, ...]
    raw: NDArray[np.float64]
    values: NDArray[np.float64]
    cannot_tell: NDArray[np.bool_]
    options: tuple[tuple[str, ...], ...]
    seconds: NDArray[np.float64]
    flagged: NDArray[np.bool_]


def set_arrays(transaction: Transaction, set_id: int, purpose: str) -> SetArrays:
    """Return the ratings that count, of one purpose."""
    kept = sets.one_set(transaction, set_id)
    form = asked_by(kept)
    asked = [one for one in form.questions if one.kind not in ("phonemes", "text")]
    numbers = transaction.rows(
        "SELECT number FROM samples WHERE set_id = ? ORDER BY number", kept.id
    )
    last: dict[tuple[int, int], tuple[str, float] | None] = {}
    for rater_id, sample, answers, state, seconds in transaction.rows(
        "SELECT r.rater_id, sample, answers, state, seconds FROM sample_ratings r"
        " JOIN assignments a ON a.set_id = r.set_id AND a.rater_id = r.rater_id"
        " AND a.position = r.position"
        f" WHERE r.set_id = ? AND purpose = ?{sets.COUNTS} ORDER BY r.id",
        kept.id,
        purpose,
    ):
        last[rater_id, sample] = (answers, seconds) if state == "complete" else None
    specs = dict(transaction.rows("SELECT id, spec FROM raters"))
    raters = sorted({rater_id for rater_id, _ in last}, key=lambda rater_id: specs[rater_id])
    row_of_rater = {rater_id: row for row, rater_id in enumerate(raters)}
    row_of_sample = {number: row for row, (number,) in enumerate(numbers)}
    rated = [(place, given) for place, given in last.items() if given is not None]
    at = (
        np.array([row_of_rater[rater_id] for (rater_id, _), _ in rated], np.int64),
        np.array([row_of_sample[sample] for (_, sample), _ in rated], np.int64),
    )
    # Many ratings have the same answers: these are read once.
    different = {answers: row for row, answers in enumerate({given[0]: 0 for _, given in rated})}
    rows = np.array([different[answers] for _, (answers, _) in rated], np.int64)
    readings = [_reading(one) for one in asked]
    known = [sets.read_answers(answers) for answers in different]
    read = [_numbers(asked, readings, answers) for answers, _ in known]
    shape = len(raters), len(numbers), len(asked)
    raw, values = np.full(shape, np.nan), np.full(shape, np.nan)
    unsure = np.zeros(shape, bool)
    seconds_of = np.full(shape[:2], np.nan)
    flagged = np.zeros(shape[:2], bool)
    if rated:
        for array, column in ((raw, 0), (values, 1), (unsure, 2)):
            array[at] = np.array([one[column] for one in read], array.dtype)[rows]
        seconds_of[at] = [seconds for _, (_, seconds) in rated]
        flagged[at] = _flagged(form, known, rows, seconds_of[at])
    return SetArrays(
        tuple(specs[rater_id] for rater_id in raters),
        np.array([number for (number,) in numbers], np.int64),
        tuple(one.measure for one in asked),
        raw,
        values,
        unsure,
        tuple(_options(one) for one in asked),
        seconds_of,
        flagged,
    )


def _flagged(
    form: Form,
    known: Sequence[tuple[Mapping[str, Answer], tuple[str, ...] | None]],
    rows: NDArray[np.int64],
    seconds: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which ratings are doubtful; equal answers in as little time are looked at once."""
    fast = [int(is_fast(form, time)) for time in seconds.tolist()]
    least = form.least_seconds
    either = [
        [
            bool(flag_of(form, SampleRating("", 0, 0, "rate", answers, True, seconds=time,
                                            confirmed=confirmed)))
            for time in (least, least / 2)
        ]
        for answers, confirmed in known
    ]  # fmt: skip
    return np.array(either, bool)[rows, fast]


_Numbers = tuple[list[float], list[float], list[bool]]
"""Of each question the answer, its number in results, and whether the rater cannot tell."""
_Reading = Mapping[Answer, tuple[float, float, bool]]
"""The same of one question, for each answer that there can be."""


def _options(question: Question) -> tuple[str, ...]:
    chosen = question.options if question.kind == "choice" else ()
    return tuple(option.value for option in chosen)


def _reading(question: Question) -> _Reading:
    read: dict[Answer, tuple[float, float, bool]] = {None: (np.nan, np.nan, False)}
    for answer in question.values:
        number = question.number(answer)
        value = np.nan if number is None else number
        if answer == CANNOT_TELL:
            read[answer] = np.nan, value, True
        elif isinstance(answer, str):
            read[answer] = float(_options(question).index(answer)), value, False
        elif answer is not None:
            read[answer] = answer, value, False
    return read


def _numbers(
    asked: Sequence[Question], readings: Sequence[_Reading], answers: Mapping[str, Answer]
) -> _Numbers:
    read = [
        reading[
            whole_response(question, of_attempts(question, answers))
            if question.per_attempt
            else answers.get(question.measure)
        ]
        for question, reading in zip(asked, readings, strict=True)
    ]
    raw, values, unsure = zip(*read, strict=True) if read else ((), (), ())
    return list(raw), list(values), list(unsure)
