"""Summary of a naming subtest: accuracy by rule, codes, cues, latency.

Items not administered, void or not scorable are not in any denominator and are counted separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from tabwb.records.naming import Score
from tabwb.scoring.estimate import Interval, clopper_pearson
from tabwb.scoring.naming.decide import Outcome
from tabwb.scoring.naming.target import CODES

Status = Literal["answered", "not-administered", "void", "skipped", "not-scorable", "planned"]
RatingSource = Literal["person", "correct-any", "correct-first", "outcome"]
"""What decides whether an answer is right: a person's score, a rule on the transcript, or the
outcome by the battery's rules (:func:`tabwb.scoring.naming.decide.outcome_of`)."""
RATING_SOURCES: tuple[RatingSource, ...] = ("outcome", "person", "correct-any", "correct-first")


@dataclass(frozen=True, slots=True)
class NamedItem:
    """One item with everything known about the response that counts.

    Attributes:
        item: id.
        target: the word.
        status: only ``answered`` ones are in a denominator.
        reason: why not, where there is one.
        person: whether it is right by a person's score, or None.
        rules: by each rule on the transcript; None where only a person can decide.
        outcome: by the battery's rules, or None.
        code: a person's, or the one that follows from a person's score, or empty.
        proposed: by rule, or empty.
        flags: of :data:`tabwb.scoring.naming.target.FLAGS`.
        cues: kind of each cue given, in order, with whether it counts.
        latency_s: from the picture to the onset, or None.
        heard: what a person heard, or empty.
        phonemes: what was transcribed.
        score: a person's, or empty.
        transcriber: who transcribed it, or empty.
        score_by: who gave the score that counts, or empty.
        other_scores: (rater, score) of every other person who scored it.
        decided_by: what decides the outcome: a listener (a score or a code) or a rule; empty
            without an outcome.
    """

    item: str
    target: str
    status: Status
    reason: str = ""
    person: bool | None = None
    rules: Mapping[str, bool | None] = field(default_factory=dict)
    outcome: Outcome | None = None
    code: str = ""
    proposed: str = ""
    flags: tuple[str, ...] = ()
    cues: tuple[tuple[str, bool], ...] = ()
    latency_s: float | None = None
    heard: str = ""
    phonemes: tuple[str, ...] = ()
    score: Score | Literal[""] = ""
    transcriber: str = ""
    score_by: str = ""
    other_scores: tuple[tuple[str, Score], ...] = ()
    decided_by: Literal["listener", "rule", ""] = ""

    @property
    def proposed_open(self) -> str:
        """The proposed code where no listener has scored or coded the item, else empty."""
        return "" if self.code or self.score else self.proposed


@dataclass(frozen=True, slots=True)
class NamingAccuracy:
    """Accuracy of naming by one basis.

    Attributes:
        basis: by what.
        correct, n: number of right names, and of all.
        open: answered items without a verdict of this basis.
        interval: exact 95 % interval (Clopper-Pearson), None where n is 0.
    """

    basis: RatingSource
    correct: int
    n: int
    open: int
    interval: Interval | None

    @property
    def rate(self) -> float | None:
        """Share of right ones, None where n is 0."""
        return self.correct / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class CueCount:
    """Number of items with a kind of cue, and of those right after it."""

    kind: str
    counts: bool
    given: int
    right_after: int


@dataclass(frozen=True, slots=True)
class NamingSummary:
    """All figures of one subtest of one administration.

    Attributes:
        accuracy: one for each basis.
        statuses: how many items of each status.
        codes: a person's codes, of how many answered.
        proposed: by rule, of items that no listener has scored or coded.
        flags: how often each was set.
        cues: by kind.
        latency_median_s: over right answers by outcome with a latency, None without any.
        latency_n: how many those are.
        by_listener, by_rule: how many answered items a listener's score or code decides, and how
            many a rule.
    """

    accuracy: tuple[NamingAccuracy, ...]
    statuses: Mapping[str, int]
    codes: Mapping[str, int]
    proposed: Mapping[str, int]
    flags: Mapping[str, int]
    cues: tuple[CueCount, ...]
    latency_median_s: float | None
    latency_n: int
    by_listener: int = 0
    by_rule: int = 0


