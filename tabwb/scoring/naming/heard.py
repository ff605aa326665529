"""The field "heard:": words, ARPAbet or IPA, one or several attempts (rules 0 and 4)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from unicodedata import category, normalize

from tabwb.phonology.inventory import (
    ALLOPHONES,
    NEAREST,
    SILENT,
    Notation,
    mapped_letters,
    normalise_label,
    parse_arpabet,
    parse_ipa,
)
from tabwb.records.errors import UsageError
from tabwb.records.languages import is_english
from tabwb.scoring.naming.attempts import (
    DONT_KNOW,
    PAUSE_S,
    AttemptReading,
    cuts,
    is_filler,
    sounds_of,
)
from tabwb.scoring.naming.target import BREAK_S
from tabwb.scoring.naming.words import joined, pronunciations, sound_of, unaccented
from tabwb.scoring.text import fold_case

ALLOWED: Final = "words, ARPAbet (D AO G) or IPA (/dɔɡ/); a comma, ... or <sil> separates attempts"
_NO_WORD_HAS: Final = frozenset(
    "ɑɐɒɔəɚɛɜɝɘɞɪʊʌʉɨɵɤɯʃʒθðŋɡɹɾɫɬɮʔʍɦɱɻʋʁʀχɣɸβʎɲɟɕʑʂʐʈɖɺɽʙʜʢʡɭɳʝʕħˈˌːˑʰ\u0361\u035c"
)
"""Letters and marks of IPA that no word of English is written with; æ is one unless it is AE."""
LONGEST: Final = 2_000
"""Characters of what was heard: the time of the rules grows with the square of the words."""
UNINTELLIGIBLE: Final = "xxx"
"""CHAT's word for unintelligible speech; read as ``<spn>``."""
UNCLEAR: Final = (*SILENT, UNINTELLIGIBLE)
_GLOTTAL_STOP = re.compile(r"(?<=\w)ʔ|(?<=[ːˑ])ʔ")
"""A glottal stop not at the beginning of a word: the T of "cat" or "bottle" [ours]."""
_PARTS = re.compile(r",|;|\.{2,}|…|<sil>", re.IGNORECASE)
_IPA_BRACKETS = re.compile(r"^\s*(/.*/|\[.*\])\s*$")
_PAUSE = re.compile(r"(?<!\S)(\d+(?:\.\d+)?|\(\.+\))(?!\S)")
_EDGES = "/[] "
_STRESS = "ˈˌ'."
_QUOTED = re.compile(r"(?<!\w)['‘]([^'‘’]+)['’](?!\w)")
_MARKS = '.,!?;:"“”„«»‹›¡¿。、！？؟،؛।「」『』《》〈〉'


@dataclass(frozen=True, slots=True)
class HeardAs:
    """Words or phonemes that a person wrote down: the trimmed text and its attempts."""

    text: str
    attempts: tuple[AttemptReading, ...]

    @property
    def word(self) -> str:
        """The words, lower case, attempts separated by a comma; empty where phonemes were typed."""
        return ", ".join(attempt.word for attempt in self.attempts if attempt.words)

    @property
    def pronunciations(self) -> tuple[tuple[str, ...], ...]:
        """ARPAbet of all attempts together; several where a word has several pronunciations."""
        return joined(attempt.ways for attempt in self.attempts if attempt.ways)

    @property
    def guessed(self) -> bool:
        """Whether a pronunciation follows from the letters only."""
        return any(attempt.guessed for attempt in self.attempts)


