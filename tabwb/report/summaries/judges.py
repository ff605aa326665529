"""The burden of each judge with its scope and set, as declared when it judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tabwb.analysis.draws import without_draws
from tabwb.battery.model import Battery
from tabwb.records.ratings import Declaration, Scope, is_derived
from tabwb.records.states import RatingStatus, ResponseStatus
from tabwb.records.words import plural
from tabwb.scoring.burden import (
    Burden,
    CategoryBurden,
    RatedCounts,
    burden_of,
    categories_of,
)

if TYPE_CHECKING:
    from tabwb.analysis.judged import JudgedRows

UNUSABLE = frozenset(status.value for status in ResponseStatus if not status.usable)
"""Response statuses that a stored reason may begin with."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What must be the same for responses to share one burden, and for burdens to be compared."""

    rater: str
    features: tuple[str, ...]
    scope: Scope
    prompt_hash: str | None

    def __str__(self) -> str:
        """Return the terms besides the rater, as words."""
        parts = [plural(len(self.features), "feature"), self.scope.replace("-", " ")]
        if self.prompt_hash:
            parts.append(f"prompt {self.prompt_hash[:8]}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """One judge's burden. A rater that judged under several terms has several summaries.

    Attributes:
        declared: whether set and scope are what the judge declared; else see :func:`undeclared`.
        groupings: grouping to its categories' burdens; the battery's first one is shown first.
        judged: the responses in scope; None where the summary was made without columns.
        other_prompts: SHA-256 of other prompts than the declared one, because judging anew was not
            finished, to how many of the verdicts in scope were given under it.
        not_judged: connected texts that count and that this rater has not judged under any terms;
            they are in no figure of the burden.
        shown: features that tables of features have; empty: all of the set.
    """

    rater: str
    scope: Scope
    burden: Burden
    caution: str = ""
    prompt_hash: str | None = None
    declared: bool = True
    groupings: Mapping[str, Mapping[str, CategoryBurden]] = field(default_factory=dict)
    judged: JudgedRows | None = field(default=None, repr=False, compare=False)
    other_prompts: Mapping[str, int] = field(default_factory=dict)
    not_judged: int = 0
    shown: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """The features of its set that tables of features have."""
        every = self.burden.features
        return tuple(one for one in every if one in self.shown) if self.shown else every

    @property
    def rows(self) -> JudgedRows:
        """The responses in scope."""
        assert self.judged is not None
        return self.judged

    @property
    def terms(self) -> Terms:
        """Under which terms it judged."""
        return Terms(self.rater, self.burden.features, self.scope, self.prompt_hash)


def alike(
    first: Sequence[JudgeSummary], second: Sequence[JudgeSummary]
) -> tuple[list[tuple[JudgeSummary, JudgeSummary]], tuple[tuple[str, str], ...]]:
    """Return judges of two sides that can be compared, and the raters left out with the reason.

    Only burdens of one rater over the same features, scope and prompt are alike.
    """
    theirs = {judge.terms: judge for judge in second}
    pairs = [(judge, theirs[judge.terms]) for judge in first if judge.terms in theirs]
    both = {judge.terms for judge, _ in pairs}
    alone = [[judge.terms for judge in side if judge.terms not in both] for side in (first, second)]
    left_out = []
    for rater in dict.fromkeys(terms.rater for side in alone for terms in side):
        if any(all(judge.rater != rater for judge in side) for side in (first, second)):
            left_out.append((rater, "judged only one side"))
            continue
        other = (
            "; ".join(str(terms) for terms in side if terms.rater == rater) or "no other"
            for side in alone
        )
        left_out.append((rater, "judged under other terms: {} / {}".format(*other)))
    return pairs, tuple(left_out)


def causes_of(judge: JudgeSummary) -> str:
    """Return why responses of a judge have no burden, and how many."""
    return ", ".join(
        f"{cause.replace('-', ' ')} {n}" for cause, n in judge.burden.no_burden.items()
    )


def cause_in_words(cause: str) -> str:
    """Return why responses have no burden, to stand behind their number.

    >>> cause_in_words("prompt-echo"), cause_in_words("empty-speech undefined: too short")
    ('prompt echo', "with 'empty speech' undefined (too short)")
    """
    feature, undefined, reason = cause.partition(" undefined")
    if not undefined:
        return cause.replace("-", " ")
    why = f" ({reason.removeprefix(': ')})" if reason.removeprefix(": ") else ""
    return f"with '{feature.replace('-', ' ')}' undefined{why}"


def judge_labels(judges: Sequence[JudgeSummary]) -> tuple[str, ...]:
    """Return a name for each judge: its rater, with its terms where it judged under several."""
    return _labels(judges, {judge.rater: judge.rater for judge in judges})


def short_labels(judges: Sequence[JudgeSummary]) -> tuple[str, ...]:
    """Return a short name for each judge, as figures and tables of papers have it."""
    from tabwb.analysis.names import judge_names

    return _labels(judges, judge_names(judge.rater for judge in judges))


def _labels(judges: Sequence[JudgeSummary], names: Mapping[str, str]) -> tuple[str, ...]:
    times = Counter(judge.rater for judge in judges)
    return tuple(
        names[judge.rater] if times[judge.rater] == 1 else f"{names[judge.rater]} ({judge.terms})"
        for judge in judges
    )


def terms_of(battery: Battery, rater: str, declared: Declaration) -> Terms:
    """Return the terms under which a rater judged."""
    features = tuple(one.id for one in battery.features if one.id in declared.features)
    return Terms(rater, features, declared.scope, declared.prompt_hash)


def order_of(rater: str, declared: Declaration | None) -> tuple[bool, bool, str]:
    """Return the key that sorts raters: judges as they come, people by code, then derived
    raters.
    """
    person = declared is not None and declared.kind == "person"
    return person, is_derived(rater), rater if person else ""


def undeclared(rater: str, rated: Collection[str]) -> Declaration:
    """Return what is taken of a rater that declared nothing, as in an older store.

    The scope is connected text. The set is every feature that the rater rated there and never left
    undefined in an answer to which it gave any value: a feature that is never found absent is
    thereby left out, unless it was found in every answer.
    """
    return Declaration(rater, tuple(rated))


def cause_of_status(status: ResponseStatus) -> str:
    """Return why an unusable response has no burden."""
    return "no-response" if status is ResponseStatus.EMPTY else status.value


def cause_of_ratings(
    features: Sequence[str], lacking: Sequence[tuple[str, RatingStatus | None, str]]
) -> str:
    """Return why a usable response has no burden, the gravest cause; empty where it has one.

    >>> cause_of_ratings(["jargon"], [("jargon", RatingStatus.UNDEFINED, "too short")])
    'jargon undefined: too short'
    >>> cause_of_ratings(["jargon"], [("jargon", RatingStatus.UNDEFINED, "refused: no answer")])
    'refused'
    """
    if not features:
        return "no-feature"
    statuses = {status for _, status, _ in lacking}
    if None in statuses:
        return "not-rated"
    for failure in (RatingStatus.ERROR, RatingStatus.UNPARSED):
        if failure in statuses:
            return failure.value
    for _, _, reason in lacking:
        if (named := reason.partition(":")[0]) in UNUSABLE:
            return named
    for feature, _, reason in lacking:
        if reason:
            return f"{feature} undefined: {reason}"
    return "undefined" if lacking else ""


def summarise_judge(
    battery: Battery,
    terms: Terms,
    declared: Declaration | None,
    counts: RatedCounts,
    *,
    shared: bool,
    other_prompts: Mapping[str, int],
    not_judged: int,
    judged: JudgedRows | None = None,
    interval: bool = False,
) -> JudgeSummary:
    """Return the burden of one judge under one set of terms."""
    groupings = {
        grouping.id: categories_of(
            counts,
            terms.features,
            {category.id: category.features for category in grouping.categories},
        )
        for grouping in battery.groupings
    }
    first = next(iter(groupings.values()), {})
    burden = burden_of(counts, terms.features, first, interval=interval)
    if shared:
        burden = replace(burden, intervals=tuple(map(without_draws, burden.intervals)))
    return JudgeSummary(
        terms.rater,
        terms.scope,
        burden,
        caution=declared.caution if declared else "",
        prompt_hash=terms.prompt_hash,
        declared=declared is not None,
        groupings=groupings,
        judged=judged,
        other_prompts=other_prompts,
        not_judged=not_judged,
    )
