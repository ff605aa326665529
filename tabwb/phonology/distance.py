"""Phoneme and feature edit distance of two transcripts, with the alignment.

The exact rules for one pair of utterances; :mod:`tabwb.phonology.batch` scores thousands. Source:
PSST, section 4.1, figure 1, appendix A and table 5. Distances are multiples of 0.25: exact floats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, NamedTuple

from tabwb.phonology.inventory import FEATURE_SYMBOLS, FEATURE_TABLE, FEATURES, SILENT, nearest

Operation = Literal["EQ", "SUB", "INS", "DEL"]


class Step(NamedTuple):
    """One step of an alignment; the cost is in features (FER) or phonemes (PER)."""

    op: Operation
    ref: str | None
    hyp: str | None
    cost: float


class Alignment(NamedTuple):
    """The cheapest way from a reference to a hypothesis: distance / length is its FER or PER."""

    distance: float
    length: int
    steps: tuple[Step, ...]

    @property
    def rate(self) -> float | None:
        """Distance over length; None (undefined) where the reference holds no phoneme."""
        return self.distance / self.length if self.length else None


class FeatureChange(NamedTuple):
    """One feature that differs between two phonemes, as in figure 1: ``-nasal → +nasal``."""

    feature: str
    before: str
    after: str
    cost: float

    def __str__(self) -> str:
        return f"{self.before}{self.feature} → {self.after}{self.feature}"


@cache
def substitution_cost(phoneme: str, other: str) -> float:
    """Return the sum over 24 features of |a - b| / 2 of two phonemes (PSST, table 5).

    >>> substitution_cost("P", "M"), substitution_cost("Y", "AH"), substitution_cost("AY", "AA")
    (3.5, 5.0, 1.75)
    """
    pairs = zip(FEATURE_TABLE[nearest(phoneme)], FEATURE_TABLE[nearest(other)], strict=True)
    return sum(abs(a - b) for a, b in pairs) / 2


@cache
def indel_cost(phoneme: str) -> float:
    """Return the cost of an insertion or deletion: 0.5 for each feature with value 0, else 1.

    Source: PSST, figure 1, where ER costs 21 of 24 (the prose of section 4.1 would give 9).

    >>> indel_cost("ER"), indel_cost("M"), indel_cost("<sil>")
    (21.0, 19.5, 0.0)
    """
    if phoneme in SILENT:
        return 0.0
    return sum(1.0 if value else 0.5 for value in FEATURE_TABLE[nearest(phoneme)])


def feature_changes(phoneme: str, other: str) -> tuple[FeatureChange, ...]:
    """Return the features by which two phonemes differ, with their costs (PSST, figure 1).

    >>> [str(change) for change in feature_changes("B", "P")]
    ['+voice → -voice']
    """
    values = zip(FEATURE_TABLE[nearest(phoneme)], FEATURE_TABLE[nearest(other)], strict=True)
    symbols = zip(FEATURE_SYMBOLS[nearest(phoneme)], FEATURE_SYMBOLS[nearest(other)], strict=True)
    return tuple(
        FeatureChange(feature, before, after, abs(a - b) / 2)
        for feature, (before, after), (a, b) in zip(FEATURES, symbols, values, strict=True)
        if a != b
    )


def align_features(ref: Sequence[str], hyp: Sequence[str]) -> Alignment:
    """Align by features, for FER and its trace.

    >>> found = align_features("OW P UH SH IH NG Y ER".split(), "OW M UH SH IH NG AH".split())
    >>> found.distance, found.length, found.steps[1]
    (29.5, 192, Step(op='SUB', ref='P', hyp='M', cost=3.5))
    """
    distance, steps = _align(ref, hyp, substitution_cost, indel_cost)
    return Alignment(distance, len(FEATURES) * sum(label not in SILENT for label in ref), steps)


def align_phonemes(ref: Sequence[str], hyp: Sequence[str]) -> Alignment:
    """Align by phonemes, for PER: each substitution, insertion and deletion costs 1.

    >>> found = align_phonemes("OW P UH SH IH NG Y ER".split(), "OW M UH SH IH NG AH".split())
    >>> found.distance, found.length
    (3.0, 8)
    """
    distance, steps = _align(
        ref, hyp, lambda a, b: float(a != b), lambda label: float(label not in SILENT)
    )
    return Alignment(distance, sum(label not in SILENT for label in ref), steps)


def _align(
    ref: Sequence[str],
    hyp: Sequence[str],
    substitute: Callable[[str, str], float],
    indel: Callable[[str], float],
) -> tuple[float, tuple[Step, ...]]:
    """Return the cheapest alignment."""
    reached = [0.0]
    for label in hyp:
        reached.append(reached[-1] + indel(label))
    operations: list[list[Operation]] = [["INS"] * (len(hyp) + 1)]
    for label in ref:
        row = [reached[0] + indel(label)]
        ops: list[Operation] = ["DEL"]
        for column, counterpart in enumerate(hyp, 1):
            best = reached[column] + indel(label)
            op: Operation = "DEL"
            inserted = row[column - 1] + indel(counterpart)
            if inserted < best:
                best, op = inserted, "INS"
            if label == counterpart:
                if reached[column - 1] <= best:
                    best, op = reached[column - 1], "EQ"
            elif label not in SILENT and counterpart not in SILENT:
                substituted = reached[column - 1] + substitute(label, counterpart)
                if substituted < best:
                    best, op = substituted, "SUB"
            row.append(best)
            ops.append(op)
        reached = row
        operations.append(ops)
    return reached[-1], _steps(ref, hyp, operations, substitute, indel)


def _steps(
    ref: Sequence[str],
    hyp: Sequence[str],
    operations: Sequence[Sequence[Operation]],
    substitute: Callable[[str, str], float],
    indel: Callable[[str], float],
) -> tuple[Step, ...]:
    steps: list[Step] = []
    row, column = len(ref), len(hyp)
    while row or column:
        op = operations[row][column]
        row -= op != "INS"
        column -= op != "DEL"
        if op == "INS":
            steps.append(Step(op, None, hyp[column], indel(hyp[column])))
        elif op == "DEL":
            steps.append(Step(op, ref[row], None, indel(ref[row])))
        else:
            cost = 0.0 if op == "EQ" else substitute(ref[row], hyp[column])
            steps.append(Step(op, ref[row], hyp[column], cost))
    return tuple(reversed(steps))
