"""The accepted form that an attempt equals, and the differences ignored (rule 7).

A form is matched phoneme by phoneme: each place may have alternatives, each with the name of what
allows it (a weak vowel, a flap, a variety of English).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal

from tabwb.phonology.dictionary import load_dictionary
from tabwb.phonology.inventory import is_vowel
from tabwb.scoring.naming.target import Accepted

Variety = Literal[
    "non-rhotic",
    "cot-caught",
    "trap-bath",
    "th-fronting",
    "h-dropping",
    "foot-strut",
    "t-glottalling",
    "raising",
]
"""Differences of a participant's English from General American."""
VARIETIES: Final[Mapping[Variety, str]] = MappingProxyType(
    {
        "non-rhotic": "no R before a consonant or at the end (car, butter)",
        "cot-caught": "the vowels of 'cot' and 'caught' are one",
        "trap-bath": "the vowel of 'palm' in 'bath'",
        "th-fronting": "F and V for TH ('baff')",
        "h-dropping": "no H at the beginning ('ouse)",
        "foot-strut": "the vowels of 'foot' and 'strut' are one",
        "t-glottalling": "a glottal stop for T, which transcripts leave out",
        "raising": "a raised first vowel in 'house' and 'price'",
    }
)
UNHEARD: Final = frozenset({"t-glottalling"})
"""Varieties that leave no trace in a transcript: they are assumed only where they are declared."""
_WEAK = "weak"
"""Name of the alternatives of every speaker: weak vowels, flaps, coarticulation."""
_VOICELESS = ("P", "T", "K", "CH", "F", "TH", "S", "SH", "HH")


@dataclass(frozen=True, slots=True)
class Matched:
    """An accepted form that an attempt equals.

    Attributes:
        form: the form.
        weak: whether weak vowels, flaps or coarticulation were ignored.
        varieties: varieties of English without which it would not equal it.
    """

    form: Accepted
    weak: bool = False
    varieties: tuple[Variety, ...] = ()


def matched(
    phonemes: Sequence[str],
    accept: Sequence[Accepted],
    target: str,
    varieties: Sequence[Variety] = (),
) -> Matched | None:
    """Return the accepted form that an attempt equals, None where it equals none.

    Equal forms come before forms equal except for weak vowels, and these before forms equal in a
    variety; of several, the battery's first.

    Args:
        phonemes: phonemes of the attempt.
        accept: the accepted forms.
        target: the word, for the stress of its vowels.
        varieties: that may be assumed.

    >>> dog = (Accepted(("D", "AO", "G"), "citation"),)
    >>> matched(("D", "AA", "G"), dog, "dog") is None
    True
    >>> matched(("D", "AA", "G"), dog, "dog", ("cot-caught",)).varieties
    ('cot-caught',)
    """
    text = "".join(f"{phoneme} " for phoneme in phonemes)
    for form in accept:
        if tuple(phonemes) == form.phonemes:
            return Matched(form)
    for form in accept:
        if _pattern(form.phonemes, form.word or target, frozenset({_WEAK})).fullmatch(text):
            return Matched(form, weak=True)
    every = frozenset({_WEAK, *varieties})
    if not any(
        _pattern(form.phonemes, form.word or target, every).fullmatch(text) for form in accept
    ):
        return None
    for count in (1, 2, len(varieties)):
        for some in itertools.combinations(varieties, count) if count <= len(varieties) else ():
            for form in accept:
                names = frozenset({_WEAK, *some})
                if _pattern(form.phonemes, form.word or target, names).fullmatch(text):
                    return Matched(form, varieties=some)
    return None


def stress_of(phonemes: Sequence[str], word: str) -> str:
    """Return the stress of each vowel of a word: ``1``, ``2`` or ``0``, none.

    From the dictionary; for a form that it lacks, only the first vowel is stressed [ours].

    Args:
        phonemes: of the word, ARPAbet without stress.
        word: its spelling.

    >>> stress_of("P EH N S AH L".split(), "pencil"), stress_of("B L OW R AH".split(), "blora")
    ('10', '10')
    """
    for pronunciation in load_dictionary().pronunciations(word):
        if pronunciation.phonemes == tuple(phonemes):
            return pronunciation.stress
    vowels = sum(map(is_vowel, phonemes))
    return "1" + "0" * (vowels - 1) if vowels else ""


@lru_cache(maxsize=4096)
def _pattern(form: tuple[str, ...], word: str, names: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of all ways to say a form, each phoneme followed by a blank."""
    stress = iter(stress_of(form, word))
    places = []
    for at, phoneme in enumerate(form):
        stressed = next(stress, "1") != "0" if is_vowel(phoneme) else False
        ways = [f"{phoneme} "]
        for name, way in _ways(form, at, stressed=stressed):
            if name in names:
                ways.append("".join(f"{sound} " for sound in way))
        places.append(f"(?:{'|'.join(dict.fromkeys(ways))})")
    return re.compile("".join(places))


def _ways(form: Sequence[str], at: int, *, stressed: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the alternatives of a phoneme of a form, each with what allows it."""
    phoneme = form[at]
    before = form[at - 1] if at else ""
    after = form[at + 1] if at + 1 < len(form) else ""
    if phoneme in ("AH", "IH") and not stressed:
        yield _WEAK, ("IH" if phoneme == "AH" else "AH",)
    if phoneme in ("T", "D", "DX") and is_vowel(after) and (is_vowel(before) or before == "R"):
        yield from ((_WEAK, (consonant,)) for consonant in ("T", "D", "DX") if consonant != phoneme)
    if after == "R" and phoneme in ("T", "D"):
        yield _WEAK, ("CH" if phoneme == "T" else "JH",)
    if phoneme == "ER":
        yield "non-rhotic", ("AH",)
    if phoneme == "R" and at and not is_vowel(after):
        yield "non-rhotic", ()
        yield "non-rhotic", ("AH",)
    if phoneme in ("AA", "AO") and after != "R":
        yield "cot-caught", ("AO" if phoneme == "AA" else "AA",)
    if phoneme == "AE":
        yield "trap-bath", ("AA",)
    if phoneme == "TH":
        yield "th-fronting", ("F",)
    if phoneme == "DH" and at:
        yield "th-fronting", ("V",)
    if phoneme == "HH" and not at:
        yield "h-dropping", ()
    if phoneme == "AH" and stressed:
        yield "foot-strut", ("UH",)
    if phoneme == "T" and at:
        yield "t-glottalling", ()
    if phoneme == "AW":
        yield "raising", ("OW",)
    if phoneme == "AY" and after in _VOICELESS:
        yield "raising", ("AH", "IH")
        yield "raising", ("AH", "Y")
