"""The 40 phonemes of PSST: their features, their IPA, and how a pronunciation is read and written.

Source: PSST, appendix A and tables 4, 6 and 8; the values of W, UW and UH follow Hayes (2009), as
the challenge's scorer had them. Standard library only: what starts fast may import this.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal

from tabwb.records.errors import TabwbError
from tabwb.records.problems import shortened

FEATURES: Final[tuple[str, ...]] = (
    "syllabic", "consonantal", "sonorant", "continuant", "delayedrelease", "approximant",
    "tap", "nasal", "voice", "spreadglottis", "labial", "round",
    "labiodental", "coronal", "anterior", "distributed", "strident", "lateral",
    "dorsal", "high", "low", "front", "back", "tense",
)  # fmt: skip

FEATURE_VALUES: Final[Mapping[str, float]] = {"-": -1.0, "-+": -0.5, "0": 0.0, "+-": 0.5, "+": 1.0}
"""What a cell of table 6 means; ``-+`` moves from absent to present, ``+-`` back (table 4)."""

_TABLE_6: Final = """
P   -  +  -  -  -  -  -  -  -  -  +  -  -  -  0  0  0  -  -  0  0  0  0  0
B   -  +  -  -  -  -  -  -  +  -  +  -  -  -  0  0  0  -  -  0  0  0  0  0
T   -  +  -  -  -  -  -  -  -  -  -  -  -  +  +  -  -  -  -  0  0  0  0  0
D   -  +  -  -  -  -  -  -  +  -  -  -  -  +  +  -  -  -  -  0  0  0  0  0
K   -  +  -  -  -  -  -  -  -  -  -  -  -  -  0  0  0  -  +  +  -  0  0  0
G   -  +  -  -  -  -  -  -  +  -  -  -  -  -  0  0  0  -  +  +  -  0  0  0
CH  -  +  -  -  +  -  -  -  -  -  -  -  -  +  -  +  +  -  -  0  0  0  0  0
JH  -  +  -  -  +  -  -  -  +  -  -  -  -  +  -  +  +  -  -  0  0  0  0  0
F   -  +  -  +  +  -  -  -  -  -  +  -  +  -  0  0  0  -  -  0  0  0  0  0
V   -  +  -  +  +  -  -  -  +  -  +  -  +  -  0  0  0  -  -  0  0  0  0  0
TH  -  +  -  +  +  -  -  -  -  -  -  -  -  +  +  +  -  -  -  0  0  0  0  0
DH  -  +  -  +  +  -  -  -  +  -  -  -  -  +  +  +  -  -  -  0  0  0  0  0
S   -  +  -  +  +  -  -  -  -  -  -  -  -  +  +  -  +  -  -  0  0  0  0  0
Z   -  +  -  +  +  -  -  -  +  -  -  -  -  +  +  -  +  -  -  0  0  0  0  0
SH  -  +  -  +  +  -  -  -  -  -  -  -  -  +  -  +  +  -  -  0  0  0  0  0
ZH  -  +  -  +  +  -  -  -  +  -  -  -  -  +  -  +  +  -  -  0  0  0  0  0
HH  -  -  -  +  +  -  -  -  -  +  -  -  -  -  0  0  0  -  -  0  0  0  0  0
M   -  +  +  -  0  -  -  +  +  -  +  -  -  -  0  0  0  -  -  0  0  0  0  0
N   -  +  +  -  0  -  -  +  +  -  -  -  -  +  +  -  -  -  -  0  0  0  0  0
NG  -  +  +  -  0  -  -  +  +  -  -  -  -  -  0  0  0  -  +  +  -  0  0  0
L   -  +  +  +  0  +  -  -  +  -  -  -  -  +  +  -  -  +  -  0  0  0  0  0
DX  -  +  +  +  0  +  +  -  +  -  -  -  -  +  +  -  -  -  -  0  0  0  0  0
Y   -  -  +  +  0  +  -  -  +  -  -  -  -  -  0  0  0  -  +  +  -  +  -  +
W   -  -  +  +  0  +  -  -  +  -  +  +  -  -  0  0  0  -  +  +  -  -  +  +
R   -  -  +  +  0  +  -  -  +  -  -  -  -  +  -  +  -  -  -  0  0  0  0  0
ER  +  -  +  +  0  +  -  -  +  -  -  -  -  +  -  +  -  -  -  0  0  0  0  0
IY  +  -  +  +  0  +  -  -  +  -  -  -  -  -  0  0  0  -  +  +  -  +  -  +
IH  +  -  +  +  0  +  -  -  +  -  -  -  -  -  0  0  0  -  +  +  -  +  -  -
UW  +  -  +  +  0  +  -  -  +  -  +  +  -  -  0  0  0  -  +  +  -  -  +  +
UH  +  -  +  +  0  +  -  -  +  -  +  +  -  -  0  0  0  -  +  +  -  -  +  -
EH  +  -  +  +  0  +  -  -  +  -  -  -  -  -  0  0  0  -  +  -  -  +  -  -
EY  +  -  +  +  0  +  -  -  +  -  -  -  -  -  0  0  0  -  + -+  -  +  - +-
AH  +  -  +  +  0  +  -  -  +  -  -  -  -  -  0  0  0  -  +  -  -  -  +  -
AO  +  -  +  +  0  +  -  -  +  -  +  +  -  -  0  0  0  -  +  -  -  -  +  -
OW  +  -  +  +  0  +  -  -  +  -  +  +  -  -  0  0  0  -  + -+  -  -  + +-
OY  +  -  +  +  0  +  -  -  +  -  + +-  -  -  0  0  0  -  + -+  - -+ +-  -
AE  +  -  +  +  0  +  -  -  +  -  -  -  -  -  0  0  0  -  +  -  +  +  -  0
AW  +  -  +  +  0  +  -  -  +  -  - -+  -  -  0  0  0  -  + -+ +-  - -+  0
AY  +  -  +  +  0  +  -  -  +  -  -  -  -  -  0  0  0  -  + -+ +- -+  -  0
AA  +  -  +  +  0  +  -  -  +  -  -  -  -  -  0  0  0  -  +  -  +  -  +  0
"""


FEATURE_SYMBOLS: Final[Mapping[str, tuple[str, ...]]] = {
    line.split()[0]: tuple(line.split()[1:]) for line in _TABLE_6.strip().splitlines()
}
"""Table 6 as printed: of each phoneme one of ``- -+ 0 +- +`` for each of :data:`FEATURES`."""

PHONEMES: Final[tuple[str, ...]] = tuple(FEATURE_SYMBOLS)
"""The 40 phonemes as ARPAbet without stress, in the order of table 6."""

FEATURE_TABLE: Final[Mapping[str, tuple[float, ...]]] = {
    phoneme: tuple(FEATURE_VALUES[symbol] for symbol in symbols)
    for phoneme, symbols in FEATURE_SYMBOLS.items()
}
"""The same as numbers, -1 to 1: see :data:`FEATURE_VALUES`."""

SILENT: Final[tuple[str, ...]] = ("<sil>", "<spn>", "<unk>")
"""Silence, noise and the unintelligible: no phonemes. They cost nothing and count nowhere."""

CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    "stops": ("P", "B", "T", "D", "K", "G"),
    "affricates": ("CH", "JH"),
    "fricatives": ("F", "V", "TH", "DH", "S", "Z", "SH", "ZH", "HH"),
    "nasals": ("M", "N", "NG"),
    "approximants": ("L", "DX", "Y", "W", "R"),
    "vowels": ("ER", "IY", "IH", "UW", "UH", "EH", "AH", "AO", "AE", "AA"),
    "diphthongs": ("EY", "OW", "OY", "AW", "AY"),
}
"""Classes of manner that tables of rates are made by; each phoneme is in one. [ours]

