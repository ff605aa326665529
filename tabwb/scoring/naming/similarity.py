"""Similarity in sound of two words, and its chance rate.

The criterion is the PNT's (Roach, Schwartz, Martin, Grewal and Brecher 1996; Schwartz, Dell,
Martin, Gahl and Sobel 2006): the same beginning or end, a phoneme at the same place from the left,
or more than one phoneme in common anywhere, unstressed vowels excluded. It is liberal, so its
chance rate is shown with every proposal that uses it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from tabwb.phonology.dictionary import load_dictionary
from tabwb.phonology.inventory import is_vowel, to_ipa
from tabwb.scoring.naming.forms import stress_of
from tabwb.scoring.naming.words import plurals

CHANCE_PAIRS = 4000
_CHANCE_SEED = 1


@dataclass(frozen=True, slots=True)
class Similarity:
    """Phonemes that two words have in common.

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
        """For people: ``shares /dɔɡ/ (begins alike, ...)``, or that they are not similar."""
        if not self.related:
            return "not similar in sound"
        return f"shares /{to_ipa(self.shared)}/ ({', '.join(self.clauses)})"


def similarity(
    target: Sequence[str], said: Sequence[str], stress: str = "", said_stress: str = ""
) -> Similarity:
    """Return the similarity of a response and a target.

    The place of a phoneme is counted in phonemes from the left, and for vowels in syllables too
    [ours: the criterion says "corresponding syllable or word position"].

    Args:
        target: its phonemes, without the ending of a plural.
        said: phonemes of the response, likewise.
        stress: of the target's vowels (``10``); where it is empty, AH counts as unstressed in
            every word of two or more vowels [ours].
        said_stress: the same of the response.

    >>> similarity("D AO G".split(), "D AO G AH".split()).sentence
    'shares /dɔɡ/ (begins alike, same place, two or more in common)'
    >>> similarity("K AE T".split(), "D AO G".split()).related
    False
    """
    first, second = _counted(target, stress), _counted(said, said_stress)
    common = Counter(filter(None, first)) & Counter(filter(None, second))
    shared: list[str] = []
    left = common.copy()
    for phoneme in first:
        if phoneme and left[phoneme]:
            left[phoneme] -= 1
            shared.append(phoneme)
    clauses = []
    if first and second and first[0] and first[0] == second[0]:
        clauses.append("begins alike")
    if first and second and first[-1] and first[-1] == second[-1]:
        clauses.append("ends alike")
    inner = [
        left for left, right in zip(first[1:], second[1:], strict=False) if left and left == right
    ]
    vowels = zip(_vowels(first), _vowels(second), strict=False)
    if inner or any(left and left == right for left, right in vowels):
        clauses.append("same place")
    if common.total() > 1:
        clauses.append("two or more in common")
    return Similarity(tuple(shared), tuple(clauses))


def most_similar(
    forms: Sequence[Sequence[str]],
    ways: Sequence[Sequence[str]],
    target: str = "",
    word: str = "",
) -> Similarity:
    """Return the similarity of the two most similar pronunciations.

    Args:
        forms: the target's own pronunciations.
        ways: those of the response.
        target: the target, for stress and number; may be empty.
        word: the word of the response, likewise.

    >>> most_similar([("S", "OW", "F", "AH")], [("B", "AH", "N", "AE", "N", "AH")]).related
    False
    """
    similarities = [
        similarity(
            *(_singular(form, target), _singular(way, word)),
            *(_stress(form, target), _stress(way, word)),
        )
        for form in forms
        for way in ways
    ]
    return max(
        similarities, key=lambda pair: (pair.related, len(pair.shared)), default=Similarity((), ())
    )


def _stress(phonemes: Sequence[str], word: str) -> str:
    return stress_of(phonemes, word) if word else ""


def _singular(phonemes: Sequence[str], word: str) -> Sequence[str]:
    """Return the phonemes without the -s of a plural (Schwartz 2006)."""
    if not word.endswith("s") or not plurals(word) - {word + "s", word + "es"}:
        return phonemes
    for end in (("AH", "Z"), ("IH", "Z"), ("Z",), ("S",)):
        if len(phonemes) > len(end) + 1 and tuple(phonemes[-len(end) :]) == end:
            sibilant = phonemes[-len(end) - 1] in ("S", "Z", "SH", "ZH", "CH", "JH")
            if len(end) == 1 or sibilant:
                return phonemes[: -len(end)]
    return phonemes


@lru_cache(maxsize=1)
def chance_rate() -> float:
    """Return the share of random pairs of picture nouns that the criterion calls similar.

    Computed over :data:`CHANCE_PAIRS` pairs of different nouns, drawn with a fixed seed from the
    list ``data/picture_nouns.txt``; standard error 0.7 percentage points. Takes 0.3 s, once.
    """
    return chance_rate_of(CHANCE_PAIRS, _CHANCE_SEED)


def chance_rate_of(pairs: int, seed: int) -> float:
    """Return the chance rate over a number of random pairs.

    Args:
        pairs: how many pairs of nouns to draw.
        seed: of the random numbers.
    """
    chance = random.Random(seed)
    nouns = _picture_nouns()
    related = 0
    for _ in range(pairs):
        (first, first_stress), (second, second_stress) = chance.sample(nouns, 2)
        related += similarity(first, second, first_stress, second_stress).related
    return related / pairs


@lru_cache(maxsize=1)
def _picture_nouns() -> list[tuple[tuple[str, ...], str]]:
    """Return each noun's usual pronunciation, without the -s of a plural, with its stress."""
    text = (files("tabwb.scoring") / "data" / "picture_nouns.txt").read_text("ascii")
    nouns = []
    for word in text.split():
        pronunciation = load_dictionary().pronunciations(word)[0]
        nouns.append((tuple(_singular(pronunciation.phonemes, word)), pronunciation.stress))
    return nouns


def _counted(phonemes: Sequence[str], stress: str) -> list[str]:
    """Return the phonemes, an empty string for each unstressed vowel."""
    vowels = sum(map(is_vowel, phonemes))
    if len(stress) < vowels:
        return ["" if vowels > 1 and phoneme == "AH" else phoneme for phoneme in phonemes]
    digits = iter(stress)
    return ["" if is_vowel(phoneme) and next(digits) == "0" else phoneme for phoneme in phonemes]


def _vowels(counted: Sequence[str]) -> list[str]:
    """Return the vowels, one for each syllable; unstressed ones are empty."""
    return [phoneme for phoneme in counted if not phoneme or is_vowel(phoneme)]
