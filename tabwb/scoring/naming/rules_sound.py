"""Rules 12 to 15: words and nonwords that the item does not know of, by their sound."""

from __future__ import annotations

from tabwb.phonology.inventory import to_ipa
from tabwb.scoring.naming.case import Case, Proposal
from tabwb.scoring.naming.rules_target import named_word
from tabwb.scoring.naming.words import phrase_of


def rarer_word(case: Case) -> Proposal | None:
    """Rule 12."""
    related = case.alike.related
    nonword = "nonword-related" if related else "nonword-unrelated"
    if case.said.words:
        if not (case.is_word and case.said.guessed):
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
    if not case.said.words and (phrase := phrase_of(case.said.phonemes)):
        clause = f"{case.shown}: may be several words, '{' '.join(phrase)}'"
        return case.undecided(clause, "description", code)
    if case.said.words and not case.said.guessed:
        clause = f"{case.shown} is in the dictionary of sounds only, as names are"
        words = ("formal", "mixed") if case.alike.related else ("semantic", "unrelated")
        return case.undecided(clause, code, *words, alike=True)
    rare = f" (but '{case.words.other[0]}')" if case.words.other else ""
    shown = case.shown if case.said.words else f"/{to_ipa(case.said.phonemes)}/"
    return case.proposed(code, f"{shown} is not a common word{rare}", alike=True)


def similar_word(case: Case) -> Proposal | None:
    """Rule 14."""
    if not case.alike.related:
        return None
    words = case.said.words or case.words.all
    if named_word(case, words, case.target.unrelated) and case.said.words:
        clause = f"{case.shown} is listed as unrelated in meaning"
        return case.proposed("formal", clause, alike=True)
    clause = f"{case.shown}: its relation in meaning is not known"
    return case.undecided(clause, "formal", "mixed", alike=True)


def perseveration(case: Case) -> Proposal | None:
    """Rule 15p."""
    if not case.repeats:
        return None
    clause = f"{case.shown} was said to '{case.repeats}' before"
    if case.said.words:
        return case.proposed("perseveration", clause)
    return case.undecided(clause, "perseveration", "semantic", "unrelated")


def other_word(case: Case) -> Proposal | None:
    """Rule 15."""
    if named_word(case, case.said.words, case.target.unrelated):
        clause = f"{case.shown} is listed as unrelated in meaning"
        return case.proposed("unrelated", clause, alike=True)
    clause = f"{case.shown} is not on this item's lists of related words"
    return case.undecided(clause, "semantic", "unrelated", alike=True)
