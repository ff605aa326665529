"""Measures of words, other languages than English, and texts of a megabyte."""

from __future__ import annotations

import json
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_builtin.raters import SCORERS

from benchmarks.scorers import READERS, shapes
from tabwb.phonology.inventory import mapped_letters, parse_ipa, parse_pronunciation
from tabwb.records.errors import TabwbError
from tabwb.records.ratings import Rating
from tabwb.records.speech import Segment
from tabwb.records.states import ResponseKind, ResponseStatus, StopReason
from tabwb.scoring import repetition
from tabwb.scoring.choice import read_choice
from tabwb.scoring.lexical import mattr, mtld, ttr
from tabwb.scoring.lexicon import Lexicon, load_lexicon, one_edit_away
from tabwb.scoring.naming.case import Settings
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import Response, propose_response
from tabwb.scoring.naming.target import Accepted, NamingTarget
from tabwb.scoring.response_status import response_status
from tabwb.scoring.rules import passage as runs
from tabwb.scoring.rules.passage import fills, find_runs, read
from tabwb.scoring.text import (
    MOST_READ,
    PART_READ,
    count_words,
    fold_case,
    is_unspaced,
    normalised,
    words,
)
from tabwb.scoring.text import words as tokens
from tabwb.scoring.yes_no import read_yes_no
from training.lexicon.build import build, plain

ORACLE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "lexical.json").read_text(encoding="utf-8")
)["texts"]


@pytest.mark.parametrize("text", ORACLE)
def test_the_measures_agree_with_the_oracle(text: dict[str, Any]) -> None:
    words = text["tokens"]
    assert len(words) == text["words"]
    assert ttr(words).value == text["ttr"]
    assert mtld(words, 0.72, shortest=1).value == pytest.approx(text["mtld_0.72"], rel=1e-12)
    assert mattr(words, 10).value == pytest.approx(text["mattr_window_10"], rel=1e-12)
    assert mattr(words, 25).value == pytest.approx(text["mattr_window_25"], rel=1e-12)


TEXTS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60)


@given(TEXTS, st.integers(1, 20))
def test_mattr_is_the_mean_over_all_windows(text: list[str], window: int) -> None:
    ratios = [len(set(text[at : at + window])) / window for at in range(len(text) - window + 1)]
    expected = sum(ratios) / len(ratios) if ratios else None
    assert mattr(text, window).value == pytest.approx(expected)


@given(TEXTS)
def test_mtld_reads_both_ways_alike(text: list[str]) -> None:
    found = mtld(text, shortest=1).value
    assert found == pytest.approx(mtld(text[::-1], shortest=1).value)
    assert found is None or found <= len(text)


DATA = files("tabwb.scoring") / "data"
WORDS = frozenset((DATA / "words.txt").read_text("ascii").split())
COMMON = frozenset((DATA / "common.txt").read_text("ascii").split())
letters = st.text(string.ascii_lowercase, max_size=8)


@given(letters | st.sampled_from(sorted(WORDS)))
def test_known_is_membership_in_either_list(word: str) -> None:
    assert load_lexicon().known(word) == (word in WORDS or word in COMMON)


@given(st.text())
def test_any_text_can_be_asked_for(word: str) -> None:
    load_lexicon().known(word)
    assert load_lexicon().common(word) == (word.lower() in COMMON)


def distance(one: str, other: str) -> int:
    """Letters left out, put in, replaced or swapped, by plain recursion."""
    if not one or not other:
        return len(one) + len(other)
    costs = [
        distance(one[1:], other) + 1,
        distance(one, other[1:]) + 1,
        distance(one[1:], other[1:]) + (one[0] != other[0]),
    ]
    if len(one) > 1 and len(other) > 1 and one[:2] == other[1::-1]:
        costs.append(distance(one[2:], other[2:]) + 1)
    return min(costs)


@given(st.text("abc", max_size=4), st.text("abc", max_size=4))
def test_one_edit_away_is_edit_distance_one(one: str, other: str) -> None:
    assert (other in set(one_edit_away(one)) - {one}) == (distance(one, other) == 1)


@given(letters)
def test_nearest_common_word_is_common_and_one_edit_away(word: str) -> None:
    near = load_lexicon().nearest_common(word)
    if near is not None:
        assert near in COMMON
        assert distance(word, near) == 1


def test_nearest_common_word_is_the_most_frequent_one() -> None:
    lexicon = Lexicon(b"", "house\n\nmouse\n\nblouse\n")
    assert lexicon.nearest_common("nouse") == "house"
    assert lexicon.nearest_common("mlouse") == "mouse"
    assert lexicon.nearest_common("slouse", level=20) is None
    assert lexicon.nearest_common("slouse") == "blouse"


