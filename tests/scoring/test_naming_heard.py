"""The field "heard:": words, ARPAbet, IPA, and what each of them may be taken for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.errors import TabwbError, UsageError
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import propose_response
from tests.scoring.naming_parts import DOG


@pytest.mark.parametrize(
    ("text", "word", "pronunciations"),
    [
        ("dog", "dog", ["D AO G"]),
        ("  Dog. ", "dog", ["D AO G"]),
        ("DOG", "dog", ["D AO G"]),
        ("either", "either", ["IY DH ER", "AY DH ER"]),
        ("blorf", "blorf", ["B L AO R F"]),  # by its letters
        ("a blorf", "a blorf", ["AH B L AO R F", "EY B L AO R F"]),
        ("house cat", "house cat", ["HH AW S K AE T"]),
        ("don’t", "don't", ["D OW N T", "D OW N"]),
        ("aw", "aw", ["AO"]),  # a word when small, a phoneme in capitals
        ("AW", "", ["AW"]),
        ("D AO G", "", ["D AO G"]),
        ("D AO1 G", "", ["D AO G"]),
        ("d ao1 g", "", ["D AO G"]),
        ("dɔɡ", "", ["D AO G"]),
        ("/dog/", "", ["D OW G"]),
        ("[kæt]", "", ["K AE T"]),
    ],
)
def test_what_is_typed(text: str, word: str, pronunciations: list[str]) -> None:
    found = parse_heard(text)
    assert (found.word, [" ".join(one) for one in found.pronunciations]) == (word, pronunciations)


@pytest.mark.parametrize(
    ("text", "attempts"),
    [
        ("cat, dog", ["K AE T", "D AO G"]),
        ("cat ... dog", ["K AE T", "D AO G"]),
        ("cat … dog", ["K AE T", "D AO G"]),
        ("K AE T <sil> D AO G", ["K AE T", "D AO G"]),
        ("/kæt <sil> dɔɡ/", ["K AE T", "D AO G"]),
        ("kæt 1.2 dɔɡ", ["K AE T", "D AO G"]),
        ("K AE T 0.4 D AO G", ["K AE T D AO G"]),
        ("cat, /dɔɡ/, D AA G", ["K AE T", "D AO G", "D AA G"]),
    ],
)
def test_several_attempts_are_parted(text: str, attempts: list[str]) -> None:
    found = parse_heard(text)
    assert [" ".join(one.phonemes) for one in found.attempts] == attempts


def test_a_short_pause_sets_words_off() -> None:
    assert parse_heard("K AE T 0.4 D AO G").attempts[0].breaks == {3}
    assert parse_heard("cat dog").attempts[0].breaks == {3}


def test_a_guessed_sound_is_told() -> None:
    assert parse_heard("treeb").guessed
    assert not parse_heard("tree").guessed


def test_a_glottal_stop_for_t_is_t_and_told() -> None:
    (cat,), (eye,) = (parse_heard(text).attempts for text in ("/kæʔ/", "/ʔaɪ/"))
    assert (cat.phonemes, cat.mapped) == (("K", "AE", "T"), ("ʔ=T",))
    assert (eye.phonemes, eye.mapped) == (("AY",), ())


def test_the_mark_of_chat_for_the_unintelligible_is_noise() -> None:
    assert [one.noise for one in parse_heard("xxx, dog").attempts] == [True, False]


@pytest.mark.parametrize("text", ["", "   "])
def test_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="nothing was written down"):
        parse_heard(text)


@given(st.text(max_size=12))
def test_whatever_is_typed_is_read_or_refused(text: str) -> None:
    try:
        found = parse_heard(text)
    except TabwbError:
        return
    # Words, or at least one pronunciation: what a proposal can rest on.
    assert found.word or found.pronunciations
    propose_response(DOG, heard=found)


@pytest.mark.parametrize("text", ["...", "?!", '"', "[]", "/ /"])
def test_punctuation_is_no_word(text: str) -> None:
    with pytest.raises(UsageError, match="is not a word"):
        parse_heard(text)


@pytest.mark.parametrize("text", ["/d§/", "/ˈ/"])
def test_what_holds_no_phoneme_is_refused(text: str) -> None:
    with pytest.raises(TabwbError, match=r"phoneme|inventory"):
        parse_heard(text)


def test_long_speech_stays_short() -> None:
    assert len(parse_heard("either the a of either neither the a").pronunciations) <= 16
