"""Codes that the rules propose beyond the oracle's cases, and what they leave to a person."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.inventory import PHONEMES
from tabwb.scoring.naming.case import Earlier, Proposal, Settings
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import Response, propose_response
from tabwb.scoring.naming.target import CODES, FLAGS, Accepted, NamingTarget, Rule, Variety
from tabwb.scoring.naming.words import chance_rate, is_word, joined, pronunciations
from tests.scoring.naming_parts import DOG, accept, timed

TREE = NamingTarget(target="tree", accept=accept("T R IY"), semantic=("bush",))
CAT = NamingTarget(target="cat", accept=accept("K AE T"), semantic=("dog", "kitten"))
BED = NamingTarget(target="bed", accept=accept("B EH D"))


def respond(
    said: str,
    target: NamingTarget = DOG,
    rule: Rule = "correct-first",
    heard: str = "",
    earlier: tuple[Earlier, ...] = (),
) -> Response:
    return propose_response(
        target,
        timed(said),
        Settings(rule),
        heard=parse_heard(heard) if heard else None,
        earlier=earlier,
    )


def propose(
    said: str,
    target: NamingTarget = DOG,
    rule: Rule = "correct-first",
    heard: str = "",
    earlier: tuple[Earlier, ...] = (),
) -> Proposal:
    return respond(said, target, rule, heard, earlier).proposal


# ------------------------------------------------------------------ a transcript alone


@given(st.lists(st.sampled_from([*PHONEMES, "<sil>", "<spn>", "0.5", "1.5"]), max_size=9))
def test_without_an_ear_only_some_codes_are_proposed(labels: list[str]) -> None:
    for rule in ("correct-any", "correct-first"):
        found = propose(" ".join(labels), rule=rule)
        assert CODES[found.code].proposer == "machine"
        assert found.clause
        assert found.rule
        assert set(found.candidates) <= set(CODES)
        assert bool(found.candidates) is (found.code == "undecided")
        # What rests on similarity tells its chance rate, and nothing else does.
        assert found.chance_rate is None or "shares " in found.clause


@given(st.lists(st.sampled_from([*PHONEMES, "<spn>", "1.5"]), max_size=8))
def test_the_same_phonemes_heard_are_right_or_wrong_alike(labels: list[str]) -> None:
    said = " ".join(labels)
    phonemes = [label for label in labels if label in PHONEMES]
    if not phonemes or "1.5" in labels or "<spn>" in labels:
        return
    machine, ear = respond(said), respond("", heard=" ".join(phonemes))
    for rule in ("correct-any", "correct-first"):
        assert machine.verdicts[rule].value is ear.verdicts[rule].value


def test_the_clause_names_homophone_similarity_and_chance() -> None:
    found = propose("TH R IY", TREE)
    assert (found.code, found.candidates, found.homophones[0]) == (
        "undecided",
        ("formal", "mixed"),
        "three",
    )
    assert "sounds like 'three'" in found.clause
    assert found.clause.endswith("shares /ri/ (ends alike, same place, two or more in common)")
    assert found.chance_rate == chance_rate()


def test_a_word_with_the_vowel_of_cot_for_that_of_caught_is_a_word() -> None:
    """The dictionary has "dog" with AO alone; many speakers have one vowel for both."""
    found = propose("D AA G", CAT)
    assert (found.candidates, found.homophones[0]) == (("semantic",), "dog")
    assert "with the vowels of 'cot' and 'caught' alike" in found.clause
    assert propose("K AA R T", TREE).homophones[0] == "cart"  # exactly so, and not "court"


def test_a_name_of_the_dictionary_makes_no_word() -> None:
    # The CMU dictionary has Dawe and Daugh; neither is a common word.
    assert propose("D AO V AH").code == "nonword-related"
    bear = propose("B EH R", BED)
    assert (bear.candidates, bear.homophones[0]) == (("formal", "mixed"), "bear")
    assert "baer" in bear.homophones


@pytest.mark.parametrize(
    "word", ["F UW T AA N", "R IH K L AY N ER", "P UW CH", "S IY G AH L", "K AA N D OW"]
)
def test_a_plausible_rarer_name_is_no_nonword(word: str) -> None:
    found = propose(word, BED)
    assert (found.code, found.rule) == ("undecided", "12")
    assert any(code.startswith("nonword") for code in found.candidates)


def test_words_of_the_battery_are_words_whatever_their_frequency() -> None:
    listed = NamingTarget(target="bed", accept=accept("B EH D"), semantic=("futon",))
    assert propose("F UW T AA N", listed).candidates == ("semantic",)
    settings = Settings("correct-first", listed=frozenset({"futon"}))
    other = propose_response(BED, timed("F UW T AA N"), settings).proposal
    assert other.candidates == ("semantic", "unrelated")


def test_several_words_are_no_nonword() -> None:
    found = propose("AY W AA N T IH T")
    assert "description" in found.candidates


def test_the_rule_correct_any_finds_the_name_anywhere() -> None:
    found = propose("K AE T 1.5 D AO G", rule="correct-any")
    assert (found.code, found.flags, found.attempt) == ("correct", ("self-corrected",), 2)
    mail = NamingTarget(target="mail", accept=accept("M EY L"))
    box = propose("M EY L B AA K S", mail, rule="correct-any")
    assert (box.code, box.rule, box.flags) == ("correct", "16", ("embedded",))


def test_the_first_complete_attempt_is_coded() -> None:
    found = propose("D 1.5 L AO G 1.5 D AO G")
    assert (found.attempt, found.homophones[0], found.candidates) == (2, "log", ("formal", "mixed"))


@pytest.mark.parametrize("said", ["T IY S", "T R IY T"])
def test_a_common_word_that_only_looks_like_an_ending_is_a_word(said: str) -> None:
    assert propose(said, TREE).rule != "9"


# ------------------------------------------------------------------ with a heard word


@pytest.mark.parametrize(
    ("heard", "code", "rule"),
    [
        ("dog", "correct", "7"),
        ("Hound", "correct", "7"),
        ("D AA G", "correct", "7"),
        ("dogs", "correct", "7n"),
        ("cat", "semantic", "10"),
        ("cats", "semantic", "10"),
        ("frog", "mixed", "10"),
        ("horse", "visual", "10"),
        ("tail", "picture-part", "10"),
        ("log", "undecided", "14"),
        ("D AO V", "nonword-related", "13"),
        ("chair", "undecided", "15"),
        ("four legs", "description", "11"),
        ("I don't know", "no-response", "3"),
        ("um", "no-response", "3"),
        ("<spn>", "undecided", "2"),
        ("d-", "fragment", "6"),
        ("b- bed, dog", "undecided", "15"),
    ],
)
def test_a_heard_word_is_worth_more_than_the_transcript(heard: str, code: str, rule: str) -> None:
    for transcript in ("F IH M P AH L", "D AO G", ""):
        found = propose(transcript, heard=heard)
        assert (found.code, found.rule) == (code, rule)


def test_heard_attempts_feed_attempts_and_verdicts() -> None:
    found = respond("F IH M 1.5 P AH L", heard="cat, dog")
    assert [one.phonemes for one in found.attempts] == [("K", "AE", "T"), ("D", "AO", "G")]
    # As many as the machine's: each has the machine's stretch of time.
    assert found.attempts[1].onset_s == pytest.approx(1.8)
    assert found.verdicts["correct-any"].value is True
    assert found.verdicts["correct-first"].value is False
    assert found.proposal.flags == ("self-corrected",)
    assert found.judged_phonemes(DOG, Settings()) == ("K", "AE", "T")


@pytest.mark.parametrize(
    ("heard", "code", "flags"),
    [
        ("um, dog", "correct", ("filler",)),
        ("uhhh... it's a, dog", "correct", ("filler", "carrier")),
        ("well, I don't know, dog", "correct", ("filler", "dont-know")),
        ("no, dog", "correct", ("dont-know",)),
        ("no, cat, dog", "semantic", ("dont-know", "self-corrected")),
        ("cat, I don't know", "semantic", ()),
        ("um, I don't know", "no-response", ()),
    ],
)
def test_a_remark_before_the_first_attempt_is_no_attempt(
    heard: str, code: str, flags: tuple[str, ...]
) -> None:
    found = respond("", heard=heard)
    assert (found.proposal.code, found.proposal.flags) == (code, flags)
    assert found.verdicts["correct-first"].value is (code == "correct")


def test_a_related_word_after_others_is_left_to_a_person() -> None:
    found = propose("", heard="big wolf")
    assert (found.code, found.rule, found.candidates) == (
        "undecided",
        "11",
        ("semantic", "description"),
    )
    assert propose("", heard="a wolf has teeth").code == "description"


@pytest.mark.parametrize("filler", ["AH M", "ER M", "W EH L"])
def test_a_filler_before_a_pause_is_no_attempt(filler: str) -> None:
    found = respond(f"{filler} 1.2 D AO G")
    assert (found.proposal.code, found.proposal.attempt) == ("correct", 2)
    well = NamingTarget(target="well", accept=accept("W EH L"))
    assert respond("W EH L 1.2 D AO G", well).proposal.attempt == 1


@pytest.mark.parametrize(
    "heard", ["ummm", "dont know", "I know it but I can't say it", "oh I do not know"]
)
def test_saying_that_no_name_comes_is_no_response(heard: str) -> None:
    assert propose("", heard=heard).code == "no-response"


@pytest.mark.parametrize("heard", ["my dog", "these are dogs", "uhh dog", "this one is a dog"])
def test_determiners_and_long_fillers_are_no_part_of_the_name(heard: str) -> None:
    assert propose("", heard=heard).code == "correct"


def test_what_is_no_part_of_an_attempt_has_no_distance() -> None:
    assert respond("AH D AO G").judged_phonemes(DOG, Settings()) == ("D", "AO", "G")
    assert respond("", heard="it's a dog").judged_phonemes(DOG, Settings()) == ("D", "AO", "G")


def test_the_written_name_of_the_target_is_its_own_form() -> None:
    forms = (Accepted(("HH", "AA", "T", "D", "AO", "G"), "citation", "hot dog"),)
    found = propose("", NamingTarget(target="hot dog", accept=forms), heard="hot")
    assert found.candidates == ("formal", "mixed")


def test_what_is_similar_carries_the_chance_rate_and_nothing_else_does() -> None:
    assert propose("", heard="frog").chance_rate == chance_rate()
    assert propose("", heard="cat").chance_rate is None
    assert propose("", heard="dog").chance_rate is None


# ------------------------------------------------------------------ varieties, sounds outside


@pytest.mark.parametrize(
    ("variety", "target", "form", "said"),
    [
        ("non-rhotic", "car", "K AA R", "K AA"),
        ("cot-caught", "dog", "D AO G", "D AA G"),
        ("trap-bath", "bath", "B AE TH", "B AA TH"),
        ("th-fronting", "bath", "B AE TH", "B AE F"),
        ("h-dropping", "house", "HH AW S", "AW S"),
        ("foot-strut", "cup", "K AH P", "K UH P"),
        ("t-glottalling", "butter", "B AH T ER", "B AH ER"),
        ("raising", "house", "HH AW S", "HH OW S"),
    ],
)
def test_a_recorded_variety_is_right_and_another_is_left_to_a_person(
    variety: Variety, target: str, form: str, said: str
) -> None:
    item = NamingTarget(target=target, accept=accept(form))
    settings = Settings("correct-first", varieties=(variety,))
    right = propose_response(item, timed(said), settings).proposal
    assert (right.code, right.rule, right.flags) == ("correct", "7d", ("dialect",))
    other = propose(said, item)
    assert (other.code, other.rule, other.candidates[0]) == ("undecided", "7u", "correct")


@pytest.mark.parametrize(
    ("target", "heard", "code"),
    [
        ("dog", "café", "undecided"), ("dog", "piñata", "undecided"), ("dog", "naïve", "undecided"),
        ("dog", "façade", "undecided"), ("dog", "jalapeño", "undecided"),
        ("teddy bear", "teddybears", "correct"), ("hot dog", "hot-dogs", "correct"),
        ("hot dog", "hotdogs", "correct"), ("duck", "duckling", "morphological"),
    ],
)  # fmt: skip
def test_accents_spaces_and_the_ending_ling_are_read(target: str, heard: str, code: str) -> None:
    forms = joined(pronunciations(word) for word in target.split())
    item = NamingTarget(target=target, accept=tuple(Accepted(form, "citation") for form in forms))
    found = propose_response(item, (), Settings("correct-first"), heard=parse_heard(heard)).proposal
    assert found.code == code
    if target == "dog":
        assert "nonword-related" not in found.candidates
        assert is_word(heard)


def test_a_sound_outside_of_the_forty_is_kept_mapped_and_told() -> None:
    found = propose("", NamingTarget(target="hot", accept=accept("HH AA T")), heard="/hɒt/")
    assert (found.code, found.flags) == ("correct", ("mapped-sound",))
    assert found.clause.endswith("read as ɒ=AA")
    bird = NamingTarget(target="bird", accept=accept("B ER D"))
    assert propose("", bird, heard="/bɜːd/").code == "correct"
    assert parse_heard("/bed/", "uk").pronunciations == (("B", "EH", "D"),)


# ------------------------------------------------------------------ perseveration

BEFORE = (
    Earlier("bed", ("B", "EH", "D"), "bed"),
    Earlier("house", ("F", "IH", "M")),
    Earlier("chair", (), "chair"),
)


def test_the_same_word_again_is_a_perseveration_of_that_item() -> None:
    found = propose("", heard="chair", earlier=BEFORE)
    assert (found.code, found.repeats) == ("perseveration", "chair")


def test_by_phonemes_alone_a_repetition_is_a_flag_and_a_candidate_only() -> None:
    nonword = propose("F IH M", earlier=BEFORE)
    assert (nonword.code, nonword.repeats, nonword.flags) == (
        "nonword-unrelated",
        "house",
        ("repeats",),
    )
    word = propose("B EH D", earlier=BEFORE)
    assert (word.code, word.candidates[0]) == ("undecided", "perseveration")


def test_what_links_it_to_the_target_comes_first_and_the_repetition_is_still_told() -> None:
    earlier = (Earlier("wolf", (), "wolf"),)
    found = propose("", heard="wolf", earlier=earlier)
    assert (found.code, found.repeats) == ("semantic", "wolf")


def test_the_latest_of_several_is_named() -> None:
    twice = (Earlier("bed", (), "chair"), Earlier("house", (), "chair"))
    assert propose("", heard="chair", earlier=twice).repeats == "house"


# ------------------------------------------------------------------ codes as data


def test_every_code_and_flag_of_the_rules_is_there() -> None:
    assert list(CODES) == [
        "correct", "semantic", "formal", "mixed", "unrelated", "nonword-related",
        "nonword-unrelated", "perseveration", "morphological", "picture-part", "visual", "blend",
        "description", "fragment", "no-response", "other", "undecided",
    ]  # fmt: skip
    for text in [*(code.definition for code in CODES.values()), *FLAGS.values()]:
        assert "\n" not in text
        assert 0 < len(text) < 80


def test_the_scores_of_a_person_are_those_of_the_records() -> None:
    from tabwb.records.naming import SCORES
    from tabwb.scoring.naming.target import PERSON_SCORES, right_by_score

    assert tuple(PERSON_SCORES) == SCORES
    assert [right_by_score(score) for score in SCORES] == [True, True, False, False, None]


def test_json_holds_what_a_reader_needs() -> None:
    found = propose("TH R IY", TREE).to_json()
    assert (found["code"], found["attempt"], found["repeats"]) == ("undecided", 1, None)
    assert (found["rule"], found["candidates"]) == ("14", ["formal", "mixed"])
    assert found["homophones"] == ["three"]
