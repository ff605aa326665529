"""What stands before and after a name: articles, carriers, fillers; listed words in their forms."""

from __future__ import annotations

import pytest

from tabwb.scoring.naming.case import Earlier, Settings
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import Response, propose_response
from tabwb.scoring.naming.target import NamingTarget
from tests.scoring.naming_parts import accept, timed

TARGETS = {
    "door": "D AO R",
    "apple": "AE P AH L",
    "nose": "N OW Z",
    "saw": "S AO",
    "eye": "AY",
    "ear": "IH R",
    "egg": "EH G",
}
LEADS = {
    "a": "AH",
    "uh": "AH",
    "the": "DH AH",
    "an": "AE N",
    "um": "AH M",
    "er": "ER",
    "it's a": "IH T S AH",
    "I think it's a": "AY TH IH NG K IH T S AH",
    "that is the": "DH AE T IH Z DH AH",
    "this is my": "DH IH S IH Z M AY",
    "looks like a": "L UH K S L AY K AH",
    "it looks like the": "IH T L UH K S L AY K DH AH",
    "um it's a": "AH M IH T S AH",
    "it's um a": "IH T S AH M AH",
    "a um": "AH AH M",
    "the the": "DH AH DH AH",
    "there is a": "DH EH R IH Z AH",
    "our": "AW ER",
    "another": "AH N AH DH ER",
    "I guess it's a": "AY G EH S IH T S AH",
    "okay a": "OW K EY AH",
    "it could be a": "IH T K UH D B IY AH",
    "a picture of a": "AH P IH K CH ER AH V AH",
}
TAILS = ("um", "uh", "I think", "maybe", "right", "isn't it")


def named(target: str, **lists: tuple[str, ...]) -> NamingTarget:
    return NamingTarget(target=target, accept=accept(TARGETS[target]), **lists)


def told(response: Response) -> tuple[str, set[str]]:
    return response.proposal.code, set(response.proposal.candidates)


def right(response: Response) -> bool:
    first = response.verdicts["correct-first"].value
    return first is True and response.proposal.code == "correct"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("lead", LEADS)
def test_what_stands_before_a_name_is_no_part_of_it(lead: str, target: str) -> None:
    settings = Settings(rule="correct-first")
    item = named(target)
    by_ear = propose_response(item, settings=settings, heard=parse_heard(f"{lead} {target}"))
    by_machine = propose_response(item, timed(f"{LEADS[lead]} {TARGETS[target]}"), settings)
    for found in (by_ear, by_machine):
        assert right(found), found.proposal
        assert set(found.proposal.flags) <= {"carrier", "filler", "repeated"}
        assert found.proposal.flags


@pytest.mark.parametrize("tail", TAILS)
def test_what_stands_after_a_name_is_no_part_of_it(tail: str) -> None:
    for text in (f"door {tail}", f"it's a door {tail}"):
        assert right(propose_response(named("door"), heard=parse_heard(text)))


def test_a_filler_after_a_name_is_no_part_of_it() -> None:
    settings = Settings(rule="correct-first")
    for said in ("D AO R AH M", "D AO R 0.4 AH", "AH D AO R AH M"):
        assert right(propose_response(named("door"), timed(said), settings))
    # A schwa without a pause may belong to the word.
    assert not right(propose_response(named("door"), timed("D AO R AH"), settings))


@pytest.mark.parametrize(
    ("target", "form", "said", "expected"),
    [
        # An article or a filler before the target sounds as a word does ("adore").
        ("door", "D AO R", "AH D AO R", True),
        ("light", "L AY T", "AH L AY T", True),
        # The whole is the target ("about").
        ("about", "AH B AW T", "AH B AW T", True),
        # "an" stands before a vowel, "some" is no article: untie, something.
        ("tie", "T AY", "AH N T AY", False),
        ("thing", "TH IH NG", "S AH M TH IH NG", False),
        # A beginning that is repeated is a false start only where the whole is no word: kicking.
        ("king", "K IH NG", "K IH K IH NG", False),
    ],
)
def test_the_whole_is_looked_at_first(target: str, form: str, said: str, expected: bool) -> None:
    item = NamingTarget(target=target, accept=accept(form))
    assert right(propose_response(item, timed(said), Settings(rule="correct-first"))) is expected


