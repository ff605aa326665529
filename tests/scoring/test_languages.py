"""Answers in other languages than English, and letters beyond ASCII in English."""

from __future__ import annotations

import unicodedata

import pytest

from tabwb.phonology.inventory import mapped_letters, parse_ipa, parse_pronunciation
from tabwb.records.errors import TabwbError
from tabwb.records.speech import Segment
from tabwb.scoring.naming.case import Settings
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import Response, propose_response
from tabwb.scoring.naming.target import Accepted, NamingTarget
from tabwb.scoring.text import fold_case, is_unspaced, normalised, words

NOT_IN_DE = "not available in de"


def target(word: str, ipa: str, **lists: tuple[str, ...]) -> NamingTarget:
    form = Accepted(parse_pronunciation(ipa, beyond="keep"), "citation", written=ipa)
    return NamingTarget(target=word, accept=(form,), **lists)


def named(item: NamingTarget, heard: str, language: str) -> Response:
    read = parse_heard(heard, language=language)
    return propose_response(item, settings=Settings(language=language), heard=read)


# ------------------------------------------------------------------ sounds


@pytest.mark.parametrize(
    ("word", "accepted", "said"),
    [
        ("Buch", "buːx", "buk"), ("Buch", "buːx", "buːk"), ("Kuchen", "kuːxən", "kuːkən"),
        ("Dach", "dax", "dak"), ("Tür", "tyːɐ", "tiːɐ"), ("Höhle", "høːlə", "heːlə"),
        ("ich", "ɪç", "ɪh"), ("loch", "lɒx", "lɒk"), ("llan", "ɬan", "lan"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("language", ["de", "en"])
def test_no_sound_is_folded_into_an_accepted_one(
    word: str, accepted: str, said: str, language: str
) -> None:
    found = named(target(word, accepted), f"/{said}/", language)
    assert found.proposal.code != "correct"
    assert not any(verdict.value for verdict in found.verdicts.values())


def test_sounds_outside_of_the_forty_stay_as_typed_in_naming() -> None:
    loch = target("loch", "lɒx")
    assert loch.accepted == (("L", "AA", "x"),)
    assert named(loch, "/lɒx/", "en").proposal.code == "correct"
    assert loch.accept[0].ipa == "lɒx"
    assert parse_heard("/buːx/", language="de").attempts[0].phonemes == ("b", "uː", "x")


def test_length_is_read_where_it_makes_another_vowel() -> None:
    assert parse_ipa("iː") == parse_ipa("i")
    assert (parse_ipa("haːt", "uk"), parse_ipa("hat", "uk")) == (
        ("HH", "AA", "T"),
        ("HH", "AE", "T"),
    )
    assert mapped_letters("fɛːri") == ("ɛː=EH",)
    for staat in ("ʃtaːt", "buː", "tʰ", "bɔ̃"):
        with pytest.raises(TabwbError, match="inventory"):
            parse_ipa(staat, beyond="exact")
    assert parse_ipa("hʊnt", beyond="exact") == ("HH", "UH", "N", "T")


@pytest.mark.parametrize("text", ["buːx", "tyːɐ", "ɬan"])
def test_a_transcript_takes_no_sound_of_another_language(text: str) -> None:
    with pytest.raises(TabwbError, match="inventory"):
        parse_pronunciation(text, beyond="allophones")
    assert parse_pronunciation("hɒt", beyond="allophones") == ("HH", "AA", "T")


def test_by_phonemes_nothing_is_proposed_in_another_language() -> None:
    said = [Segment(each, at * 0.1, at * 0.1 + 0.1) for at, each in enumerate(["B", "UW", "K"])]
    found = propose_response(target("Buch", "buːx"), said, Settings(language="de"))
    assert {one.value for one in found.verdicts.values()} == {None}
    assert {one.clause for one in found.verdicts.values()} == {NOT_IN_DE}
    assert found.proposal.code == "undecided"
    silent = propose_response(target("Buch", "buːx"), (), Settings(language="de"))
    assert silent.proposal.code == "no-response"


# ------------------------------------------------------------------ heard words


@pytest.mark.parametrize(
    "text", ["Tür", "Hündchen", "weiß nicht", "Löffel", "Straße", "Ähm", "犬", "кот", "بيت", "Œuf"]
)
@pytest.mark.parametrize("language", ["de", "en"])
def test_words_with_letters_beyond_ascii_are_words(text: str, language: str) -> None:
    found = parse_heard(text, language=language)
    assert found.word == fold_case(text)
    assert parse_heard(unicodedata.normalize("NFD", text), language=language).word == found.word


@pytest.mark.parametrize(
    ("text", "sound"),
    [("café", "K AH F EY"), ("naïve", "N AY IY V"), ("façade", "F AH S AA D"), ("Zoë", "Z OW IY"),
     ("jalapeño", "HH AE L AH P IY N Y OW"), ("piñata", "P IH N AA T AH")],
)  # fmt: skip
def test_accents_change_no_english_sound(text: str, sound: str) -> None:
    found = parse_heard(text)
    assert (found.word, " ".join(found.pronunciations[0])) == (text.lower(), sound)


@pytest.mark.parametrize("text", ["dɔɡ", "kæt", "/dog/", "[kæt]", "kʌp"])
def test_ipa_is_known_by_its_notation(text: str) -> None:
    assert parse_heard(text).word == ""
    assert bool(parse_heard(text, language="de").word) is not text.startswith(("/", "["))


def test_a_heard_name_needs_no_tables() -> None:
    hund = target("Hund", "hʊnt", semantic=("Katze",), parts=("Schwanz",))
    assert named(hund, "Hund", "de").proposal.code == "correct"
    assert named(hund, "„hund“", "de").proposal.code == "correct"
    assert named(hund, "Schwanz", "de").proposal.code == "picture-part"
    cat, article = named(hund, "Katze", "de").proposal, named(hund, "der Hund", "de")
    assert (cat.code, cat.candidates) == ("undecided", ("semantic", "mixed"))
    assert (article.proposal.code, article.verdicts["correct-any"].value) == ("undecided", None)
    assert article.proposal.clause == NOT_IN_DE
    strasse = target("Straße", "ʃtʁaːsə")
    assert named(strasse, "Straße", "de").proposal.code == "correct"
    assert named(strasse, "STRASSE", "de").proposal.code == "correct"
    assert named(strasse, "Strasse", "de").proposal.code == "undecided"
    for text in ("「犬」", "『犬』。", "'犬'", "xxx 犬"):
        assert named(target("犬", "inu"), text, "ja").proposal.code == "correct"


def test_stops_of_other_scripts_are_taken_off() -> None:
    texts = ("はい。", "「はい」", "はい！", "はい、", "हाँ।", "نعم؟", "是的。", "是的？")
    assert [normalised(text) for text in texts] == [
        *("はい", "はい", "はい", "はい", "हाँ", "نعم", "是的", "是的")
    ]
    assert normalised("boot!") == "boot!"


# ------------------------------------------------------------------ repetition and words


def test_words_follow_unicode() -> None:
    assert words("हिन्दी में किताब") == ["हिन्दी", "में", "किताब"]
    assert len(words("السَّلامُ عَلَيْكُم")) == 2
    assert words("I ❤️ it, 1️⃣ naïve 👨‍👩‍👧 day") == ["i", "it", "1", "naïve", "day"]
    assert words("nai\u0308ve") == ["naïve"]


def test_scripts_without_spaces_have_no_words() -> None:
    for text in (
        "我和妹妹一起坐火车去了北京，那里很好玩。",
        "とても楽しかったです",
        "ฉันไปเที่ยวทะเล",
    ):
        assert is_unspaced(text)
    assert not is_unspaced("여행을 갔다")
