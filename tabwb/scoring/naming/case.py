"""Input and output of a rule of the decision table, and the rules by which a response is right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from tabwb.phonology.inventory import to_ipa
from tabwb.scoring.naming.attempts import AttemptReading
from tabwb.scoring.naming.target import (
    Accepted,
    Matched,
    NamingTarget,
    Number,
    Rule,
    Tolerance,
    Variety,
    but_for,
    edits_within,
    matched,
)
from tabwb.scoring.naming.words import (
    Similarity,
    Words,
    chance_rate,
    is_word,
    most_similar,
    numbers_of,
    plurals,
    pronunciations,
    unaccented,
    words_sounding,
)
from tabwb.scoring.text import fold_case


@dataclass(frozen=True, slots=True)
class Earlier:
    """The response to an earlier item: ARPAbet, and the word as a person heard it, or empty."""

    item: str
    phonemes: tuple[str, ...]
    word: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings besides the item: rules of the battery, and varieties of the speaker."""

    rule: Rule = "correct-any"
    tolerance: Tolerance | None = None
    number: Number = "ignored"
    varieties: tuple[Variety, ...] = ()
    listed: frozenset[str] = frozenset()
    forms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed code with its reasons.

    Attributes:
        code, clause: one of :data:`tabwb.scoring.naming.target.CODES`, and why, for people.
        rule: number of the rule that decided, of :data:`tabwb.scoring.naming.rules.RULES`.
        candidates: the codes that a person chooses from where it is undecided.
        homophones: words of the dictionary with the sound of the attempt, the commonest first.
        chance_rate: share of random word pairs that the similarity rule relates, where it is used.
        repeats: id of an earlier item with the same response, or empty; whatever the code.
        attempt: number of the attempt that was coded, from 1; None without any.
        form, edits: the accepted form that was said, and phonemes that a tolerance let pass.
    """

    code: str
    clause: str
    rule: str = ""
    candidates: tuple[str, ...] = ()
    homophones: tuple[str, ...] = ()
    chance_rate: float | None = None
    repeats: str = ""
    flags: tuple[str, ...] = ()
    attempt: int | None = None
    form: Accepted | None = None
    edits: int = 0

    @property
    def right(self) -> bool | None:
        """Whether the attempt is right; None where only a person can decide."""
        return None if "correct" in self.candidates else self.code == "correct"

    def to_json(self) -> dict[str, object]:
        """Return the proposal for documents."""
        return {
            "code": self.code,
            "rule": self.rule or None,
            "candidates": list(self.candidates),
            "clause": self.clause,
            "homophones": list(self.homophones),
            "chance_rate": self.chance_rate,
            "repeats": self.repeats or None,
            "flags": list(self.flags),
            "attempt": self.attempt,
        }


def _plain(words: frozenset[str]) -> frozenset[str]:
    return words | frozenset(map(unaccented, words))


@dataclass(frozen=True)
class Case:
    """One attempt to be coded. Values that several rules need are computed once."""

    target: NamingTarget
    reading: AttemptReading
    settings: Settings = Settings()
    earlier: Sequence[Earlier] = ()
    followed: bool = False
    next_sound: str = ""

    @property
    def listed(self) -> frozenset[str]:
        """Words listed by the battery, with and without accents."""
        return _plain(self.target.listed | self.settings.listed)

    @property
    def names(self) -> frozenset[str]:
        """The words that are right, with and without accents ("café", "cafe")."""
        return _plain(self.target.names)

    @property
    def is_listed(self) -> bool:
        """Whether a listener wrote a word that the item names or lists."""
        return self.reading.word in _plain(self.target.listed)

    @cached_property
    def words(self) -> Words:
        """The words with the sound of the attempt; none where a listener wrote words."""
        if self.reading.words or not self.reading.phonemes:
            return Words()
        found = words_sounding(self.reading.phonemes, self.listed)
        own = (word for word, form in self.settings.forms if form == self.reading.phonemes)
        return replace(found, common=tuple(dict.fromkeys((*own, *found.common))))

    @cached_property
    def alike(self) -> Similarity:
        """How similar it is to the target's own forms (rule 14)."""
        word = self.reading.word or (self.words.all[0] if self.words.all else "")
        target = fold_case(self.target.target)
        own = (form for name, form in self.settings.forms if name == self.reading.word)
        return most_similar(self.target.own, (*self.reading.ways, *own), target, word)

    @property
    def shown(self) -> str:
        """The attempt for people: the word, or the phonemes in IPA."""
        if self.reading.words:
            return f"'{self.reading.word}'"
        word = f" (sounds like '{self.words.all[0]}'{self.words.how})" if self.words.all else ""
        return f"/{to_ipa(self.reading.phonemes)}/{word}"

    @property
    def is_word(self) -> bool:
        """Whether it is a common word by sound, or a word by a listener's spelling."""
        if len(self.reading.words) == 1:
            return is_word(self.reading.word, self.listed)
        return bool(self.words.common)

    @property
    def repeats(self) -> str:
        """The latest earlier item with the same response, or empty."""
        for item in reversed(self.earlier):
            same_word = bool(item.word) and item.word == self.reading.word
            if same_word or (item.phonemes and item.phonemes in self.reading.ways):
                return item.item
        return ""

    def matching_form(
        self, varieties: Sequence[Variety] = (), forms: Sequence[Accepted] | None = None
    ) -> Matched | None:
        """Return the accepted form that it equals in these varieties; a guessed sound has none."""
        if self.reading.guessed:
            return None
        accept = self.target.accept if forms is None else forms
        matches = (
            matched(way, accept, fold_case(self.target.target), varieties)
            for way in self.reading.ways
        )
        return next((match for match in matches if match is not None), None)

    def named_word(self, words: Sequence[str], names: Sequence[str]) -> str:
        """Return the first word that is in a list, also in another number; empty without one."""
        for word in map(unaccented, words):
            for name in names:
                if word == unaccented(name):
                    return name
            if self.settings.number == "ignored" and " " not in word:
                for name in names:
                    if word in plurals(unaccented(name)):
                        return name
        return ""

    def undecided(self, clause: str, *candidates: str, alike: bool = False) -> Proposal:
        """Return a proposal that leaves the code to a person."""
        return replace(self.proposed("undecided", clause, alike=alike), candidates=candidates)

    def proposed(self, code: str, clause: str, *, alike: bool = False) -> Proposal:
        """Return a proposal with this code."""
        return Proposal(
            code,
            f"{clause}; {self.alike.sentence}" if alike else clause,
            homophones=self.words.all,
            chance_rate=chance_rate() if alike and self.alike.related else None,
            repeats=self.repeats,
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
    return replace(_right(case, case.target.accept[number], but_for(edits)), edits=edits)


def is_right(case: Case) -> bool:
    """Return whether an attempt is right without a tolerance (rules 7 to 7d)."""
    rules = (accepted, weak_vowels, other_number, declared_variety)
    return any(rule(case) is not None for rule in rules)


def _right(case: Case, form: Accepted, how: str) -> Proposal:
    flags = ("dialect",) * (form.reason == "dialect")
    clause = f"{case.shown} equals /{form.ipa}/{how}"
    return replace(case.proposed("correct", clause), flags=flags, form=form)
