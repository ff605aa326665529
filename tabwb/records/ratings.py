"""Ratings of responses, judgements of models, what raters declare, and whose ratings count."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar, get_args

from tabwb.records.errors import UsageError
from tabwb.records.states import RatingStatus, StopReason
from tabwb.records.words import near

Scope = Literal["connected-text", "all"]
"""Over which answers a burden is computed: connected text only, or all that the rater rated."""
RaterKind = Literal["judge", "scorer", "person"]
MeasureKind = Literal["verdict", "share", "count", "number"]
"""What the values of a measure are: 1 or 0, right or wrong; 0 to 1; 0, 1, 2 ...; any number."""
POLICIES = ("exact", "normalised", "extracted")
"""The three policies under which an answer is right or wrong; the first decides by default."""
REPETITION_ERRORS = (
    "insertion", "deletion", "substitution", "carrier-echo", "no-response", "spacing",
)  # fmt: skip
"""The counts of errors of a repetition."""
MEASURES_OF_OURS: Mapping[str, Mapping[str, MeasureKind]] = {
    **dict.fromkeys(("choice", "yes-no"), dict.fromkeys(POLICIES, "verdict")),
    "repetition": {
        **dict.fromkeys(POLICIES, "verdict"),
        **dict.fromkeys(REPETITION_ERRORS, "count"),
    },
    "lexical": {"words": "count", "ttr": "share", "mattr": "share", "mtld": "number"},
}
"""The kinds of measures of the scorers of tabwb, which did not declare them before version 0.2."""
TAKEN_BACK = "taken back"
"""The reason of a rating whose person took it back."""
PROBABILITY = ".probability"
"""Ends the measure with which a judge tells a feature's probability beside its verdict."""


