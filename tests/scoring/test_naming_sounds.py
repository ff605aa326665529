"""Phonemes of a name: attempts, what is heard, correct-any, tolerance, similarity, distance."""

from __future__ import annotations

import itertools
import random
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.inventory import PHONEMES
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.speech import Segment
from tabwb.scoring.naming.attempts import is_fragment, propose_attempts
from tabwb.scoring.naming.case import Settings
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import propose_response
from tabwb.scoring.naming.target import (
    Accepted,
    NamingTarget,
    Tolerance,
    correct_any,
    distance_from_target,
    edits_within,
)
from tabwb.scoring.naming.words import (
    CHANCE_PAIRS,
    chance_rate,
    chance_rate_of,
    endings_of,
    most_similar,
    similarity,
)
from tests.scoring.naming_parts import DOG, accept, timed

FORM = accept("D AO G")
ONE_SLIP = Tolerance(slips=1)
HALF = Tolerance(share=0.5)
phonemes = st.sampled_from(PHONEMES)


def typed(said: str, end_s: float = 0.0) -> list[Segment]:
    """A transcript that has one time for all of it."""
    return [Segment(label, 0.0, end_s) for label in said.split()]


@pytest.mark.parametrize(
    ("said", "options", "attempts"),
    [
        ("", {}, []),
        ("<sil> <spn> <unk>", {}, []),
        ("D AO G", {}, ["D AO G"]),
        ("D AO 0.9 G", {}, ["D AO G"]),
        ("D AO 1.0 G", {}, ["D AO", "G"]),
        ("D AO 0.5 <spn> 0.5 G", {}, ["D AO", "G"]),
        ("D AO <spn> G", {}, ["D AO G"]),
        ("K AE T 1.5 D 2 D AO G", {}, ["K AE T", "D", "D AO G"]),
        # Marks of a person part attempts without a pause.
        ("K AE T D AO G", {"marks": [0.3]}, ["K AE T", "D AO G"]),
    ],
)
def test_pauses_and_marks_part_attempts(
    said: str, options: dict[str, object], attempts: list[str]
) -> None:
    found = propose_attempts(timed(said), **options)  # type: ignore[arg-type]
    assert [" ".join(attempt.phonemes) for attempt in found] == attempts


def test_times_are_those_of_the_first_and_the_last_phoneme() -> None:
    one, two = propose_attempts(timed("K AE T 1.5 D AO G", start_s=0.25))
    assert (one.onset_s, one.offset_s) == pytest.approx((0.25, 0.55))
    assert (two.onset_s, two.offset_s) == pytest.approx((2.05, 2.35))


@pytest.mark.parametrize(
    ("said", "end_s", "attempts"),
    [
        ("K AE T <sil> D AO G", 0.0, ["K AE T", "D AO G"]),
        ("K AE <sil> <spn> D AO G", 3.2, ["K AE", "D AO G"]),
        ("K AE <spn> T", 3.2, ["K AE T"]),
    ],
)
def test_a_silence_without_times_parts_attempts_and_one_with_times_only_where_it_is_long(
    said: str, end_s: float, attempts: list[str]
) -> None:
    found = propose_attempts(typed(said, end_s))
    assert [" ".join(one.phonemes) for one in found] == attempts
    short = (Segment("D", 0.0, 0.1), Segment("<sil>", 0.1, 0.3), Segment("AO", 0.3, 0.4))
    assert len(propose_attempts(short)) == 1


@given(st.lists(st.sampled_from(["D", "AO", "G", "0.5", "1.5", "<spn>"]), max_size=12))
def test_no_phoneme_is_lost_or_moved(labels: list[str]) -> None:
    said = timed(" ".join(labels))
    attempts = propose_attempts(said)
    spoken = [segment for segment in said if segment.phoneme != "<spn>"]
    assert [one for attempt in attempts for one in attempt.segments] == spoken
    for one, two in itertools.pairwise(attempts):
        assert two.onset_s - one.offset_s > 1.0 - 1e-9


