"""Words by sound: word or nonword, endings, number, phrases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tabwb.phonology.dictionary import load_dictionary
from tabwb.phonology.letters import guessed_sound
from tabwb.scoring.lexicon import load_lexicon

COMMON_SIZE = 35
"""SCOWL's size up to which a sound counts as a word; from there to 60 a person decides. [ours]"""
PHRASE_SIZE = 10
"""SCOWL's size of the words into which a response is split to detect phrases. [ours]"""

_IRREGULAR = {
    "child": "children", "foot": "feet", "goose": "geese", "man": "men", "mouse": "mice",
    "ox": "oxen", "person": "people", "tooth": "teeth", "woman": "women",
}  # fmt: skip
_SIBILANT = ("S", "Z", "SH", "ZH", "CH", "JH")
_VOICELESS = ("P", "T", "K", "F", "TH")
_VOICED = {"S": "Z", "F": "V", "TH": "DH"}
"""Final consonants that are voiced in some plurals: houses, knives, mouths."""
_MERGED = {"AA": "AO", "AO": "AA"}
"""The vowels of "cot" and "caught", one vowel for many speakers of English; not before R."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words with a given sound.

    Attributes:
        common: SCOWL up to 35, or in a list of the battery, the commonest first.
        rarer: SCOWL 40 to 60.
        other: words beyond that; most are names.
        how: differences that were ignored, as the end of a phrase; or empty.
    """

    common: tuple[str, ...] = ()
    rarer: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    how: str = ""

    @property
    def all(self) -> tuple[str, ...]:
        """Every one, the commonest first."""
        return self.common + self.rarer + self.other


def words_sounding(phonemes: Sequence[str], listed: frozenset[str] = frozenset()) -> Words:
    """Return the words of the dictionary with these phonemes.

    Without a common word, those that match when the vowels of "cot" and "caught" are equal. [ours]

    Args:
        phonemes: ARPAbet without stress.
        listed: words of the battery, which count as common.

    >>> words_sounding(("P", "UW", "CH")).rarer, words_sounding(("D", "AA", "G")).common
    (('pooch',), ('dog',))
    """
    words = _sounding(tuple(phonemes), listed)
    if not words.common:
        for way in _merged(tuple(phonemes)):
            if common := _sounding(way, listed).common:
                how = " with the vowels of 'cot' and 'caught' alike"
                return Words(common, words.rarer, words.other, how)
    return words


@lru_cache(maxsize=1024)
def _sounding(phonemes: tuple[str, ...], listed: frozenset[str]) -> Words:
    lexicon = load_lexicon()
    words = load_dictionary().homophones(phonemes)
    sizes = {word: 0 if word in listed else lexicon.size(word) for word in words}
    known = sorted((size, word) for word, size in sizes.items() if size is not None)
    return Words(
        tuple(word for size, word in known if size <= COMMON_SIZE),
        tuple(word for size, word in known if size > COMMON_SIZE),
        tuple(word for word in words if sizes[word] is None),
    )