@dataclass(frozen=True, slots=True)
class PluginVersion:
    """The plugin that made a rater: package, version, and SHA-256 (hex) over its files.

    >>> str(PluginVersion("my-words", "0.2.0", "ab12cd34ef"))
    'my-words 0.2.0 (ab12cd34)'
    """

    distribution: str
    version: str = ""
    sha256: str = ""

    def __str__(self) -> str:
        name = f"{self.distribution} {self.version}".strip()
        return f"{name} ({self.sha256[:8]})" if self.sha256 else name


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a rater declared when it rated; kept with the administration, never changed.

    Attributes:
        rater: its id in the ratings.
        features: of a judge the fixed set of its burden: every feature that it can call present
            *and* absent. Of a scorer nothing; before version 0.2 its first measure.
        scope: over which answers the burden is computed.
        kind: what the rater is.
        caution: the sentence shown with its verdicts, or empty.
        prompt_text: the canonical text of everything that the rater's model is given besides the
            response; empty for a rater without a model.
        measures: of a scorer, each measure with what its values are; see :func:`measures_of`.
        plugin: that made the rater; None: not recorded, or it is a person.
        earlier: other plugins (or versions) that rated in its name here before, oldest first; None
            where one is not recorded. Found when declarations are read.
    """

    rater: str
    features: tuple[str, ...]
    scope: Scope = "connected-text"
    kind: RaterKind = "judge"
    caution: str = ""
    prompt_text: str = ""
    measures: Mapping[str, MeasureKind] = field(default_factory=dict)
    plugin: PluginVersion | None = None
    earlier: tuple[PluginVersion | None, ...] = field(default=(), compare=False)

    def after(self, before: Declaration | None) -> Declaration:
        """Return this declaration with what it says when another came before it.

        Args:
            before: the rater's declaration until now; None: there was none.
        """
        if before is None:
            return self
        given = (*before.earlier, before.plugin)
        earlier = tuple(dict.fromkeys(one for one in given if one != self.plugin))
        return replace(self, earlier=earlier) if earlier != self.earlier else self

    @property
    def prompt_hash(self) -> str | None:
        """SHA-256 (hex) of the prompt's text, or None where there is none.

        >>> Declaration("rules-1", ("jargon",)).prompt_hash is None
        True
        """
        return prompt_hash(self.prompt_text)


def measures_of(scorer: str, declared: Declaration | None) -> Mapping[str, MeasureKind]:
    """Return what the values of a scorer's measures are, for those that it declared.

    >>> measures_of("choice", None)["exact"]
    'verdict'
    >>> measures_of("my-words", Declaration("my-words", ("found",), kind="scorer"))
    {}
    """
    if declared is not None and (declared.measures or declared.kind != "scorer"):
        return declared.measures
    return MEASURES_OF_OURS.get(scorer, {})


def verdict_measure(measures: Mapping[str, MeasureKind], policy: str = "exact") -> str:
    """Return the measure of a scorer whose values say right or wrong under a policy, or "".

    >>> own = {"overlap": "share", "found": "verdict"}
    >>> verdict_measure(own), verdict_measure(own, "normalised"), verdict_measure({})
    ('found', '', '')
    """
    if policy != "exact":
        return policy if measures.get(policy) == "verdict" else ""
    return next((name for name, kind in measures.items() if kind == "verdict"), "")


def verdicts_of(
    ratings: Iterable[Rating], scorers: Sequence[str], declared: Mapping[str, Declaration]
) -> dict[str, Rating]:
    """Return, by policy, the verdicts on one response of the first scorer that gives some."""
    given = {(rating.rater, rating.measure): rating for rating in ratings}
    for scorer in scorers:
        measures = measures_of(scorer, declared.get(scorer))
        if (scorer, verdict_measure(measures)) in given:
            names = ((policy, verdict_measure(measures, policy)) for policy in POLICIES)
            return {
                policy: given[scorer, name] for policy, name in names if (scorer, name) in given
            }
    return {}


LARGEST = 1e100


def fits_kind(value: float, kind: MeasureKind) -> bool:
    """Return whether a finite value can be one of a measure of this kind.

    >>> fits_kind(0.5, "verdict"), fits_kind(0.5, "share"), fits_kind(-1, "count")
    (False, True, False)
    >>> fits_kind(1e308, "number")  # of which no sum can be made
    False
    """
    value = float(value)  # a number of numpy's would make LARGEST one of its own type
    match kind:
        case "verdict":
            return value in {0.0, 1.0}
        case "share":
            return 0.0 <= value <= 1.0
        case "count":
            return 0 <= value <= LARGEST and value.is_integer()
        case _:
            return abs(value) <= LARGEST


def prompt_hash(text: str) -> str | None:
    """Return the SHA-256 (hex) of a prompt's canonical text, or None without a text."""
    return hashlib.sha256(text.encode()).hexdigest() if text else None


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater, one measure, one response.

    Attributes:
        rater: the spec of the scorer or judge, or a person's study id.
        value: a finite number when ``status`` is ``value``, else None. Verdicts are 1.0 and 0.0.
        reason: for people: the words that fired, the error, why it is undefined; may be empty.
    """

    rater: str
    measure: str
    value: float | None
    status: RatingStatus
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) == (self.status is RatingStatus.VALUE):
            raise ValueError(f"a rating has a value exactly when its status is 'value': {self!r}")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"a rating's value is a finite number, or undefined: {self!r}")


def valued(rater: str, measure: str, value: float | bool, reason: str = "") -> Rating:
    """Return a rating with a number (True and False become 1.0 and 0.0).

    Args:
        rater: id of the rater.
        measure: what was rated.
        value: a finite number or a verdict.
        reason: for people.
    """
    return Rating(rater, measure, float(value), RatingStatus.VALUE, reason)


def undefined(rater: str, measure: str, reason: str) -> Rating:
    """Return a rating for which the measure has no value, with the reason why.

    Args:
        rater: id of the rater.
        measure: what was rated.
        reason: for people.
    """
    return Rating(rater, measure, None, RatingStatus.UNDEFINED, reason)


def failed(rater: str, measure: str, reason: str) -> Rating:
    """Return a rating that could not be made because the rater failed.

    Args:
        rater: id of the rater.
        measure: what was rated.
        reason: for people.
    """
    return Rating(rater, measure, None, RatingStatus.ERROR, reason)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a judge that asks a model, for one response.

    Attributes:
        ratings: one for each measure; all in status error where the call failed, all unparsed
            where the reply could not be read.
        raw: the model's reply, unaltered; of a repaired verdict the second reply.
        first_raw: the reply that could not be read, where a second one was requested.
        repaired: the verdict comes from a second request.
        structured: the API was told to follow the schema.
        stop_reason: why the last reply ended.
        requests: how many requests were sent.
        prompt_tokens, reply_tokens: of all requests together, or None where not counted.
        latency_s: seconds, of all requests together.
    """

    ratings: tuple[Rating, ...]
    raw: str = ""
    first_raw: str = ""
    repaired: bool = False
    structured: bool = False
    stop_reason: StopReason = StopReason.END
    requests: int = 1
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    latency_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Judgement(Verdict):
    """One call of a judge for one response, as it is stored.

    Attributes:
        requests: number of requests; 0 if the verdict was copied from another one.
        repeat: 0 for the judgement whose ratings count; 1 and up ask the same again to see how far
            the judge agrees with itself.
        prompt_text: everything that is put to the model besides the response (canonical JSON).
        key: SHA-256 (hex) of judge and exact request, equal for equal calls.
        same_as: id of the earlier judgement of the same key that this one was taken from, or None.
    """

    rater: str = field(kw_only=True)
    repeat: int = 0
    prompt_text: str = ""
    key: str = ""
    same_as: int | None = None
    id: int = 0
    recorded_at: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement with the trial and the attempt, by number, that it judges."""

    trial: int
    attempt: int
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class FailedRater:
    """A scorer or judge that failed on ``n`` of ``of`` answers; ``reason`` is of the first one."""

    rater: str
    n: int
    of: int
    reason: str

    def __str__(self) -> str:
        return f"'{self.rater}' failed on {self.n} of {self.of} responses: {self.reason}"


Rule = Literal["majority", "consensus", "adjudicated"]
"""``majority``: what more than half of the raters gave. ``adjudicated``: the settled value, else
what all raters gave. ``consensus``: the settled value, else the majority."""
RULES: tuple[Rule, ...] = get_args(Rule)
PRIMARY = "primary:"
CALIBRATED = "calibrated:"
"""Begins the id of a judge's labels after calibration."""
PERSON = "person:"
UNSURE, NO_MAJORITY, NOT_SETTLED = "cannot tell", "no majority", "not settled"
"""Reasons why a rating is undefined: the rater, or whoever settled it, looked and cannot decide; a
rule gives no value."""
Given = TypeVar("Given", bound=Hashable)


