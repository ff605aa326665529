"""The field "heard:": a plain word, or phonemes in ARPAbet or IPA (SCORING 4)."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from tabwb.phonology.dictionary import load_dictionary
from tabwb.phonology.inventory import SILENT, normalise_label, parse_arpabet, parse_ipa
from tabwb.records.errors import UsageError

_MOST = 16
_IPA_BRACKETS = re.compile(r"^\s*(/.*/|\[.*\])\s*$")


@dataclass(frozen=True, slots=True)
class HeardAs:
    """What a person wrote down.

    Attributes:
        text: as typed, outer white space removed.
        word: the word or words, lower case; empty where phonemes were typed.
        pronunciations: ARPAbet; none for a word that is in no dictionary.
    """

    text: str
    word: str
    pronunciations: tuple[tuple[str, ...], ...]

    @property
    def several(self) -> bool:
        """Whether more than one word was heard."""
        return " " in self.word


def parse_heard(text: str) -> HeardAs:
    """Read the field.

    ARPAbet is written in capitals (``D AO G``) or with stress (``d ao1 g``), IPA between slashes or
    brackets, or with at least one letter that is not plain; everything else is words. So ``dog`` is
    the word and ``/dog/`` is IPA.

    Raises:
        UsageError: there is nothing, or a label or letter outside the inventory.

    >>> parse_heard("Dog")
    HeardAs(text='Dog', word='dog', pronunciations=(('D', 'AO', 'G'),))
    >>> parse_heard("D AA G").pronunciations, parse_heard("/dɑɡ/").pronunciations
    ((('D', 'AA', 'G'),), (('D', 'AA', 'G'),))
    >>> parse_heard("blorf")
    HeardAs(text='blorf', word='blorf', pronunciations=())
    """
    said = " ".join(text.split())
    if not said:
        raise UsageError("nothing was written down", allowed="a word, ARPAbet or IPA")
    if _is_arpabet(said):
        return HeardAs(said, "", (parse_arpabet(said),))
    if _IPA_BRACKETS.match(said) or not said.replace("’", "'").isascii():
        phonemes = parse_ipa(said)
        if not phonemes:
            raise UsageError(f"'{said}' holds no phoneme", allowed="a word, ARPAbet or IPA")
        return HeardAs(said, "", (phonemes,))
    words = [word.strip('.,!?;:"').lower().replace("’", "'") for word in said.split()]
    words = [word for word in words if word]
    if not words:
        raise UsageError(f"'{said}' is no word", allowed="a word, ARPAbet or IPA")
    dictionary = load_dictionary()
    each = [[one.phonemes for one in dictionary.pronunciations(word)] for word in words]
    joined = itertools.islice(itertools.product(*each), _MOST) if each else ()
    ways = dict.fromkeys(tuple(itertools.chain.from_iterable(way)) for way in joined)
    return HeardAs(said, " ".join(words), tuple(ways))


def _is_arpabet(text: str) -> bool:
    """Whether it is meant for labels: capitals most of which are some, or one with its stress.

    >>> _is_arpabet("D O G"), _is_arpabet("I SAW"), _is_arpabet("<sil>")
    (True, False, True)
    """
    labels = text.split()
    known = sum(bool(normalise_label(label)) or label.lower() in SILENT for label in labels)
    if known == len(labels):
        return text.isupper() or any(not each[-1].isalpha() for each in labels)
    return text.isupper() and len(labels) > 1 and 2 * known >= len(labels)
