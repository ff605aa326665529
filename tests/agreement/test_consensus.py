"""The verdict of most raters: ties, gaps, decisions, the rest without one rater."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tabwb.agreement.verdicts import (
    ABSENT,
    CANNOT_TELL,
    MISSING,
    cannot_tell_as,
    consensus,
    cut_at,
    majority,
    rest_of,
    verdicts_of,
)

# Columns: two of three, a tie, one verdict, none, a tie that somebody decided.
VERDICTS = np.array([[1, 1, 1, -1, 0], [1, 0, -1, -1, 1], [0, -1, -2, -2, -1]], np.int8)[..., None]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("drop", [1, -1, -1, -1, -1]),
        ("positive", [1, 1, -1, -1, 1]),
        ("negative", [1, 0, -1, -1, 0]),
        ("adjudicated", [0, -1, -1, -1, 1]),
    ],
)
def test_ties(ties: str, expected: list[int]) -> None:
    decided = np.array([0, -1, -1, -1, 1], np.int8)[:, None]
    found = consensus(VERDICTS, ties=ties, adjudicated=decided)  # type: ignore[arg-type]
    assert found[:, 0].tolist() == expected
    assert found.dtype == np.int8
    nobody = np.full_like(decided, CANNOT_TELL)
    assert (consensus(VERDICTS, ties="adjudicated", adjudicated=nobody) == MISSING).all()


def test_ties_are_reported() -> None:
    assert majority(VERDICTS)[1][:, 0].tolist() == [False, True, False, False, True]


def test_one_verdict_is_a_majority_when_asked_for() -> None:
    assert consensus(VERDICTS, fewest=1)[2, 0] == 1


def test_the_rest_leaves_the_rater_out() -> None:
    found = rest_of(VERDICTS)
    assert found.shape == VERDICTS.shape
    assert found[:, 0, 0].tolist() == [-1, -1, 1]
    changed = VERDICTS.copy()
    changed[1] = 1 - np.abs(changed[1])
    assert (rest_of(changed)[1] == found[1]).all()


def test_wrong_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="drop, positive, negative, adjudicated"):
        consensus(VERDICTS, ties="coin")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs the adjudicated"):
        consensus(VERDICTS, ties="adjudicated")
    with pytest.raises(ValueError, match="drop, positive or negative"):
        rest_of(VERDICTS, ties="adjudicated")


def test_verdicts_from_numbers() -> None:
    assert verdicts_of(np.array([[1.0, np.nan]])).tolist() == [[1, -1]]
    with pytest.raises(ValueError, match="not 2"):
        verdicts_of(np.array([2.0]))
    assert cut_at(np.array([0, 1, 2, np.nan]), 2).tolist() == [0, 0, 1, -1]
    assert cannot_tell_as(VERDICTS, ABSENT)[2, :, 0].tolist() == [0, -1, 0, 0, -1]


@given(arrays(np.int8, (3, 5, 2), elements=st.sampled_from([-2, -1, 0, 1])))
def test_the_order_of_raters_does_not_matter_and_categories_can_be_exchanged(
    verdicts: np.ndarray,
) -> None:
    said, tied = majority(verdicts)
    turned, others = majority(verdicts[::-1])
    np.testing.assert_array_equal(said, turned)
    np.testing.assert_array_equal(tied, others)
    flipped, _ = majority(np.where(verdicts < 0, verdicts, 1 - verdicts))
    np.testing.assert_array_equal(flipped, np.where(said < 0, said, 1 - said))