A class is a set of feature values: stops are -sonorant -continuant -delayedrelease, affricates
-continuant +delayedrelease, fricatives -sonorant +continuant, nasals +nasal, approximants
+approximant -syllabic (the tap among them), vowels and diphthongs +syllabic."""

_VOWELS: Final = frozenset(CLASSES["vowels"] + CLASSES["diphthongs"])

IPA: Final[Mapping[str, str]] = {
    "P": "p", "B": "b", "T": "t", "D": "d", "K": "k", "G": "ɡ", "CH": "tʃ", "JH": "dʒ",
    "F": "f", "V": "v", "TH": "θ", "DH": "ð", "S": "s", "Z": "z", "SH": "ʃ", "ZH": "ʒ",
    "HH": "h", "M": "m", "N": "n", "NG": "ŋ", "L": "l", "DX": "ɾ", "Y": "j", "W": "w",
    "R": "r", "ER": "ɝ", "IY": "i", "IH": "ɪ", "UW": "u", "UH": "ʊ", "EH": "ɛ", "EY": "eɪ",
    "AH": "ʌ", "AO": "ɔ", "OW": "oʊ", "OY": "ɔɪ", "AE": "æ", "AW": "aʊ", "AY": "aɪ",
    "AA": "ɑ",
}  # fmt: skip
"""Table 8, one notation for each phoneme: the stressed one of ɝ and ɚ, of ʌ and ə."""

IPA_READINGS: Final[Mapping[str, tuple[str, ...]]] = {
    **{letters: (phoneme,) for phoneme, letters in IPA.items()},
    # Table 8: merged or removed.
    "ɚ": ("ER",), "ə": ("AH",), "ʔ": (),
    # Table 6 has the affricates as one letter.
    "ʧ": ("CH",), "ʤ": ("JH",),
    # Other letters for the same broad phonemes. [ours]
    "g": ("G",), "ɹ": ("R",), "ɫ": ("L",), "ɜr": ("ER",), "ɜɹ": ("ER",), "ɜ": ("ER",),
    "ɜ˞": ("ER",), "ə˞": ("ER",),
    "e": ("EY",), "o": ("OW",), "əʊ": ("OW",), "n̩": ("AH", "N"), "m̩": ("AH", "M"),
    "l̩": ("AH", "L"),
}  # fmt: skip
"""What letters of IPA are read as; the longest that fits is taken."""

NEAREST: Final[Mapping[str, tuple[str, ...]]] = {
    # British and other vowels: the same word in General American, else the nearest place.
    "ɒ": ("AA",), "a": ("AE",), "ɐ": ("AH",), "ɘ": ("AH",), "ɵ": ("UH",), "ʉ": ("UW",),
    "ɨ": ("IH",), "ɯ": ("UW",), "ɤ": ("AH",), "y": ("IY",), "ʏ": ("IH",), "ø": ("EY",),
    "œ": ("EH",), "ɞ": ("ER",),
    # Consonants that English has not, or writes otherwise.
    "x": ("K",), "χ": ("K",), "ç": ("HH",), "ɣ": ("G",), "ɸ": ("F",), "β": ("V",),
    "ʋ": ("V",), "ɬ": ("L",), "ɮ": ("L",), "ʎ": ("L",), "ɻ": ("R",), "ʀ": ("R",),
    "ʁ": ("R",), "ɲ": ("N",), "ɱ": ("M",), "ʈ": ("T",), "ɖ": ("D",), "c": ("K",),
    "ɟ": ("G",), "q": ("K",), "ʂ": ("SH",), "ʐ": ("ZH",), "ɕ": ("SH",), "ʑ": ("ZH",),
    "ʍ": ("W",), "ɦ": ("HH",),
}  # fmt: skip
"""Sounds outside of the 40 and the phoneme that stands for each in distances. [ours]"""
ALLOPHONES: Final = frozenset(
    ["ɒ", "a", "ɐ", "ɘ", "ɵ", "ʉ", "ɨ", "ɞ", "ʍ", "ɦ", "ɱ", "ɻ", "ʋ", "ɜ"]
)
"""Those that varieties of English have for a phoneme of the 40; the others are sounds of their own.
A lengthened short vowel is one too. [ours]"""
_SHORT: Final = "ɪɛæaʌəʊɒɐ"
BRITISH: Final[Mapping[str, tuple[str, ...]]] = {
    "e": ("EH",), "eə": ("EH", "AH"), "ɛə": ("EH", "AH"), "ɪə": ("IH", "AH"),
    "ʊə": ("UH", "AH"), "əʊ": ("OW",), "ɜ": ("ER",), "ɛː": ("EH", "AH"), "eː": ("EH", "AH"),
    "ɪː": ("IH", "AH"), "ʊː": ("UH", "AH"), "əː": ("ER",), "aː": ("AA",),
}  # fmt: skip
"""Letters that British transcriptions use otherwise: /bed/ is B EH D there. [ours]"""
Notation = Literal["us", "uk"]
"""How letters of IPA are read: ``us`` as in PSST's table 8, ``uk`` as in British dictionaries."""
Beyond = Literal["map", "keep", "allophones", "refuse", "exact"]
"""What is done with a sound outside of the 40. ``map``: it becomes the nearest phoneme, which
:func:`mapped_letters` tells. ``keep``: it is a label of its own, unless it is an allophone of
English. ``allophones``: it is refused, unless it is one. ``refuse``: it is refused. ``exact``: so
is every mark, length among them, that distinguishes sounds of some language."""
MAPPED: Final = frozenset({*NEAREST, "ɜ", *(f"{vowel}ː" for vowel in _SHORT)})
"""Letters that are kept as typed and mapped to a phoneme; the mapping is told."""

