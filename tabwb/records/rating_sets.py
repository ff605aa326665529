"""Rating sets: which responses people rate, with which form, who rates them, and what they say.

Not to be confused with the table ``rating_sets`` of the store, which holds the ratings that one
rater gave one attempt at one time. Times are UTC, ISO 8601, and empty before a row is stored; an
``id`` is 0 until then.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tabwb.records.errors import UsageError
from tabwb.records.ratings import PRIMARY, RULES, check_own, is_derived, rule_of

Answer = str | float | None
"""What a person says to one question; None is not rated."""
CANNOT_TELL = "cannot-tell"
"""The answer of somebody who looked and cannot decide."""
UNSURE_WORDS = frozenset((CANNOT_TELL, "cannot tell", "can't tell", "unsure", "?"))
"""How files write it, in small letters."""
VERDICT_WORDS: Mapping[str, float] = {
    **dict.fromkeys(("present", "true", "yes"), 1.0),
    **dict.fromkeys(("absent", "false", "no"), 0.0),
}
"""How files write present and absent, besides 1 and 0; in small letters."""
ADJUDICATED = "adjudicated"
"""The rater of a file whose values are what was settled."""
Purpose = Literal["rate", "again", "calibration"]
"""Why a sample is shown: for its rating, to measure how far a rater agrees with their own earlier
rating, or to learn the form on a sample whose consensus is known."""
SetStatus = Literal["open", "closed"]
Flag = Literal["", "untouched", "fast", "untouched-fast", "fast-unmarked"]
"""Why a complete rating is doubtful: it was confirmed without an answer (``untouched``), in less
time than the form's minimum (``fast``), or both. ``fast-unmarked``: that was not recorded yet
(before version 0.2.0), it took less than the minimum, and nothing is marked as present."""
MOST_CONFIDENT = 3
UNCERTAIN, FREQUENT, AUDIT = "judge uncertain", "frequent feature", "audit"
"""The strata of a hybrid queue; none is shown to raters."""


@dataclass(frozen=True, slots=True)
class Presentation:
    """How texts of every source are shown alike, so that their form does not tell the source."""

    case: Literal["as-said", "lower"] = "as-said"
    punctuation: Literal["kept", "none"] = "kept"
    cut_mark: bool = True
    max_words: int | None = None


@dataclass(frozen=True, slots=True)
class AudioCut:
    """A part of a kept recording: its SHA-256 (hex), and the start and end in seconds."""

    sha256: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One response as raters see it."""

    number: int
    administration: int
    trial: int
    attempt: int
    text: str
    prompt: str
    context_before: str = ""
    context_after: str = ""
    stratum: str = ""
    weight: float = 1.0
    audio: AudioCut | None = None
    picture: str | None = None
    target: str = ""
    consensus: Mapping[str, Answer] | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One sample (by number) at one position of one rater's order; positions begin at 1."""

    rater: str
    position: int
    sample: int
    purpose: Purpose = "rate"


