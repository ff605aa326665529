"""Which words of two texts are not in the other one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple


class Piece(NamedTuple):
    """A word with the white space after it."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class WordDifference:
    """What two texts have in common.

    Attributes:
        first, second: their words, in order.
    """

    first: tuple[Piece, ...]
    second: tuple[Piece, ...]

    @property
    def words(self) -> str:
        """How many words differ, in words."""
        left, right = (
            sum(piece.differs for piece in side) for side in (self.first, self.second)
        )  # fmt: skip
        if not left and not right:
            return "the same words"
        return (
            f"{left} of {len(self.first)} words only in the first, "
            f"{right} of {len(self.second)} only in the second"
        )


def word_difference(first: str, second: str) -> WordDifference:
    """Return which words differ: those outside the longest common blocks, as in ``diff``.

    >>> found = word_difference("the dog barks", "the wug barks barks")
    >>> [piece.text for piece in found.first if piece.differs]
    ['dog ']
    >>> found.words
    '1 of 3 words only in the first, 2 of 4 only in the second'
    """
    left, right = (re.findall(r"\S+\s*|\s+", text) for text in (first, second))
    bare = [[word.strip() for word in side] for side in (left, right)]
    match = SequenceMatcher(None, bare[0], bare[1], autojunk=False)
    same_left: set[int] = set()
    same_right: set[int] = set()
    for block in match.get_matching_blocks():
        same_left.update(range(block.a, block.a + block.size))
        same_right.update(range(block.b, block.b + block.size))
    return WordDifference(
        tuple(Piece(word, at not in same_left) for at, word in enumerate(left)),
        tuple(Piece(word, at not in same_right) for at, word in enumerate(right)),
    )