UNRELATED = ("log", "well", "corner", "banana", "blicket", "ice cube", "knob")
LISTED = named("door", semantic=("gate", "so", "sliding gate"), visual=("box",), parts=("oh",),
               unrelated=UNRELATED)  # fmt: skip


@pytest.mark.parametrize(
    ("heard", "code"),
    [
        # similar to /dɔr/ by one phoneme at its place, or its end: log (AO), corner (AO second)
        ("log", "formal"),
        ("corner", "formal"),
        ("banana", "unrelated"),
        ("a banana", "unrelated"),
        ("well", "unrelated"),  # a filler, unless the item lists it
        ("ice cube", "unrelated"),  # several words are no description
        ("blicket", "unrelated"),  # in no dictionary
        ("bananas", "unrelated"),
        ("gate", "semantic"),
        ("a sliding gate", "semantic"),
        ("so", "semantic"),  # a filler elsewhere
        ("box", "visual"),
        ("oh", "picture-part"),
    ],
)
def test_a_listed_word_is_coded_in_the_form_it_is_listed(heard: str, code: str) -> None:
    found = propose_response(LISTED, heard=parse_heard(heard)).proposal
    assert (found.code, found.candidates) == (code, ())


@pytest.mark.parametrize(
    ("said", "candidates"),
    [
        ("L AO G", {"formal"}),
        ("AH L AO G", {"formal"}),
        ("B AH N AE N AH", {"unrelated"}),
        ("G EY T", {"semantic"}),
        ("AH G EY T", {"semantic"}),
        ("B AA K S", {"visual"}),
    ],
)
def test_by_phonemes_a_listed_word_is_the_candidate(said: str, candidates: set[str]) -> None:
    assert told(propose_response(LISTED, timed(said))) == ("undecided", candidates)


def test_the_accepted_form_of_another_item_is_its_word() -> None:
    """A word of no dictionary that is another item's name, by phonemes and by ear."""
    kangaroo = NamingTarget(
        target="kangaroo", accept=accept("K AE NG G ER UW"), semantic=("quokka",)
    )
    forms = (("quokka", ("K", "W", "AA", "K", "AH")),)
    settings = Settings(listed=frozenset({"quokka"}), forms=forms)
    by_machine = propose_response(kangaroo, timed("K W AA K AH"), settings)
    by_ear = propose_response(kangaroo, settings=settings, heard=parse_heard("quokka"))
    assert told(by_machine) == ("undecided", {"mixed"})  # both begin with K
    assert told(by_ear) == ("mixed", set())


def test_an_unrelated_word_that_was_said_before_is_a_perseveration() -> None:
    earlier = (Earlier("fruit", (), "banana"), Earlier("wood", (), "log"))
    said = [
        propose_response(LISTED, heard=parse_heard(word), earlier=earlier).proposal
        for word in ("banana", "log")
    ]
    assert [one.code for one in said] == ["perseveration", "formal"]


SUBJECT = NamingTarget(
    target="dog", accept=accept("D AO G"), semantic=("cat", "wolf"), unrelated=("log",)
)