@dataclass(frozen=True, slots=True)
class SampleRating:
    """What a rater had answered at one position when it was saved.

    Rows of one position form a chain: each names the one before. The last complete one counts,
    unless it was taken back since. ``evidence`` has the words of the shown text (their numbers from
    0) that the rater marked for an answer, by its key.
    """

    rater: str
    position: int
    sample: int
    purpose: Purpose
    answers: Mapping[str, Answer]
    complete: bool
    confidence: int | None = None
    note: str = ""
    seconds: float = 0.0
    started_at: str = ""
    recorded_at: str = ""
    id: int = 0
    replaces: int | None = None
    taken_back: bool = False
    confirmed: tuple[str, ...] | None = None
    evidence: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RatingSet:
    """The samples that people rate, their form and their raters.

    Attributes:
        name: unique in the store.
        form: canonical JSON.
        raters: codes, in the order of the plan.
        guidelines: text of the guidelines file, or empty.
        ask_source: whether the last question is "person or machine?".
        counts: whose ratings count: ``primary:CODE``, ``majority``, ``consensus`` or
            ``adjudicated``.
        id, uid, created_at: of a stored set.
    """

    name: str
    form: str
    form_id: str
    presentation: Presentation = field(default_factory=Presentation)
    seed: int = 0
    raters: tuple[str, ...] = ()
    guidelines: str = ""
    ask_source: bool = False
    counts: str = "majority"
    id: int = 0
    uid: str = ""
    status: SetStatus = "open"
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The value that settles one measure of one sample, with its reason and who settled it."""

    sample: int
    measure: str
    answer: Answer
    reason: str
    who: str
    recorded_at: str = ""
    id: int = 0
    replaces: int | None = None


@dataclass(frozen=True, slots=True)
class SetEvent:
    """Something that happened to a set: ``closed``, ``reopened``, ``counts`` (whose ratings count
    from now on), ``begun`` and ``guidelines-read`` (by the rater ``who``), and so on.
    """

    kind: str
    text: str = ""
    who: str = ""
    recorded_at: str = ""


@dataclass(frozen=True, slots=True)
class RaterLink:
    """A secret link of one rater to one set; the secret itself is not kept.

    ``expires_at`` is empty for a link without an end, ``revoked_at`` for one that is valid.
    """

    id: int
    set_id: int
    rater: str
    made_at: str
    made_by: str
    expires_at: str = ""
    revoked_at: str = ""


@dataclass(frozen=True, slots=True)
class SetPlan:
    """Everything from which a rating set is made."""

    kept: RatingSet
    samples: tuple[Sample, ...]
    assignments: tuple[Assignment, ...] = ()


def quoted(text: str, evidence: Sequence[int]) -> str:
    """Return the words of a text that are evidence; stretches are separated by ``|``.

    >>> quoted("I did the the thing", (2, 3)), quoted("I did the the thing", (0, 4))
    ('the the', 'I | thing')
    """
    words, said = text.split(), ""
    for before, at in zip((None, *evidence), evidence, strict=False):
        said += ("" if before is None else " " if before == at - 1 else " | ") + words[at]
    return said


_RATER = re.compile(r"[A-Za-z0-9_-]{1,32}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


def is_rater(code: str) -> bool:
    """Return whether a text can be the code of a rater.

    >>> is_rater("R2"), is_rater("typed.tsv")
    (True, False)
    """
    return _RATER.fullmatch(code) is not None


def checked_rater(code: str) -> str:
    """Return a rater's code if it is one.

    >>> checked_rater("R2")
    'R2'
    """
    if not is_rater(code):
        raise UsageError(
            f"'{code}' is not a valid code of a rater",
            allowed="1 to 32 letters, digits, hyphens and underscores, for example R2",
        )
    check_own(code)
    return code


def checked_set_name(name: str) -> str:
    """Return the name of a rating set if it is one.

    >>> checked_set_name("pilot-2026")
    'pilot-2026'
    """
    if _NAME.fullmatch(name) is None or re.fullmatch(r"[0-9a-f][0-9a-f-]{7,35}", name):
        raise UsageError(
            f"'{name}' is not a valid name of a rating set",
            allowed="a letter, then up to 63 letters, digits, dots, hyphens and underscores, for "
            "example pilot; not the beginning of a uid",
        )
    return name


def checked_counts(rule: str, raters: Collection[str] | None = None) -> str:
    """Return the rule of whose ratings count if it is one.

    >>> checked_counts("primary:R1")
    'primary:R1'
    """
    code = rule.removeprefix(PRIMARY)
    named = code != rule and _RATER.fullmatch(code) and not is_derived(code)
    if not named and rule_of(rule) is None:
        raise UsageError(
            f"'{rule}' does not say whose ratings count",
            allowed=f"{PRIMARY}CODE, {', '.join(RULES)}",
        )
    if named and raters is not None and code not in raters:
        raise UsageError(
            f"the primary rater '{code}' is not a rater of this set",
            allowed=", ".join(raters) or None,
        )
    return rule


def answer_key(measure: str, attempt: int | None = None) -> str:
    """Return the key of an answer: the measure, and the attempt's number if each is asked.

    >>> answer_key("jargon"), answer_key("code", 2)
    ('jargon', 'code#2')
    """
    return measure if attempt is None else f"{measure}#{attempt}"


def measure_of(key: str) -> tuple[str, int | None]:
    """Return the measure and the attempt's number of an answer's key.

    >>> measure_of("jargon"), measure_of("code#2")
    (('jargon', None), ('code', 2))
    """
    measure, mark, attempt = key.partition("#")
    return measure, int(attempt) if mark and attempt.isdecimal() else None
