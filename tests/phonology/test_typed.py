"""A pronunciation while it is being typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.inventory import PHONEMES, parse_ipa, parse_pronunciation, to_ipa
from tabwb.phonology.typed import check_typed, complete_typed

forms = st.lists(st.sampled_from(PHONEMES), min_size=1, max_size=6).map(tuple)


@given(forms)
def test_every_pronunciation_is_accepted_in_either_writing(form: tuple[str, ...]) -> None:
    assert check_typed(" ".join(form)).phonemes == form
    assert check_typed(" ".join(form).lower()).accepted
    ipa = to_ipa(form)
    if not ipa.isascii():
        assert check_typed(ipa).phonemes == form == parse_pronunciation(ipa)


@given(forms, st.integers(0, 2))
def test_a_pronunciation_is_reached_by_completing_its_last_label(
    form: tuple[str, ...], letters: int
) -> None:
    whole = " ".join(form)
    *before, last = form
    text = "".join(f"{each} " for each in before) + last[:letters].lower()
    assert not check_typed(text).problem
    assert whole in {text.upper(), *(each.text.strip() for each in complete_typed(text))}


def test_nothing_typed_yet_offers_everything() -> None:
    assert [each.phoneme for each in complete_typed("")] == list(PHONEMES)
    assert not check_typed("").accepted and not check_typed("").problem


def test_a_beginning_is_unfinished_and_a_mistake_is_placed() -> None:
    assert check_typed("HH AW S").accepted
    assert check_typed("HH AW Z H").accepted is False
    assert check_typed("HH A").unfinished == "A"
    found = check_typed("HH A S")
    assert (found.at, found.phonemes) == (3, ("HH",)) and "'A' is not a phoneme" in found.problem
    assert complete_typed("HH A S") == ()


def test_a_label_that_may_go_on_offers_the_longer_one_first() -> None:
    first = complete_typed("T R S")[0]
    assert (first.text, first.phoneme) == ("T R SH ", "SH")
    assert "T R S IY " in [each.text for each in complete_typed("T R S")]


def test_ipa_offers_what_the_last_letters_may_become() -> None:
    texts = [each.text for each in complete_typed("dɔt")]
    assert texts[0] == "dɔtʃ"
    assert "dɔt.ʃ" in texts  # T SH, which tʃ is not
    found = check_typed("dɔX")
    assert (found.at, found.phonemes) == (2, ("D", "AO"))


@pytest.mark.parametrize("text", ["ə", "dɔ", "tʃə", "ɛ"])
def test_a_completion_in_ipa_reads_as_what_it_shows(text: str) -> None:
    before = parse_ipa(text)
    for completion in complete_typed(text):
        read = parse_ipa(completion.text)
        assert read[-1] == completion.phoneme
        assert len(read) in {len(before), len(before) + 1}
