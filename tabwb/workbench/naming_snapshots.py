"""What the widgets of spoken naming are fed: frozen snapshots, made in the worker's thread.

Times are seconds of the recording unless a name says otherwise. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Operation = Literal["=", "~", "+", "-"]
"""Equal, substituted, inserted (said and not asked for), deleted (asked for and not said)."""


@dataclass(frozen=True, slots=True)
class LevelNow:
    """How loud it is at this moment.

    Attributes:
        peak_dbfs: of the latest block; 0 is full scale.
        clipped: something reached full scale a moment ago.
    """

    peak_dbfs: float
    clipped: bool = False


@dataclass(frozen=True, slots=True)
class Envelope:
    """How loud a stretch of the recording is.

    Attributes:
        start_s, end_s: the stretch.
        peaks_dbfs: the largest sample in each of as many equal parts of it.
    """

    start_s: float
    end_s: float
    peaks_dbfs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class OnsetMark:
    """Where speech begins.

    Attributes:
        at_s: second of the recording.
        latency_s: from the picture to there, or None where the picture's time is unknown.
        uncertainty_s: of a measured one; None where a person set it.
        by: who or what says so.
    """

    at_s: float
    latency_s: float | None = None
    uncertainty_s: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class AttemptSpan:
    """One spoken attempt.

    Attributes:
        start_s, end_s: where it lies.
        phonemes: ARPAbet, or empty where it is not transcribed.
        marked: a person said that it begins here; else it is a proposal.
    """

    start_s: float
    end_s: float
    phonemes: tuple[str, ...] = ()
    marked: bool = False


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """One feature of a substituted phoneme: its values in the reference and in what was said."""

    feature: str
    reference: float
    said: float


@dataclass(frozen=True, slots=True)
class AlignedPhoneme:
    """One column of an alignment.

    Attributes:
        operation: see :data:`Operation`.
        reference, said: phonemes; empty where there is none.
        cost: in features (SCORING 5).
        changes: of a substitution, the features that differ.
    """

    operation: Operation
    reference: str
    said: str
    cost: float
    changes: tuple[FeatureChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Aligned:
    """What was said beside what should have been said.

    Attributes:
        columns: in order.
        phoneme_share: phonemes that differ over phonemes of the reference.
        feature_share: features that differ over features of the reference.
    """

    columns: tuple[AlignedPhoneme, ...]
    phoneme_share: float
    feature_share: float


Standing = Literal["open", "now", "scored", "given", "skipped", "void", "not-administered", "error"]
"""Of one item; ``given`` has a response that nobody has scored."""


@dataclass(frozen=True, slots=True)
class NamedItem:
    """One item in the strip of scores.

    Attributes:
        name: its target.
        standing: see :data:`Standing`.
        right: a person's score, or None where there is none or it is neither.
        word: a person's code or score where it is not simply right or wrong.
    """

    name: str
    standing: Standing
    right: bool | None = None
    word: str = ""
