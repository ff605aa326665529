"""The ordered decision table of spoken naming: the first rule that applies decides.

Data and code in one order: an entry of :data:`RULES` has a number, a name, what it says in plain
words, its source, and the function that applies it (printed in ``docs/naming-rules.md``).
Rules of the stage *code* look at one attempt and return a :class:`Proposal` or None; those of the
other stages name the function that prepares the attempts or combines them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal

from tabwb.scoring.naming import attempt_rules
from tabwb.scoring.naming.attempt_rules import compound_of, matching_form, name_in
from tabwb.scoring.naming.attempts import AttemptReading
from tabwb.scoring.naming.case import Case, Proposal
from tabwb.scoring.naming.forms import UNHEARD, VARIETIES
from tabwb.scoring.naming.heard import read_words
from tabwb.scoring.naming.words import is_word

Stage = Literal["attempts", "reading", "code", "response"]


def undeclared_variety(case: Case) -> Proposal | None:
    """Rule 7u."""
    if case.reading.words:
        return None
    match = matching_form(case, [variety for variety in VARIETIES if variety not in UNHEARD])
    if match is None:
        return None
    other = decide(case, after="7u")
    names = ", ".join(match.varieties)
    clause = f"{case.shown} is right for a speaker of a variety with {names}"
    candidates = ("correct", *(other.candidates or (other.code,)))
    return replace(case.undecided(clause, *candidates), chance_rate=None)


def several_words(case: Case) -> Proposal | None:
    """Rule 11."""
    reading, names = case.reading, case.target.names
    if len(reading.words) > 1:
        if any(name_in(word, names) for word in reading.words):
            clause = f"{case.shown} holds the name among other words"
            return case.undecided(clause, "correct", "description")
        last = replace(case, reading=read_words(reading.words[-1:]))
        if near := attempt_rules.listed_neighbour(last):
            return case.undecided(f"several words; {near.clause}", near.code, "description")
        if all(
            is_word(word.partition("'")[0], case.listed) or "'" in word for word in reading.words
        ):
            return case.proposed("description", f"{case.shown}: several words, no name")
        return case.undecided(f"{case.shown}: several words", "description", "other")
    if compound := compound_of(case):
        clause = f"{case.shown}: '{compound}' is a compound of the target"
        return case.undecided(clause, "semantic", "mixed", "morphological")
    if not reading.words and reading.breaks and (pieces := _pieces(case)):
        first = pieces[0]
        clause = f"several words without a pause of 1 s; {first.clause}"
        return case.undecided(clause, *(first.candidates or (first.code,)), "description")
    return None


def _pieces(case: Case) -> list[Proposal]:
    """Return a proposal for each word where short pauses separate common words, else nothing."""
    phonemes = case.reading.phonemes
    ends = [0, *sorted(case.reading.breaks), len(phonemes)]
    cases = [
        replace(case, reading=AttemptReading((phonemes[start:end],), ear=case.reading.ear))
        for start, end in pairwise(ends)
    ]
    return [decide(piece) for piece in cases] if all(piece.is_word for piece in cases) else []


@dataclass(frozen=True, slots=True)
class NamingRule:
    """One row of the table.

    Attributes:
        number: as it is cited.
        name: in two or three words.
        says: the rule in words.
        source: publication, or ours.
        decides: the function of a rule of the stage *code*; None elsewhere.
        stage: what it is applied to.
        done_by: the function, module and name, of a rule of another stage.
    """

    number: str
    name: str
    says: str
    source: str
    decides: Callable[[Case], Proposal | None] | None = None
    stage: Stage = "code"
    done_by: str = ""


def _prepared(number: str, name: str, says: str, source: str, stage: Stage, by: str) -> NamingRule:
    return NamingRule(number, name, says, source, None, stage, by)


RULES: Final[tuple[NamingRule, ...]] = (
    _prepared(
        "0",
        "heard",
        (
            "What a listener heard replaces the transcript, attempt by attempt, for code, "
            "alignment and distance."
        ),
        "ours",
        "attempts",
        "propose.read_attempts",
    ),
    NamingRule(
        "1",
        "no response",
        "No phoneme and no noise: *no-response*.",
        "PNT",
        attempt_rules.no_response,
    ),
    NamingRule(
        "2",
        "unintelligible",
        (
            "Only `<spn>` or `<unk>`: *undecided* (no-response, other). Unintelligible speech is "
            "not silence."
        ),
        "PSST, appendix B.4",
        attempt_rules.unintelligible,
    ),
    NamingRule(
        "3",
        "no name comes",
        (
            'Heard "I don\'t know", "no idea", "what\'s it called", or fillers alone: *no-'
            "response*; by phonemes *undecided*."
        ),
        "PNT",
        attempt_rules.no_name_comes,
    ),
    _prepared(
        "4",
        "attempts",
        (
            "A response is divided at pauses of 1 s, at marks, at a written `<sil>`, and at "
            "commas in what was heard."
        ),
        "PNT",
        "attempts",
        "attempts.propose_attempts",
    ),
    _prepared(
        "5",
        "carriers and fillers",
        (
            'Articles, carrier phrases ("it\'s a") and fillers ("um") are left out if an '
            'accepted form or a word remains. The whole is tested first: "about" contains no '
            "article."
        ),
        "PNT",
        "reading",
        "attempts.cuts",
    ),
    NamingRule(
        "6",
        "fragment",
        (
            "An attempt without a consonant and a vowel other than schwa is a fragment. "
            "Fragments are skipped; if there is nothing else, *fragment* (by phonemes "
            '*undecided*). A repeated beginning ("b- bed") is left out as a false start.'
        ),
        "PNT",
        attempt_rules.fragment,
    ),
    NamingRule(
        "7",
        "accepted form",
        "An accepted name or form: *correct*.",
        "PSST; PNT",
        attempt_rules.accepted,
    ),
    NamingRule(
        "7w",
        "weak vowels",
        "Equal except for unstressed AH and IH, flaps, or T before R as CH: *correct*.",
        "PSST lists both for some items; ours for the others",
        attempt_rules.weak_vowels,
    ),
    NamingRule(
        "7n",
        "number",
        ("The name in another number: *correct*, flag `number`, unless the battery scores number."),
        "PNT",
        attempt_rules.other_number,
    ),
    NamingRule(
        "7d",
        "declared variety",
        (
            "Equal in a variety that the participant is recorded to speak: *correct*, flag "
            "`dialect`."
        ),
        "PSST: dialect is right; ours which",
        attempt_rules.declared_variety,
    ),
    NamingRule(
        "7t",
        "tolerance",
        "Within the battery's tolerance: *correct*.",
        "Schwartz 2006 (one slip), VNT (half); battery",
        attempt_rules.tolerated,
    ),
    NamingRule(
        "7u",
        "undeclared variety",
        (
            "Equal only in a variety that is not recorded: *undecided* (correct, or the code "
            "without the variety)."
        ),
        "ours",
        undeclared_variety,
    ),
    NamingRule(
        "8",
        "one syllable",
        (
            "One syllable of a target of three or more: *undecided* (fragment, or the code "
            "without this rule)."
        ),
        'PNT: "cop" for helicopter is not complete',
        attempt_rules.one_syllable,
    ),
    NamingRule(
        "9",
        "other ending",
        (
            "The target with an ending other than number: *morphological* if heard, "
            "*undecided* by phonemes."
        ),
        "ours",
        attempt_rules.other_ending,
    ),
    NamingRule(
        "10",
        "listed neighbour",
        (
            "A word of the item's lists, before sound is compared: if heard, *semantic*, or "
            "*mixed* if similar in sound; *visual*, *picture-part*; by phonemes *undecided* "
            "with that candidate."
        ),
        "PNT",
        attempt_rules.listed_neighbour,
    ),
    NamingRule(
        "11",
        "several words",
        (
            "Several words heard: *description*, or *undecided* (correct, description) if "
            "the name is among them, or (semantic, description) if the last is a listed "
            'neighbour ("big dog"). A compound of the target ("doghouse") is *undecided*.'
        ),
        "PNT; ours",
        several_words,
    ),
    NamingRule(
        "12",
        "rarer word",
        (
            "Only a rarer word (SCOWL 40 to 60) has this sound, or a heard word has no listed "
            "sound: *undecided* between nonword and word."
        ),
        "ours",
        attempt_rules.rarer_word,
    ),
    NamingRule(
        "13",
        "nonword",
        (
            "No word has this sound: *nonword-related* if it is similar to the target, "
            "otherwise *nonword-unrelated*."
        ),
        "PNT",
        attempt_rules.nonword,
    ),
    NamingRule(
        "14",
        "similar word",
        (
            "A word similar in sound whose relation in meaning is not known: *undecided* "
            "(formal, mixed); *formal* if the battery lists it as unrelated."
        ),
        "PNT",
        attempt_rules.similar_word,
    ),
    NamingRule(
        "15p",
        "perseveration",
        ("The response to an earlier item: *perseveration* if heard, a candidate by phonemes."),
        "ours; the PNT notes it beside the code",
        attempt_rules.perseveration,
    ),
    NamingRule(
        "15",
        "other word",
        (
            "Any other word: *undecided* (semantic, unrelated); *unrelated* if the battery "
            "lists it so."
        ),
        "PNT",
        attempt_rules.other_word,
    ),
    _prepared(
        "16",
        "first complete attempt",
        (
            "The code of a response is that of its first complete attempt; fillers and remarks "
            "that no name comes are skipped if an attempt at a name follows. Under "
            "`correct-any` it is *correct* if any attempt is right or an accepted form occurs "
            "anywhere."
        ),
        "PNT; PSST task B",
        "response",
        "propose.propose_response",
    ),
)
"""The table, in the order in which it is applied."""


def decide(case: Case, after: str = "") -> Proposal:
    """Return the proposal of the first rule that applies.

    Args:
        case: the attempt.
        after: number of a rule; only the rules after it are tried.
    """
    begun = not after
    for rule in RULES:
        if begun and rule.decides is not None:
            proposal = rule.decides(case)
            if proposal is not None:
                guessed = ("guessed-sound",) * bool(case.reading.guessed)
                repeats = ("repeats",) * bool(proposal.repeats)
                mapped = ("mapped-sound",) * bool(case.reading.mapped)
                more = () if proposal.code == "correct" else (*guessed, *repeats)
                more = (*mapped, *more)
                flags = dict.fromkeys((*case.reading.flags, *proposal.flags, *more))
                clause = proposal.clause
                if case.reading.mapped:
                    clause = f"{clause}; read as {', '.join(dict.fromkeys(case.reading.mapped))}"
                return replace(proposal, rule=rule.number, flags=tuple(flags), clause=clause)
        begun = begun or rule.number == after
    raise AssertionError("the last rule decides always")
