"""The ordered decision table of spoken naming: the first rule that applies decides.

An entry of :data:`RULES` has a number, a name, its source, and the function that applies it to one
attempt, whose docstring is the rule in words (printed in ``docs/naming-rules.md``). Rules 4 and 5
are in :mod:`~tabwb.scoring.naming.attempts`, 0 and 16 in :mod:`~tabwb.scoring.naming.propose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from tabwb.phonology.inventory import is_vowel, to_ipa
from tabwb.scoring.lexicon import load_lexicon
from tabwb.scoring.naming.attempts import (
    FILLER_SOUNDS,
    AttemptReading,
    aside,
    cuts,
    dont_know_sounds,
)
from tabwb.scoring.naming.case import (
    Case,
    Proposal,
    accepted,
    declared_variety,
    other_number,
    plural_in_variety,
    tolerated,
    weak_vowels,
)
from tabwb.scoring.naming.heard import names_rejected, read_words
from tabwb.scoring.naming.target import NO_SPEECH, VARIETIES
from tabwb.scoring.naming.words import (
    derived,
    endings_of,
    is_derived,
    is_word,
    numbers_of,
    phrase_of,
    plurals,
)
from tabwb.scoring.text import contains, fold_case

SYLLABLES: Final = 3
"""Syllables of a target from which on a single syllable may be a fragment (PNT)."""
LISTS: Final = {"semantic": "semantic", "visual": "visual", "parts": "picture-part"}
"""A list of the item and the code of its words."""


def no_response(case: Case) -> Proposal | None:
    """No phoneme and no noise: *no-response*."""
    if case.reading.ways or case.reading.words or case.reading.noise:
        return None
    return Proposal("no-response", NO_SPEECH)


def unintelligible(case: Case) -> Proposal | None:
    """Only `<spn>` or `<unk>`: *undecided* (no-response, other). Unintelligible speech is not
    silence.
    """
    if case.reading.ways or case.reading.words:
        return None
    return case.undecided("only unintelligible sounds", "no-response", "other")


def rejected_name(case: Case) -> Proposal | None:
    """A rejected name ("not a dog") is not an attempt; alone it is *undecided* (no-response,
    description; by the phonemes of an accepted form also correct).
    """
    if not case.reading.rejected:
        return None
    clause = f"{case.shown}: rejects a name"
    names = () if case.reading.words else names_rejected(case.reading.phonemes)
    by_sound = ("correct",) * any(name in case.target.accepted for name in names)
    return case.undecided(clause, "no-response", "description", *by_sound)


def no_name_comes(case: Case) -> Proposal | None:
    """Heard "I don't know", "no idea", "what's it called", or fillers alone: *no-response*; by
    phonemes *undecided*, and a heard carrier phrase alone ("it's a").
    """
    words = cuts(case.reading) if case.reading.words else ()
    if case.is_listed or any(cut.word in case.names for cut in words):
        return None
    flag = aside(case.reading) if case.reading.words else ""
    if case.reading.noise and flag:
        return case.undecided(f"{case.shown} and unintelligible sounds", "no-response", "other")
    if flag in ("filler", "dont-know"):
        proposal = case.proposed("no-response", f"{case.shown}: no name comes")
        return replace(proposal, flags=("dont-know",)) if flag == "dont-know" else proposal
    if not case.reading.words and case.reading.phonemes in FILLER_SOUNDS:
        other = decide(case, after="3")
        if other.right is False:
            codes = dict.fromkeys(("no-response", *(other.candidates or (other.code,))))
            return case.undecided(f"{case.shown} may be a filler", *codes)
    if flag != "carrier" and (
        case.reading.words or case.reading.phonemes not in dont_know_sounds()
    ):
        return None
    return case.undecided(f"{case.shown}: may say that no name comes", "no-response", "description")


def fragment(case: Case) -> Proposal | None:
    """An attempt without a consonant and a vowel other than schwa is a fragment. Fragments are
    skipped; if there is nothing else, *fragment* (by phonemes *undecided*). A repeated
    beginning ("b- bed") is left out as a false start.
    """
    if not case.reading.broken_off:
        return None
    clause = f"{case.shown}: less than a consonant and a vowel"
    if case.reading.ear:
        return case.proposed("fragment", clause)
    return case.undecided(clause, "fragment")


def guessed_word(case: Case) -> Proposal | None:
    """A transcriber's word in no dictionary, whose sound follows from its letters: *undecided*
    between the codes of that sound, and *correct* where it is an accepted form.
    """
    reading = case.reading
    if not reading.guessed or reading.words:
        return None
    known = replace(case, reading=replace(reading, guessed=False))
    found = [decide(known)]
    if found[0].code == "correct":
        found.append(decide(known, after="7u"))
    codes = dict.fromkeys(code for one in found for code in one.candidates or (one.code,))
    clause = f"{case.shown}: the sound of the transcriber's word follows from its letters only"
    return case.undecided(clause, *codes)


def undeclared_variety(case: Case) -> Proposal | None:
    """Equal only in a variety that is not recorded, or as the dictionary has the name:
    *undecided* (correct, or the code without that).
    """
    if case.reading.words:
        return None
    # Where a T follows after a pause ("ca ... t"), no glottal stop was said for it.
    unheard = {"t-glottalling"} if case.next_sound == "T" else set()
    varieties = [variety for variety in VARIETIES if variety not in unheard]
    match = case.matching_form(varieties) or plural_in_variety(case, varieties)
    if match is None:
        return _as_in_dictionary(case)
    other = decide(case, after="7u")
    names = ", ".join(match.varieties)
    clause = f"{case.shown} is right for a speaker of a variety with {names}"
    candidates = ("correct", *(other.candidates or (other.code,)))
    return replace(case.undecided(clause, *candidates), chance_rate=None)


def _as_in_dictionary(case: Case) -> Proposal | None:
    name = next((word for word in case.words.all if fold_case(word) in case.names), "")
    if not name:
        return None
    others = set(case.words.common) - case.names
    other = ("formal", "mixed") if others else ("nonword-related",)
    clause = f"{case.shown}: the dictionary has '{name}' so, the battery does not accept it"
    return case.undecided(clause, "correct", *other)


def listed_unrelated(case: Case) -> Proposal | None:
    """A heard word that the battery lists as unrelated in meaning: *formal* if it is similar in
    sound, otherwise *unrelated*, or *perseveration* if it was said to an earlier item.
    """
    words = (case.reading.word,) if case.reading.words else ()
    if not case.named_word(words, case.target.unrelated):
        return None
    if not case.alike.related and case.repeats:
        return perseveration(case)
    clause = f"{case.shown} is listed as unrelated in meaning"
    return case.proposed("formal" if case.alike.related else "unrelated", clause, alike=True)


def one_syllable(case: Case) -> Proposal | None:
    """One syllable of a target of three or more: *undecided* (fragment, or the code without
    this rule).
    """
    phonemes = case.reading.phonemes
    if case.reading.words or sum(map(is_vowel, phonemes)) != 1:
        return None
    whole = [form for form in case.target.own if sum(map(is_vowel, form)) >= SYLLABLES]
    if len(whole) < len(case.target.own) or not any(contains(form, phonemes) for form in whole):
        return None
    clause = f"{case.shown} may be one syllable of the target, cut off"
    word = ("formal",) * bool(case.words.common)
    if case.followed:
        return case.undecided(clause, "correct", *(word or ("nonword-related",)))
    return case.undecided(clause, "fragment", *word, "nonword-related")


def other_ending(case: Case) -> Proposal | None:
    """The target with an ending other than number: *morphological* if heard, *undecided* by
    phonemes. A word that only looks so ("penny", "beer" for *bee*) and the target without its
    ending are *undecided* (morphological, formal, mixed).
    """
    reading, names = case.reading, case.names
    words = (reading.word,) if reading.words else case.words.all
    spelled = frozenset[str]().union(*map(derived, names)).intersection(words)
    sure = {word for word in spelled if any(is_derived(word, name) for name in names)}
    looks = spelled - sure
    sounds = frozenset[tuple[str, ...]]().union(*(endings_of(form) for form in case.target.own))
    if case.settings.number == "scored":
        sure |= set(words) & frozenset[str]().union(*map(plurals, names))
        sounds = sounds.union(*(numbers_of(form) for form in case.target.own))
    clause = f"{case.shown} is the target with an ending"
    if sure and reading.words:
        return case.proposed("morphological", clause)
    by_sound = not reading.words and reading.phonemes in sounds and not case.words.common
    if (sure or by_sound) and not looks:
        return case.undecided(clause, "morphological")
    stems = {stem for word in words for stem in (word, *plurals(word)) if len(stem) > 2}
    if looks or any(is_derived(name, stem) for name in names for stem in stems):
        clause = f"{case.shown} may be the target with another ending"
        return case.undecided(clause, "morphological", "formal", "mixed", alike=True)
    return None


def listed_neighbour(case: Case) -> Proposal | None:
    """A word of the item's lists, before sound is compared: if heard, *semantic*, or *mixed* if
    similar in sound; *visual*, *picture-part*; by phonemes *undecided* with that candidate.
    """
    heard_words = case.reading.words
    words = (case.reading.word,) if heard_words else case.words.all
    for list_, usual in LISTS.items():
        named = case.named_word(words, getattr(case.target, list_))
        if not named:
            continue
        code = "mixed" if usual == "semantic" and case.alike.related else usual
        clause = f"'{named}' is a neighbour that the battery lists under '{list_}'"
        alike = code in ("semantic", "mixed")
        if heard_words:
            return case.proposed(code, clause, alike=alike)
        heard = f"{case.shown}: {clause}; if you hear it, write it down"
        return case.undecided(heard, code, alike=alike)
    return None


def several_words(case: Case) -> Proposal | None:
    """Several words heard: *description*, or *undecided*: correct, description if the name is
    among them; the code of a listed neighbour, description if one is the last word ("big dog") or
    one of several names ("cat and dog"). A compound of the target ("doghouse") is *undecided*.
    """
    reading, names = case.reading, case.names
    if len(reading.words) > 1:
        spelled = names.union(*map(plurals, names))
        near = list(filter(None, map(listed_neighbour, _named_apart(case))))
        codes = dict.fromkeys(one.code for one in near)
        if any(f" {name} " in f" {reading.word} " for name in spelled):
            clause = f"{case.shown} holds the name among other words"
            return case.undecided(clause, "correct", *codes, "description")
        if near:
            clause = f"several words; {near[0].clause}"
            return case.undecided(clause, *codes, "description")
        if all(
            is_word(word.partition("'")[0], case.listed) or "'" in word for word in reading.words
        ):
            return case.proposed("description", f"{case.shown}: several words, no name")
        return case.undecided(f"{case.shown}: several words", "description", "other")
    if compound := _compound_of(case):
        clause = f"{case.shown}: '{compound}' is a compound of the target"
        return case.undecided(clause, "semantic", "mixed", "morphological")
    if not reading.words and reading.breaks and (pieces := _pieces(case)):
        first = pieces[0]
        clause = f"several words without a pause of 1 s; {first.clause}"
        return case.undecided(clause, *(first.candidates or (first.code,)), "description")
    return None


def _named_apart(case: Case) -> Iterator[Case]:
    """Yield the last word, and each of several names said one after the other."""
    words = case.reading.words
    joins = [at for at, word in enumerate(words) if word in ("and", "or", "but")]
    ends = [-1, *joins, len(words)]
    spans = [words[start + 1 : end] for start, end in pairwise(ends) if end > start + 1]
    if not joins and all(word in case.target.listed for word in words):
        spans = [(word,) for word in words]
    for span in (*spans, words[-1:]):
        whole = AttemptReading(words=span, ear=True)
        least = [whole, *cuts(whole)][-1]
        if len(least.words) == 1:
            yield replace(case, reading=read_words(least.words))


def _pieces(case: Case) -> list[Proposal]:
    """Return a proposal for each word where short pauses separate common words, else nothing."""
    phonemes = case.reading.phonemes
    ends = [0, *sorted(case.reading.breaks), len(phonemes)]
    cases = [
        replace(case, reading=AttemptReading((phonemes[start:end],), ear=case.reading.ear))
        for start, end in pairwise(ends)
    ]
    return [decide(piece) for piece in cases] if all(piece.is_word for piece in cases) else []


def _compound_of(case: Case) -> str:
    """Return a word that is a compound of the target and another word, or empty."""
    words = case.reading.words or case.words.all
    for word in words:
        for name in case.names:
            for rest in (word.removeprefix(name), word.removesuffix(name)):
                if rest != word and len(rest) > 2 and len(name) > 2 and load_lexicon().common(rest):
                    return word
    return ""


def rarer_word(case: Case) -> Proposal | None:
    """Only a rarer word (SCOWL 40 to 60) has this sound, or a heard word has no listed sound:
    *undecided* between nonword and word.
    """
    related = case.alike.related
    nonword = "nonword-related" if related else "nonword-unrelated"
    if case.reading.words:
        if not (case.is_word and case.reading.guessed):
            return None
        clause = f"{case.shown} is a word whose sound follows from its letters only"
        if related:
            return case.undecided(clause, "formal", "mixed", nonword, alike=True)
        return case.undecided(clause, nonword, "semantic", "unrelated", alike=True)
    if case.words.common or not case.words.rarer:
        return None
    clause = f"{case.shown} is a word that few people say"
    words = ("formal",) if related else ("semantic", "unrelated")
    return case.undecided(clause, nonword, *words, alike=True)


def nonword(case: Case) -> Proposal | None:
    """No word has this sound: *nonword-related* if it is similar to the target, otherwise
    *nonword-unrelated*.
    """
    if case.is_word:
        return None
    code = "nonword-related" if case.alike.related else "nonword-unrelated"
    if not case.reading.words and (phrase := phrase_of(case.reading.phonemes)):
        clause = f"{case.shown}: may be several words, '{' '.join(phrase)}'"
        return case.undecided(clause, "description", code)
    if case.reading.words and not case.reading.guessed:
        clause = f"{case.shown} is in the dictionary of sounds only, as names are"
        words = ("formal", "mixed") if case.alike.related else ("semantic", "unrelated")
        return case.undecided(clause, code, *words, alike=True)
    rare = f" (but '{case.words.other[0]}')" if case.words.other else ""
    shown = case.shown if case.reading.words else f"/{to_ipa(case.reading.phonemes)}/"
    return case.proposed(code, f"{shown} is not a common word{rare}", alike=True)


def similar_word(case: Case) -> Proposal | None:
    """A word similar in sound whose relation in meaning is not known: *undecided* (formal,
    mixed); by phonemes *formal* alone is a candidate if the battery lists it as unrelated.
    """
    if not case.alike.related:
        return None
    if case.named_word(case.words.all, case.target.unrelated):
        clause = f"{case.shown} is listed as unrelated in meaning; if you hear it, write it down"
        return case.undecided(clause, "formal", alike=True)
    clause = f"{case.shown}: its relation in meaning is not known"
    return case.undecided(clause, "formal", "mixed", alike=True)


def perseveration(case: Case) -> Proposal | None:
    """The response to an earlier item: *perseveration* if heard, a candidate by phonemes."""
    if not case.repeats:
        return None
    clause = f"{case.shown} was said to '{case.repeats}' before"
    if case.reading.words:
        return case.proposed("perseveration", clause)
    return case.undecided(clause, "perseveration", "semantic", "unrelated")


def other_word(case: Case) -> Proposal | None:
    """Any other word: *undecided* (semantic, unrelated); by phonemes *unrelated* alone if the
    battery lists it so.
    """
    if case.named_word(case.words.all, case.target.unrelated):
        clause = f"{case.shown} is listed as unrelated in meaning; if you hear it, write it down"
        return case.undecided(clause, "unrelated", alike=True)
    clause = f"{case.shown} is not on this item's lists of related words"
    return case.undecided(clause, "semantic", "unrelated", alike=True)


@dataclass(frozen=True, slots=True)
class NamingRule:
    """One row of the table; ``text`` is the wording of a rule without a function on one attempt."""

    number: str
    name: str
    source: str
    decides: Callable[[Case], Proposal | None] | None = None
    text: str = ""

    @property
    def says(self) -> str:
        """The rule in words."""
        text = self.text if self.decides is None else self.decides.__doc__
        return " ".join((text or "").split())


RULES: Final[tuple[NamingRule, ...]] = (
    NamingRule(
        "0",
        "heard",
        "ours",
        text="What a listener heard replaces the transcript, attempt by attempt, for code, "
        "alignment and distance.",
    ),
    NamingRule("1", "no response", "PNT", no_response),
    NamingRule("2", "unintelligible", "PSST, appendix B.4", unintelligible),
    NamingRule("17", "rejected name", "ours", rejected_name),
    NamingRule("3", "no name comes", "PNT", no_name_comes),
    NamingRule(
        "4",
        "attempts",
        "PNT",
        text="A response is divided at pauses of 1 s, at marks, at a written `<sil>`, and at "
        "commas in what was heard.",
    ),
    NamingRule(
        "5",
        "carriers and fillers",
        "PNT",
        text='Articles, carrier phrases ("it\'s a") and fillers ("um") are left out if an accepted '
        'form or a word remains. The whole is tested first: "about" contains no article.',
    ),
    NamingRule("6", "fragment", "PNT", fragment),
    NamingRule("7g", "guessed word", "ours", guessed_word),
    NamingRule("7", "accepted form", "PSST; PNT", accepted),
    NamingRule(
        "7w", "weak vowels", "PSST lists both for some items; ours for the others", weak_vowels
    ),
    NamingRule("7n", "number", "PNT", other_number),
    NamingRule("7d", "declared variety", "PSST: dialect is right; ours which", declared_variety),
    NamingRule("7t", "tolerance", "Schwartz 2006 (one slip), VNT (half); battery", tolerated),
    NamingRule("7u", "undeclared variety", "ours", undeclared_variety),
    NamingRule("8u", "listed as unrelated", "PNT; the battery's list", listed_unrelated),
    NamingRule("8", "one syllable", 'PNT: "cop" for helicopter is not complete', one_syllable),
    NamingRule("9", "other ending", "ours", other_ending),
    NamingRule("10", "listed neighbour", "PNT", listed_neighbour),
    NamingRule("11", "several words", "PNT; ours", several_words),
    NamingRule("12", "rarer word", "ours", rarer_word),
    NamingRule("13", "nonword", "PNT", nonword),
    NamingRule("14", "similar word", "PNT", similar_word),
    NamingRule("15p", "perseveration", "ours; the PNT notes it beside the code", perseveration),
    NamingRule("15", "other word", "PNT", other_word),
    NamingRule(
        "16",
        "first complete attempt",
        "PNT; PSST task B",
        text="The code of a response is that of its first complete attempt; fillers and remarks "
        "that no name comes are skipped if an attempt at a name follows. Under `correct-any` it is "
        "*correct* if any attempt is right or an accepted form occurs anywhere.",
    ),
)
"""The table, in the order in which it is applied."""


def decide(case: Case, after: str = "") -> Proposal:
    """Return the proposal of the first rule that applies."""
    first = next((at for at, rule in enumerate(RULES, 1) if rule.number == after), 0)
    for rule in RULES[first:]:
        proposal = rule.decides(case) if rule.decides else None
        if proposal is not None:
            break
    else:
        raise AssertionError("the last rule decides always")
    flags, clause = [*case.reading.flags, *proposal.flags], proposal.clause
    if case.reading.mapped:
        flags.append("mapped-sound")
        clause = f"{clause}; read as {', '.join(dict.fromkeys(case.reading.mapped))}"
    if proposal.code != "correct":
        flags += ["guessed-sound"] * case.reading.guessed + ["repeats"] * bool(proposal.repeats)
    return replace(proposal, rule=rule.number, flags=tuple(dict.fromkeys(flags)), clause=clause)
