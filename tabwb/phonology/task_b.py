"""PSST's task B: was an accepted pronunciation said, and how well is that told.

Source: PSST, sections 5.1 and 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tabwb.phonology.inventory import SILENT

Match: TypeAlias = Literal["paper", "code"]
"""``paper``: silence and noise are removed first (section 5.2); ``code``: they interrupt, as in the
program that was published."""


def says_one_of(
    transcript: Sequence[str], accepted: Iterable[Sequence[str]], match: Match = "paper"
) -> bool:
    """Return whether a transcript contains an accepted pronunciation without interruption.

    Args:
        transcript: phonemes, with silence and noise.
        accepted: pronunciations; an empty one is never said.
        match: what silence between phonemes does.

    >>> says_one_of("AH K AE T S".split(), ["K AE T".split()])
    True
    >>> broken = "K AE <spn> T".split()
    >>> says_one_of(broken, ["K AE T".split()]), says_one_of(broken, ["K AE T".split()], "code")
    (True, False)
    """
    said = tuple(transcript)
    if match == "paper":
        said = tuple(label for label in said if label not in SILENT)
    for one in map(tuple, accepted):
        if one and any(said[at : at + len(one)] == one for at in range(len(said) - len(one) + 1)):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Classification:
    """Predictions of correctness against a person's labels.

    Every measure is None (undefined) where its denominator is 0.

    Attributes:
        tp, fp, fn, tn: true and false positives and negatives; positive is *correct*.
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Classification:
        """Count (label, prediction) pairs.

        >>> Classification.of([(True, True), (False, True), (True, True)])
        Classification(tp=2, fp=1, fn=0, tn=0)
        """
        every = list(pairs)
        return cls(
            tp=every.count((True, True)),
            fp=every.count((False, True)),
            fn=every.count((True, False)),
            tn=every.count((False, False)),
        )

    @property
    def compared(self) -> int:
        """How many responses have a label and a prediction."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def precision(self) -> float | None:
        """TP / (TP + FP)."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """TP / (TP + FN), also called sensitivity."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float | None:
        """TN / (TN + FP)."""
        return _ratio(self.tn, self.tn + self.fp)

    @property
    def f1(self) -> float | None:
        """2 TP / (2 TP + FP + FN)."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def accuracy(self) -> float | None:
        """(TP + TN) / all."""
        return _ratio(self.tp + self.tn, self.compared)

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean of recall and specificity; undefined where either is."""
        if self.recall is None or self.specificity is None:
            return None
        return (self.recall + self.specificity) / 2


def _ratio(above: int, below: int) -> float | None:
    return above / below if below else None
