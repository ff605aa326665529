"""Pronunciations of English words and words of a pronunciation: the CMU dictionary.

General American (``data/README.md``: source, licence). Processor time on a busy two-core machine:
:func:`load_dictionary` 60 ms and the index by sound, built at the first query, 250 ms; a word 10
microseconds, a sound a few.
"""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from tabwb.phonology.inventory import is_vowel

_MOST_FLAPS = 6
"""More than any word has; each may be T or D, so that n of them sound in 2^n ways."""


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """One way to say a word.

    Attributes:
        phonemes: ARPAbet without stress.
        stress: of each vowel in order: ``1`` primary, ``2`` secondary, ``0`` none.
    """

    phonemes: tuple[str, ...]
    stress: str

    @property
    def arpabet(self) -> str:
        """ARPAbet with stress, as the dictionary writes it.

        >>> Pronunciation(("B", "AH", "T", "ER"), "10").arpabet
        'B AH1 T ER0'
        """
        digits = iter(self.stress)
        return " ".join(
            phoneme + next(digits) if is_vowel(phoneme) else phoneme for phoneme in self.phonemes
        )

    @property
    def flapped(self) -> tuple[str, ...] | None:
        """The phonemes with the flap of American English, None where it cannot occur.

        T and D are flapped after a vowel or R and before a vowel without stress (PSST, table 8:
        "butter"). [ours]

        >>> Pronunciation(("B", "AH", "T", "ER"), "10").flapped
        ('B', 'AH', 'DX', 'ER')
        >>> Pronunciation(("AH", "T", "AE", "K"), "01").flapped is None
        True
        """
        digits = iter(self.stress)
        stress = [next(digits) if is_vowel(phoneme) else "" for phoneme in self.phonemes]
        phonemes = list(self.phonemes)
        for at in range(1, len(phonemes) - 1):
            after_vowel = is_vowel(phonemes[at - 1]) or phonemes[at - 1] == "R"
            if phonemes[at] in ("T", "D") and stress[at + 1] == "0" and after_vowel:
                phonemes[at] = "DX"
        return tuple(phonemes) if "DX" in phonemes else None


def place_of(word: bytes, block: bytes, end: bytes) -> int:
    """Return where the lines of a word begin, or would begin, by binary search.

    Args:
        word: the word.
        block: lines, sorted by word, with a newline before the first and after every one.
        end: the character that ends the word of a line.
    """
    low, high = 0, len(block) - 1
    while low < high:
        start = block.rfind(b"\n", low, (low + high) // 2 + 1)
        if block[start + 1 : block.index(end, start + 1)] < word:
            low = block.find(b"\n", start + 1)
        else:
            high = start
    return low


class Dictionary:
    """Words and their pronunciations; upper and lower case are the same.

    Args:
        block: lines of word, phonemes and stress, separated by tabs, the pronunciations of one word
            beside each other, every line ended.
    """

    def __init__(self, block: bytes) -> None:
        self._block = b"\n" + block

    def pronunciations(self, word: str) -> tuple[Pronunciation, ...]:
        """Return the pronunciations of a word, the usual one first; empty for an unknown word.

        >>> [each.arpabet for each in load_dictionary().pronunciations("Dog")]
        ['D AO1 G']
        >>> load_dictionary().pronunciations("blorf")
        ()
        """
        wanted = word.lower().replace("’", "'")
        if not wanted or not wanted.isascii() or not wanted.isprintable():
            return ()
        lead = f"\n{wanted}\t".encode("ascii")
        at, pronunciations = place_of(wanted.encode("ascii"), self._block, b"\t"), []
        while self._block.startswith(lead, at):
            end = self._block.index(b"\n", at + 1)
            _, phonemes, stress = self._block[at + 1 : end].decode("ascii").split("\t")
            pronunciations.append(Pronunciation(tuple(phonemes.split()), stress))
            at = end
        return tuple(pronunciations)

    def homophones(self, phonemes: Sequence[str]) -> tuple[str, ...]:
        """Return the words with these phonemes, ignoring stress, sorted; a flap is T or D.

        >>> load_dictionary().homophones(("B", "EH", "R"))
        ('baehr', 'baer', 'bahr', 'bair', 'bare', 'bear', 'behr')
        >>> load_dictionary().homophones(("B", "AH", "DX", "ER"))
        ('butter',)
        """
        if sum(phoneme == "DX" for phoneme in phonemes) > _MOST_FLAPS:
            return ()
        alternatives = [("T", "D") if phoneme == "DX" else (phoneme,) for phoneme in phonemes]
        ways = (" ".join(way).encode("ascii") for way in itertools.product(*alternatives))
        words = (self._by_sound.get(way, ()) for way in ways)
        return tuple(sorted(set(itertools.chain.from_iterable(words))))

    def __len__(self) -> int:
        """Return how many pronunciations there are."""
        return len(self._lines)

    def entry(self, number: int) -> tuple[str, tuple[str, ...]]:
        """Return a word and one of its pronunciations by number, for drawing words at random.

        >>> load_dictionary().entry(40000)
        ('excellence', ('EH', 'K', 'S', 'AH', 'L', 'AH', 'N', 'S'))
        """
        word, phonemes, _ = self._lines[number].decode("ascii").split("\t")
        return word, tuple(phonemes.split())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every word once, by alphabet."""
        heads = (line.partition(b"\t")[0].decode("ascii") for line in self._lines)
        return tuple(word for word, _ in itertools.groupby(heads))

    def near(self, word: str, most: int = 5) -> tuple[str, ...]:
        """Return known words with a similar spelling, the nearest first.

        Args:
            word: the unknown word.
            most: how many words to return at most.

        >>> load_dictionary().near("girafe", 1)
        ('giraffe',)
        """
        from difflib import get_close_matches

        wanted = word.lower()
        rivals = [
            rival
            for rival in self.words
            if abs(len(rival) - len(wanted)) <= 2 and rival[:1] == wanted[:1]
        ]
        return tuple(get_close_matches(wanted, rivals, most, cutoff=0.7))

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._block.split(b"\n")[1:-1]

    @cached_property
    def _by_sound(self) -> dict[bytes, list[str]]:
        by_sound: dict[bytes, list[str]] = {}
        for line in self._lines:
            word, phonemes, _ = line.split(b"\t")
            by_sound.setdefault(phonemes, []).append(word.decode("ascii"))
        return by_sound


@lru_cache(maxsize=1)
def load_dictionary() -> Dictionary:
    """Return the shipped dictionary, read once."""
    data = files("tabwb.phonology") / "data" / "cmudict.tsv.gz"
    return Dictionary(gzip.decompress(data.read_bytes()))