def rule_of(counts: str) -> Rule | None:
    """Return the rule that a text names, or None where it names a rater or nothing.

    >>> rule_of("majority"), rule_of("R1")
    ('majority', None)
    """
    return next((rule for rule in RULES if rule == counts), None)


def counting(text: str) -> str:
    """Return a rule, or the code of the primary rater, without ``primary:`` before it.

    >>> counting("primary:R1"), counting("R1"), counting("majority")
    ('R1', 'R1', 'majority')
    """
    code = text.removeprefix(PRIMARY)
    if code != text and (not code or rule_of(code)):
        raise UsageError(
            f"'{text}' does not name a rater", allowed=f"a rater's code, {', '.join(RULES)}"
        )
    if code == text and rule_of(code) is None and (meant := near(code, RULES)):
        raise UsageError(
            f"'{text}' is not a rule; did you mean '{meant}'?", allowed=", ".join(RULES),
            hint=f"a rater with this code: {PRIMARY}{text}",
        )  # fmt: skip
    return code


def is_derived(rater: str) -> bool:
    """Return whether a rater is computed from the ratings of others, and never stored.

    >>> is_derived("majority"), is_derived("calibrated:tab-2026"), is_derived("person:R1")
    (True, True, False)
    """
    return rule_of(rater) is not None or rater.startswith(CALIBRATED)


def calibrated_parts(judge: str) -> tuple[str, str]:
    """Return ``calibrated:`` or an empty text, and the judge behind it.

    >>> calibrated_parts("calibrated:rules"), calibrated_parts("rules")
    (('calibrated:', 'rules'), ('', 'rules'))
    """
    prefix = CALIBRATED if judge.startswith(CALIBRATED) else ""
    return prefix, judge.removeprefix(prefix)


def check_own(code: str) -> None:
    """Refuse a person's code that is the id of a derived rater."""
    if is_derived(code) or code.startswith(PRIMARY):
        raise UsageError(
            f"'{code}' cannot be a person's code",
            hint=f"{', '.join(RULES)} are computed from the ratings of people",
        )


@dataclass(frozen=True, slots=True)
class Open:
    """Why a rule gives no value: the raters differ, and nobody has settled it."""

    reason: str


CANNOT = Open(UNSURE)


def majority(given: Sequence[Given]) -> Given | Open:
    """Return the value that more than half of the raters gave.

    >>> majority(["semantic", "semantic", "formal"])
    'semantic'
    >>> majority([1.0, 0.0]).reason
    'no majority'
    """
    (value, n), *_ = Counter(given).most_common(1)
    if 2 * n > len(given):
        return value
    return Open(NO_MAJORITY)


def counting_value(
    rule: Rule, given: Sequence[Given], settled: Given | Open | None = None
) -> Given | Open | None:
    """Return the value that counts by a rule.

    >>> counting_value("majority", [1.0, 0.0, 0.0], settled=1.0)
    0.0
    >>> counting_value("consensus", [1.0, 0.0, 0.0], settled=1.0)
    1.0
    >>> counting_value("adjudicated", [1.0, 0.0, 0.0]).reason
    'not settled'
    """
    if rule != "majority" and settled is not None:
        return settled
    if not given:
        return None
    if rule == "adjudicated":
        return given[0] if len(set(given)) == 1 else Open(NOT_SETTLED)
    return majority(given)


T = TypeVar("T")
KEPT = 5_000


class Once(Generic[T]):
    """Makes something from an object once, and returns the same for the same object later.

    Objects are told apart by identity, not by equality, because comparing them would take longer
    than making it again. They must not change.

    >>> lengths = Once(len)
    >>> ratings = [1, 2]
    >>> lengths.of(ratings), lengths.of(ratings)
    (2, 2)
    """

    __slots__ = ("_kept", "_made", "_make")

    def __init__(self, make: Callable[[Any], T], kept: int = KEPT) -> None:
        self._make, self._kept = make, kept
        # The object itself is kept too: its identity is free for another one when it is gone.
        self._made: dict[int, tuple[Any, T]] = {}

    def of(self, value: Any) -> T:
        """Return what is made from an object."""
        found = self._made.get(id(value))
        if found is None:
            if len(self._made) >= self._kept:
                self._made.clear()
            found = self._made[id(value)] = value, self._make(value)
        return found[1]