def test_the_lists_bring_their_licences() -> None:
    cmudict = (DATA / "LICENSE-cmudict.txt").read_text("utf-8")
    scowl = (DATA / "LICENSE-scowl.txt").read_text("utf-8")
    assert "Carnegie Mellon University" in cmudict
    assert "Kevin Atkinson" in scowl


def test_build_keeps_plain_words_of_both_sources(tmp_path: Path) -> None:
    cmudict = tmp_path / "cmudict.dict"
    cmudict.write_text("'em AH0 M\nblorp B L AO1 R P\nlead L EH1 D\nlead(2) L IY1 D\n")
    for spelling in ("english", "american", "british"):
        for level in (10, 20, 35, 40, 50, 55, 60, 70):
            (tmp_path / f"{spelling}-words.{level}").write_text("")
    (tmp_path / "english-words.10").write_text("the\ndog's\n")
    (tmp_path / "british-words.20").write_text("colour\n")
    (tmp_path / "english-words.60").write_text("gorp\nrill\n")
    build(cmudict, tmp_path, tmp_path)
    assert (tmp_path / "words.txt").read_text() == "blorp\ncolour\nlead\nrill\nthe\n"
    assert (tmp_path / "common.txt").read_text() == "the\n\ncolour\n\n\n"


def test_words_are_folded_and_keep_their_apostrophes() -> None:
    found = tokens("We’d like a well-made “Kite”, in 1980!")
    assert found == ["we'd", "like", "a", "well", "made", "kite", "in", "1980"]
    assert plain(["boat", "Boat", "boat2", "boat's", ""]) == {"boat"}


def test_what_is_too_short_has_no_measure() -> None:
    for measure in (ttr, mattr, mtld):
        assert measure([]).value is None and measure([]).reason
    assert mattr(["a"] * 49).reason == "49 words, fewer than the window of 50"
    assert mattr(["a"] * 50).value == 0.02
    # Every third word completes a factor: only the length leaves it undefined.
    assert mtld(["a", "b"] * 24 + ["a"]).reason == "49 words, fewer than 50"
    assert mtld(["a", "b"] * 25).value == 50 / 16
    # Nearly every word is new, so that an extrapolated value would exceed the text's length.
    text = [f"word{n}" for n in range(58)] + ["word1", "word2"]
    assert mtld(text).reason == "no factor is complete in 60 words"
    assert mtld(text[:3], shortest=1).reason == "no factor is complete in 3 words"
    with pytest.raises(ValueError, match="window"):
        mattr(["a"], 0)
    with pytest.raises(ValueError, match="threshold"):
        mtld(["a"], 1.0)


def test_ordinary_words_are_known_and_the_papers_invented_ones_are_not() -> None:
    known = load_lexicon().known
    assert all(map(known, [*sorted(WORDS)[::97], min(WORDS), max(WORDS)]))
    assert all(map(known, ["catastrophe", "colour", "color", "Smartphone", "dammit"]))
    assert not any(map(known, ["blorf", "republice", "coffah", "flimby", "gorp", "snizz"]))


NOT_IN_DE = "not available in de"


def target(word: str, ipa: str, **lists: tuple[str, ...]) -> NamingTarget:
    form = Accepted(parse_pronunciation(ipa, beyond="keep"), "citation", written=ipa)
    return NamingTarget(target=word, accept=(form,), **lists)


def named(item: NamingTarget, heard: str, language: str) -> Response:
    read = parse_heard(heard, language=language)
    return propose_response(item, settings=Settings(language=language), heard=read)


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


def test_an_echo_of_a_megabyte_is_one_wherever_its_end_begins() -> None:
    prompt = "Please repeat exactly: The lion drank the water."
    carrier = "Please repeat exactly: "
    said = [carrier * 40_000 + rest for rest in ("", "Please", "Please repeat ")]
    assert [response_status(text, StopReason.LENGTH, prompt) for text in said] == (
        [ResponseStatus.PROMPT_ECHO] * 3
    )
    other = carrier * 40_000 + "dog " * 20
    assert response_status(other, StopReason.LENGTH, prompt) is ResponseStatus.TRUNCATED


def test_the_end_of_a_long_text_counts() -> None:
    passage = ResponseKind.CONNECTED_TEXT
    looping = " ".join(f"w{at}" for at in range(4000)) + " the lake" * 100_000
    status = response_status(looping, StopReason.LENGTH, kind=passage)
    assert status is ResponseStatus.DEGENERATE
    assert response_status(" " * 100_000 + "\n", StopReason.END) is ResponseStatus.EMPTY
    padded = " " * 100_000 + "Yes"
    assert read_yes_no(padded).exact.chosen == "Yes"
    assert read_choice(padded + " boat", ("boot", "boat")).extracted.chosen == "boat"
    assert read_choice("so " * 100_000 + "boat", ("boot", "boat")).extracted.chosen == "boat"


