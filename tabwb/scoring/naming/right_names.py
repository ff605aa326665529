"""Rules by which a response is the name asked for: as accepted, or near enough to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from tabwb.scoring.naming.case import Case, Proposal
from tabwb.scoring.naming.correct import edits_within
from tabwb.scoring.naming.target import Accepted, Matched, NamingTarget, Variety
from tabwb.scoring.naming.words import (
    numbers_of,
    plurals,
    pronunciations,
    unaccented,
)


@lru_cache(maxsize=1024)
def sounds_of_names(target: NamingTarget) -> Mapping[str, tuple[str, ...]]:
    """Return of each name its first accepted form, for transcribers that give words.

    A plural that no dictionary has sounds as the form with the ending of the plural.

    >>> form = Accepted(("K", "W", "AA", "K", "AH"), "citation")
    >>> sounds_of_names(NamingTarget(target="quokka", accept=(form,)))["quokkas"]
    ('K', 'W', 'AA', 'K', 'AH', 'Z')
    """
    names = {form.word or target.target: form.phonemes for form in reversed(target.accept)}
    plural = {
        many: min(numbers_of(form))
        for name, form in names.items()
        for many in plurals(name.casefold())
        if len(many) > len(name) and not pronunciations(many)
    }
    known = plural | names
    return {unaccented(name): form for name, form in known.items()} | known


def _unspaced(words: str) -> str:
    """Return words without spaces, hyphens, apostrophes and accents: "ice cream", "ice-cream"."""
    return re.sub(r"[ -]|'(?!s\b)", "", unaccented(words).replace("’", "'"))


def accepted(case: Case) -> Proposal | None:
    """An accepted name or form, with or without its spaces and hyphens: *correct*."""
    if _unspaced(case.reading.word) in map(_unspaced, case.target.names):
        return case.proposed("correct", f"{case.shown} is an accepted name")
    match = case.matching_form()
    return None if match is None or match.weak else _right(case, match.form, "")


def weak_vowels(case: Case) -> Proposal | None:
    """Equal except for unstressed AH and IH, flaps, or T before R as CH: *correct*."""
    match = case.matching_form()
    return None if match is None else _right(case, match.form, ", weak vowels and flaps ignored")


def other_number(case: Case) -> Proposal | None:
    """The name in another number: *correct*, flag `number`, unless the battery scores number."""
    if case.settings.number == "scored":
        return None
    forms = {
        _unspaced(name): form
        for form in case.target.accept
        for name in plurals((form.word or case.target.target).casefold())
    }
    form = forms.get(_unspaced(case.reading.word))
    if form is None and not case.reading.word:
        phonemes = case.reading.phonemes
        by_sound = [form for form in case.target.accept if phonemes in numbers_of(form.phonemes)]
        by_name = [form for name, form in forms.items() if phonemes in pronunciations(name)]
        form = next(iter(by_sound + by_name), None)
    if form is None and (match := case.matching_form(forms=(*in_number(case.target),))):
        form = in_number(case.target)[match.form]
    if form is None:
        return None
    right = _right(case, form, " in another number")
    return replace(right, flags=("number", *right.flags))


def declared_variety(case: Case) -> Proposal | None:
    """Equal in a variety that the participant is recorded to speak: *correct*, flag `dialect`."""
    if match := case.matching_form(case.settings.varieties):
        right = _right(case, match.form, f" ({', '.join(match.varieties)})")
        return replace(right, flags=("dialect",))
    match = plural_in_variety(case, case.settings.varieties)
    if match is None:
        return None
    form = in_number(case.target)[match.form]
    right = _right(case, form, f" in another number ({', '.join(match.varieties)})")
    return replace(right, flags=("number", "dialect"))


def plural_in_variety(case: Case, varieties: Sequence[Variety]) -> Matched | None:
    """Return the plural that an attempt equals in these varieties, unless number is scored."""
    if case.settings.number == "scored" or case.reading.words:
        return None
    return case.matching_form(varieties, (*in_number(case.target),))


@lru_cache(maxsize=1024)
def in_number(target: NamingTarget) -> Mapping[Accepted, Accepted]:
    """Return the accepted form of each of their plurals."""
    found: dict[Accepted, Accepted] = {}
    for form in target.accept:
        name = (form.word or target.target).casefold()
        spelled = next((each for each in sorted(plurals(name)) if pronunciations(each)), name)
        for phonemes in sorted(numbers_of(form.phonemes)):
            found.setdefault(Accepted(phonemes, form.reason, spelled), form)
    return found


def tolerated(case: Case) -> Proposal | None:
    """Within the battery's tolerance: *correct*."""
    tolerance = case.settings.tolerance
    if tolerance is None or case.reading.words:
        return None
    within = [
        (edits, number)
        for number, form in enumerate(case.target.accept)
        if (edits := edits_within(case.reading.phonemes, form.phonemes, tolerance)) is not None
    ]
    if not within:
        return None
    edits, number = min(within)
    but = f" but for {edits} tolerated phoneme{'s' * (edits > 1)}"
    return replace(_right(case, case.target.accept[number], but), edits=edits)


def is_right(case: Case) -> bool:
    """Return whether an attempt is right without a tolerance (rules 7 to 7d)."""
    rules = (accepted, weak_vowels, other_number, declared_variety)
    return any(rule(case) is not None for rule in rules)


def _right(case: Case, form: Accepted, how: str) -> Proposal:
    flags = ("dialect",) * (form.reason == "dialect")
    clause = f"{case.shown} equals /{form.ipa}/{how}"
    return replace(case.proposed("correct", clause), flags=flags, form=form)