_LONG: Final = {f"{vowel}ː": IPA_READINGS.get(vowel) or NEAREST[vowel] for vowel in _SHORT}
_READINGS: Final[Mapping[Notation, Mapping[str, tuple[str, ...]]]] = {
    "us": {**NEAREST, **_LONG, **IPA_READINGS},
    "uk": {**NEAREST, **_LONG, **IPA_READINGS, **BRITISH},
}
_ENGLISH: Final = {**{letter: NEAREST[letter] for letter in ALLOPHONES & NEAREST.keys()}, **_LONG}
_LONGEST: Final = max(map(len, (*IPA_READINGS, *BRITISH)))
_STRESS_AND_LENGTH: Final = "ˈˌ'ˑː"
_BOUNDARIES: Final = " \t.|/[]"
# Ties, aspiration, nasalisation, dental, unreleased, non-syllabic: nothing that tells ours apart.
_DETAIL: Final = "\u0361\u035cʰ\u0303\u032a\u031a\u032f"
_DETAIL_OUT: Final = dict.fromkeys(map(ord, _STRESS_AND_LENGTH.replace("ː", "") + _DETAIL))
_NOTATION_OUT: Final = dict.fromkeys(map(ord, "ˈˌ'\u0361\u035c\u032f"))
"""Stress, ties and non-syllabic parts of diphthongs: how a sound is written, not which it is."""
_UNLENGTHENED: Final = re.compile(f"(?<![{_SHORT}e])ː")
_ARPABET: Final = re.compile(r"([A-Z]+)([012])?", re.ASCII)