def parse_heard(text: str, notation: Notation = "us", language: str = "en") -> HeardAs:
    """Read the field "heard:".

    IPA stands between slashes or brackets; in English also without them where it has a letter that
    no English word has (``dɔɡ``). ARPAbet, in English, is written in capitals (``D AO G``) or with
    stress (``d ao1 g``). Everything else is words, whatever their letters: ``dog``, ``café``,
    ``Tür``. So ``dog`` is the word and ``/dog/`` is IPA. A comma, ``...`` or ``<sil>`` separates
    attempts; a number between phonemes is a pause in seconds. A glottal stop within or after a word
    is T. A word of another language has no sound here, and its sounds are kept as typed.

    >>> [one.word for one in parse_heard("cat, Dog").attempts]
    ['cat', 'dog']
    >>> parse_heard("D AA G").pronunciations, parse_heard("/dɑɡ/").pronunciations
    ((('D', 'AA', 'G'),), (('D', 'AA', 'G'),))
    >>> [one.phonemes for one in parse_heard("K AE T <sil> D AO G").attempts]
    [('K', 'AE', 'T'), ('D', 'AO', 'G')]
    >>> [one.word for one in parse_heard("der Hund, äh, Tür", language="de").attempts]
    ['der hund', 'äh', 'tür']
    """
    written = " ".join(normalize("NFC", text).split())
    if not written:
        raise UsageError("nothing was written down", allowed=ALLOWED)
    if len(written) > LONGEST:
        raise UsageError(
            f"{len(written)} characters are too many for a name", allowed=f"at most {LONGEST}"
        )
    bracketed = bool(_IPA_BRACKETS.match(written))
    parts = [part.strip() for part in _PARTS.split(written) if part.strip(_EDGES)]
    english = is_english(language)
    attempts = [
        attempt
        for part in parts
        for attempt in _attempts(part, notation, language if not english else "", ipa=bracketed)
    ]
    if not attempts:
        raise UsageError(f"'{written}' is not a word", allowed=ALLOWED)
    return HeardAs(written, tuple(attempts))


def read_words(words: tuple[str, ...], base: AttemptReading | None = None) -> AttemptReading:
    """Return an attempt of words with its pronunciations, from the dictionary or from letters."""
    broken_off = all(word.endswith("-") for word in words)
    sounds = [sound_of(word.strip("-")) for word in words]
    ends = itertools.accumulate(len(ways[0]) if ways else 0 for ways, _ in sounds)
    return replace(
        base or AttemptReading(ear=True),
        words=words,
        ways=joined(ways for ways, _ in sounds),
        guessed=any(guessed for _, guessed in sounds),
        breaks=frozenset(list(ends)[:-1]),
        broken_off=broken_off,
    )


def _attempts(part: str, notation: Notation, other: str, *, ipa: bool) -> list[AttemptReading]:
    """Return the attempts of a part; ``other`` is its language where that is not English."""
    if part.lower() in UNCLEAR:
        return [AttemptReading(ear=True, noise=True)]
    ipa = ipa or bool(_IPA_BRACKETS.match(part))
    if other and ipa:
        return [_as_typed(part)]
    if not other and (ipa or _is_ipa(part) or _is_arpabet(part)):
        return _phonemes(part, notation)
    written = _QUOTED.sub(r"\1", part).split()
    words = [fold_case(word.strip(_MARKS), other).replace("’", "'") for word in written]
    # Labels of noise are taken out of what is said (PSST 5.1).
    said = [word for word in words if word not in UNCLEAR]
    kept = tuple(word for word in said if any(map(str.isalnum, word)))
    noise = len(said) < len(words)
    if other:
        broken_off = all(word.endswith("-") for word in kept)
        known = AttemptReading(words=kept, ear=True, broken_off=broken_off and bool(kept))
        return [replace(known, noise=noise)] if kept or noise else []
    base = AttemptReading(ear=True, noise=noise)
    return [read_words(kept, base)] if kept else [base] * noise


def _is_ipa(part: str) -> bool:
    """Return whether a part without brackets has a letter that no English word has."""
    if not _NO_WORD_HAS.isdisjoint(normalize("NFD", part)):
        return True
    return "æ" in part and not any(pronunciations(unaccented(word)) for word in part.split())


def _as_typed(part: str) -> AttemptReading:
    """Return sounds of a language without an inventory: each letter with its marks."""
    sounds: list[str] = []
    for sign in normalize("NFC", part):
        if sign in _EDGES or sign in _STRESS:
            continue
        joins = sounds and (sign in "ːˑʰ" or category(sign)[0] == "M" or sounds[-1][-1] in "\u0361")
        if joins:
            sounds[-1] += sign
        elif sign.isalpha():
            sounds.append(sign)
        else:
            raise UsageError(f"'{sign}' in '{part}' is not a letter of IPA", allowed=ALLOWED)
    if not sounds:
        raise UsageError(f"'{part}' holds no phoneme", allowed=ALLOWED)
    return AttemptReading((tuple(sounds),), ear=True)


