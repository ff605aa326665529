"""A response beside its accepted forms: whether it contains one, and its distance from the nearest.

Every verdict names its rule, the clause that fired and the accepted form. The distance is not PER
or FER, which compare a transcriber with a human transcript of the same speech.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabwb.phonology.distance import Alignment, align_features, align_phonemes
from tabwb.phonology.inventory import SILENT
from tabwb.records.speech import Segment
from tabwb.scoring.naming.attempts import BREAK_S
from tabwb.scoring.naming.target import Accepted, Rule, Tolerance
from tabwb.scoring.text import common_subsequence, contains


@dataclass(frozen=True, slots=True)
class Correctness:
    """Correctness of one rule on a response.

    Attributes:
        value, clause: whether it is right, None where only a person can decide; why, for people.
        form: the accepted form that was found, or None.
        start_s, end_s: where it was found, on the clock of the segments; None without a form.
        place: number of its first phoneme in the response without silence and noise, from 0.
        edits: phonemes deleted, inserted or replaced that a tolerance let pass.
        embedded: right, but with adjacent phonemes without a pause: check by ear.
        attempt: number of the attempt that was judged, from 1; None where a form may be anywhere.
        provisional: attempts were proposed by a machine.
    """

    rule: Rule
    value: bool | None
    clause: str
    form: Accepted | None = None
    start_s: float | None = None
    end_s: float | None = None
    edits: int = 0
    embedded: bool = False
    attempt: int | None = None
    provisional: bool = False
    place: int | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags of :data:`tabwb.scoring.naming.target.FLAGS` that follow from it."""
        dialect = self.form is not None and self.form.reason == "dialect"
        return ("embedded",) * self.embedded + ("dialect",) * dialect

    def to_json(self) -> dict[str, object]:
        """Return the verdict for documents."""
        return {
            "rule": self.rule,
            "value": self.value,
            "clause": self.clause,
            "form": None if self.form is None else " ".join(self.form.phonemes),
            "reason": None if self.form is None else self.form.reason,
            "start_s": self.start_s,
            "end_s": self.end_s,
            "edits": self.edits,
            "embedded": self.embedded,
            "attempt": self.attempt,
            "provisional": self.provisional,
        }


def correct_any(
    segments: Sequence[Segment], accept: Sequence[Accepted], tolerance: Tolerance | None = None
) -> Correctness:
    """Return whether an accepted form occurs anywhere, silence and noise left out.

    Source: PSST, section 3 and task B. Of several places the best is taken: equal before tolerated,
    separated by silence before embedded, the battery's order of forms, the earliest.

    >>> said = [Segment(each, 0.0, 0.0) for each in "D AO G AH".split()]
    >>> found = correct_any(said, [Accepted(("D", "AO", "G"), "citation")])
    >>> found.value, found.embedded, found.clause
    (True, True, '/dɔɡ/ is in the response')
    """
    spoken = [segment for segment in segments if segment.phoneme not in SILENT]
    if not spoken:
        return Correctness("correct-any", False, "no phoneme was heard")
    best = min(_places(spoken, accept, tolerance, _breaks(segments)), default=None)
    if best is None:
        return Correctness("correct-any", False, "the response holds no accepted form")
    edits, embedded, number, start, end = best
    form = accept[number]
    clause = f"/{form.ipa}/ is in the response{_tolerated(edits)}"
    onset, offset = spoken[start].start_s, spoken[end - 1].end_s
    return Correctness(
        "correct-any", True, clause, form, onset, offset, edits, embedded, place=start
    )


def edits_within(
    phonemes: Sequence[str], form: Sequence[str], tolerance: Tolerance | None
) -> int | None:
    """Return the number of edits between a response and a form; None where that is too far.

    ``slips``: phoneme edit distance of at most so many. ``share``: the longest common subsequence
    over the length of the longer of the two, so that inserted phonemes count too [ours].

    >>> edits_within("K IY N IH NG".split(), "K L IY N IH NG".split(), Tolerance(slips=1))
    1
    >>> edits_within("T AE T".split(), "K AE T".split(), Tolerance(share=0.7)) is None
    True
    """
    if tuple(phonemes) == tuple(form):
        return 0
    if tolerance is None:
        return None
    if tolerance.slips is not None:
        edits = int(align_phonemes(form, phonemes).distance)
        return edits if edits <= tolerance.slips else None
    share = tolerance.share or 1.0
    longer = max(len(phonemes), len(form))
    if common_subsequence(phonemes, form) < share * longer:
        return None
    return int(align_phonemes(form, phonemes).distance)