def _merged(phonemes: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the same with one vowel of "cot" or "caught" as the other.

    >>> list(_merged(("D", "AA", "G"))), list(_merged(("K", "AA", "R")))
    ([('D', 'AO', 'G')], [])
    """
    for at, phoneme in enumerate(phonemes):
        if phoneme in _MERGED and phonemes[at + 1 : at + 2] != ("R",):
            yield (*phonemes[:at], _MERGED[phoneme], *phonemes[at + 1 :])


@lru_cache(maxsize=1024)
def pronunciations(word: str) -> tuple[tuple[str, ...], ...]:
    """Return the dictionary's pronunciations of a word, the usual one first."""
    return tuple(pronunciation.phonemes for pronunciation in load_dictionary().pronunciations(word))


def sound_of(word: str) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """Return the pronunciations of a word and whether they were guessed from its letters.

    >>> sound_of("dog"), sound_of("treeb")
    (((('D', 'AO', 'G'),), False), ((('T', 'R', 'IY', 'B'),), True))
    """
    listed = pronunciations(word)
    if listed:
        return listed, False
    guess = guessed_sound(word)
    return ((guess,) if guess else ()), True


def is_word(word: str, listed: frozenset[str] = frozenset()) -> bool:
    """Return whether a word is listed: SCOWL up to 60, or in a list of the battery.

    Args:
        word: lower case.
        listed: words of the battery.

    >>> is_word("pooch"), is_word("treeb")
    (True, False)
    """
    return word in listed or load_lexicon().size(word) is not None


def is_common(word: str) -> bool:
    """Return whether a word is among the common ones (SCOWL up to 35)."""
    return load_lexicon().common(word)


# ------------------------------------------------------------------ number and endings


def plurals(word: str) -> frozenset[str]:
    """Return possible spellings of the plural of a word, and of its singular.

    >>> sorted(plurals("knife")), sorted(plurals("feet"))
    (['knifees', 'knifes', 'knives'], ['feetes', 'feets', 'foot'])
    """
    spellings = {word + "s", word + "es"}
    if word.endswith("y"):
        spellings.add(word[:-1] + "ies")
    for end in ("f", "fe"):
        if word.endswith(end):
            spellings.add(word.removesuffix(end) + "ves")
    for singular, plural in _IRREGULAR.items():
        if word == singular:
            spellings.add(plural)
        elif word == plural:
            spellings.add(singular)
    for end, single in (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("es", ""), ("s", "")):
        if word.endswith(end) and not word.endswith("ss"):
            lone = word.removesuffix(end) + single
            if len(lone) > 1 and load_lexicon().size(lone) is not None:
                spellings.add(lone)
    return frozenset(spellings)


def derived(word: str) -> frozenset[str]:
    """Return the spellings of a word with an ending that is not number.

    >>> sorted(derived("dog") & {"doggie", "dogs", "dogged", "dogging", "doghouse"})
    ['dogged', 'doggie', 'dogging']
    """
    stems = {word, word.removesuffix("e"), word + word[-1:]}
    endings = ("ed", "ing", "ings", "er", "ers", "y", "ie", "ies", "let", "like")
    return frozenset(stem + end for stem in stems for end in endings) | {word + "'s"}


def numbers_of(form: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return a form with the endings of the plural, and with its last consonant voiced (houses).

    >>> sorted(" ".join(each) for each in numbers_of(("HH", "AW", "S")))
    ['HH AW S AH Z', 'HH AW S IH Z', 'HH AW Z AH Z', 'HH AW Z IH Z']
    """
    last, forms = form[-1], []
    for end in dict.fromkeys((last, _VOICED.get(last, last))):
        stem = (*form[:-1], end)
        if end in _SIBILANT:
            forms += [(*stem, "AH", "Z"), (*stem, "IH", "Z")]
        else:
            forms.append((*stem, "S" if end in _VOICELESS else "Z"))
    return frozenset(forms)


def endings_of(form: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return a form with each regular ending that is not number: -y, -ing, -er, -ed."""
    ends: list[tuple[str, ...]] = [("IY",), ("IY", "Z"), ("IH", "NG"), ("ER",), ("ER", "Z")]
    if form[-1] in ("T", "D"):
        ends += [("AH", "D"), ("IH", "D")]
    else:
        ends.append(("T",) if form[-1] in (*_VOICELESS, "S", "SH", "CH") else ("D",))
    return frozenset((*form, *end) for end in ends)


# ------------------------------------------------------------------ phrases


def phrase_of(phonemes: Sequence[str]) -> tuple[str, ...]:
    """Return the two or more very common words that make up the phonemes, or nothing.

    Each has two phonemes or more, so that a single phoneme makes no phrase; I and a may begin it.
    """
    best: list[tuple[str, ...] | None] = [(), *[None] * len(phonemes)]
    for end in range(1, len(phonemes) + 1):
        for start in range(end):
            before = best[start]
            if before is None or (end - start < 2 and start):
                continue
            shorter = best[end]
            if shorter is not None and len(shorter) <= len(before) + 1:
                continue
            words = sorted(load_dictionary().homophones(phonemes[start:end]), key=len)
            word = next(filter(_very_common, words), None)
            if word is not None:
                best[end] = (*before, word)
    phrase = best[-1] or ()
    return phrase if len(phrase) > 1 else ()


def _very_common(word: str) -> bool:
    """Return whether a word, or the first word of a contraction (don't, it's), is very common."""
    stem = word.removesuffix("n't").partition("'")[0]
    return stem == "i" or load_lexicon().level(stem) == PHRASE_SIZE
