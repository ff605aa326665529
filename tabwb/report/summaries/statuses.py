"""The status under which a response counts: the stored one, or *repeated-answer*.

Every summary, screen and export reads it here, so that all of them say the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from tabwb.battery.model import Battery
from tabwb.records.states import ResponseKind, ResponseStatus, TrialState
from tabwb.records.trials import Trial
from tabwb.scoring.repeated import Answer, repeated_answers
from tabwb.scoring.text import words

CLOSED = frozenset({ResponseKind.CHOICE, ResponseKind.YES_NO})
"""Kinds with a few short answers, which are right for several items."""


def effective_statuses(
    battery: Battery, trials: Iterable[Trial]
) -> tuple[ResponseStatus | None, ...]:
    """Return the status under which each trial's answer counts; None without such an answer.

    It is the stored status, except that a usable answer becomes *repeated-answer* where the same
    text (normalised) was given to three or more different prompts of the administration. Three
    exceptions: an answer that is the expected one is never a repeated answer; a choice or a yes or
    no is one only where *every* answer to its subtest is that text; practice and pictures named
    aloud are left out.

    Args:
        battery: what was given.
        trials: of one administration.

    Returns:
        One status per trial, in their order.
    """
    kinds = {subtest.id: subtest.response for subtest in battery.subtests}
    items = {(subtest.id, item.id): item for subtest in battery.subtests for item in subtest.items}
    found: list[ResponseStatus | None] = []
    open_answers: list[Answer] = []
    closed: dict[str, list[Answer]] = {}
    for place, trial in enumerate(trials):
        attempt = trial.counting if trial.state is TrialState.ANSWERED else None
        found.append(None if attempt is None else attempt.status)
        plan = trial.plan
        kind = kinds[plan.subtest]
        if attempt is None or plan.practice or kind is ResponseKind.NAMING:
            continue
        item = items[plan.subtest, plan.item]
        answer = Answer(place, item.prompt, attempt.response)
        if kind in CLOSED:
            closed.setdefault(plan.subtest, []).append(answer)
        elif item.expected is None or words(item.expected) != words(attempt.response):
            open_answers.append(answer)
    repeated = set(repeated_answers(open_answers))
    for answers in closed.values():
        if len({" ".join(words(one.text)) for one in answers}) == 1:
            repeated |= repeated_answers(answers)
    return tuple(
        ResponseStatus.REPEATED_ANSWER
        if place in repeated and status is not None and status.usable
        else status
        for place, status in enumerate(found)
    )


def is_usable(status: ResponseStatus | None, kind: ResponseKind) -> bool:
    """Whether the features of a response can be told.

    A repeated choice or yes or no is shown as such and stays usable: its accuracy is counted as
    scored, and one word says nothing about language that repeating it could spoil.

    Args:
        status: the effective one; None is taken as *ok*.
        kind: of the subtest.

    >>> is_usable(ResponseStatus.REPEATED_ANSWER, ResponseKind.YES_NO)
    True
    >>> is_usable(ResponseStatus.REPEATED_ANSWER, ResponseKind.CONNECTED_TEXT)
    False
    """
    if status is ResponseStatus.REPEATED_ANSWER and kind in CLOSED:
        return True
    return status is None or status.usable