@lru_cache(maxsize=4096)
def normalise_label(label: str) -> str | None:
    """Return a label as one of ours, or None: upper case, the stress digit of a vowel dropped.

    >>> [normalise_label(each) for each in ("AO1", "d", "<SIL>", "D1", "AX")]
    ['AO', 'D', '<sil>', None, None]
    """
    if label in FEATURE_SYMBOLS:
        return label
    if label.lower() in SILENT:
        return label.lower()
    match = _ARPABET.fullmatch(label.upper()) if label.isascii() else None
    if match is None or match[1] not in FEATURE_SYMBOLS:
        return None
    return match[1] if match[2] is None or is_vowel(match[1]) else None


def is_vowel(phoneme: str) -> bool:
    """Return whether a phoneme is syllabic; diphthongs and ER are, and vowels outside of the 40."""
    if phoneme in FEATURE_SYMBOLS:
        return phoneme in _VOWELS
    return nearest(phoneme) in _VOWELS


@lru_cache(maxsize=512)
def nearest(label: str) -> str:
    """Return the phoneme that stands in distances for a sound outside of the 40, or the same.

    >>> nearest("x"), nearest("yː"), nearest("K")
    ('K', 'IY', 'K')
    """
    reading = NEAREST.get(label.removesuffix("ː"))
    return label if reading is None else reading[0]


def parse_arpabet(text: str, *, silent: bool = False) -> tuple[str, ...]:
    """Read ARPAbet labels with blanks between them; stress digits are dropped.

    ``silent``: ``<sil>``, ``<spn>`` and ``<unk>`` may occur, and are kept.

    >>> parse_arpabet("D AO1 G")
    ('D', 'AO', 'G')
    """
    phonemes = []
    for label in text.split():
        known = normalise_label(label)
        if known is None or (known in SILENT and not silent):
            raise TabwbError(
                f"{shortened(label)} is not a phoneme of the inventory",
                allowed=" ".join(PHONEMES + SILENT if silent else PHONEMES),
                hint=_near(label),
            )
        phonemes.append(known)
    return tuple(phonemes)


