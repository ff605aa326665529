"""What the rules of naming propose: tables of responses, sources in ``data/naming.tsv``; page."""

from __future__ import annotations

import csv
import json
import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs import naming_rules
from tabwb.phonology.inventory import PHONEMES
from tabwb.records.naming import SCORES
from tabwb.scoring.naming.attempts import PAUSE_S
from tabwb.scoring.naming.case import Earlier, Settings
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import Response, propose_response
from tabwb.scoring.naming.rules import RULES
from tabwb.scoring.naming.target import (
    BREAK_S,
    CODES,
    FLAGS,
    PERSON_SCORES,
    Accepted,
    NamingTarget,
    Tolerance,
    right_by_score,
)
from tabwb.scoring.naming.words import CHANCE_PAIRS, chance_rate, is_word, joined, pronunciations
from tabwb.tasks.spoken_naming.rules import RULE_KEYS
from tests.scoring.naming_parts import DOG, accept, timed

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "naming-rules.md").read_text(encoding="utf-8")
ITEMS = json.loads((TESTS / "data" / "naming_items.json").read_text(encoding="utf-8"))["items"]
RIGHT = {"0": False, "1": True, "?": None}
ALSO = {"C124": {"guessed-sound"}, "C126": {"guessed-sound"}}
"""Flags beyond those of the oracle: ``guessed-sound`` is set wherever a sound is guessed."""


def rows(name: str) -> list[dict[str, str]]:
    lines = (TESTS / "data" / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


ORACLE, CASES = rows("naming.tsv"), rows("naming_cases.tsv")


def settings_of(text: str) -> tuple[Settings, tuple[str, ...]]:
    """What stands in a column of settings, and words that are declared to be unrelated."""
    given_ = dict(pair.split("=") for pair in text.split(";") if pair)
    share, slips = given_.get("tolerance.share"), given_.get("tolerance.slips")
    forms = [each.split(":") for each in given_.get("forms", "").split(",") if each]
    settings = Settings(
        rule=given_.get("rule", "correct-first"),  # type: ignore[arg-type]
        tolerance=Tolerance(slips=int(slips))
        if slips
        else Tolerance(share=float(share))
        if share
        else None,
        number=given_.get("number", "ignored"),  # type: ignore[arg-type]
        varieties=tuple(given_.get("variety", "").split()),  # type: ignore[arg-type]
        listed=frozenset(given_.get("listed", "").split()),
        forms=tuple((word, tuple(phonemes.split())) for word, phonemes in forms),
    )
    return settings, tuple(given_.get("unrelated", "").split())


def earlier_of(text: str) -> tuple[Earlier, ...]:
    """``item:word`` or ``item:PHONEMES`` or both, parted by semicolons."""
    found = []
    for each in filter(None, text.split(";")):
        item, *said = each.split(":")
        word = next((one for one in said if not one.isupper()), "")
        phonemes = next((tuple(one.split()) for one in said if one.isupper()), ())
        found.append(Earlier(item, phonemes, word))
    return tuple(found)


def target_of(row: dict[str, str]) -> NamingTarget:
    """Forms as ``PHONEMES=reason~word``, lists as ``semantic:a,b;parts:c``."""
    forms = []
    for each in row["forms"].split(";"):
        form, _, word = each.partition("~")
        phonemes, _, reason = form.partition("=")
        forms.append(Accepted(tuple(phonemes.split()), reason or "citation", word))
    named = dict(each.split(":") for each in row["lists"].split(";") if each)
    lists = {name: tuple(words.split(",")) for name, words in named.items()}
    return NamingTarget(target=row["target"], accept=tuple(forms), **lists)


def respond(
    said: str, target: NamingTarget = DOG, heard: str = "", earlier: tuple[Earlier, ...] = ()
) -> Response:
    written = parse_heard(heard) if heard else None
    return propose_response(
        target, timed(said), Settings("correct-first"), heard=written, earlier=earlier
    )


@pytest.mark.parametrize("case", ORACLE, ids=[case["id"] for case in ORACLE])
def test_the_table_decides_as_the_oracle(case: dict[str, str]) -> None:
    settings, unrelated = settings_of(case["settings"])
    item = ITEMS[case["target"]]
    forms = (
        Accepted(tuple(one["phonemes"].split()), one["reason"], one.get("word", ""))
        for one in item["accept"]
    )
    lists = {name: tuple(item[name]) for name in ("semantic", "visual", "parts")}
    found = propose_response(
        NamingTarget(target=case["target"], accept=tuple(forms), unrelated=unrelated, **lists),
        timed(case["attempts"]),
        settings,
        heard=parse_heard(case["heard"]) if case["heard"] else None,
        earlier=earlier_of(case["earlier"]),
    )
    proposal = found.proposal
    flags = set(filter(None, case["flags"].split(",")))
    assert proposal.code == case["code"], proposal
    assert set(proposal.candidates) == set(filter(None, case["candidates"].split(",")))
    assert set(proposal.flags) == flags | ALSO.get(case["id"], set()), proposal
    for rule in ("correct-first", "correct-any"):
        said = case[rule.replace("-", "_")]
        assert not said or found.verdicts[rule].value is RIGHT[said]
    assert re.search(case["clause_says"], proposal.clause)
    assert not case["clause_says_not"] or case["clause_says_not"] not in proposal.clause


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{case['why']}: {case['heard'] or case['said']}" for case in CASES]
)
def test_a_response_is_proposed_as(case: dict[str, str]) -> None:
    """Empty columns are not compared; ``!`` not so, ``-`` none, ``=`` these flags and no others."""
    found = propose_response(
        target_of(case),
        timed(case["said"]),
        settings_of(case["settings"])[0],
        heard=parse_heard(case["heard"]) if case["heard"] else None,
        earlier=earlier_of(case["earlier"]),
    )
    proposal = found.proposal
    for wanted, value in ((case["code"], proposal.code), (case["rule"], proposal.rule)):
        assert not wanted or (value == wanted.lstrip("!")) is not wanted.startswith("!"), proposal
    if case["candidates"]:
        assert set(proposal.candidates) == set(case["candidates"].strip("-").split()) - {""}
    flags = set(case["flags"].lstrip("=").split())
    assert flags <= set(proposal.flags)
    assert case["flags"][:1] != "=" or flags == set(proposal.flags)
    for rule in ("correct-first", "correct-any"):
        said = case[rule.removeprefix("correct-")]
        assert not said or found.verdicts[rule].value is RIGHT[said]
    assert case["attempt"] in ("", str(proposal.attempt or "-"))
    assert re.search(case["clause"], proposal.clause)