def _phonemes(part: str, notation: Notation) -> list[AttemptReading]:
    stretches: list[tuple[list[str], set[int]]] = [([], set())]
    mapped: tuple[str, ...] = ()
    for at, piece in enumerate(_PAUSE.split(part)):
        phonemes, breaks = stretches[-1]
        if at % 2:
            seconds = BREAK_S if piece.startswith("(") else float(piece)
            if seconds >= PAUSE_S and phonemes:
                stretches.append(([], set()))
            elif seconds >= BREAK_S:
                breaks.add(len(phonemes))
            continue
        arpabet = _is_arpabet(piece) if piece.strip() else False
        letters = piece if arpabet else _GLOTTAL_STOP.sub("t", piece)
        mapped += ("ʔ=T",) if letters != piece else ()
        read = (
            parse_arpabet(piece, silent=True)
            if arpabet
            else parse_ipa(letters, notation, beyond="keep")
        )
        phonemes += [phoneme for phoneme in read if phoneme not in SILENT]
        mapped += () if arpabet else _told(piece, notation)
    if not stretches[0][0]:
        raise UsageError(f"'{part}' holds no phoneme", allowed=ALLOWED)
    return [
        AttemptReading((tuple(phonemes),), ear=True, breaks=frozenset(breaks - {0}), mapped=mapped)
        for phonemes, breaks in stretches
        if phonemes
    ]


def _told(piece: str, notation: Notation) -> tuple[str, ...]:
    """Return the allophones that were read as a phoneme; other sounds are shown as typed."""
    kept = NEAREST.keys() - ALLOPHONES
    told = mapped_letters(piece, notation)
    return tuple(each for each in told if each.partition("=")[0] not in kept)


def _is_arpabet(text: str) -> bool:
    """Return whether a text is meant as ARPAbet."""
    labels = _PAUSE.sub(" ", text).split()
    known = sum(bool(normalise_label(label)) or label.lower() in SILENT for label in labels)
    upper = all(label.isupper() or label.lower() in SILENT for label in labels)
    if known == len(labels):
        return upper or any(not label[-1].isalpha() for label in labels)
    return upper and len(labels) > 1 and 2 * known >= len(labels)


TAKING_BACK: Final = (
    "no", "no no", "no wait", "no sorry", "no i mean", "i mean", "or rather", "i meant", "wait",
    "oops", "sorry", "actually", "no it's", "no that's", "i'm sorry",
)  # fmt: skip
"""Words after which another attempt begins. [ours]"""
_REJECTING: Final = re.compile(
    r"(?:(?:but |and |no )?(?:it's|its|it is|that's|thats|that is|this is|he's|she's) not"
    r"|(?:it|that|this) (?:isn't|isnt|ain't|wasn't)|(?:but |and |no )?not|isn't|isnt|ain't)"
    r"(?: (?:really|quite|actually))?(?: (?:a|an|the|my|some|any|like a))? "
)
_BEFORE_OTHER_NOT: Final = frozenset(
    ("do", "does", "did", "can", "could", "will", "would", "have", "has", "had", "am", "should")
)
_ENDS: Final = frozenset(
    ("but", "it's", "its", "it", "that's", "that", "this", "no", "a", "an", "the", "i", "and")
)


