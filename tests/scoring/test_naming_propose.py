"""Codes that the machine proposes, the clause that fired, and what it leaves to a person."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.inventory import PHONEMES
from tabwb.scoring.naming.attempts import propose_attempts
from tabwb.scoring.naming.codes import CODES, FLAGS
from tabwb.scoring.naming.correct import verdicts
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import Earlier, Proposal, propose_code
from tabwb.scoring.naming.similarity import chance_rate
from tabwb.scoring.naming.target import NamingTarget, Rule
from tests.scoring.naming_parts import DOG, accept, timed


def propose(
    said: str,
    target: NamingTarget = DOG,
    rule: Rule = "correct-first",
    heard: str = "",
    earlier: tuple[Earlier, ...] = (),
) -> Proposal:
    segments = timed(said)
    return propose_code(
        target,
        propose_attempts(segments, accepted=target.accepted),
        verdicts(segments, target.accept)[rule],
        heard=parse_heard(heard) if heard else None,
        earlier=earlier,
    )


TREE = NamingTarget(target="tree", accept=accept("T R IY"), semantic=("bush",))
CAT = NamingTarget(target="cat", accept=accept("K AE T"), semantic=("dog", "kitten"))


# ------------------------------------------------------------------ a transcript alone


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("D AO G", "correct"),
        ("D AA G", "correct"),
        ("", "no-response"),
        ("<spn>", "no-response"),
        ("L AO G", "formal"),  # log
        ("D AO G AH", "nonword-related"),
        ("D AO V", "nonword-related"),
        ("F IH M P AH L", "nonword-unrelated"),
        ("CH EH R", "undecided"),  # chair: a word, but semantic, visual and unrelated need an ear
        ("D", "undecided"),
    ],
)
def test_what_a_transcript_alone_gives(said: str, code: str) -> None:
    assert propose(said).code == code


def test_only_some_codes_are_proposed_of_a_transcript_alone() -> None:
    by_machine = {code for code, about in CODES.items() if about.proposer == "machine"}
    assert by_machine == {
        "correct",
        "formal",
        "nonword-related",
        "nonword-unrelated",
        "no-response",
        "undecided",
    }
    # The right words for codes of another kind, without anybody's ear.
    for said in ("K AE T", "HH AO R S", "T EY L", "D AO G Z", "AY D OW N T N OW"):
        assert propose(said).code in by_machine


@given(st.lists(st.sampled_from([*PHONEMES, "<sil>", "<spn>", "1.5"]), max_size=9))
def test_whatever_is_transcribed_gets_a_code_of_the_machines(labels: list[str]) -> None:
    for rule in ("correct-any", "correct-first"):
        found = propose(" ".join(labels), rule=rule)
        assert CODES[found.code].proposer == "machine"
        assert found.clause
        # What rests on similarity tells its chance rate, and nothing else does.
        assert (found.chance_rate is None) or "shares " in found.clause


def test_three_for_tree_is_formal_with_its_homophone() -> None:
    found = propose("TH R IY", TREE)
    assert (found.code, found.homophone) == ("formal", "three")
    assert (
        found.clause
        == "sounds like 'three'; shares R IY (ends alike, same place, two or more in common)"
    )
    assert found.chance_rate == chance_rate()


def test_a_named_neighbour_is_hinted_at_and_not_proposed() -> None:
    found = propose("D AO G", CAT)
    assert (found.code, found.homophone) == ("undecided", "dog")
    assert found.clause.endswith("a named neighbour: if you hear it, write it down")


def test_a_word_with_the_vowel_of_cot_for_that_of_caught_is_a_word() -> None:
    """The dictionary has "dog" with AO alone; many speakers have one vowel for both."""
    found = propose("D AA G", CAT)
    assert (found.code, found.homophone) == ("undecided", "dog")
    assert found.clause == (
        "sounds like 'dog' with the vowels of 'cot' and 'caught' alike, "
        "a named neighbour: if you hear it, write it down"
    )
    assert propose("K AA R T", TREE).homophone == "cart"  # exactly so, and not "court"
    assert propose("P AA R T S AO", TREE).homophones == ()


def test_a_name_of_the_dictionary_makes_no_word() -> None:
    # The CMU dictionary has Dawe and Daugh; neither is a common word.
    found = propose("D AO V AH")
    assert found.code == "nonword-related"
    rare = propose("B EH R", NamingTarget(target="bed", accept=accept("B EH D")))
    assert (rare.code, rare.homophone) == ("formal", "bear")
    assert "baer" in rare.homophones


def test_an_article_is_no_part_of_the_word() -> None:
    assert propose("DH AH L AO G").homophone == "log"
    assert propose("AH CH EH R").homophone == "chair"


def test_several_words_are_no_nonword() -> None:
    found = propose("AY D OW N T N OW")
    assert found.code == "undecided"
    assert found.clause.startswith("may be several words: 'i don't ")  # no, know: homophones


def test_the_clause_of_a_right_answer_is_the_rules() -> None:
    found = propose("K AE T 1.5 D AO G", rule="correct-any")
    assert (found.code, found.flags) == ("correct", ("self-corrected",))
    assert found.clause == "correct-any: D AO G stands in the response"
    assert propose("IH T S AH D AO G", rule="correct-any").flags == ("embedded",)
    assert propose("D AA G").flags == ("dialect",)


def test_the_first_complete_attempt_is_coded() -> None:
    found = propose("D 1.5 L AO G 1.5 D AO G")
    assert (found.code, found.attempt, found.homophone) == ("formal", 2, "log")


def test_what_only_a_person_can_hear_is_left_open() -> None:
    long = NamingTarget(target="helicopter", accept=accept("HH EH L AH K AA P T ER"))
    found = propose("K AA P", long)
    assert found.code == "undecided"
    assert found.clause.startswith("whether attempt 1 is a complete one must be heard")


# ------------------------------------------------------------------ with a heard word


@pytest.mark.parametrize(
    ("heard", "code"),
    [
        ("dog", "correct"),
        ("Hound", "correct"),
        ("D AA G", "correct"),
        ("cat", "semantic"),
        ("frog", "mixed"),
        ("horse", "visual"),
        ("tail", "picture-part"),
        ("log", "formal"),
        ("L AO G", "formal"),
        ("D AO V", "nonword-related"),
        ("dogs", "undecided"),
        ("chair", "undecided"),
        ("four legs", "undecided"),
        ("blorf", "undecided"),
    ],
)
def test_a_heard_word_is_worth_more_than_the_transcript(heard: str, code: str) -> None:
    assert propose("F IH M P AH L", heard=heard).code == code
    assert propose("D AO G", heard=heard).code == code


def test_a_word_is_enough_where_nothing_was_transcribed() -> None:
    assert propose_code(DOG, (), heard=parse_heard("cat")).code == "semantic"


def test_what_is_similar_carries_the_chance_rate_and_nothing_else_does() -> None:
    assert propose("", heard="frog").chance_rate == chance_rate()
    assert propose("", heard="cat").chance_rate is None
    assert propose("", heard="dog").chance_rate is None


def test_an_ending_is_left_to_a_person_with_a_hint() -> None:
    assert "morphological, if a person says so" in propose("", heard="dogs").clause


# ------------------------------------------------------------------ perseveration

BEFORE = (
    Earlier("bed", ("B", "EH", "D"), "bed"),
    Earlier("house", ("F", "IH", "M")),
    Earlier("chair", (), "chair"),
)


def test_the_same_word_again_is_a_perseveration_of_that_item() -> None:
    found = propose("", heard="chair", earlier=BEFORE)
    assert (found.code, found.repeats) == ("perseveration", "chair")


def test_the_same_nonword_again_too() -> None:
    found = propose("F IH M", earlier=BEFORE)
    assert (found.code, found.repeats) == ("perseveration", "house")
    assert "said to 'house' before" in found.clause


def test_what_links_it_to_the_target_comes_first_and_the_repetition_is_still_told() -> None:
    earlier = (Earlier("wolf", (), "wolf"),)
    found = propose("", heard="wolf", earlier=earlier)
    assert (found.code, found.repeats) == ("semantic", "wolf")


def test_a_right_answer_repeats_nothing() -> None:
    assert propose("", heard="dog", earlier=(Earlier("wolf", (), "dog"),)).repeats == ""


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
    assert set(FLAGS) == {"self-corrected", "late", "after-cue", "dialect", "embedded"}
    for text in [*(code.definition for code in CODES.values()), *FLAGS.values()]:
        assert "\n" not in text
        assert 0 < len(text) < 80


def test_the_scores_of_a_person_are_those_of_the_records() -> None:
    from tabwb.records.naming import SCORES
    from tabwb.scoring.naming.codes import PERSON_SCORES, right_by_score

    assert tuple(PERSON_SCORES) == SCORES
    assert [right_by_score(score) for score in SCORES] == [True, True, False, False, None]


def test_json_holds_what_a_reader_needs() -> None:
    found = propose("TH R IY", TREE).to_json()
    assert (found["code"], found["attempt"], found["repeats"]) == ("formal", 1, None)
    assert found["homophones"] == ["three"]
