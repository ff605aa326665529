"""What a person called a picture, as the dial of sessions compares it."""

from __future__ import annotations

import pytest

from tabwb.analysis.sessions import _named
from tabwb.analysis.statistics.naming import Speech
from tabwb.battery.model import Item
from tabwb.records.steps import Session, Step
from tabwb.scoring.naming.summary import NamedItem

ACCEPT = [
    {"phonemes": "S OW F AH", "reason": "citation"},
    {"phonemes": "K AW CH", "reason": "other name", "word": "couch"},
]
SOFA = Item("sofa", "", extra={"picture": "", "target": "sofa", "accept": ACCEPT})


@pytest.mark.parametrize(
    ("language", "heard", "compared", "new", "unit"),
    [
        ("en", "Sofa.", "sofa", (), "words"),
        ("en", "a couch", "couch", ("a",), "words"),
        ("en", "TV", "sofa", ("tv",), "words"),
        ("en", "K AE T, S OW F AH", "s oʊ f ʌ", ("k", "æ", "t"), "phonemes"),
        ("en", "xxx", "sofa", ("xxx",), "words"),
        ("de", "Tür", "sofa", ("tür",), "words"),
        ("en", "", "s oʊ f ʌ", (), "phonemes"),
    ],
)
def test_what_was_heard_is_read_as_the_rules_read_it(
    language: str, heard: str, compared: str, new: tuple[str, ...], unit: str
) -> None:
    said = NamedItem("sofa", "sofa", "answered", heard=heard, phonemes=("S", "OW"))
    step = Step("session", 1.0, session=Session(1, "nouns/sofa", None))
    found = _named(step, said, SOFA, Speech(language=language))
    assert found.session is not None
    assert (found.session.compared, found.new_words, found.session.unit) == (compared, new, unit)
