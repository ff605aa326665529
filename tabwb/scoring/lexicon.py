"""Known, common and rarer words of English.

The shipped lists (``data/README.md`` says how they are made and under which licences): the *known*
words are those of the CMU Pronouncing Dictionary and of SCOWL up to size 70, the *common* words are
those of SCOWL's sizes 10, 20 and 35 (40,194 words). The known words stay one sorted block of bytes
that is searched by halving, the common ones become three sets. Processor time on a busy two-core
machine: :func:`load_lexicon` 15 ms (a set of all words would take 60, a mapping of the common ones
to their levels 20), ``known`` 1 microsecond for a common word and 35 for any other,
``nearest_common`` 0.3 ms.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from functools import cached_property, lru_cache
from importlib.resources import files

LEVELS = (10, 20, 35)
"""SCOWL's sizes of the blocks of ``common.txt``, the most frequent words first."""
RARER = (40, 50, 55, 60)
"""SCOWL's sizes of the blocks of ``rarer.txt.gz``, read at the first query."""


_DATA = files("tabwb.scoring") / "data"


class Lexicon:
    """Known and common words of English; upper and lower case are the same.

    Args:
        known: words of a-z in byte order, one per line, each line terminated.
        common: words in blocks by level, an empty line between blocks.
    """

    def __init__(self, known: bytes, common: str) -> None:
        self._known = known
        self._levels = tuple(
            (level, frozenset(block.split()))
            for level, block in zip(LEVELS, common.split("\n\n"), strict=False)
        )

    def known(self, word: str) -> bool:
        """Return whether a word of letters a-z is in either list.

        >>> lexicon = load_lexicon()
        >>> [lexicon.known(word) for word in ("Giraffe", "colour", "blorf", "republice")]
        [True, True, False, False]
        """
        lower = word.lower()
        return self.common(lower) or self._searched(lower)

    def common(self, word: str) -> bool:
        """Return whether a word is among the common ones.

        >>> load_lexicon().common("republic"), load_lexicon().common("abalone")
        (True, False)
        """
        lower = word.lower()
        return any(lower in words for _, words in self._levels)

    def level(self, word: str) -> int | None:
        """Return SCOWL's size of a common word (10, 20 or 35; smaller is more frequent), else None.

        >>> load_lexicon().level("house"), load_lexicon().level("pa"), load_lexicon().level("st")
        (10, 35, None)
        """
        lower = word.lower()
        return next((level for level, words in self._levels if lower in words), None)

    def size(self, word: str) -> int | None:
        """Return SCOWL's size of a word up to 60, None for a word beyond it.

        >>> [load_lexicon().size(word) for word in ("dog", "pooch", "tat", "dat")]
        [10, 40, 50, None]
        """
        return self.level(word) or self._rarer.get(word.lower())

    def nearest_common(self, word: str, level: int = LEVELS[-1]) -> str | None:
        """Return the most frequent common word one edit away (then the first by alphabet), or None.

        An edit is one letter deleted, inserted or replaced, or two adjacent letters swapped (a
        typing error). A word that is common itself is not its own neighbour.

        Args:
            word: the word.
            level: the largest of SCOWL's sizes to look in.

        >>> lexicon = load_lexicon()
        >>> [lexicon.nearest_common(word) for word in ("recieve", "flimby", "blorf")]
        ['receive', 'flimsy', None]
        >>> lexicon.nearest_common("flimby", level=20)
        """
        lower = word.lower()
        edits = frozenset(one_edit_away(lower)) - {lower}
        for at, words in self._levels:
            if at <= level and (near := edits & words):
                return min(near)
        return None

    @cached_property
    def _rarer(self) -> dict[str, int]:
        import gzip

        text = gzip.decompress((_DATA / "rarer.txt.gz").read_bytes()).decode("ascii")
        blocks = zip(RARER, text.split("\n\n"), strict=True)
        return {word: size for size, block in blocks for word in block.split()}

    def _searched(self, word: str) -> bool:
        if not (word.isascii() and word.isalpha()):
            return False
        wanted, block = word.encode("ascii"), self._known
        low, high = 0, len(block)
        while low < high:
            middle = (low + high) // 2
            start = block.rfind(b"\n", low, middle) + 1 or low
            end = block.find(b"\n", middle)
            here = block[start:end]
            if here == wanted:
                return True
            if here < wanted:
                low = end + 1
            else:
                high = start
        return False


def one_edit_away(word: str) -> Iterator[str]:
    """Yield all strings of a-z one edit away from ``word`` (some twice, ``word`` too).

    >>> sorted(set(one_edit_away("a")))[:4]
    ['', 'a', 'aa', 'ab']
    """
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in string.ascii_lowercase:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Return the shipped lists, read once."""
    return Lexicon((_DATA / "words.txt").read_bytes(), (_DATA / "common.txt").read_text("ascii"))
