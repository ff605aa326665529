"""Identifiers, ratings and the counting attempt."""

import uuid

import pytest

from tabwb.records.ratings import Rating, undefined, valued
from tabwb.records.specs import uuid7
from tabwb.records.states import (
    AttemptState,
    RatingStatus,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Attempt, PlannedTrial, Trial


def test_uuid7_has_version_variant_and_time() -> None:
    made = uuid.UUID(uuid7(1_700_000_000_123))
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert made.int >> 80 == 1_700_000_000_123


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_ratings_value_is_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        valued("r", "m", value)


def test_a_rating_has_a_value_exactly_when_it_says_so() -> None:
    assert valued("choice", "exact", True).value == 1.0
    assert undefined("rules-1", "anomia", "nothing was said").value is None
    with pytest.raises(ValueError, match="exactly when"):
        Rating("choice", "exact", None, RatingStatus.VALUE)
    with pytest.raises(ValueError, match="exactly when"):
        Rating("choice", "exact", 0.0, RatingStatus.UNDEFINED)


def _attempt(number: int, state: AttemptState) -> Attempt:
    return Attempt(number, f"answer {number}", state, ResponseStatus.OK, StopReason.END, 0.1)


def test_the_last_attempt_in_state_ok_counts() -> None:
    plan = PlannedTrial(1, "s", "i", 0, (), "prompt")
    attempts = (
        _attempt(1, AttemptState.OK),
        _attempt(2, AttemptState.OK),
        _attempt(3, AttemptState.ERROR),
    )
    counting = Trial(plan, TrialState.ANSWERED, attempts).counting
    assert counting is not None
    assert counting.number == 2
    assert Trial(plan, TrialState.PLANNED, attempts[2:]).counting is None
