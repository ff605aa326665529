"""What a stored verdict tells is what was read when it was given."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tabwb.scoring.choice import POLICIES, read_choice, read_reason, reason_of

OPTIONS = ("boot", "boat", "lion")
FOILS = {"boat": "phonological", "lion": "semantic"}
ANSWERS = st.lists(st.sampled_from([*OPTIONS, "Boot.", "or", "the", ""]), max_size=3).map(" ".join)


@given(ANSWERS, st.sampled_from(POLICIES), st.sampled_from(["boot", "lion"]))
def test_the_reason_gives_the_reading_back(answer: str, policy: str, expected: str) -> None:
    reading = read_choice(answer, OPTIONS).reading(policy)
    reason = reason_of(reading, expected, FOILS, empty=not answer.strip())
    back = read_reason(reading.correct(expected), reason, expected, OPTIONS, FOILS)
    assert back.error == reading.error(expected, FOILS)
    assert back.chosen == reading.chosen
