"""Targets of naming items: accepted pronunciations, neighbours, tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rule = Literal["correct-any", "correct-first"]
"""Which correctness decides (``docs/naming-rules.md``)."""
Number = Literal["ignored", "scored"]
"""Whether "cats" is right for *cat*."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """One pronunciation that is right.

    Attributes:
        phonemes: ARPAbet without stress.
        reason: why it is accepted: ``citation``, ``dialect``, ``other name`` ...
        word: the word that it pronounces, where that is not the target (``couch`` for *sofa*).
    """

    phonemes: tuple[str, ...]
    reason: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Allowed deviation from an accepted form; either ``slips`` or ``share`` is set.

    Attributes:
        slips: most phonemes deleted, inserted or replaced.
        share: least share of the accepted form's phonemes, in order (VNT: 0.5).
        reason: why, in the words of the battery, or empty.
    """

    slips: int | None = None
    share: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamingTarget:
    """What a response is compared with.

    Attributes:
        target: the word.
        accept: every pronunciation that is right, the usual one first.
        semantic: words of related meaning, lower case.
        visual: words for what the picture may be taken for.
        parts: words for parts of the picture.
        unrelated: words known to be unrelated in meaning: similar ones are *formal*.
    """

    target: str
    accept: tuple[Accepted, ...]
    semantic: tuple[str, ...] = ()
    visual: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    unrelated: tuple[str, ...] = ()

    @property
    def accepted(self) -> tuple[tuple[str, ...], ...]:
        """The phonemes of the accepted pronunciations alone."""
        return tuple(form.phonemes for form in self.accept)

    @property
    def own(self) -> tuple[tuple[str, ...], ...]:
        """The accepted pronunciations of the target itself, not of another name for it."""
        own = ("", self.target.casefold())
        return tuple(form.phonemes for form in self.accept if form.word.casefold() in own)

    @property
    def names(self) -> frozenset[str]:
        """The words that are right, lower case."""
        words = {self.target.casefold(), *(form.word.casefold() for form in self.accept)}
        return frozenset(words - {""})

    @property
    def listed(self) -> frozenset[str]:
        """Every word that the item names, lower case."""
        lists = (self.semantic, self.visual, self.parts, self.unrelated)
        return self.names | {word for words in lists for word in words}
