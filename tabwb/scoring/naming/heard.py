"""The field "heard:": words, ARPAbet or IPA, one or several attempts (rules 0 and 4)."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from typing import Final

from tabwb.phonology.inventory import (
    SILENT,
    Notation,
    mapped_letters,
    normalise_label,
    parse_arpabet,
    parse_ipa,
)
from tabwb.records.errors import UsageError
from tabwb.scoring.naming.attempts import BREAK_S, PAUSE_S, AttemptReading
from tabwb.scoring.naming.words import joined, sound_of

ALLOWED: Final = "words, ARPAbet (D AO G) or IPA (/dɔɡ/); a comma, ... or <sil> separates attempts"
UNINTELLIGIBLE: Final = "xxx"
"""CHAT's word for unintelligible speech; read as ``<spn>``."""
_GLOTTAL_STOP = re.compile(r"(?<=\w)ʔ|(?<=[ːˑ])ʔ")
"""A glottal stop not at the beginning of a word: the T of "cat" or "bottle" [ours]."""
_PARTS = re.compile(r",|;|\.{2,}|…|<sil>", re.IGNORECASE)
_IPA_BRACKETS = re.compile(r"^\s*(/.*/|\[.*\])\s*$")
_PAUSE = re.compile(r"(?<!\S)(\d+(?:\.\d+)?|\(\.+\))(?!\S)")
_EDGES = "/[] "


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


def parse_heard(text: str, notation: Notation = "us") -> HeardAs:
    """Read the field "heard:".

    ARPAbet is written in capitals (``D AO G``) or with stress (``d ao1 g``), IPA between slashes or
    brackets, or with at least one letter that is not plain; everything else is words. So ``dog`` is
    the word and ``/dog/`` is IPA. A comma, ``...`` or ``<sil>`` separates attempts; a number
    between phonemes is a pause in seconds. A glottal stop within or after a word is T.

    Args:
        text: as typed.
        notation: how letters of IPA are read.

    Raises:
        UsageError: the text is empty, or has a label or letter without a sound.

    >>> [one.word for one in parse_heard("cat, Dog").attempts]
    ['cat', 'dog']
    >>> parse_heard("D AA G").pronunciations, parse_heard("/dɑɡ/").pronunciations
    ((('D', 'AA', 'G'),), (('D', 'AA', 'G'),))
    >>> [one.phonemes for one in parse_heard("K AE T <sil> D AO G").attempts]
    [('K', 'AE', 'T'), ('D', 'AO', 'G')]
    """
    written = " ".join(text.split())
    if not written:
        raise UsageError("nothing was written down", allowed=ALLOWED)
    bracketed = bool(_IPA_BRACKETS.match(written))
    parts = [part.strip() for part in _PARTS.split(written) if part.strip(_EDGES)]
    attempts = [attempt for part in parts for attempt in _attempts(part, notation, ipa=bracketed)]
    if not attempts:
        raise UsageError(f"'{written}' is not a word", allowed=ALLOWED)
    return HeardAs(written, tuple(attempts))


def read_words(words: tuple[str, ...], base: AttemptReading | None = None) -> AttemptReading:
    """Return an attempt of words with its pronunciations, from the dictionary or from letters.

    Args:
        words: lower case.
        base: what else is known of the attempt; None for words that a listener wrote.
    """
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


def _attempts(part: str, notation: Notation, *, ipa: bool) -> list[AttemptReading]:
    label = part.lower()
    if label in (*SILENT, UNINTELLIGIBLE):
        return [AttemptReading(ear=True, noise=True)]
    ipa = ipa or bool(_IPA_BRACKETS.match(part)) or not part.replace("’", "'").isascii()
    if ipa or _is_arpabet(part):
        return _phonemes(part, notation)
    words = [word.strip('.,!?;:"').lower().replace("’", "'") for word in part.split()]
    kept = tuple(word for word in words if word.strip("-"))
    return [read_words(kept)] if kept else []


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
        read = parse_arpabet(piece, silent=True) if arpabet else parse_ipa(letters, notation)
        phonemes += [phoneme for phoneme in read if phoneme not in SILENT]
        mapped += () if arpabet else mapped_letters(piece, notation)
    if not stretches[0][0]:
        raise UsageError(f"'{part}' holds no phoneme", allowed=ALLOWED)
    return [
        AttemptReading((tuple(phonemes),), ear=True, breaks=frozenset(breaks - {0}), mapped=mapped)
        for phonemes, breaks in stretches
        if phonemes
    ]


def _is_arpabet(text: str) -> bool:
    """Return whether a text is meant as ARPAbet: mostly labels in capitals, or with stress.

    >>> _is_arpabet("D O G"), _is_arpabet("I SAW"), _is_arpabet("<sil>")
    (True, False, True)
    """
    labels = _PAUSE.sub(" ", text).split()
    known = sum(bool(normalise_label(label)) or label.lower() in SILENT for label in labels)
    upper = all(label.isupper() or label.lower() in SILENT for label in labels)
    if known == len(labels):
        return upper or any(not label[-1].isalpha() for label in labels)
    return upper and len(labels) > 1 and 2 * known >= len(labels)