def _ratings(scorer: str, text: str) -> dict[str, Rating]:
    reader = READERS[scorer](text)
    assert isinstance(reader, list)
    return {rating.measure: rating for rating in reader}


def test_a_measure_says_that_it_is_of_a_part() -> None:
    assert {one.id for one in SCORERS} <= set(READERS)
    for size, told in ((MOST_READ, False), (MOST_READ + 2, True)):
        text = ("dog house " * size)[: size - 1] + "."
        lexical, repetition = _ratings("lexical", text), _ratings("repetition", text)
        parts = [lexical["ttr"], lexical["mattr"], repetition["extracted"], repetition["insertion"]]
        assert [PART_READ in rating.reason for rating in parts] == [told] * 4
        assert (
            lexical["words"].value == len(words(text)) and PART_READ not in lexical["words"].reason
        )
        assert len(read(text).text) == (MOST_READ // 2 if told else size)


def test_words_are_counted_as_they_are_found() -> None:
    for text in ("हिन्दी में", "e\u0301te\u0301 \u0301 a", "Straße, ß", "\U0001f468\u200d x", ""):
        assert count_words(text) == len(words(text))
    assert fold_case("Maẞe \ue000 ßSS") == "maße \ue000 ßss"


def slow_fills(words: Sequence[str]) -> bool:
    """Try every size; compare every place."""
    copies: Counter[tuple[str, ...]] = Counter()
    for size in range(1, len(words) // 2 + 1):
        same = [word == later for word, later in zip(words, words[size:], strict=False)]
        at = 0
        while at < len(same):
            end = at
            while end < len(same) and same[end]:
                end += 1
            unit = tuple(words[at : at + size])
            whole = any(
                size % part == 0 and unit == unit[:part] * (size // part) for part in range(1, size)
            )
            if end - at >= size and not whole:
                copies[unit] += (end - at) // size + 1
            at = end + 1
    return any(n >= 3 and n * len(unit) * 2 >= len(words) for unit, n in copies.items())


parts = st.lists(st.sampled_from("abc"), min_size=1, max_size=5).flatmap(
    lambda unit: st.integers(1, 5).map(lambda times: unit * times)
)
texts = st.lists(parts, max_size=8).map(lambda made: [word for part in made for word in part])


@pytest.mark.parametrize("short", [1, 2, 6])
@given(words=texts)
def test_a_long_text_is_read_as_a_short_one(short: int, words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        expected = slow_fills(words)
        assert fills(words, 3, len(words) / 2) == expected
        patched.setattr(runs, "FEW", 0)
        patched.setattr(runs, "SHORT", short)
        if len(words) > 2:
            assert fills(words, 3, len(words) / 2) == expected
            copies: Counter[tuple[str, ...]] = Counter()
            for run in find_runs(words, 1, len(words)):
                copies[tuple(words[run.start : run.start + run.size])] += run.times
            found = Counter(runs._copies(runs._codes(words)))
            assert found == Counter((len(unit), n) for unit, n in copies.items())


@pytest.mark.parametrize("reader", READERS)
def test_a_long_text_does_not_hang(reader: str) -> None:
    for text in shapes(15_000).values():
        READERS[reader](text)  # what is not linear takes hours


def test_a_long_response_is_compared_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(1)
    for _ in range(300):
        said, wanted = (random.choices("abc", k=random.randrange(9)) for _ in range(2))
        counts = repetition.edit_counts(said, wanted)
        with monkeypatch.context() as patched:
            patched.setattr(repetition, "_LONG", -1)
            assert repetition.edit_counts(said, wanted) == counts


def test_an_answer_at_the_end_of_a_long_text_is_read() -> None:
    thought = "Let me think about it. " * 4000
    assert (
        read_choice(f"{thought}\nThe answer is lion.", ("lion", "drum")).extracted.chosen == "lion"
    )


def test_long_phrases_that_return() -> None:
    random = Random(3)
    phrase = [str(random.randrange(900)) for _ in range(150)]
    other = [str(random.randrange(900)) for _ in range(150)]
    assert fills(phrase * 4 + other, 3, 375)
    assert not fills((phrase + other[:1]) * 2 + other * 2, 3, 300)
    # Two runs of two copies each, with another text between them.
    assert fills(phrase * 2 + other + phrase * 2, 3, 375)
    assert not fills(phrase + other + phrase + other[::-1] + phrase, 3, 375)
