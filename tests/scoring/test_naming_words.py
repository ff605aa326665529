"""Regular endings of a target's form."""

from __future__ import annotations

import pytest

from tabwb.scoring.naming.words import endings_of


@pytest.mark.parametrize(
    ("form", "past"), [("D AO G", "D"), ("K IH S", "T"), ("W AO K", "T"), ("K AE T", "IH D")]
)
def test_the_past_tense_has_the_voice_of_the_last_sound(form: str, past: str) -> None:
    own = tuple(form.split())
    ends = {" ".join(other[len(own) :]) for other in endings_of(own)}
    assert past in ends
    assert not ends & ({"T", "D", "IH D"} - {past})