def test_the_tables_are_whole() -> None:
    assert (len(ORACLE), len(CASES)) == (109, 271)
    assert len({rule.number for rule in RULES}) == len(RULES)


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


@pytest.mark.parametrize(("lead", "target"), list(product(LEADS, TARGETS)))
def test_what_stands_before_a_name_is_no_part_of_it(lead: str, target: str) -> None:
    item = NamingTarget(target=target, accept=accept(TARGETS[target]))
    by_machine = respond(f"{LEADS[lead]} {TARGETS[target]}", item)
    for found in (respond("", item, f"{lead} {target}"), by_machine):
        assert found.verdicts["correct-first"].value is True
        assert found.proposal.code == "correct"
        assert found.proposal.flags
        assert set(found.proposal.flags) <= {"carrier", "filler", "repeated"}


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
    found = respond("", item, heard).proposal
    assert found.code == code
    assert target != "dog" or ("nonword-related" not in found.candidates and is_word(heard))


@pytest.mark.parametrize(
    ("said", "target", "homophones"),
    [
        ("TH R IY", "tree:T R IY", ["three"]),
        ("D AA G", "cat:K AE T", ["dog"]),
        ("K AA R T", "tree:T R IY", ["cart"]),
        ("B EH R", "bed:B EH D", ["bear", "baer"]),
        ("D 1.5 L AO G 1.5 D AO G", "dog:D AO G", ["log"]),
    ],
)
def test_words_that_sound_so_are_named_and_common_ones_first(
    said: str, target: str, homophones: list[str]
) -> None:
    word, form = target.split(":")
    found = respond(said, NamingTarget(target=word, accept=accept(form))).proposal
    assert found.homophones[0] == homophones[0]
    assert set(homophones) <= set(found.homophones)


@pytest.mark.parametrize("word", ["F UW T AA N", "R IH K L AY N ER", "P UW CH", "AY W AA N T IH T"])
def test_a_rarer_word_or_several_may_be_no_nonword(word: str) -> None:
    found = respond(word).proposal.candidates
    assert ("description" in found) is word.startswith("AY")
    assert any(code.startswith("nonword") for code in found) or word.startswith("AY")


def test_what_is_similar_carries_the_chance_rate_and_nothing_else_does() -> None:
    rates = [respond("", heard=word).proposal.chance_rate for word in ("frog", "cat", "dog")]
    assert rates == [chance_rate(), None, None]


