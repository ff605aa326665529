"""Rules 1 to 15: each looks at one attempt and returns a proposal or None.

Their order and wording are in :mod:`tabwb.scoring.naming.table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tabwb.phonology.inventory import is_vowel, to_ipa
from tabwb.scoring.naming.attempts import aside, dont_know_sounds
from tabwb.scoring.naming.case import Case, Proposal
from tabwb.scoring.naming.codes import NO_SPEECH
from tabwb.scoring.naming.correct import edits_within
from tabwb.scoring.naming.forms import Matched, Variety, matched
from tabwb.scoring.naming.target import Accepted
from tabwb.scoring.naming.words import (
    derived,
    endings_of,
    is_common,
    numbers_of,
    phrase_of,
    plurals,
    pronunciations,
)
from tabwb.scoring.text import contains

SYLLABLES: Final = 3
"""Syllables of a target from which on a single syllable may be a fragment (PNT)."""
LISTS: Final = {"semantic": "semantic", "visual": "visual", "parts": "picture-part"}
"""A list of the item and the code of its words."""


# ------------------------------------------------------------------ 1 to 3: no name


def no_response(case: Case) -> Proposal | None:
    """Rule 1."""
    if case.reading.ways or case.reading.words or case.reading.noise:
        return None
    return Proposal("no-response", NO_SPEECH)


def unintelligible(case: Case) -> Proposal | None:
    """Rule 2."""
    if case.reading.ways or case.reading.words:
        return None
    return case.undecided("only unintelligible sounds", "no-response", "other")


def no_name_comes(case: Case) -> Proposal | None:
    """Rule 3."""
    word = case.reading.word
    flag = aside(case.reading) if word else ""
    if flag in ("filler", "dont-know"):
        proposal = case.proposed("no-response", f"{case.shown}: no name comes")
        return replace(proposal, flags=("dont-know",)) if flag == "dont-know" else proposal
    if not word and case.reading.phonemes in dont_know_sounds():
        return case.undecided(
            f"{case.shown}: may say that no name comes", "no-response", "description"
        )
    return None


# ------------------------------------------------------------------ 6: fragments


def fragment(case: Case) -> Proposal | None:
    """Rule 6."""
    if not case.reading.broken_off:
        return None
    clause = f"{case.shown}: less than a consonant and a vowel"
    if case.reading.ear:
        return case.proposed("fragment", clause)
    return case.undecided(clause, "fragment")


# ------------------------------------------------------------------ 7: right


def accepted(case: Case) -> Proposal | None:
    """Rule 7."""
    if case.reading.word in case.target.names:
        return case.proposed("correct", f"{case.shown} is an accepted name")
    match = matching_form(case)
    return None if match is None or match.weak else _right(case, match.form, "")


def weak_vowels(case: Case) -> Proposal | None:
    """Rule 7w."""
    match = matching_form(case)
    how = ", weak vowels and flaps ignored"
    return None if match is None else _right(case, match.form, how)


def other_number(case: Case) -> Proposal | None:
    """Rule 7n."""
    if case.settings.number == "scored":
        return None
    forms = {name: form for form in case.target.accept for name in plurals(_name(case, form))}
    word = case.reading.word
    form = forms.get(word)
    if form is None and not word:
        phonemes = case.reading.phonemes
        form = next(
            (form for form in case.target.accept if phonemes in numbers_of(form.phonemes)), None
        )
        form = form or next(
            (form for name, form in forms.items() if phonemes in pronunciations(name)), None
        )
    if form is None:
        return None
    return replace(_right(case, form, " in another number"), flags=("number",))


def declared_variety(case: Case) -> Proposal | None:
    """Rule 7d."""
    match = matching_form(case, case.settings.varieties)
    if match is None:
        return None
    right = _right(case, match.form, f" ({', '.join(match.varieties)})")
    return replace(right, flags=("dialect",))


def tolerated(case: Case) -> Proposal | None:
    """Rule 7t."""
    tolerance = case.settings.tolerance
    if tolerance is None or case.reading.words:
        return None
    phonemes = case.reading.phonemes
    within = [
        (edits, number)
        for number, form in enumerate(case.target.accept)
        if (edits := edits_within(phonemes, form.phonemes, tolerance)) is not None
    ]
    if not within:
        return None
    edits, number = min(within)
    but = f" but for {edits} tolerated phoneme{'s' * (edits > 1)}"
    return replace(_right(case, case.target.accept[number], but), edits=edits)


def matching_form(case: Case, varieties: Sequence[Variety] = ()) -> Matched | None:
    """Return the accepted form that an attempt equals; a guessed sound equals none.

    Args:
        case: the attempt.
        varieties: of English, that may be assumed.
    """
    if case.reading.words and case.reading.guessed:
        return None
    matches = (
        matched(way, case.target.accept, case.target.target.casefold(), varieties)
        for way in case.reading.ways
    )
    return next((match for match in matches if match is not None), None)


def _name(case: Case, form: Accepted) -> str:
    return (form.word or case.target.target).casefold()


def _right(case: Case, form: Accepted, how: str) -> Proposal:
    flags = ("dialect",) * (form.reason == "dialect")
    clause = f"{case.shown} equals /{to_ipa(form.phonemes)}/{how}"
    return replace(case.proposed("correct", clause), flags=flags, form=form)


# ------------------------------------------------------------------ 8 to 11: tied to the target


def one_syllable(case: Case) -> Proposal | None:
    """Rule 8."""
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
    """Rule 9."""
    spelled = frozenset[str]().union(*(derived(name) for name in case.target.names))
    sounds = frozenset[tuple[str, ...]]().union(*(endings_of(form) for form in case.target.own))
    if case.settings.number == "scored":
        spelled = spelled.union(*(plurals(name) for name in case.target.names))
        sounds = sounds.union(*(numbers_of(form) for form in case.target.own))
    reading = case.reading
    if reading.words:
        if reading.word not in spelled:
            return None
        return case.proposed("morphological", f"{case.shown} is the target with an ending")
    named = not spelled.isdisjoint(case.words.all)
    if not named and (reading.phonemes not in sounds or case.words.common):
        return None
    return case.undecided(f"{case.shown} is the target with an ending", "morphological")


def listed_neighbour(case: Case) -> Proposal | None:
    """Rule 10."""
    heard_words = case.reading.words
    words = (case.reading.word,) if heard_words else case.words.all
    for list_, usual in LISTS.items():
        named = named_word(case, words, getattr(case.target, list_))
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


def named_word(case: Case, words: Sequence[str], names: Sequence[str]) -> str:
    """Return the first word that is in a list, also in another number; empty without one.

    Args:
        case: the attempt, for the battery's rule on number.
        words: words of the response.
        names: a list of the item.
    """
    for word in words:
        if word in names:
            return word
        if case.settings.number == "ignored" and " " not in word:
            for name in names:
                if word in plurals(name):
                    return name
    return ""


def name_in(word: str, names: frozenset[str]) -> bool:
    """Return whether a word is one of the names, in any number.

    Args:
        word: lower case.
        names: lower case.
    """
    return word in names or any(word in plurals(name) for name in names)


def compound_of(case: Case) -> str:
    """Return a word that is a compound of the target and another word, or empty."""
    words = case.reading.words or case.words.all
    for word in words:
        for name in case.target.names:
            for rest in (word.removeprefix(name), word.removesuffix(name)):
                if rest != word and len(rest) > 2 and len(name) > 2 and is_common(rest):
                    return word
    return ""


def rarer_word(case: Case) -> Proposal | None:
    """Rule 12."""
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
    """Rule 13."""
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
    """Rule 14."""
    if not case.alike.related:
        return None
    words = case.reading.words or case.words.all
    if named_word(case, words, case.target.unrelated) and case.reading.words:
        clause = f"{case.shown} is listed as unrelated in meaning"
        return case.proposed("formal", clause, alike=True)
    clause = f"{case.shown}: its relation in meaning is not known"
    return case.undecided(clause, "formal", "mixed", alike=True)


def perseveration(case: Case) -> Proposal | None:
    """Rule 15p."""
    if not case.repeats:
        return None
    clause = f"{case.shown} was said to '{case.repeats}' before"
    if case.reading.words:
        return case.proposed("perseveration", clause)
    return case.undecided(clause, "perseveration", "semantic", "unrelated")


def other_word(case: Case) -> Proposal | None:
    """Rule 15."""
    if named_word(case, case.reading.words, case.target.unrelated):
        clause = f"{case.shown} is listed as unrelated in meaning"
        return case.proposed("unrelated", clause, alike=True)
    clause = f"{case.shown} is not on this item's lists of related words"
    return case.undecided(clause, "semantic", "unrelated", alike=True)
