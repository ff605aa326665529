"""What the rating screen shows and sends: plain frozen values, none of which tells the source.

The screen knows nothing else. It gets a :class:`RatingView` from the thread of
:mod:`tabwb.workbench.rating.worker`, which alone holds the store, and sends :class:`Request` values
to it. Who or what gave a sample, its condition and what others say of it are in none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tabwb.administer.rating.session import Draft
from tabwb.administer.rating.view import RatingView
from tabwb.battery.forms import Form, Question
from tabwb.records.rating_sets import Answer, answer_key, measure_of

Move = Literal["finish", "go-on", "undo", "back"]
"""A request for another view."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the screen asks of the worker.

    Attributes:
        what: ``keep`` what was answered so far; ``finish`` the sample and show the next one;
            ``go-on`` after the right answers were shown; ``undo``; go ``back``; ``play`` or play
            ``slow``, or stop; ``guidelines`` were shown; ``close``.
        draft: the answers; ``back`` and ``undo`` keep them first if they are not kept.
        seconds: spent on the sample since it was shown, pauses left out.
        visit: of the view to which the answers belong.
    """

    what: Move | Literal["keep", "play", "slow", "guidelines", "close"]
    draft: Draft | None = None
    seconds: float = 0.0
    visit: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What the worker tells the screen.

    Attributes:
        what: ``shown``: there is a view; ``kept``: everything sent is on disk; ``said``: news in
            words; ``failed``: what was asked for was not done; ``ended``: the worker has ended.
        view: with ``shown``.
        words: with ``said`` and ``failed``.
        unsaved: with ``failed``: answers were sent, which are not stored.
    """

    what: Literal["shown", "kept", "said", "failed", "ended"]
    view: RatingView | None = None
    words: str = ""
    unsaved: bool = False


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of the form: a question, of one attempt where it is asked of each."""

    question: Question
    attempt: int | None = None

    @property
    def key(self) -> str:
        """The key of the answer."""
        return answer_key(self.question.measure, self.attempt)


def slots_of(form: Form, attempts: int = 1) -> tuple[Slot, ...]:
    """Return the places of a form in their order; questions of attempts stand together by
    attempt.
    """
    repeated = [question for question in form.questions if question.per_attempt]
    made: list[Slot] = []
    for question in form.questions:
        if not question.per_attempt:
            made.append(Slot(question))
        elif question is repeated[0]:
            made += [Slot(each, n) for n in range(1, attempts + 1) for each in repeated]
    return tuple(made)


def attempts_in(answers: Mapping[str, Answer]) -> int:
    """Return the number of the last attempt that has an answer; 1 where none has.

    >>> attempts_in({"heard#2": "cat", "correct": "right"}), attempts_in({})
    (2, 1)
    """
    numbers = [measure_of(key)[1] or 1 for key, answer in answers.items() if answer is not None]
    return max(numbers, default=1)
