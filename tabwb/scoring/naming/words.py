"""Words by sound, endings, number and phrases; the similarity in sound of two words."""

from __future__ import annotations

import itertools
import random
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from tabwb.phonology.dictionary import guessed_sound, load_dictionary
from tabwb.phonology.inventory import is_vowel, to_ipa
from tabwb.scoring.lexicon import load_lexicon
from tabwb.scoring.naming.target import stress_of
from tabwb.scoring.text import regular_plurals

COMMON_SIZE = 35
"""SCOWL's size up to which a sound counts as a word; from there to 60 a person decides. [ours]"""
PHRASE_SIZE = 10
"""SCOWL's size of the words into which a response is split to detect phrases. [ours]"""

_IRREGULAR = {
    "child": "children", "foot": "feet", "goose": "geese", "man": "men", "mouse": "mice",
    "cactus": "cacti", "hippopotamus": "hippopotami", "octopus": "octopi", "louse": "lice",
    "ox": "oxen", "person": "people", "tooth": "teeth", "woman": "women",
}  # fmt: skip
_IRREGULAR |= {plural: singular for singular, plural in _IRREGULAR.items()}
_SIBILANT = ("S", "Z", "SH", "ZH", "CH", "JH")
_VOICELESS = ("P", "T", "K", "F", "TH")
_VOICED = {"S": "Z", "F": "V", "TH": "DH"}
"""Final consonants that are voiced in some plurals: houses, knives, mouths."""
_MERGED = {"AA": "AO", "AO": "AA"}
"""The vowels of "cot" and "caught", one vowel for many speakers of English; not before R."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words with a given sound."""

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
    """Yield the same with one vowel of "cot" or "caught" as the other."""
    for at, phoneme in enumerate(phonemes):
        if phoneme in _MERGED and phonemes[at + 1 : at + 2] != ("R",):
            yield (*phonemes[:at], _MERGED[phoneme], *phonemes[at + 1 :])


@lru_cache(maxsize=1024)
def pronunciations(word: str) -> tuple[tuple[str, ...], ...]:
    """Return the dictionary's pronunciations of a word, the usual one first, accents ignored.

    >>> pronunciations("café") == pronunciations("cafe")
    True
    """
    found = load_dictionary().pronunciations(unaccented(word))
    return tuple(pronunciation.phonemes for pronunciation in found)


_SPELLED = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ß": "ss", "ł": "l", "đ": "d", "þ": "th", "ı": "i"}
)


@lru_cache(maxsize=1024)
def unaccented(word: str) -> str:
    """Return a word with the letters that English dictionaries have.

    >>> [unaccented(word) for word in ("naïve", "façade", "piñata", "smørrebrød")]
    ['naive', 'facade', 'pinata', 'smorrebrod']
    """
    if word.isascii():
        return word
    spread = unicodedata.normalize("NFKD", word.translate(_SPELLED))
    return "".join(sign for sign in spread if not unicodedata.combining(sign))


def joined(parts: Iterable[Iterable[tuple[str, ...]]]) -> tuple[tuple[str, ...], ...]:
    """Return up to 16 pronunciations of several words together, of those of each."""
    ways = itertools.islice(itertools.product(*parts), 16)
    together = dict.fromkeys(tuple(itertools.chain.from_iterable(way)) for way in ways)
    return tuple(way for way in together if way)


def sound_of(word: str) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """Return the pronunciations of a word and whether they were guessed from its letters.

    >>> sound_of("dog"), sound_of("treeb")
    (((('D', 'AO', 'G'),), False), ((('T', 'R', 'IY', 'B'),), True))
    """
    if listed := pronunciations(word):
        return listed, False
    guess = guessed_sound(unaccented(word))
    return ((guess,) if guess else ()), True


def is_word(word: str, listed: frozenset[str] = frozenset()) -> bool:
    """Return whether a word is listed: SCOWL up to 60, or in a list of the battery.

    >>> is_word("pooch"), is_word("treeb")
    (True, False)
    """
    return word in listed or load_lexicon().size(unaccented(word)) is not None


def plurals(word: str) -> frozenset[str]:
    """Return possible spellings of the plural of a word, and of its singular.

    >>> sorted(plurals("knife")), sorted(plurals("feet"))
    (['knifees', 'knifes', 'knives'], ['feetes', 'feets', 'foot'])
    """
    spellings = set(regular_plurals(word))
    if word in _IRREGULAR:
        spellings.add(_IRREGULAR[word])
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
    endings = ("ed", "ing", "ings", "er", "ers", "y", "ie", "ies", "let", "like", "ling", "lings")
    return frozenset(stem + end for stem in stems for end in endings) | {word + "'s"}