def parse_ipa(text: str, notation: Notation = "us", *, beyond: Beyond = "map") -> tuple[str, ...]:
    """Read a broad transcription in IPA as the 40 phonemes.

    A sound outside of the 40 becomes the one that :data:`NEAREST` names (:func:`mapped_letters`),
    or what ``beyond`` says. Stress, length where it makes no other vowel, ties, boundaries and the
    detail that no phoneme of ours differs by are passed over, glottal stops removed (PSST, appendix
    B.4). The longest letters are read first: ``tʃ`` is CH, and T SH is written with a boundary,
    ``t.ʃ``.

    >>> parse_ipa("/dɔg/"), parse_ipa("ˈbɝd"), parse_ipa("nʌt.ʃɛl")
    (('D', 'AO', 'G'), ('B', 'ER', 'D'), ('N', 'AH', 'T', 'SH', 'EH', 'L'))
    >>> parse_ipa("dɒɡ"), parse_ipa("/bed/"), parse_ipa("/bed/", "uk")
    (('D', 'AA', 'G'), ('B', 'EY', 'D'), ('B', 'EH', 'D'))
    >>> parse_ipa("buːx", beyond="keep")
    ('B', 'UW', 'x')
    """
    return tuple(phoneme for _, reading in _read_ipa(text, notation, beyond) for phoneme in reading)


def mapped_letters(text: str, notation: Notation = "us") -> tuple[str, ...]:
    """Return the mappings that reading a text in IPA needs, as ``ɒ=AA``, in order.

    >>> mapped_letters("lɒx"), mapped_letters("bɜrd")
    (('ɒ=AA', 'x=K'), ())
    """
    return tuple(
        f"{letters}={' '.join(reading)}"
        for letters, reading in _read_ipa(text, notation, "map")
        if letters in MAPPED and not (notation == "uk" and "ː" in letters and letters in BRITISH)
    )


def _read_ipa(text: str, notation: Notation, beyond: Beyond) -> list[tuple[str, tuple[str, ...]]]:
    """Return each sound of a text as it is written, with its phonemes."""
    plain = unicodedata.normalize("NFC", text)
    plain = unicodedata.normalize("NFD", plain.replace("ç", "\ue000")).replace("\ue000", "ç")
    if beyond == "exact":
        plain = plain.translate(_NOTATION_OUT)
    else:
        plain = _UNLENGTHENED.sub("", plain.translate(_DETAIL_OUT))
        plain = plain if notation == "uk" else plain.replace("eː", "e")
    if beyond in ("map", "keep"):
        readings = _READINGS[notation]
    elif beyond == "allophones":
        readings = {**_ENGLISH, **IPA_READINGS, **(BRITISH if notation == "uk" else {})}
    else:
        readings = IPA_READINGS
    sounds: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    while at < len(plain):
        if plain[at] in _BOUNDARIES:
            at += 1
            continue
        for length in range(min(_LONGEST, len(plain) - at), 0, -1):
            letters = plain[at : at + length]
            reading = readings.get(letters)
            if reading is not None:
                own = beyond == "keep" and letters in NEAREST and letters not in ALLOPHONES
                sounds.append((letters, (letters,) if own else reading))
                at += length
                break
        else:
            raise TabwbError(
                f"'{_letter_at(plain, at)}' in '{text}' is not a letter of the inventory",
                allowed=" ".join(IPA.values()),
                hint="the inventory is that of English, in which no mark of length is read"
                if beyond == "exact"
                else None,
            )
    return sounds


def parse_pronunciation(
    text: str, notation: Notation = "us", *, beyond: Beyond = "map"
) -> tuple[str, ...]:
    """Read ARPAbet or IPA, whichever it is; without silence.

    What is all ARPAbet is read as such (``D AO1 G``, ``d ao g``); else what has only capitals,
    digits and blanks of ASCII is taken for misspelt ARPAbet, and anything else for IPA.

    >>> parse_pronunciation("D AO1 G"), parse_pronunciation("dɔɡ")
    (('D', 'AO', 'G'), ('D', 'AO', 'G'))
    """
    labels = text.split()
    arpabet = all(normalise_label(label) in FEATURE_SYMBOLS for label in labels)
    # "b" or "f l" may be either and are the same in both; "i" is IPA only.
    phonemes = (
        parse_arpabet(text)
        if arpabet or re.fullmatch(r"[A-Z0-9 \t<>]*", text, re.ASCII)
        else parse_ipa(text, notation, beyond=beyond)
    )
    if not phonemes:
        raise TabwbError(f"'{text}' holds no phoneme", allowed="ARPAbet (D AO G) or IPA (dɔɡ)")
    return phonemes