@pytest.mark.parametrize(
    ("heard", "said", "earlier", "repeats"),
    [
        ("chair", "", "bed:bed:B EH D;house:F IH M;chair:chair", "chair"),
        ("", "F IH M", "bed:bed:B EH D;house:F IH M;chair:chair", "house"),
        ("", "B EH D", "bed:bed:B EH D", "bed"),
        ("wolf", "", "wolf:wolf", "wolf"),
        ("chair", "", "bed:chair;house:chair", "house"),
    ],
)
def test_the_item_that_is_repeated_is_named(
    heard: str, said: str, earlier: str, repeats: str
) -> None:
    found = respond(said, heard=heard, earlier=earlier_of(earlier)).proposal
    assert found.repeats == repeats
    assert said != "B EH D" or found.candidates[0] == "perseveration"


def test_heard_attempts_feed_attempts_and_verdicts() -> None:
    found = respond("F IH M 1.5 P AH L", heard="cat, dog")
    assert [one.phonemes for one in found.attempts] == [("K", "AE", "T"), ("D", "AO", "G")]
    # As many as the machine's: each has the machine's stretch of time.
    assert found.attempts[1].onset_s == pytest.approx(1.8)
    assert found.verdicts["correct-any"].value is True
    assert found.verdicts["correct-first"].value is False
    assert found.proposal.flags == ("self-corrected",)
    assert found.judged_phonemes(DOG, Settings()) == ("K", "AE", "T")
    for one in (respond("AH D AO G"), respond("", heard="it's a dog")):
        assert one.judged_phonemes(DOG, Settings()) == ("D", "AO", "G")


def test_json_holds_what_a_reader_needs() -> None:
    tree = NamingTarget(target="tree", accept=accept("T R IY"), semantic=("bush",))
    found = respond("TH R IY", tree).proposal
    assert found.chance_rate == chance_rate()
    assert (
        found.to_json().items()
        >= {
            "code": "undecided",
            "attempt": 1,
            "repeats": None,
            "rule": "14",
            "candidates": ["formal", "mixed"],
            "homophones": ["three"],
        }.items()
    )


@given(st.lists(st.sampled_from([*PHONEMES, "<sil>", "<spn>", "0.5", "1.5"]), max_size=9))
def test_without_an_ear_only_some_codes_are_proposed(labels: list[str]) -> None:
    for rule in ("correct-any", "correct-first"):
        found = propose_response(DOG, timed(" ".join(labels)), Settings(rule)).proposal
        assert CODES[found.code].proposer == "machine"
        assert found.clause
        assert found.rule
        assert set(found.candidates) <= set(CODES)
        assert bool(found.candidates) is (found.code == "undecided")
        # What rests on similarity tells its chance rate, and nothing else does.
        assert found.chance_rate is None or "shares " in found.clause


@given(st.lists(st.sampled_from(PHONEMES), min_size=1, max_size=8).map(" ".join))
def test_the_same_phonemes_heard_are_right_or_wrong_alike(said: str) -> None:
    machine, ear = respond(said), respond("", heard=said)
    for rule in ("correct-any", "correct-first"):
        assert machine.verdicts[rule].value is ear.verdicts[rule].value


def test_every_code_and_flag_of_the_rules_is_there() -> None:
    assert list(CODES) == [
        "correct", "semantic", "formal", "mixed", "unrelated", "nonword-related",
        "nonword-unrelated", "perseveration", "morphological", "picture-part", "visual", "blend",
        "description", "fragment", "no-response", "other", "undecided",
    ]  # fmt: skip
    for text in [*(code.definition for code in CODES.values()), *FLAGS.values()]:
        assert "\n" not in text
        assert 0 < len(text) < 80
    assert tuple(PERSON_SCORES) == SCORES
    assert [right_by_score(score) for score in SCORES] == [True, True, False, False, None]


def test_the_page_says_what_the_code_does_and_no_more() -> None:
    assert naming_rules.written(PAGE) == PAGE, "run: python docs/naming_rules.py"
    for key in RULE_KEYS:  # also the rule's fields: counts_cued
        assert key == "rule" or re.search(rf"`{key}`|\b{key.capitalize()}\b", PAGE)
    (rate,) = re.findall(r"\*\*(\d+) % of random pairs", PAGE)
    assert rate == f"{chance_rate():.0%}"[:-1]
    assert f"{CHANCE_PAIRS:,}\npairs" in PAGE
    assert f"**{PAUSE_S:.0f} second**" in PAGE
    assert f"({BREAK_S} s or a written silence" in PAGE
    said = PAGE.lower()
    for word in ("patient", "diagnosis", "impaired", "normal", "passed", "failed", "validated"):
        assert not re.search(rf"\b{word}", said)
    assert "does not diagnose" in said