def test_complete_is_a_consonant_and_a_vowel() -> None:
    """PNT scoring guide: minimally CV or VC, schwa not counted; the vowel of "but" is."""
    complete = {"D": 0, "AO": 0, "D R": 0, "D AO": 1, "AO G": 1, "D AH": 0, "B AH T": 1, "AH B": 1}
    assert {said: 1 - is_fragment(said.split()) for said in complete} == complete


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
    assert [" ".join(one.phonemes) for one in parse_heard(text).attempts] == attempts


def test_what_is_guessed_mapped_noise_or_set_off_is_told() -> None:
    assert [parse_heard(text).guessed for text in ("treeb", "tree")] == [True, False]
    (cat,), (eye,) = (parse_heard(text).attempts for text in ("/kæʔ/", "/ʔaɪ/"))
    assert (cat.phonemes, cat.mapped) == (("K", "AE", "T"), ("ʔ=T",))
    assert (eye.phonemes, eye.mapped) == (("AY",), ())
    assert [one.noise for one in parse_heard("xxx, dog").attempts] == [True, False]
    for text in ("K AE T 0.4 D AO G", "cat dog"):
        assert parse_heard(text).attempts[0].breaks == {3}
    assert parse_heard("/bed/", "uk").pronunciations == (("B", "EH", "D"),)
    assert len(parse_heard("either the a of either neither the a").pronunciations) <= 16


@pytest.mark.parametrize(
    ("texts", "error", "says"),
    [
        (("", "   "), UsageError, "nothing was written down"),
        (("...", "?!", '"', "[]", "/ /"), UsageError, "is not a word"),
        (("/d§/", "/ˈ/"), TabwbError, "phoneme|inventory"),
    ],
)
def test_what_holds_no_word_and_no_phoneme_is_refused(
    texts: tuple[str, ...], error: type[TabwbError], says: str
) -> None:
    for text in texts:
        with pytest.raises(error, match=says):
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


@pytest.mark.parametrize(
    ("said", "right", "embedded"),
    [
        ("D AO G", True, False),
        ("K AE T", False, False),
        ("D AO", False, False),
        ("D AH G", False, False),
        ("", False, False),
        ("<sil> <spn>", False, False),
        # Flanked: without a pause, and with one on each side.
        ("DH AH D AO G", True, True),
        ("D AO G AH", True, True),
        ("DH AH 0.5 D AO G", True, False),
        ("DH AH 0.5 D AO G 0.5 IH T", True, False),
        ("DH AH 0.5 D AO G IH T", True, True),
        # Silence and noise are removed first, wherever they are.
        ("D <spn> AO G", True, False),
        ("D AO 0.6 G", True, False),
        ("<sil> D AO G <sil>", True, False),
        # Something else between is an interruption.
        ("D AO K G", False, False),
        # The one that is set off is found before the embedded one.
        ("D AO G AH 1.5 D AO G", True, False),
        ("IH T D AO G B AA K S", True, True),
    ],
)
def test_correct_any(said: str, right: bool, embedded: bool) -> None:
    found = correct_any(timed(said), FORM)
    assert (found.value, found.embedded, found.rule) == (right, embedded, "correct-any")
    assert (found.form is not None) is right
    assert ("embedded" in found.flags) is embedded


def test_where_it_was_found_is_said_and_the_form() -> None:
    found = correct_any(timed("K AE T 1.0 D AO G"), FORM)
    assert (found.start_s, found.end_s) == pytest.approx((1.3, 1.6))
    forms = (*FORM, *accept("D AA G", reason="dialect"))
    found = correct_any(timed("D AA G"), forms)
    assert (found.value, found.form, found.flags) == (True, forms[1], ("dialect",))
    assert correct_any(timed("D AO G"), forms).flags == ()
    assert found.to_json().items() >= {
        "rule": "correct-any", "value": True, "form": "D AA G",
        "reason": "dialect", "embedded": False, "edits": 0,
    }.items()  # fmt: skip


@pytest.mark.parametrize(("said", "end_s"), [("IH T <sil> D AO G", 0.0), ("K <sil> D AO G", 3.2)])
def test_a_written_silence_sets_off_where_times_say_nothing(said: str, end_s: float) -> None:
    assert not correct_any(typed(said, end_s), FORM).embedded
    target = NamingTarget(target="dog", accept=FORM)
    assert propose_response(target, typed("K AE T <sil> D AO G", 3.2)).proposal.attempt == 2


