"""The hybrid queue: what a person rates where a judge has rated all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.administer.rating.hybrid import (
    AUDIT,
    FREQUENT,
    UNCERTAIN,
    Judged,
    Rules,
    hybrid_queue,
)
from tabwb.records.errors import UsageError


def judged(n: int, seed: int = 0, *, probabilities: bool = True) -> Judged:
    """Return verdicts on a frequent, a rare and a one-sided feature that is never absent."""
    generator = np.random.default_rng(seed)
    verdicts = (generator.random((n, 3)) < [0.4, 0.05, 0.1]).astype(float)
    verdicts[verdicts[:, 2] == 0, 2] = np.nan
    told = np.where(verdicts == 1, 0.9, 0.1) if probabilities else np.full((n, 3), np.nan)
    return Judged("j", ("often", "rare", "one-sided"), verdicts, told, np.zeros(n, bool))


def test_each_response_goes_to_a_person_for_the_first_reason_that_applies() -> None:
    given_to = judged(200)
    given_to.probabilities[3, 1] = 0.45
    given_to.failed[7] = True
    draws, queue = hybrid_queue(range(200), given_to, Rules(), 1)
    strata = {one.unit: one.stratum for one in draws}
    assert (strata[3], strata[7], queue.uncertain) == (UNCERTAIN, UNCERTAIN, 2)
    often = {place for place in range(200) if given_to.verdicts[place, 0] == 1} - {3, 7}
    assert {unit for unit, stratum in strata.items() if stratum == FREQUENT} == often
    # One-sided features are present in 1 of 10, not in all that have a verdict.
    assert [name for name, _ in queue.frequent] == ["often"]
    assert queue.frequent[0][1] == np.mean(given_to.verdicts[:, 0])
    assert queue.rest == 200 - 2 - len(often)
    assert queue.audited == int(np.ceil(queue.rest / 10))
    assert queue.to_person == len(draws)
    assert not hybrid_queue(range(9), judged(9, probabilities=False), Rules(), 1)[
        1
    ].has_probabilities


@given(st.integers(1, 80), st.floats(0, 1), st.integers(0, 9))
def test_weights_stand_for_every_response_of_the_judge(n: int, audit: float, seed: int) -> None:
    draws, queue = hybrid_queue(range(n), judged(n, seed), Rules(audit=audit), seed)
    stands_for = sum(one.weight for one in draws)
    assert stands_for == pytest.approx(n if queue.audited or not queue.rest else n - queue.rest)
    assert sum(one.stratum == AUDIT for one in draws) == queue.audited


def test_a_share_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--margin: 0\.6 is out of range"):
        hybrid_queue(range(3), judged(3), Rules(margin=0.6), 0)
