"""Whether two words are similar in sound, and how often two words are so by chance (SCORING 4).

The criterion is the PNT's (Roach, Schwartz, Martin, Grewal and Brecher 1996; Schwartz, Dell,
Martin, Gahl and Sobel 2006): the same beginning or end, a phoneme at the same place from the left,
or more than one phoneme in common anywhere, unstressed vowels excluded. It is generous, so its
chance rate is shown with every proposal that rests on it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tabwb.phonology.dictionary import load_dictionary
from tabwb.phonology.inventory import is_vowel
from tabwb.scoring.lexicon import load_lexicon

CHANCE_PAIRS = 2000
_CHANCE_SEED = 1


@dataclass(frozen=True, slots=True)
class Similarity:
    """What two words have in common.

    Attributes:
        shared: phonemes in common, in the first word's order, unstressed vowels excluded.
        clauses: those of the criterion that fired; none: the words are not similar.
    """

    shared: tuple[str, ...]
    clauses: tuple[str, ...]

    @property
    def related(self) -> bool:
        """Whether the words are similar."""
        return bool(self.clauses)

    @property
    def sentence(self) -> str:
        """For people: ``shares D AO G (begins alike, ...)``, or that they are not similar."""
        if not self.related:
            return "not similar in sound"
        return f"shares {' '.join(self.shared)} ({', '.join(self.clauses)})"


def similarity(target: Sequence[str], said: Sequence[str]) -> Similarity:
    """How similar what was said is to a target.

    The inventory does not tell stress: AH is taken for unstressed in every word of two or more
    vowels [ours]. The place of a phoneme is counted in phonemes from the left, and for vowels in
    syllables too [ours: the criterion says "corresponding syllable or word position"].

    >>> similarity("D AO G".split(), "D AO G AH".split()).sentence
    'shares D AO G (begins alike, same place, two or more in common)'
    >>> similarity("K AE T".split(), "D AO G".split()).related
    False
    """
    one, other = _counted(target), _counted(said)
    common = Counter(filter(None, one)) & Counter(filter(None, other))
    shared: list[str] = []
    left = common.copy()
    for phoneme in one:
        if phoneme and left[phoneme]:
            left[phoneme] -= 1
            shared.append(phoneme)
    clauses = []
    if one and other and one[0] and one[0] == other[0]:
        clauses.append("begins alike")
    if one and other and one[-1] and one[-1] == other[-1]:
        clauses.append("ends alike")
    inner = [
        left for left, right in zip(one[1:], other[1:], strict=False) if left and left == right
    ]
    vowels = zip(_vowels(one), _vowels(other), strict=False)
    if inner or any(left and left == right for left, right in vowels):
        clauses.append("same place")
    if common.total() > 1:
        clauses.append("two or more in common")
    return Similarity(tuple(shared), tuple(clauses))


def most_similar(forms: Sequence[Sequence[str]], said: Sequence[str]) -> Similarity:
    """The similarity to that of several pronunciations that has most in common."""
    found = [similarity(form, said) for form in forms]
    return max(found, key=lambda one: (one.related, len(one.shared)), default=Similarity((), ()))


@lru_cache(maxsize=1)
def chance_rate() -> float:
    """Share of random pairs of common English words that the criterion calls similar.

    Computed over :data:`CHANCE_PAIRS` pairs of different words, drawn with a fixed seed from the
    common words (SCOWL up to 35) that the CMU dictionary pronounces; standard error 1.1 percentage
    points. Takes 0.2 s, once.
    """
    return chance_rate_of(CHANCE_PAIRS, _CHANCE_SEED)


def chance_rate_of(pairs: int, seed: int) -> float:
    """The same over any number of pairs with any seed."""
    chance = random.Random(seed)
    related = 0
    for _ in range(pairs):
        word, phonemes = _drawn(chance)
        other, others = _drawn(chance)
        while other == word:
            other, others = _drawn(chance)
        related += similarity(phonemes, others).related
    return related / pairs


def _drawn(chance: random.Random) -> tuple[str, tuple[str, ...]]:
    """A common word with one of its pronunciations."""
    dictionary, lexicon = load_dictionary(), load_lexicon()
    while True:
        word, phonemes = dictionary.entry(chance.randrange(len(dictionary)))
        if lexicon.common(word):
            return word, phonemes


def _counted(phonemes: Sequence[str]) -> list[str]:
    """The phonemes, an empty string for each unstressed vowel."""
    several = sum(map(is_vowel, phonemes)) > 1
    return ["" if several and each == "AH" else each for each in phonemes]


def _vowels(counted: Sequence[str]) -> list[str]:
    """The vowels, one for each syllable; unstressed ones are empty."""
    return [each for each in counted if not each or is_vowel(each)]
