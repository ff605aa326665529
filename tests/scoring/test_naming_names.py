"""Names in another number, variety or spelling, and what stands before them or instead of them."""

from __future__ import annotations

import pytest

from tabwb.scoring.naming.case import Proposal, Settings
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import propose_response
from tabwb.scoring.naming.target import Accepted, NamingTarget, Variety
from tests.scoring.naming_parts import DOG, accept, timed

THUMB = NamingTarget(target="thumb", accept=accept("TH AH M"), semantic=("finger",))
BOTTLE = NamingTarget(target="bottle", accept=accept("B AA T AH L"))
SANDWICH = NamingTarget(target="sandwich", accept=accept("S AE N D W IH CH"))
ICE_CREAM = NamingTarget(target="ice cream", accept=accept("AY S K R IY M"), semantic=("cone",))
FIRST = Settings(rule="correct-first")


def heard(target: NamingTarget, text: str) -> Proposal:
    return propose_response(target, (), FIRST, heard=parse_heard(text)).proposal


def said(target: NamingTarget, text: str, *varieties: Variety) -> Proposal:
    settings = Settings(rule="correct-first", varieties=varieties)
    return propose_response(target, timed(text), settings).proposal


def test_the_plural_of_a_dialect_form_keeps_the_flag_of_the_dialect() -> None:
    found = said(DOG, "D AA G Z")
    assert (found.code, set(found.flags)) == ("correct", {"number", "dialect"})


def test_the_plural_is_right_in_a_declared_variety_and_open_in_another() -> None:
    found = said(THUMB, "F AH M Z", "th-fronting")
    assert (found.code, found.rule, set(found.flags)) == ("correct", "7d", {"number", "dialect"})
    assert found.form == Accepted(("TH", "AH", "M"), "citation")
    found = said(THUMB, "F AH M Z")
    assert (found.code, found.rule, found.right) == ("undecided", "7u", None)
    scored = Settings(rule="correct-first", number="scored", varieties=("th-fronting",))
    assert propose_response(THUMB, timed("F AH M Z"), scored).proposal.code != "correct"


def test_the_plural_is_right_with_a_flap() -> None:
    found = said(BOTTLE, "B AA D AH L Z")
    assert (found.code, found.flags) == ("correct", ("number",))


def test_the_dictionarys_other_sound_of_the_name_is_left_to_a_person() -> None:
    found = propose_response(SANDWICH, timed("S AE N W IH CH"), FIRST)
    assert found.proposal.candidates == ("correct", "nonword-related")
    assert found.verdicts["correct-first"].value is None


@pytest.mark.parametrize("text", ["ice cream", "an ice-cream", "icecream"])
def test_a_name_of_two_words_is_written_in_three_ways(text: str) -> None:
    assert heard(ICE_CREAM, text).code == "correct"


def test_a_name_of_two_words_is_found_among_other_words() -> None:
    assert heard(ICE_CREAM, "an ice cream cone").candidates == (
        "correct",
        "semantic",
        "description",
    )


@pytest.mark.parametrize(
    "text",
    ["I can't think of the name", "I don't know the word", "don't know what it's called", "no clue",
     "I know what it is but I can't say it", "what is it called?"],
)  # fmt: skip
def test_more_ways_to_say_that_no_name_comes(text: str) -> None:
    found = heard(DOG, text)
    assert (found.code, "dont-know" in found.flags) == ("no-response", True)


def test_a_rejected_name_is_followed_by_the_name_after_but() -> None:
    found = heard(DOG, "not a dog but a cat")
    assert (found.code, set(found.flags)) == ("semantic", {"rejected", "carrier"})


@pytest.mark.parametrize("text", ["IH T S AH 1.2 D AO G", "AY S IY AH 1.3 D AO G"])
def test_several_carriers_before_a_pause_are_no_attempt(text: str) -> None:
    found = said(DOG, text)
    assert (found.code, found.flags, found.attempt) == ("correct", ("carrier",), 2)


def test_a_word_that_sounds_like_carriers_is_an_attempt() -> None:
    assert said(DOG, "S AH M ER 1.2 D AO G").attempt == 1


def test_a_carrier_alone_names_nothing() -> None:
    found = heard(DOG, "it's a")
    assert (found.rule, found.candidates) == ("3", ("no-response", "description"))


@pytest.mark.parametrize(
    ("target", "form", "text", "code"),
    [
        ("piñata", "P IH N Y AA T AH", "pinata", "correct"),
        ("piñata", "P IH N Y AA T AH", "a pinata", "correct"),
        ("piñata", "P IH N Y AA T AH", "pinatas", "correct"),
        ("crème brûlée", "K R EH M B R UW L EY", "creme brulee", "correct"),
        ("cake", "K EY K", "creme brulee", "mixed"),
        ("jack-o'-lantern", "JH AE K AH L AE N T ER N", "a jack o lantern", "correct"),
        ("octopus", "AA K T AH P AH S", "octopi", "correct"),
        ("grapes", "G R EY P S", "a bunch of grapes", "correct"),
    ],
)
def test_a_name_may_be_written_in_other_ways(target: str, form: str, text: str, code: str) -> None:
    item = NamingTarget(target=target, accept=accept(form), semantic=("crème brûlée",))
    settings = Settings(rule="correct-first")
    found = propose_response(item, settings=settings, heard=parse_heard(text))
    assert found.proposal.code == code


@pytest.mark.parametrize(
    ("target", "form", "text", "code"),
    [
        ("duck", "D AH K", "ducky", "morphological"),
        ("duck", "D AH K", "ducklings", "morphological"),
        ("drive", "D R AY V", "driver", "morphological"),
        ("pen", "P EH N", "penned", "morphological"),
        ("pen", "P EH N", "penny", "undecided"),
        ("bee", "B IY", "beer", "undecided"),
        ("toe", "T OW", "toy", "undecided"),
        ("barking", "B AA R K IH NG", "bark", "undecided"),
        ("running", "R AH N IH NG", "runs", "undecided"),
    ],
)
def test_a_word_that_only_looks_derived_is_not_morphological(
    target: str, form: str, text: str, code: str
) -> None:
    item = NamingTarget(target=target, accept=accept(form))
    first = Settings(rule="correct-first")
    found = propose_response(item, settings=first, heard=parse_heard(text)).proposal
    assert found.code == code
    open_ = {"morphological", "formal", "mixed"} if code == "undecided" else set()
    assert set(found.candidates) == open_


def test_the_target_without_its_ending_is_not_another_short_word() -> None:
    hammer = NamingTarget(target="hammer", accept=accept("HH AE M ER"))
    found = propose_response(hammer, heard=parse_heard("ham")).proposal
    assert (found.code, set(found.candidates)) == ("undecided", {"formal", "mixed"})