def summarise(items: Sequence[NamedItem]) -> NamingSummary:
    """Return the summary of a subtest; the caller leaves out practice items.

    >>> found = summarise([NamedItem("a", "dog", "answered", person=True),
    ...                    NamedItem("b", "cat", "not-administered")])
    >>> [(one.basis, one.correct, one.n) for one in found.accuracy][1]
    ('person', 1, 1)
    >>> dict(found.statuses)
    {'answered': 1, 'not-administered': 1}
    """
    latencies = [
        item.latency_s
        for item in items
        if item.outcome == "right" and item.status == "answered" and item.latency_s is not None
    ]
    return NamingSummary(
        tuple(accuracy(items, basis) for basis in RATING_SOURCES),
        Counter(item.status for item in items),
        code_profile(items, lambda item: item.code),
        code_profile(items, lambda item: item.proposed_open),
        Counter(flag for item in _answered(items) for flag in item.flags),
        cue_counts(items),
        median(latencies) if latencies else None,
        len(latencies),
        sum(item.decided_by == "listener" for item in _answered(items)),
        sum(item.decided_by == "rule" for item in _answered(items)),
    )


def accuracy(items: Sequence[NamedItem], basis: RatingSource) -> NamingAccuracy:
    """Return the right answers over the answered items for which the basis has a verdict.

    Args:
        items: of a subtest, without practice.
        basis: by what an answer is right.

    >>> named = [NamedItem("a", "dog", "answered", rules={"correct-any": True}),
    ...          NamedItem("b", "cat", "answered")]
    >>> found = accuracy(named, "correct-any")
    >>> found.correct, found.n, found.open
    (1, 1, 1)
    """
    verdicts = [right_by(item, basis) for item in _answered(items)]
    known = [right for right in verdicts if right is not None]
    correct, n = sum(known), len(known)
    return NamingAccuracy(basis, correct, n, len(verdicts) - n, clopper_pearson(correct, n))


def code_profile(items: Sequence[NamedItem], code: Callable[[NamedItem], str]) -> dict[str, int]:
    """Return how often each code occurs, in the order of :data:`CODES`, without zeros.

    Args:
        items: of a subtest, without practice.
        code: returns the code of an item, or an empty string.

    >>> named = [NamedItem("a", "dog", "answered", code="semantic")]
    >>> code_profile(named, lambda one: one.code)
    {'semantic': 1}
    """
    counts = Counter(code(item) for item in _answered(items))
    return {name: counts[name] for name in CODES if counts[name]}


def cue_counts(items: Sequence[NamedItem]) -> tuple[CueCount, ...]:
    """Return for each kind of cue the number of items with it and of those that were right.

    An item with two kinds counts for both. Right is decided by a person's score, else the outcome.

    >>> named = [NamedItem("a", "dog", "answered", person=True, cues=(("phonemic", False),))]
    >>> cue_counts(named)
    (CueCount(kind='phonemic', counts=False, given=1, right_after=1),)
    """
    kinds = dict.fromkeys(cue for item in _answered(items) for cue in item.cues)
    return tuple(
        CueCount(
            kind,
            counts,
            sum((kind, counts) in item.cues for item in _answered(items)),
            sum((kind, counts) in item.cues and _came_right(item) for item in _answered(items)),
        )
        for kind, counts in kinds
    )


def _answered(items: Iterable[NamedItem]) -> list[NamedItem]:
    return [item for item in items if item.status == "answered"]


def right_by(item: NamedItem, basis: RatingSource) -> bool | None:
    """Return whether an item is right by a basis; None where the basis has no verdict.

    Args:
        item: of a subtest.
        basis: by what an answer is right.
    """
    if basis == "person":
        return item.person
    if basis == "outcome":
        return None if item.outcome is None else item.outcome == "right"
    return item.rules.get(basis)


def _came_right(item: NamedItem) -> bool:
    if item.person is not None:
        return item.person
    return item.outcome in ("right", "right-after-cue")