@pytest.mark.parametrize(
    ("heard", "code", "candidates", "first", "anywhere", "flag"),
    [
        ("cat no dog", "semantic", "", False, True, "self-corrected"),
        ("cat I mean dog", "semantic", "", False, True, "self-corrected"),
        ("a cat no wait a dog", "semantic", "", False, True, "self-corrected"),
        ("dog no cat", "correct", "", True, True, ""),
        ("dog no", "correct", "", True, True, ""),
        ("no dog", "correct", "", True, True, "filler"),
        ("cat and dog", "undecided", "semantic correct description", None, True, ""),
        ("dog or cat", "undecided", "semantic correct description", None, True, ""),
        ("cat dog", "undecided", "semantic correct description", None, True, ""),
        ("a cat and a wolf", "undecided", "semantic description", False, False, ""),
        ("not a dog", "undecided", "no-response description", False, False, ""),
        ("it's not a dog", "undecided", "no-response description", False, False, ""),
        ("it isn't a cat", "undecided", "no-response description", False, False, ""),
        ("not dog", "undecided", "no-response description", False, False, ""),
        ("not a cat a dog", "correct", "", True, True, "rejected"),
        ("it's not a cat it's a dog", "correct", "", True, True, "rejected"),
        ("not a dog, a cat", "semantic", "", False, False, "rejected"),
        ("dog, not a cat", "correct", "", True, True, ""),
        ("cat but not dog", "semantic", "", False, False, ""),
        ("don't know maybe a dog", "correct", "", True, True, "dont-know"),
        # Nothing is taken back or rejected here.
        ("a man with no dog", "undecided", "correct description", None, True, ""),
        ("you do not eat it", "description", "", False, False, ""),
        ("a dog isn't it", "correct", "", True, True, "carrier"),
        ("no", "no-response", "", False, False, "dont-know"),
        ("no idea", "no-response", "", False, False, "dont-know"),
        ("not sure", "no-response", "", False, False, "dont-know"),
        ("it's on the tip of my tongue", "no-response", "", False, False, "dont-know"),
        ("I can't get it", "no-response", "", False, False, "dont-know"),
        ("haven't a clue", "no-response", "", False, False, "dont-know"),
        # A comma changes nothing after what is left out before a name.
        ("yes, dog", "correct", "", True, True, "carrier"),
        ("look, a cat", "semantic", "", False, False, "carrier"),
        ("that one's a dog", "correct", "", True, True, "carrier"),
        ("a pair of dogs", "correct", "", True, True, "number"),
        # Noise is left out of what is said; it is not silence.
        ("xxx dog", "correct", "", True, True, ""),
        ("cat <spn>", "semantic", "", False, False, ""),
        ("um xxx", "undecided", "no-response other", False, False, ""),
        ("um, xxx", "undecided", "no-response other", False, False, ""),
        ("'dog'", "correct", "", True, True, ""),
        ("a ‘cat’", "semantic", "", False, False, "carrier"),
    ],
)
def test_a_name_taken_back_or_rejected(
    heard: str, code: str, candidates: str, first: bool | None, anywhere: bool, flag: str
) -> None:
    found = propose_response(
        SUBJECT, settings=Settings(rule="correct-first"), heard=parse_heard(heard)
    )
    assert told(found) == (code, set(candidates.split()))
    assert found.verdicts["correct-first"].value is first
    assert found.verdicts["correct-any"].value is anywhere
    assert not flag or flag in found.proposal.flags


@pytest.mark.parametrize(
    ("said", "candidates", "anywhere"),
    [
        ("N AA T AH D AO G", {"no-response", "description", "correct"}, None),
        ("IH T S N AA T AH D AO G", {"no-response", "description", "correct"}, None),
        ("N AA T AH K AE T", {"no-response", "description"}, False),
        ("N AA T AH D AO G 1.2 K AE T", {"semantic"}, None),
    ],
)
def test_a_rejected_name_by_phonemes_needs_an_ear(
    said: str, candidates: set[str], anywhere: bool | None
) -> None:
    found = propose_response(SUBJECT, timed(said))
    assert told(found) == ("undecided", candidates)
    assert found.verdicts["correct-any"].value is anywhere


def test_a_word_that_fills_pauses_may_be_the_name() -> None:
    well = NamingTarget(target="well", accept=accept("W EH L"))
    for text in ("well", "a well", "um well"):
        assert right(propose_response(well, heard=parse_heard(text)))


@pytest.mark.parametrize(
    ("said", "candidates"),
    [
        ("AH M", {"no-response", "nonword-unrelated", "semantic", "unrelated"}),
        ("ER", {"no-response", "fragment"}),
    ],
)
def test_a_filler_by_phonemes_may_say_that_no_name_comes(said: str, candidates: set[str]) -> None:
    assert told(propose_response(SUBJECT, timed(said))) == ("undecided", candidates)
    um = NamingTarget(target="um", accept=accept("AH M"))
    assert propose_response(um, timed("AH M")).proposal.code == "correct"


def test_a_repeated_onset_with_a_schwa_is_a_false_start() -> None:
    for said, form in (("D AH D AO G", "D AO G"), ("S P AH S P UW N", "S P UW N")):
        found = propose_response(NamingTarget(target="x", accept=accept(form)), timed(said))
        assert right(found)
        assert found.proposal.flags == ("false-start",)