def parts(reading: AttemptReading, listed: Collection[str] = ()) -> list[AttemptReading]:
    """Return the attempts in words without a pause: a name taken back, another one (rule 17).

    Words separate attempts only after a single name, so that "a man with no dog" is one.

    >>> def said(text, listed=()):
    ...     words = AttemptReading(words=tuple(text.split()), ear=True)
    ...     return [(one.word, one.rejected) for one in parts(words, listed)]
    >>> said("dog no cat"), said("it's not a dog it's a cat")
    ([('dog', False), ('cat', False)], [("it's not a dog", True), ("it's a cat", False)])
    >>> said("a man with no dog"), said("no idea"), said("no")
    ([('a man with no dog', False)], [('no idea', False)], [('no', False)])
    """
    if not reading.words or reading.word in listed:
        return [reading]
    found: list[AttemptReading] = []
    waiting: list[str] = []
    skipped = False

    def close() -> None:
        nonlocal skipped
        if waiting:
            part = read_words(tuple(waiting), replace(reading, ways=(), guessed=False))
            flags = ("filler",) * skipped
            found.append(replace(part, flags=tuple(dict.fromkeys((*flags, *part.flags)))))
        waiting.clear()
        skipped = False

    rest = list(reading.words)
    while rest:
        if phrase := _phrase(rest, DONT_KNOW, least=2):
            apart = not waiting and _is_name(rest[phrase:], listed)
            if waiting and not is_whole(waiting, listed):
                close()
            waiting += rest[:phrase]
            if apart:
                close()
        elif (phrase := _rejected(rest, waiting, listed)) and not is_whole(waiting, listed):
            close()
            words = tuple(rest[:phrase])
            found.append(replace(reading, words=words, ways=read_words(words).ways, rejected=True))
        elif (phrase := _phrase(rest, TAKING_BACK)) and not is_whole(waiting, listed):
            skipped_now = len(rest) > phrase
            close()
            skipped = skipped_now and not found
        else:
            phrase = 1
            waiting.append(rest[0])
        rest = rest[phrase:]
    close()
    return found or [reading]


def _is_name(words: Sequence[str], listed: Collection[str]) -> bool:
    """Return whether words are a name, or begin as those before a name do."""
    reading = AttemptReading(words=tuple(words))
    return bool(words) and (reading.word in listed or next(cuts(reading), None) is not None)


def is_whole(words: Sequence[str], listed: Collection[str]) -> bool:
    """Return whether words are more than one name, after which nothing is taken back."""
    reading = AttemptReading(words=tuple(words))
    least = [reading, *cuts(reading)][-1] if words else reading
    return len(least.words) > 1 and least.word not in listed


def _phrase(words: Sequence[str], phrases: Sequence[str], least: int = 1) -> int:
    """Return how many words the longest phrase has that they begin with, 0 without any."""
    lengths = (len(phrase.split()) for phrase in phrases if _begins(words, phrase))
    return max((length for length in lengths if length >= least), default=0)


def _begins(words: Sequence[str], phrase: str) -> bool:
    own = phrase.split()
    return list(words[: len(own)]) == own


def _rejected(words: Sequence[str], before: Sequence[str], listed: Collection[str]) -> int:
    """Return how many words reject a name, 0 where they do not begin so."""
    match = _REJECTING.match(" ".join(words) + " ")
    if match is None or set(before[-1:]) & _BEFORE_OTHER_NOT:
        return 0
    lead = len(match[0].split())
    name = list(words[lead:])
    if not name or (lead == 1 and words[0] != "not" and name == ["it"]):
        return 0
    for length in range(min(4, len(name)), 0, -1):
        if " ".join(name[:length]) in listed:
            return lead + length
    ends = (at for at, word in enumerate(name) if at and (word in _ENDS or is_filler(word)))
    return lead + next(ends, len(name))


@lru_cache(maxsize=1)
def _rejecting_sounds() -> tuple[tuple[str, ...], ...]:
    leads = ("not", "it's not", "that's not", "it is not", "this is not", "it isn't", "that isn't")
    # "it isn" without its T is "it is an".
    said = {way for lead in leads for way in sounds_of(lead) if way[-1] == "T"}
    articles = {(), *(way for article in ("a", "an", "the", "my") for way in sounds_of(article))}
    sounds = {(*lead, *article) for lead in said for article in articles}
    return tuple(sorted(sounds, key=len, reverse=True))


def names_rejected(phonemes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield what may be rejected by the sounds before it: "not a dog", the longest lead first.

    >>> [" ".join(name) for name in names_rejected("N AA T AH D AO G".split())]
    ['D AO G', 'AH D AO G']
    """
    spoken = tuple(phonemes)
    for lead in _rejecting_sounds():
        if len(spoken) > len(lead) and spoken[: len(lead)] == lead:
            yield spoken[len(lead) :]
