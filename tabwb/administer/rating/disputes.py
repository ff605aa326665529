"""What raters differ on: verdicts side by side, and nothing that tells where a sample came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabwb.administer.rating.consensus import counted, difference, distance, value_by
from tabwb.battery.forms import Question
from tabwb.records.rating_sets import Adjudication, Answer, SampleRating, measure_of
from tabwb.records.ratings import Open


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one person says: the answer as given, the confidence (0 to 3 or None) and the note.

    ``looked_at`` is False where it was confirmed as absent with the rest, None where that is not
    known.
    """

    rater: str
    answer: Answer
    confidence: int | None = None
    note: str = ""
    looked_at: bool | None = None


@dataclass(frozen=True, slots=True)
class Dispute:
    """One answer of one sample on which raters, or people and judges, differ.

    Attributes:
        sample: its number.
        measure: of the question; where it is asked of each attempt, with ``#`` and its number.
        title: of the question.
        verdicts: of every person who rated the sample.
        judges: (judge, present or absent) of every judge with a verdict.
        people_differ: mean over all pairs of people, 0 to 1; None with fewer than two answers.
        judges_differ: mean over all pairs of a person and a judge; None without a pair.
        majority: of people, as it is counted; None where there is none.
        settled: what holds, or None.
    """

    sample: int
    measure: str
    title: str
    verdicts: tuple[Verdict, ...]
    judges: tuple[tuple[str, float], ...]
    people_differ: float | None
    judges_differ: float | None
    majority: Answer
    settled: Adjudication | None = None

    @property
    def is_disputed(self) -> bool:
        """Whether anybody differs from somebody else."""
        return bool(self.people_differ or self.judges_differ)


def dispute_of(
    question: Question,
    key: str,
    sample: int,
    ratings: Sequence[SampleRating],
    judges: Mapping[str, float],
) -> Dispute:
    """Return one answer of one sample as everybody gave it."""
    answers = [rating.answers.get(key) for rating in ratings]
    values = [counted(question, answer) for answer in answers]
    pairs = [
        distance(question, value, judge)
        for value in values
        for judge in judges.values()
        if isinstance(value, float)
    ]
    majority = value_by("majority", question, answers)
    attempt = measure_of(key)[1]
    return Dispute(
        sample,
        key,
        question.title if attempt is None else f"{question.title}, attempt {attempt}",
        tuple(
            Verdict(
                rating.rater,
                answer,
                rating.confidence,
                rating.note,
                None if rating.confirmed is None else key not in rating.confirmed,
            )
            for rating, answer in zip(ratings, answers, strict=True)
        ),
        tuple(judges.items()),
        difference(question, values),
        sum(pairs) / len(pairs) if pairs else None,
        None if isinstance(majority, Open) else majority,
    )


def most_first(one: Dispute) -> tuple[float, float, int, str]:
    """Return by what disputes are sorted: people differ most, then people and judges."""
    return -(one.people_differ or 0.0), -(one.judges_differ or 0.0), one.sample, one.measure
