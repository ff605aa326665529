"""One answer of a model under a lesion, or of a person at a session: a step of a dial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tabwb.records.ratings import Rating
from tabwb.records.states import StopReason
from tabwb.records.trials import Trial


class Session(NamedTuple):
    """Where an answer of a person is, and with what it is compared.

    Attributes:
        item: ``SUBTEST/ITEM``.
        day: days since the first session; None: not known.
        trial: its number; 0: the item was not given.
        recorded: its sound is stored.
        target: the name that was asked for; empty: no picture was named.
        compared: the text with which the answer is compared; None: with nothing.
        source: of the words, where a picture was named.
        unit: of what is compared: words or phonemes.
    """

    administration: int
    item: str
    day: int | None
    trial: int = 0
    recorded: bool = False
    target: str = ""
    compared: str | None = None
    source: str = ""
    unit: str = "words"


@dataclass(frozen=True, slots=True)
class Step:
    """One answer.

    Attributes:
        role: of the model that gave it: intact, lesioned, or with a control; ``session``: of a
            person.
        amount: of the lesion; of a control that of the lesion whose size it has; 0: intact. Of a
            person the number of the session, from 1.
        seed: of the choice of units; None: intact, or nothing is drawn.
        lesion: the spec; empty: intact.
        answer: its text.
        status: of the text, or ``error``.
        cut: it ends at the token limit.
        words: number of its words.
        new_words: those that the intact model does not say at this place, or that are not in what
            the answer is compared with.
        features: each feature that the rules judge rated: whether it is present; None: undefined.
        reason: of an error.
        session: of a person.
    """

    role: str
    amount: float
    seed: int | None = None
    lesion: str = ""
    answer: str = ""
    status: str = "error"
    cut: bool = False
    words: int = 0
    new_words: tuple[str, ...] = ()
    features: Mapping[str, bool | None] = field(default_factory=dict)
    reason: str = ""
    session: Session | None = None

    @property
    def present(self) -> tuple[str, ...]:
        """The features that are present."""
        return tuple(name for name, value in self.features.items() if value)

    @property
    def rated(self) -> bool:
        """Whether at least one feature has a value."""
        return any(value is not None for value in self.features.values())


def alike(step: Step, computed: Iterable[Step]) -> tuple[int, int]:
    """Return how many answers have the same set of present features as a step, and of how many.

    Of those computed, answers of its role and amount count, with one of each seed, itself among
    them, that have a value for at least one feature. The others are in neither number: (0, 0) where
    the step is one of them.

    >>> one, two, none = (Step("lesion", 0.1, seed, features={"jargon": value})
    ...                   for seed, value in enumerate((True, False, None)))
    >>> alike(one, [one, two, none, Step("control", 0.1, 4, features={"jargon": True})])
    (1, 2)
    >>> alike(none, [one, two, none])
    (0, 0)
    """
    place = step.role, step.amount
    seeds = {one.seed: one for one in computed if one.rated and (one.role, one.amount) == place}
    same = sum({*one.present} == {*step.present} for one in seeds.values())
    return (same, len(seeds)) if step.rated else (0, 0)


def said_in(step: Step, trial: Trial, judge: str) -> Step:
    """Return a step with the answer of a trial, and what a judge finds in it."""
    attempt = trial.counting
    if attempt is None or attempt.status is None:
        return replace(step, reason=step.reason or "there is no answer")
    return replace(
        step,
        answer=attempt.response,
        status=attempt.status.value,
        cut=attempt.stop_reason is StopReason.LENGTH,
        features={one.measure: _present(one) for one in trial.ratings if one.rater == judge},
    )


def _present(rating: Rating) -> bool | None:
    return None if rating.value is None else rating.value > 0