@lru_cache(maxsize=1)
def _only_looks_derived() -> frozenset[str]:
    """Return words that look like another with an ending and are not: "penny" is not of "pen"."""
    text = (files("tabwb.scoring") / "data" / "looks_derived.txt").read_text("ascii")
    return frozenset(text.split())


def is_derived(word: str, name: str) -> bool:
    """Return whether a word is another with an ending that is not number, by spelling and sound.

    >>> [is_derived(word, "pen") for word in ("penned", "penny", "pens")]
    [True, False, False]
    >>> is_derived("being", "bee"), is_derived("beer", "bee")
    (True, False)
    """
    if word not in derived(name) or not _only_looks_derived().isdisjoint({word, *plurals(word)}):
        return False
    if word.endswith("ling") and load_lexicon().size(word.removesuffix("ing") + "e") is not None:
        return False  # "rattling" is of "rattle", not of "rat"
    ways, stems = pronunciations(word), pronunciations(name)
    kept = {way[: len(stem)] for way in ways for stem in stems}
    voiced = {(*stem[:-1], _VOICED.get(stem[-1], stem[-1])) for stem in stems}
    return not ways or not stems or not kept.isdisjoint({*stems, *voiced})


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
    """Return a form with each regular ending that is not number: -y, -ing, -er, -ling, -ed."""
    ends: list[tuple[str, ...]] = [("IY",), ("IY", "Z"), ("IH", "NG"), ("ER",), ("ER", "Z")]
    ends += [("L", "IH", "NG"), ("L", "IH", "NG", "Z")]
    if form[-1] in ("T", "D"):
        ends += [("AH", "D"), ("IH", "D")]
    else:
        ends.append(("T",) if form[-1] in (*_VOICELESS, "S", "SH", "CH") else ("D",))
    return frozenset((*form, *end) for end in ends)


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


CHANCE_PAIRS = 4000
_CHANCE_SEED = 1


@dataclass(frozen=True, slots=True)
class Similarity:
    """Phonemes that two words share, in the first word's order, and clauses of the criterion."""

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

    The criterion is the PNT's (Roach, Schwartz, Martin, Grewal and Brecher 1996; Schwartz, Dell,
    Martin, Gahl and Sobel 2006): the same beginning or end, a phoneme at the same place from the
    left, or more than one phoneme in common, unstressed vowels excluded. The place is counted in
    phonemes, and for vowels in syllables too [ours: "corresponding syllable or word position"].

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
    if _meet(first[:1], second[:1]):
        clauses.append("begins alike")
    if _meet(first[-1:], second[-1:]):
        clauses.append("ends alike")
    if _meet(first[1:], second[1:]) or _meet(_vowels(first), _vowels(second)):
        clauses.append("same place")
    if common.total() > 1:
        clauses.append("two or more in common")
    return Similarity(tuple(shared), tuple(clauses))


def _meet(first: Sequence[str], second: Sequence[str]) -> bool:
    return any(left and left == right for left, right in zip(first, second, strict=False))


def most_similar(
    forms: Sequence[Sequence[str]],
    ways: Sequence[Sequence[str]],
    target: str = "",
    word: str = "",
) -> Similarity:
    """Return the similarity of the two most similar pronunciations.

    >>> most_similar([("S", "OW", "F", "AH")], [("B", "AH", "N", "AE", "N", "AH")]).related
    False
    """
    spoken = [_without_number(way, word) for way in ways]
    similarities = [
        similarity(own, said, stress, said_stress)
        for own, stress in (_without_number(form, target) for form in forms)
        for said, said_stress in spoken
    ]
    return max(
        similarities, key=lambda pair: (pair.related, len(pair.shared)), default=Similarity((), ())
    )


def _without_number(phonemes: Sequence[str], word: str) -> tuple[Sequence[str], str]:
    return _singular(phonemes, word), stress_of(phonemes, unaccented(word)) if word else ""


def _singular(phonemes: Sequence[str], word: str) -> Sequence[str]:
    """Return the phonemes without the -s of a plural (Schwartz 2006)."""
    if not word.endswith("s") or not plurals(word) - {word + "s", word + "es"}:
        return phonemes
    for end in (("AH", "Z"), ("IH", "Z"), ("Z",), ("S",)):
        if len(phonemes) > len(end) + 1 and tuple(phonemes[-len(end) :]) == end:
            sibilant = phonemes[-len(end) - 1] in _SIBILANT
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
    """Return the chance rate over a number of random pairs."""
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
