"""Spoken attempts of a response, separated by pauses and by marks of a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabwb.phonology.inventory import SILENT
from tabwb.records.speech import Segment
from tabwb.scoring.naming.readings import is_fragment

PAUSE_S = 1.0
"""Seconds without a phoneme that end an attempt: the "1 sec. count" of the PNT's scoring guide."""
BREAK_S = 0.25
"""Shortest silence, in seconds, that separates words (Goldman-Eisler 1968: a pause). [ours]"""


@dataclass(frozen=True, slots=True)
class SpokenAttempt:
    """One attempt at the name, as the machine proposes it.

    Attributes:
        onset_s, offset_s: seconds, on the clock of the segments.
        phonemes: without silence and noise.
        complete: False for a fragment.
        segments: the phonemes with their times; silence and noise are left out.
    """

    onset_s: float
    offset_s: float
    phonemes: tuple[str, ...]
    complete: bool
    segments: tuple[Segment, ...] = ()


def propose_attempts(
    segments: Sequence[Segment],
    pause_s: float = PAUSE_S,
    *,
    marks: Sequence[float] = (),
    accepted: Sequence[Sequence[str]] = (),
) -> tuple[SpokenAttempt, ...]:
    """Return the attempts in a response, separated by pauses and by the administrator's marks.

    A pause lasts from the end of one phoneme to the beginning of the next, including noise [ours].
    In a typed transcript, which has no times, a ``<sil>`` separates attempts [ours].

    Args:
        segments: phonemes in time order.
        pause_s: shortest pause between two attempts, seconds.
        marks: times at which a person marked the beginning of an attempt, on the same clock.
        accepted: pronunciations that are right: each of them is always a complete attempt.

    >>> said = [Segment("K", 0, 0.1), Segment("AE", 0.1, 0.2), Segment("D", 1.4, 1.5)]
    >>> [(each.phonemes, each.complete) for each in propose_attempts(said)]
    [(('K', 'AE'), True), (('D',), False)]
    """
    groups: list[list[Segment]] = []
    silent = False
    for segment in segments:
        if segment.phoneme in SILENT:
            last_s = groups[-1][-1].end_s if groups else 0.0
            untimed = segment.end_s <= segment.start_s or segment.start_s < last_s
            silent = silent or (segment.phoneme == SILENT[0] and untimed)
            continue
        if (
            not groups
            or silent
            or segment.start_s - groups[-1][-1].end_s >= pause_s
            or any(_middle(groups[-1][-1]) < mark <= _middle(segment) for mark in marks)
        ):
            groups.append([])
        silent = False
        groups[-1].append(segment)
    return tuple(_attempt(group, accepted) for group in groups)


def _attempt(group: Sequence[Segment], accepted: Sequence[Sequence[str]]) -> SpokenAttempt:
    phonemes = tuple(segment.phoneme for segment in group)
    complete = not is_fragment(phonemes, accepted)
    return SpokenAttempt(group[0].start_s, group[-1].end_s, phonemes, complete, tuple(group))


def _middle(segment: Segment) -> float:
    return (segment.start_s + segment.end_s) / 2