@given(
    before=st.lists(phonemes, max_size=5),
    form=st.lists(phonemes, min_size=1, max_size=4),
    after=st.lists(phonemes, max_size=5),
)
def test_a_form_is_found_in_whatever_stands_around_it(
    before: list[str], form: list[str], after: list[str]
) -> None:
    said = timed(" ".join(before + form + after))
    found = correct_any(said, (Accepted(tuple(form), "citation"),))
    assert found.value
    assert found.embedded is bool(before or after)


@pytest.mark.parametrize(
    ("said", "right", "attempt"),
    [
        ("D AO G", True, 1),
        ("D AO G AH", False, 1),
        ("DH AH D AO G", True, 1),  # an article is not part of the attempt
        ("D 1.2 D AO G", True, 2),
        ("K AE T 1.2 D AO G", False, 1),
        ("K AE T 0.8 D AO G", False, 1),
        ("D AO G 1.2 K AE T", True, 1),
        ("D 1.2 G", False, 1),
        ("", False, None),
    ],
)
def test_correct_first(said: str, right: bool, attempt: int | None) -> None:
    target = NamingTarget(target="", accept=FORM)
    found = propose_response(target, timed(said)).verdicts["correct-first"]
    assert (found.value, found.attempt, found.provisional) == (right, attempt, True)


@pytest.mark.parametrize(
    ("said", "form", "tolerance", "edits"),
    [
        ("K L IY N IH NG", "K L IY N IH NG", None, 0),
        ("K IY N IH NG", "K L IY N IH NG", None, None),
        ("K IY N IH NG", "K L IY N IH NG", ONE_SLIP, 1),
        ("K R IY N IH NG", "K L IY N IH NG", ONE_SLIP, 1),
        ("S K L IY N IH NG", "K L IY N IH NG", ONE_SLIP, 1),
        ("G IY N IH NG", "K L IY N IH NG", ONE_SLIP, None),
        # VNT: half of the phonemes; the borders, and additions that count too.
        ("D IH", "D AO", HALF, 1),
        ("D IH T", "D AO G", HALF, None),
        ("D AO G AH B IH", "D AO G", HALF, 3),
        ("D AO G AH B IH S", "D AO G", HALF, None),
        ("G AO D", "D AO G", HALF, None),
    ],
)
def test_tolerance(said: str, form: str, tolerance: Tolerance | None, edits: int | None) -> None:
    assert edits_within(said.split(), form.split(), tolerance) == edits


def test_what_a_tolerance_let_pass_is_said_and_equality_comes_first() -> None:
    target = NamingTarget(target="", accept=FORM)
    for verdict in propose_response(
        target, timed("D AO K"), Settings("correct-first", ONE_SLIP)
    ).verdicts.values():
        assert (verdict.value, verdict.edits) == (True, 1)
        assert verdict.clause.endswith("equals /dɔɡ/ but for 1 tolerated phoneme")
    found = correct_any(timed("D AO K 0.5 D AO G"), FORM, ONE_SLIP)
    assert found.edits == 0
    assert found.start_s == pytest.approx(0.8)


@pytest.mark.parametrize("seed", range(30))
def test_tolerated_stretches_by_trying_all_of_them(seed: int) -> None:
    chance = random.Random(seed)
    form = tuple(chance.choices(PHONEMES[:5], k=chance.randint(1, 4)))
    said = chance.choices(PHONEMES[:5], k=chance.randint(0, 7))
    tolerance = chance.choice([ONE_SLIP, Tolerance(slips=2), HALF, Tolerance(share=0.7)])
    stretches = itertools.combinations(range(len(said) + 1), 2)
    possible = any(edits_within(said[a:b], form, tolerance) is not None for a, b in stretches)
    assert correct_any(timed(" ".join(said)), (Accepted(form, ""),), tolerance).value is possible


