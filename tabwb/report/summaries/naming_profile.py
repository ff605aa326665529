"""Latency, effects of cues, and phonemes of the responses to one naming subtest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tabwb.administer.naming.scores import Naming
from tabwb.phonology.inventory import CLASSES
from tabwb.scoring.estimate import Interval, clopper_pearson
from tabwb.scoring.naming.summary import NamedItem, accuracy, cue_counts
from tabwb.scoring.naming.target import CODES
from tabwb.scoring.quantiles import median_interval, quantile

Step = tuple[str | None, str | None]
"""Phoneme of the target and phoneme heard: None where there is none."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """Latencies of responses, in seconds from the picture to the onset of speech.

    Attributes:
        right: of right names (the outcome *right*), in order of time.
        other: of all other responses that were spoken.
    """

    right: tuple[float, ...]
    other: tuple[float, ...]

    @property
    def median(self) -> float | None:
        """Median of the right names, None where there is none."""
        return quantile(self.right, 0.5) if self.right else None

    @property
    def quartiles(self) -> tuple[float, float] | None:
        """Lower and upper quartile of the right names, None where there is none."""
        return (quantile(self.right, 0.25), quantile(self.right, 0.75)) if self.right else None

    @property
    def interval(self) -> Interval | None:
        """Exact 95 % interval of the median, None below six right names."""
        return median_interval(self.right)

    @property
    def slowest(self) -> float:
        """The largest latency; 0 where there is none."""
        return max((*self.right, *self.other), default=0.0)


def latencies(items: Sequence[NamedItem]) -> Latencies:
    """Return the latencies of answered items.

    >>> found = latencies([NamedItem("a", "dog", "answered", outcome="right", latency_s=0.5),
    ...                    NamedItem("b", "cat", "answered", outcome="error", latency_s=2.0),
    ...                    NamedItem("c", "bed", "void", latency_s=1.0)])
    >>> found, found.median, found.interval
    (Latencies(right=(0.5,), other=(2.0,)), 0.5, None)
    """
    timed = [
        (item.outcome == "right", item.latency_s)
        for item in items
        if item.status == "answered" and item.latency_s is not None
    ]
    return Latencies(
        tuple(value for right, value in timed if right),
        tuple(value for right, value in timed if not right),
    )


@dataclass(frozen=True, slots=True)
class CueEffect:
    """Right names after a kind of cue; ``kind`` is empty: before any cue.

    Attributes:
        counts: whether a right name after it counts as right; None before any cue.
        right, of: right names, and the items that reached this point.
        interval: exact 95 % interval (Clopper-Pearson) of the share; None without an item.
    """

    kind: str
    counts: bool | None
    right: int
    of: int
    interval: Interval | None


def cue_effects(items: Sequence[NamedItem]) -> tuple[CueEffect, ...]:
    """Return right names before any cue, then after each kind of cue; empty without a cue.

    >>> given = [NamedItem("a", "dog", "answered", outcome="right"),
    ...          NamedItem("b", "cat", "answered", outcome="right-after-cue",
    ...                    cues=(("phonemic", False),))]
    >>> [(one.kind, one.right, one.of) for one in cue_effects(given)]
    [('', 1, 2), ('phonemic', 1, 1)]
    """
    cued = cue_counts(items)
    if not cued:
        return ()
    alone = accuracy([item for item in items if not item.cues], "outcome")
    helped = sum(item.status == "answered" and bool(item.cues) for item in items)
    reached = alone.n + helped
    interval = clopper_pearson(alone.correct, reached)
    return (
        CueEffect("", None, alone.correct, reached, interval),
        *(
            CueEffect(
                cue.kind,
                cue.counts,
                cue.right_after,
                cue.given,
                clopper_pearson(cue.right_after, cue.given),
            )
            for cue in cued
        ),
    )


@dataclass(frozen=True, slots=True)
class Confusions:
    """Steps of alignments of targets with responses.

    Attributes:
        steps: how often each occurs, matches included.
        responses: how many were aligned.
        other: (target, code) of responses that were left out, because the code says that another
            word was said: their distance from the target has no meaning.
    """

    steps: Mapping[Step, int]
    responses: int
    other: tuple[tuple[str, str], ...] = ()

    @property
    def of(self) -> Mapping[str | None, int]:
        """How often each phoneme of the targets occurs; None: the insertions."""
        totals: Counter[str | None] = Counter()
        for (target, _), n in self.steps.items():
            totals[target] += n
        return totals


def is_by_sound(naming: Naming) -> bool:
    """Return whether the code, or a candidate for it, is one that the distance describes."""
    code, proposal = naming.view.code, naming.proposal
    if code is not None:
        codes: tuple[str, ...] = (code.code,)
    else:
        codes = () if proposal is None else (proposal.code, *proposal.candidates)
    return any(CODES[code].phonological for code in codes if code in CODES)


def confusions(namings: Iterable[Naming], *, every_word: bool = False) -> Confusions:
    """Return the phonemes heard for those of the targets, over responses without practice.

    A response is aligned by features with the nearest accepted form.
    """
    steps: Counter[Step] = Counter()
    responses, other = 0, []
    for naming in namings:
        if naming.distance is None or naming.view.trial.plan.practice:
            continue
        if not every_word and not is_by_sound(naming):
            code, proposal = naming.view.code, naming.proposal
            given = code.code if code is not None else "" if proposal is None else proposal.code
            other.append((naming.view.item.target, given))
            continue
        responses += 1
        steps.update((step.ref, step.hyp) for step in naming.distance.features.steps)
    return Confusions(steps, responses, tuple(other))


_PLACES = {name: at for at, name in enumerate(name for own in CLASSES.values() for name in own)}


def phoneme_rank(phoneme: str | None) -> tuple[int, str]:
    """Return the key that sorts phonemes by class; one of no class, then None, come last.

    >>> sorted(["AE", None, "P", "?"], key=phoneme_rank)
    ['P', 'AE', '?', None]
    """
    if phoneme is None:
        return len(_PLACES) + 1, ""
    return _PLACES.get(phoneme, len(_PLACES)), phoneme
