"""Rules of a naming battery over its items, and the summary of a subtest: accuracy, codes, cues.

The caller leaves out practice items. Items not administered, void or not scorable are in no
denominator and are counted separately.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Literal

from tabwb.records.naming import Score
from tabwb.scoring.estimate import (
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    clopper_pearson,
    item_mean,
)
from tabwb.scoring.intervals import rate_interval
from tabwb.scoring.naming.target import CODES

Outcome = Literal["right", "right-after-cue", "error"]
"""Right by the rules; right only after a cue that does not count; any other response, or none. An
item that cannot be scored has no outcome."""


def is_late(latency_s: float | None, time_limit: float | None) -> bool:
    """Return whether speech began after the time limit; False where either is unknown.

    >>> is_late(20.5, 20.0), is_late(20.0, 20.0), is_late(None, 20.0)
    (True, False, False)
    """
    return latency_s is not None and time_limit is not None and latency_s > time_limit


def outcome_of(
    right: bool | None,
    *,
    late: bool = False,
    late_counts: bool = False,
    cues_count: Sequence[bool] = (),
) -> Outcome | None:
    """Return the outcome of an item; None where it is unknown whether it is right.

    ``cues_count`` tells of each cue given before the score whether a right answer after it counts
    (BNT: a stimulus cue counts, a phonemic one does not).

    >>> outcome_of(True, cues_count=[True]), outcome_of(True, cues_count=[True, False])
    ('right', 'right-after-cue')
    >>> outcome_of(True, late=True), outcome_of(True, late=True, late_counts=True)
    ('error', 'right')
    """
    if right is None:
        return None
    if not right or (late and not late_counts):
        return "error"
    return "right" if all(cues_count) else "right-after-cue"


def should_discontinue(
    history: Sequence[Outcome | None], after: int, counts_cued: bool = False
) -> bool:
    """Return whether the last ``after`` items were all errors, so that the subtest may be ended.

    An item without an outcome is not an error and does not end a row of errors [ours].

    ``counts_cued``: *right-after-cue* is an error too (the BNT's rule read rigorously); else it
    ends the row (leniently; Ferman, Ivnik and Lucas 1998).

    >>> should_discontinue(["right", "error", "error"], 2)
    True
    >>> [should_discontinue(["error", "right-after-cue"], 2, each) for each in (False, True)]
    [False, True]
    """
    errors = ("error", "right-after-cue") if counts_cued else ("error",)
    known = [outcome for outcome in history if outcome is not None]
    return len(known) >= after and all(outcome in errors for outcome in known[-after:])


def next_item(
    items: Sequence[str],
    outcomes: Mapping[str, Outcome | None],
    start_item: str = "",
    basal: int = 0,
) -> str | None:
    """Return the item to give next, or None where none is left to give.

    From ``start_item`` forwards; if one of the first ``basal`` is not right, backwards from before
    ``start_item`` until ``basal`` in a row are right or the first item was given, then forwards
    again (BNT: start at 30, basal 8). An item in ``outcomes`` was given.

    >>> next_item(["a", "b", "c", "d"], {"c": "error"}, start_item="c", basal=1)
    'b'
    >>> next_item(["a", "b", "c", "d"], {"c": "error", "b": "right"}, start_item="c", basal=1)
    'd'
    """
    start = items.index(start_item) if start_item else 0
    if basal and start:
        first = [item for item in items[start : start + basal] if item in outcomes]
        if any(outcomes[item] != "right" for item in first) and not _reached(
            items, outcomes, start, basal
        ):
            earlier = [item for item in items[:start] if item not in outcomes]
            if earlier:
                return earlier[-1]
    return next((item for item in items[start:] if item not in outcomes), None)


def not_needed(
    items: Sequence[str],
    outcomes: Mapping[str, Outcome | None],
    start_item: str = "",
    basal: int = 0,
) -> tuple[str, ...]:
    """Return the items not given before the start that are credited once the basal is reached.

    >>> not_needed(["a", "b", "c"], {"b": "right"}, start_item="b", basal=1)
    ('a',)
    """
    if not start_item or not basal:
        return ()
    start = items.index(start_item)
    first = [outcomes.get(item) for item in items[start : start + basal]]
    if first != ["right"] * basal and not _reached(items, outcomes, start, basal):
        return ()
    return tuple(item for item in items[:start] if item not in outcomes)


def _reached(
    items: Sequence[str], outcomes: Mapping[str, Outcome | None], start: int, basal: int
) -> bool:
    """Return whether ``basal`` right answers in a row occur going backwards."""
    given = itertools.takewhile(lambda item: item in outcomes, reversed(items[:start]))
    rows = itertools.groupby(given, lambda item: outcomes[item] == "right")
    return any(right and len(list(row)) >= basal for right, row in rows)


Status = Literal["answered", "not-administered", "void", "skipped", "not-scorable", "planned"]
RatingSource = Literal["person", "correct-any", "correct-first", "outcome"]
"""What decides whether an answer is right: a person's score, a rule on the transcript, or the
outcome by the battery's rules (:func:`outcome_of`)."""
RATING_SOURCES: tuple[RatingSource, ...] = ("outcome", "person", "correct-any", "correct-first")


@dataclass(frozen=True, slots=True)
class NamedItem:
    """One item with everything known about the response that counts.

    Attributes:
        status, reason: only ``answered`` ones are in a denominator; why the others are not.
        person: whether it is right by a person's score, or None.
        rules: by each rule on the transcript; None where only a person can decide.
        code, proposed: a person's, or the one that follows from a person's score; and by rule.
        code_by, code_source: whose code it is, a person's or a rule's; ``given``, following from
            the ``score``, or ``borrowed`` from another rater than the one whose score counts.
        cues: kind of each cue given, in order, with whether it counts.
        latency_s: from the picture to the onset, or None.
        heard, phonemes: what a person heard, and what was transcribed.
        score, score_by: the score that counts, and whose it is: a person's or a rule's
            (:mod:`tabwb.records.ratings`).
        other_scores: (rater, score) of every other person who scored it; with a rule of everybody.
        listener_codes: (rater, code) of every person: the code given, else that of the score.
        decided_by: what decides the outcome: a listener (a score or a code) or a rule.
        cluster: whose responses are not independent of each other: the speaker where several are
            pooled; empty: the item.
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
    listener_codes: tuple[tuple[str, str], ...] = ()
    code_by: str = ""
    code_source: Literal["given", "score", "borrowed", ""] = ""
    decided_by: Literal["listener", "rule", ""] = ""
    cluster: str = ""

    @property
    def proposed_open(self) -> str:
        """The proposed code where no listener has scored or coded the item, else empty."""
        return "" if self.code or self.score else self.proposed


@dataclass(frozen=True, slots=True)
class NamingAccuracy:
    """Share of the answered responses that are right by one basis, or have a code.

    Attributes:
        hits, sizes: of each item, or of each item and speaker of several pooled ones: right
            responses, and responses with a verdict.
        items, speakers: of each of these; no speaker where there is one only.
        open: answered responses without a verdict.
        why: why there is no share where nothing has a verdict.
        basis: what decides whether a response is right; of a code empty.
    """

    hits: tuple[int, ...]
    sizes: tuple[int, ...]
    items: tuple[str, ...]
    speakers: tuple[str, ...]
    open: int
    why: str = "no response has a verdict"
    basis: RatingSource | Literal[""] = ""

    @property
    def correct(self) -> int:
        """Right responses."""
        return sum(self.hits)

    @property
    def n(self) -> int:
        """Responses with a verdict."""
        return sum(self.sizes)

    @property
    def clustered(self) -> bool:
        """Whether some responses depend on each other."""
        units = (speaker or item for item, speaker in zip(self.items, self.speakers, strict=True))
        return len(set(units)) < self.n

    @property
    def n_items(self) -> int:
        """Items with a verdict."""
        return len(set(self.items))

    @property
    def value(self) -> Estimate:
        """The share, the mean of the items' shares, or why there is none."""
        return item_mean(self.hits, self.sizes, self.why, self.items)

    @property
    def rate(self) -> float | None:
        """The share, None where nothing has a verdict."""
        return self.value.value

    @property
    def estimated(self) -> EstimatedInterval:
        """The 95 % interval of the share, or why there is none."""
        if any(self.speakers):
            return rate_interval(self.hits, self.sizes, clusters=self.speakers, items=self.items)
        if self.clustered or not self.n:
            return rate_interval(self.hits, self.sizes)
        interval = clopper_pearson(self.correct, self.n)
        return EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, interval)

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the share, or None."""
        return self.estimated.interval


@dataclass(frozen=True, slots=True)
class CueCount:
    """Number of items with a kind of cue, and of those right after it."""

    kind: str
    counts: bool
    given: int
    right_after: int


@dataclass(frozen=True, slots=True)
class NamingSummary:
    """All figures of one subtest of one administration."""

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
    borrowed: int = 0


def summarise(items: Sequence[NamedItem]) -> NamingSummary:
    """Return the summary of a subtest; the caller leaves out practice items.

    >>> found = summarise([NamedItem("a", "dog", "answered", person=True),
    ...                    NamedItem("b", "cat", "not-administered")])
    >>> [(one.basis, one.correct, one.n) for one in found.accuracy][1]
    ('person', 1, 1)
    >>> dict(found.statuses)
    {'answered': 1, 'not-administered': 1}
    """
    answered = _answered(items)
    right = (item.latency_s for item in answered if item.outcome == "right")
    latencies = [latency for latency in right if latency is not None]
    return NamingSummary(
        tuple(accuracy(items, basis) for basis in RATING_SOURCES),
        Counter(item.status for item in items),
        code_profile(items, lambda item: item.code),
        code_profile(items, lambda item: item.proposed_open),
        Counter(flag for item in answered for flag in item.flags),
        cue_counts(items),
        median(latencies) if latencies else None,
        len(latencies),
        sum(item.decided_by == "listener" for item in answered),
        sum(item.decided_by == "rule" for item in answered),
        sum(item.code_source == "borrowed" for item in answered),
    )


def accuracy(items: Sequence[NamedItem], basis: RatingSource) -> NamingAccuracy:
    """Return the right answers over the answered items for which the basis has a verdict.

    Items weigh the same. Responses of several sessions to one item depend on each other, and so do
    those of one of several speakers: they are clusters, as in every other accuracy.

    >>> named = [NamedItem("a", "dog", "answered", rules={"correct-any": True}),
    ...          NamedItem("b", "cat", "answered")]
    >>> found = accuracy(named, "correct-any")
    >>> found.correct, found.n, found.open
    (1, 1, 1)

    Three sessions with the same two items are two clusters, not six independent responses:

    >>> sessions = [NamedItem(name, name, "answered", person=name == "dog")
    ...             for _ in range(3) for name in ("dog", "cat")]
    >>> accuracy(sessions, "person").interval.low < clopper_pearson(3, 6).low
    True
    """
    return replace(share_of(items, lambda item: right_by(item, basis)), basis=basis)


def code_shares(
    items: Sequence[NamedItem], code: Callable[[NamedItem], str]
) -> dict[str, NamingAccuracy]:
    """Return the share of each code among the answered responses that have one.

    >>> named = [NamedItem("a", "dog", "answered", code="semantic"),
    ...          NamedItem("b", "cat", "answered", code="correct"),
    ...          NamedItem("c", "bed", "answered")]
    >>> {name: (one.correct, one.n) for name, one in code_shares(named, lambda it: it.code).items()}
    {'correct': (1, 2), 'semantic': (1, 2)}
    """

    def has(name: str) -> Callable[[NamedItem], bool | None]:
        return lambda item: (code(item) == name) if code(item) else None

    return {
        name: share_of(items, has(name), "no response has such a code")
        for name in code_profile(items, code)
    }


def share_of(
    items: Sequence[NamedItem],
    told: Callable[[NamedItem], bool | None],
    why: str = "no response has a verdict",
) -> NamingAccuracy:
    """Return how many of the answered items something is true of, among those where it is told."""
    answered = [(item, told(item)) for item in _answered(items)]
    known = [(item, right) for item, right in answered if right is not None]
    sizes = Counter((item.item, item.cluster) for item, _ in known)
    hits = Counter((item.item, item.cluster) for item, right in known if right)
    return NamingAccuracy(
        tuple(hits[cell] for cell in sizes),
        tuple(sizes.values()),
        tuple(item for item, _ in sizes),
        tuple(speaker for _, speaker in sizes),
        len(answered) - len(known),
        why,
    )


def code_profile(items: Sequence[NamedItem], code: Callable[[NamedItem], str]) -> dict[str, int]:
    """Return how often each code occurs, in the order of :data:`CODES`, without zeros.

    >>> named = [NamedItem("a", "dog", "answered", code="semantic")]
    >>> code_profile(named, lambda one: one.code)
    {'semantic': 1}
    """
    counts = Counter(code(item) for item in _answered(items))
    return {name: counts[name] for name in CODES if counts[name]}


def cue_counts(items: Sequence[NamedItem]) -> tuple[CueCount, ...]:
    """Return for each kind of cue the number of items with it and of those right after it.

    A right name belongs to the last cue before it: the cues before that one did not help.

    >>> named = [NamedItem("a", "dog", "answered", person=True, cues=(("phonemic", False),))]
    >>> cue_counts(named)
    (CueCount(kind='phonemic', counts=False, given=1, right_after=1),)
    """
    right: dict[tuple[str, bool], list[bool]] = {}
    for item in _answered(items):
        by_outcome = item.outcome in ("right", "right-after-cue")
        for cue in dict.fromkeys(item.cues):
            by_cue = by_outcome if item.person is None else item.person
            right.setdefault(cue, []).append(by_cue and cue == item.cues[-1])
    return tuple(CueCount(*cue, len(outcomes), sum(outcomes)) for cue, outcomes in right.items())


def _answered(items: Iterable[NamedItem]) -> list[NamedItem]:
    return [item for item in items if item.status == "answered"]


def right_by(item: NamedItem, basis: RatingSource) -> bool | None:
    """Return whether an item is right by a basis; None where the basis has no verdict."""
    if basis == "person":
        return item.person
    if basis == "outcome":
        return None if item.outcome is None else item.outcome == "right"
    return item.rules.get(basis)
