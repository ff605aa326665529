"""Confusions, changed features, and rates of classes and groups, from FER's alignments."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tabwb.phonology.batch import Scores
from tabwb.phonology.costs import QUARTERS
from tabwb.phonology.distance import FeatureChange, Step, feature_changes
from tabwb.phonology.inventory import CLASSES


@dataclass(frozen=True, slots=True)
class Rate:
    """PER and FER of some utterances, as fractions of sums.

    Attributes:
        name, utterances: of the group, and how many it has.
        per_distance, per_length: edits, and phonemes of the references.
        fer_distance, fer_length: in features.
    """

    name: str
    utterances: int
    per_distance: int
    per_length: int
    fer_distance: float
    fer_length: int

    @property
    def per(self) -> float | None:
        """Phoneme error rate; None (undefined) without a phoneme in the references."""
        return self.per_distance / self.per_length if self.per_length else None

    @property
    def fer(self) -> float | None:
        """Feature error rate; None (undefined) without a phoneme in the references."""
        return self.fer_distance / self.fer_length if self.fer_length else None


@dataclass(frozen=True, slots=True)
class Confusion:
    """A step of an alignment other than a match, with its count."""

    step: Step
    count: int


@dataclass(frozen=True, slots=True)
class ChangedFeature:
    """How often one feature changed in one direction, over all substitutions."""

    change: FeatureChange
    count: int


@dataclass(frozen=True, slots=True)
class ClassRate:
    """Errors on the reference phonemes of one class.

    Attributes:
        name: of the class.
        phonemes, substituted, deleted: number in the references, and how many of them were.
        kept_class: number substituted by a phoneme of the same class.
        inserted: number of insertions of the class in hypotheses.
        fer_distance: in features, of its substitutions and deletions.
    """

    name: str
    phonemes: int
    substituted: int
    deleted: int
    kept_class: int
    inserted: int
    fer_distance: float

    @property
    def error_rate(self) -> float | None:
        """(substituted + deleted) / phonemes; None (undefined) where the class does not occur."""
        return (self.substituted + self.deleted) / self.phonemes if self.phonemes else None


def rate_of(name: str, scores: Scores) -> Rate:
    """Return the rates of all utterances of these scores."""
    edits, features = scores.phoneme_distance, scores.feature_distance
    lengths = scores.phoneme_length, scores.feature_length
    return Rate(name, len(scores.quarters), edits, lengths[0], features, lengths[1])


def rates_by(scores: Scores, groups: Sequence[str]) -> list[Rate]:
    """Return the rates of each group of utterances, in order of first appearance."""
    members: defaultdict[str, list[int]] = defaultdict(list)
    for utterance, name in enumerate(groups):
        members[name].append(utterance)
    return [rate_of(name, scores.some(chosen)) for name, chosen in members.items()]


def confusions(scores: Scores) -> list[Confusion]:
    """Return substitutions, insertions and deletions of phonemes, the most frequent first."""
    steps, spoken = scores.costs.steps, np.append(scores.costs.spoken, True)
    counts = scores.step_counts()
    counts[~spoken, :] = counts[:, ~spoken] = 0
    np.fill_diagonal(counts, 0)
    flat = counts.ravel()
    order = np.argsort(-flat, kind="stable")[: int((flat > 0).sum())]
    return [Confusion(steps[code], int(flat[code])) for code in order.tolist()]


def changed_features(confused: Sequence[Confusion]) -> list[ChangedFeature]:
    """Return how often each feature changed in substitutions, most frequent first (PSST, fig. 1).

    >>> step = Step("SUB", "B", "P", 1.0)
    >>> [(str(each.change), each.count) for each in changed_features([Confusion(step, 3)])]
    [('+voice → -voice', 3)]
    """
    counts: Counter[FeatureChange] = Counter()
    for confusion in confused:
        if confusion.step.ref is not None and confusion.step.hyp is not None:
            for change in feature_changes(confusion.step.ref, confusion.step.hyp):
                counts[change] += confusion.count
    return [ChangedFeature(change, count) for change, count in counts.most_common()]


def class_rates(scores: Scores) -> list[ClassRate]:
    """Return the outcome of each class of phonemes (stops, nasals, ...), in their order."""
    counts = scores.step_counts()
    quarters = counts * scores.costs.step_quarters.reshape(counts.shape)
    codes, none = scores.costs.codes, scores.costs.none
    rates = []
    for name, members in CLASSES.items():
        mine = [codes[phoneme] for phoneme in members]
        others = list(range(none))
        kept = int(np.trace(counts[np.ix_(mine, mine)]))
        within = int(counts[np.ix_(mine, mine)].sum())
        paired = int(counts[np.ix_(mine, others)].sum())
        deleted = int(counts[mine, none].sum())
        rates.append(
            ClassRate(
                name,
                phonemes=paired + deleted,
                substituted=paired - kept,
                deleted=deleted,
                kept_class=within - kept,
                inserted=int(counts[none, mine].sum()),
                fer_distance=int(quarters[mine, :].sum()) / QUARTERS,
            )
        )
    return rates


SEVERITIES: Final = (("very severe", 25.0), ("severe", 50.0), ("moderate", 75.0), ("mild", None))
"""Bands of the aphasia quotient of the WAB, each up to its bound inclusive (PSST, section 3)."""


def severity(quotient: float) -> str:
    """Return the band of an aphasia quotient from the speaker's record.

    >>> [severity(each) for each in (93.7, 75.0, 50.0, 25.0)]
    ['mild', 'moderate', 'severe', 'very severe']
    """
    return next(name for name, bound in SEVERITIES if bound is None or quotient <= bound)