def _breaks(segments: Sequence[Segment]) -> list[bool]:
    """Return whether there is silence (or nothing) before each phoneme and after the last."""
    apart: list[bool] = []
    silent, last = True, None
    for segment in segments:
        if segment.phoneme in SILENT:
            long = segment.end_s - segment.start_s >= BREAK_S
            timed = segment.end_s > segment.start_s
            silent = silent or (segment.phoneme == SILENT[0] and (long or not timed))
            continue
        apart.append(silent or (last is not None and segment.start_s - last.end_s >= BREAK_S))
        silent, last = False, segment
    return [*apart, True]


def _places(
    spoken: Sequence[Segment],
    accept: Sequence[Accepted],
    tolerance: Tolerance | None,
    apart: Sequence[bool],
) -> Iterator[tuple[int, bool, int, int, int]]:
    """Yield edits, embedded, number of the form, start and end of every right stretch."""
    phonemes = [segment.phoneme for segment in spoken]
    for number, form in enumerate(accept):
        shortest, longest = _lengths(len(form.phonemes), tolerance)
        for start in range(len(phonemes)):
            for end in range(start + shortest, min(start + longest, len(phonemes)) + 1):
                edits = edits_within(phonemes[start:end], form.phonemes, tolerance)
                if edits is not None:
                    yield edits, not (apart[start] and apart[end]), number, start, end


def _lengths(form: int, tolerance: Tolerance | None) -> tuple[int, int]:
    if tolerance is None:
        return form, form
    if tolerance.slips is not None:
        return max(1, form - tolerance.slips), form + tolerance.slips
    share = tolerance.share or 1.0
    return max(1, int(form * share)), int(form / share)


def _tolerated(edits: int) -> str:
    return f" but for {edits} tolerated phoneme{'s' * (edits > 1)}" if edits else ""


@dataclass(frozen=True, slots=True)
class TargetDistance:
    """Alignments of a response with the nearest accepted form, by phonemes and by features."""

    form: Accepted
    phonemes: Alignment
    features: Alignment

    @property
    def phoneme_rate(self) -> float:
        """Phoneme edits over the accepted form's length; may exceed 1."""
        return self.phonemes.distance / self.phonemes.length

    @property
    def feature_rate(self) -> float:
        """Feature distance over 24 times the accepted form's length."""
        return self.features.distance / self.features.length

    def to_json(self) -> dict[str, object]:
        """Return the distance for documents; a step of the trace is op, accepted, said, cost."""
        return {
            "form": " ".join(self.form.phonemes),
            "phonemes": self.phoneme_rate,
            "phoneme_distance": self.phonemes.distance,
            "phoneme_length": self.phonemes.length,
            "features": self.feature_rate,
            "feature_distance": self.features.distance,
            "feature_length": self.features.length,
            "trace": [[step.op, step.ref, step.hyp, step.cost] for step in self.features.steps],
        }


def distance_from_target(
    phonemes: Sequence[str], accept: Sequence[Accepted]
) -> TargetDistance | None:
    """Return the distance to the nearest accepted form; None without a phoneme.

    The nearest form is one that the response contains without interruption; then by feature rate,
    by phoneme rate, and in the battery's order [ours]. Meaningful for codes that are *phonological*
    in :data:`tabwb.scoring.naming.target.CODES`.

    >>> found = distance_from_target("D AO G AH".split(), [Accepted(("D", "AO", "G"), "citation")])
    >>> found.phonemes.distance, found.phonemes.length, found.features.distance
    (1.0, 3, 22.0)
    """
    spoken = [phoneme for phoneme in phonemes if phoneme not in SILENT]
    if not spoken:
        return None
    distances = (
        TargetDistance(
            form, align_phonemes(form.phonemes, spoken), align_features(form.phonemes, spoken)
        )
        for form in accept
    )

    def rank(distance: TargetDistance) -> tuple[bool, float, float]:
        inside = contains(spoken, distance.form.phonemes)
        return not inside, distance.feature_rate, distance.phoneme_rate

    return min(distances, key=rank, default=None)