def parse_spoken(
    text: str, notation: Notation = "us", *, beyond: Beyond = "map"
) -> tuple[str, ...]:
    """Read ARPAbet or IPA in which ``<sil>``, ``<spn>`` and ``<unk>`` may occur.

    >>> parse_spoken("kæt <sil> dɔɡ"), parse_spoken("K AE T <sil> D")
    (('K', 'AE', 'T', '<sil>', 'D', 'AO', 'G'), ('K', 'AE', 'T', '<sil>', 'D'))
    """
    pieces = [piece for piece in re.split(r"(<[^<>]*>)", text) if piece.strip(_BOUNDARIES)]
    if not pieces:
        return parse_pronunciation(text, notation, beyond=beyond)
    phonemes: list[str] = []
    for piece in pieces:
        silent = parse_arpabet(piece, silent=True) if "<" in piece else ()
        phonemes += silent or parse_pronunciation(piece, notation, beyond=beyond)
    return tuple(phonemes)


def to_ipa(phonemes: Iterable[str]) -> str:
    """Return phonemes in IPA (table 8), without blanks; silence and noise are left out.

    AH, the vowels of "but" and of "about", is ə at the beginning and after the first vowel of
    several, else ʌ [ours]. A boundary separates two phonemes that would be read as one: ``t.ʃ`` is
    T SH, ``tʃ`` is CH. So ``parse_ipa(to_ipa(phonemes)) == phonemes`` always.

    >>> to_ipa(("D", "AO", "G")), to_ipa(("T", "SH")), to_ipa(("CH",))
    ('dɔɡ', 't.ʃ', 'tʃ')
    >>> to_ipa("AH B AW T".split()), to_ipa("S OW F AH".split()), to_ipa("B AH T ER".split())
    ('əbaʊt', 'soʊfə', 'bʌtɝ')
    """
    written: list[str] = []
    for letters in ipa_letters(phoneme for phoneme in phonemes if phoneme not in SILENT):
        joined = written and written[-1] + letters in IPA_READINGS
        written.append(f".{letters}" if joined else letters)
    return "".join(written)


def ipa_letters(phonemes: Iterable[str]) -> tuple[str, ...]:
    """Return the letters of each phoneme, as :func:`to_ipa` writes them; others stay as they are.

    >>> ipa_letters(("D", "AO", "G")), ipa_letters("AH B AW T".split()), ipa_letters(("<sil>",))
    (('d', 'ɔ', 'ɡ'), ('ə', 'b', 'aʊ', 't'), ('<sil>',))
    """
    sounds = tuple(phonemes)
    vowels = [at for at, phoneme in enumerate(sounds) if is_vowel(phoneme)]
    return tuple(
        "ə"
        if phoneme == "AH" and len(vowels) > 1 and (at == 0 or at > vowels[0])
        else IPA.get(phoneme, phoneme)
        for at, phoneme in enumerate(sounds)
    )


def _letter_at(text: str, at: int) -> str:
    end = at + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return text[at:end]


def _near(label: str) -> str | None:
    from difflib import get_close_matches

    if label.upper().strip("<>") in {mark.upper().strip("<>") for mark in SILENT}:
        return f"did you mean '<{label.lower().strip('<>')}>'?"
    near = get_close_matches(label.upper().rstrip("012"), PHONEMES, n=1)
    return f"did you mean '{near[0]}'?" if near else None


_PLACES = {name: at for at, name in enumerate(name for own in CLASSES.values() for name in own)}


def phoneme_rank(phoneme: str | None) -> tuple[int, str]:
    """Return the key that sorts phonemes by class; one of no class, then None, come last.

    >>> sorted(["AE", None, "P", "?"], key=phoneme_rank)
    ['P', 'AE', '?', None]
    """
    if phoneme is None:
        return len(_PLACES) + 1, ""
    return _PLACES.get(phoneme, len(_PLACES)), phoneme
