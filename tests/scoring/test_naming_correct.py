"""correct-any and correct-first: what is right, where it stands, by which clause."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.phonology.inventory import PHONEMES
from tabwb.records.speech import Segment
from tabwb.scoring.naming.attempts import propose_attempts
from tabwb.scoring.naming.case import Settings
from tabwb.scoring.naming.propose import Response, propose_response
from tabwb.scoring.naming.target import (
    Accepted,
    NamingTarget,
    Rule,
    Tolerance,
    correct_any,
    edits_within,
)
from tests.scoring.naming_parts import accept, timed

DOG = accept("D AO G")
MAIL = accept("M EY L")


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
    ],
)
def test_correct_any(said: str, right: bool, embedded: bool) -> None:
    found = correct_any(timed(said), DOG)
    assert (found.value, found.embedded) == (right, embedded)
    assert found.rule == "correct-any"
    assert (found.form is not None) is right
    assert ("embedded" in found.flags) is embedded


def test_mail_in_mailbox_is_right_and_to_be_checked_by_ear() -> None:
    found = correct_any(timed("M EY L B AA K S"), MAIL)
    assert (found.value, found.embedded, found.flags) == (True, True, ("embedded",))


def test_where_it_was_found_is_said() -> None:
    found = correct_any(timed("K AE T 1.0 D AO G"), DOG)
    assert (found.start_s, found.end_s) == pytest.approx((1.3, 1.6))


def test_a_written_silence_has_no_times_and_sets_off_all_the_same() -> None:
    said = [Segment(label, 0.0, 0.0) for label in ["IH", "T", "<sil>", "D", "AO", "G"]]
    assert not correct_any(said, DOG).embedded


def test_a_dialects_form_is_right_and_flagged() -> None:
    forms = (Accepted(("D", "AO", "G"), "citation"), Accepted(("D", "AA", "G"), "dialect"))
    found = correct_any(timed("D AA G"), forms)
    assert (found.value, found.form, found.flags) == (True, forms[1], ("dialect",))
    assert correct_any(timed("D AO G"), forms).flags == ()


@given(
    before=st.lists(st.sampled_from(PHONEMES), max_size=5),
    form=st.lists(st.sampled_from(PHONEMES), min_size=1, max_size=4),
    after=st.lists(st.sampled_from(PHONEMES), max_size=5),
)
def test_a_form_is_found_in_whatever_stands_around_it(
    before: list[str], form: list[str], after: list[str]
) -> None:
    said = timed(" ".join(before + form + after))
    found = correct_any(said, (Accepted(tuple(form), "citation"),))
    assert found.value
    # A second derivation: as text with blanks, one inside the other.
    assert f" {' '.join(form)} " in f" {' '.join(before + form + after)} "
    assert found.embedded is bool(before or after)


def first(said: str, accept_: tuple[Accepted, ...], tolerance: Tolerance | None = None) -> Response:
    target = NamingTarget(target="", accept=accept_)
    return propose_response(target, timed(said), Settings("correct-first", tolerance))


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
    found = first(said, DOG).verdicts["correct-first"]
    assert (found.value, found.attempt) == (right, attempt)
    assert found.provisional


def test_a_single_vowel_that_is_accepted_is_complete() -> None:
    eye = accept("AY")
    assert first("AY", eye).verdicts["correct-first"].value is True
    assert first("EY", eye).proposal.candidates == ("fragment",)


HELICOPTER = accept("HH EH L AH K AA P T ER")


def test_one_syllable_for_a_long_target_leaves_the_verdict_open() -> None:
    # PNT scoring guide: (helicopter) "cop" is not a complete attempt, with exceptions.
    later = first("K AA P 1.5 HH EH L AH K AA P T ER", HELICOPTER).verdicts
    assert later["correct-first"].value is None
    assert later["correct-any"].value is True
    alone = first("K AA P", HELICOPTER).verdicts["correct-first"]
    assert (alone.value, alone.attempt) == (False, 1)


def test_marks_of_a_person_part_attempts_without_a_pause() -> None:
    said = timed("K AE T D AO G")
    parted = propose_attempts(said, marks=[0.3])
    assert [one.phonemes for one in parted] == [("K", "AE", "T"), ("D", "AO", "G")]


@pytest.mark.parametrize(
    ("said", "rule", "attempt"),
    [
        ("K AE T 1.5 D AO G", "correct-any", 2),
        ("K AE T 1.5 D AO G", "correct-first", 1),
        ("K AE T 1.5 L D AO G S", "correct-any", 2),
        ("D 1.5 D AO G AH", "correct-first", 2),
        ("D 1.5 G", "correct-first", 1),
        ("", "correct-any", None),
    ],
)
def test_the_attempt_that_a_response_is_judged_by(
    said: str, rule: Rule, attempt: int | None
) -> None:
    target = NamingTarget(target="dog", accept=DOG)
    assert propose_response(target, timed(said), Settings(rule)).proposal.attempt == attempt


def test_a_typed_transcript_is_judged_by_order_where_times_say_nothing() -> None:
    typed = [Segment(label, 0.0, 3.2) for label in ("K", "AE", "T", "<sil>", "D", "AO", "G")]
    target = NamingTarget(target="dog", accept=DOG)
    assert propose_response(target, typed).proposal.attempt == 2
    assert not correct_any(typed, DOG).embedded


# ------------------------------------------------------------------ tolerance

ONE_SLIP = Tolerance(slips=1)
HALF = Tolerance(share=0.5)


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


def test_what_a_tolerance_let_pass_is_said() -> None:
    found = first("D AO K", DOG, ONE_SLIP)
    assert found.proposal.rule == "7t"
    for verdict in found.verdicts.values():
        assert (verdict.value, verdict.edits) == (True, 1)
        assert verdict.clause.endswith("equals /dɔɡ/ but for 1 tolerated phoneme")


def test_equality_comes_before_tolerance() -> None:
    found = correct_any(timed("D AO K 0.5 D AO G"), DOG, ONE_SLIP)
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


def test_json_holds_what_a_reader_needs() -> None:
    found = correct_any(timed("D AA G"), accept("D AA G", reason="dialect")).to_json()
    assert (found["rule"], found["value"], found["form"]) == ("correct-any", True, "D AA G")
    assert (found["reason"], found["embedded"], found["edits"]) == ("dialect", False, 0)