@pytest.mark.parametrize(
    ("target", "said", "clauses"),
    [
        ("K AE T", "D AO G", ()),
        ("K AE T", "K IY", ("begins alike",)),
        ("K AE T", "B IY T", ("ends alike", "same place")),
        ("K AE T", "B IY S T", ("ends alike",)),
        ("K AE T", "M AE", ("same place",)),
        ("K AE T", "S P AE", ("same place",)),  # the vowel of the same syllable
        ("K AE T", "T OY K", ("two or more in common",)),
        ("K AE T", "K AE T", ("begins alike", "ends alike", "same place", "two or more in common")),
        # Unstressed vowels do not count: sofa, zebra.
        ("S OW F AH", "Z IY B R AH", ()),
        # The only vowel of a word is stressed: cup, mud.
        ("K AH P", "M AH D", ("same place",)),
    ],
)
def test_each_clause(target: str, said: str, clauses: tuple[str, ...]) -> None:
    assert similarity(target.split(), said.split()).clauses == clauses


@given(one=st.lists(phonemes, min_size=1, max_size=6), other=st.lists(phonemes, min_size=1))
def test_it_does_not_matter_which_is_the_target(one: list[str], other: list[str]) -> None:
    there, back = similarity(one, other), similarity(other, one)
    assert there.clauses == back.clauses
    assert sorted(there.shared) == sorted(back.shared)
    assert not similarity(one, [each for each in PHONEMES if each not in one][:4]).related


def test_the_form_with_most_in_common_is_taken() -> None:
    forms = [["HH", "AW", "N", "D"], ["D", "AO", "G"]]
    assert most_similar(forms, [("D", "AO", "V")]).shared == ("D", "AO")


def test_the_chance_rate_is_computed_and_stable() -> None:
    # Other pairs of the same words: within three standard errors of each other.
    mine, other = chance_rate(), chance_rate_of(3000, seed=99)
    assert abs(mine - other) < 3 * sqrt(0.25 / CHANCE_PAIRS + 0.25 / 3000)
    # Schwartz 2006's criterion over 4,000 pairs of other picture nouns gave 0.287.
    assert 0.24 < mine < 0.34


@pytest.mark.parametrize(
    ("said", "phoneme_rate", "feature_rate"),
    [
        ("D AO G", 0.0, 0.0),
        ("D AO G AH", 1 / 3, 22 / 72),  # AH: 20 features at 1, 4 at 0.5
        ("T AO G", 1 / 3, 1 / 72),  # voice
        ("<sil> D AO <spn> G", 0.0, 0.0),
    ],
)
def test_distance_is_over_the_accepted_forms_length(
    said: str, phoneme_rate: float, feature_rate: float
) -> None:
    found = distance_from_target(said.split(), FORM)
    assert found is not None
    assert (found.phoneme_rate, found.feature_rate) == (phoneme_rate, feature_rate)
    assert distance_from_target(["<sil>"], FORM) is None


def test_the_nearest_accepted_form_is_taken_and_one_that_stands_in_it() -> None:
    found = distance_from_target(["D", "AA", "K"], accept("D AO G", "D AA G"))
    assert found is not None
    assert found.form.phonemes == ("D", "AA", "G")
    assert found.to_json()["trace"] == [
        ["EQ", "D", "D", 0.0],
        ["EQ", "AA", "AA", 0.0],
        ["SUB", "G", "K", 1.0],
    ]
    # A longer form would be nearer by rate: what is too much weighs less against it.
    found = distance_from_target(["D", "AA", "G", "L", "EH", "F", "T"], DOG.accept)
    assert found is not None
    assert (found.form.phonemes, found.phonemes.distance) == (("D", "AA", "G"), 4)


@pytest.mark.parametrize(
    ("form", "past"), [("D AO G", "D"), ("K IH S", "T"), ("W AO K", "T"), ("K AE T", "IH D")]
)
def test_the_past_tense_has_the_voice_of_the_last_sound(form: str, past: str) -> None:
    own = tuple(form.split())
    ends = {" ".join(other[len(own) :]) for other in endings_of(own)}
    assert ends & {"T", "D", "IH D"} == {past}
