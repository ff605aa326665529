"""Usable responses and symptom burden: how many features of a fixed set are present on average."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval, Interval, ratio
from tabwb.scoring.intervals import burden_interval, rate_interval
from tabwb.scoring.text import words


@dataclass(frozen=True, slots=True)
class Usable:
    """Usable responses of all that count, and the response status of the others to their number."""

    usable: int
    n: int
    causes: Mapping[str, int] = field(default_factory=dict)

    @property
    def few(self) -> bool:
        """Whether fewer than half are usable; such a burden is left out of rankings.

        >>> Usable(2, 5).few, Usable(3, 6).few, Usable(0, 0).few
        (True, False, False)
        """
        return 2 * self.usable < self.n

    def to_json(self) -> dict[str, object]:
        """Return as plain data."""
        causes = dict(self.causes)
        return {"usable": self.usable, "n": self.n, "causes": causes, "few_usable": self.few}


NONE_COUNTED = Usable(0, 0)
"""Where no response has been counted."""


def count_usable(causes: Iterable[str]) -> Usable:
    """Count responses, given of each the status that makes it unusable, or an empty text.

    A ``Counter`` is taken as so many responses of each.

    >>> count_usable(["", "refused", "", "refused"])
    Usable(usable=2, n=4, causes={'refused': 2})
    """
    counts = Counter(causes)
    usable = counts.pop("", 0)
    return Usable(usable, usable + counts.total(), dict(sorted(counts.items())))


REPEATED_PROMPTS = 3
"""The same text for so many different prompts or more is a repeated answer."""


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """One counted response, as :func:`repeated_answers` compares it.

    Attributes:
        key: names the response, for the caller.
        prompt: the item's prompt; replicates and orders of one item have one prompt.
        text: the response, unaltered.
    """

    key: object
    prompt: str
    text: str


def repeated_answers(answers: Iterable[ComparedAnswer]) -> frozenset[object]:
    """Return the keys of the answers whose text was given to three or more different prompts.

    Texts are equal when their words are; a text without a word is none. Source: docs/results.md.

    Args:
        answers: of one examinee in one administration; which are compared is chosen by
            :func:`tabwb.report.summaries.counted.effective_statuses`.

    >>> trip = [ComparedAnswer(n, prompt, "I like the sea.") for n, prompt in enumerate("abc")]
    >>> sorted(repeated_answers([*trip, ComparedAnswer(3, "d", "We had a dog.")]))
    [0, 1, 2]
    >>> repeated_answers([ComparedAnswer(n, "a", "I like the sea.") for n in range(5)])
    frozenset()
    """
    given = [(answer, text) for answer in answers if (text := " ".join(words(answer.text)))]
    prompts: dict[str, set[str]] = {}
    for answer, text in given:
        prompts.setdefault(text, set()).add(answer.prompt)
    return frozenset(answer.key for answer, text in given if len(prompts[text]) >= REPEATED_PROMPTS)


NO_BURDEN = "no response has a burden"
NO_USABLE = "no usable response"


@dataclass(frozen=True, slots=True)
class RatedResponse:
    """One response as one rater saw it.

    Attributes:
        cluster: the item, as the responses to it are not independent; or the speaker, where
            several are pooled.
        text, words: the response, and how many words it has.
        present: the features of the set that are present; None where any of them has no value, and
            the response has no burden.
        cause: why it has none (``no-response``), empty when it has one.
        unusable: the response status that makes it unusable (``refused``), empty when it is usable.
        fixed: whether nothing was drawn, so that it would come back the same.
    """

    cluster: Hashable
    text: str
    words: int
    present: frozenset[str] | None
    cause: str = ""
    unusable: str = ""
    fixed: bool = False

    def __post_init__(self) -> None:
        if (self.present is None) != bool(self.cause):
            raise ValueError("a response has a cause exactly when it has no burden")
        if self.unusable and self.present is not None:
            raise ValueError("an unusable response has no burden")

    @property
    def burden(self) -> float | None:
        """How many features of the set are present, or None where it has no burden."""
        return None if self.present is None else float(len(self.present))


@dataclass(frozen=True, slots=True)
class CategoryBurden:
    """Features of one category.

    Attributes:
        count, rate: mean number of them present per response, and share of responses with one.
        of: how many of them the rater's set has.
    """

    count: Estimate
    rate: Estimate
    of: int


@dataclass(frozen=True, slots=True)
class Burden:
    """Symptom burden with everything that is printed with it.

    Attributes:
        features: the fixed set, in the battery's order.
        n_responses, n_distinct: responses counted, and how many different texts they are.
        words_mean: mean words of the usable responses, those without burden included.
        n_burden, no_burden: responses that have a burden, and cause to number of the others.
        symptom_burden: the mean over the ``n_burden`` responses.
        intervals: of the burden, one for each estimand; empty where they were not asked for.
        categories: by id.
        present: feature to number of responses, of ``n_burden``, in which it is present.
        hits: feature to the responses with it, item by item; sizes: responses of each item.
        fixed: whether nothing was drawn.
    """

    features: tuple[str, ...]
    n_responses: int
    n_distinct: int
    words_mean: Estimate
    n_burden: int
    no_burden: Mapping[str, int]
    symptom_burden: Estimate
    intervals: tuple[EstimatedInterval, ...] = ()
    categories: Mapping[str, CategoryBurden] = field(default_factory=dict)
    present: Mapping[str, int] = field(default_factory=dict)
    usable: Usable = NONE_COUNTED
    hits: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    fixed: bool = False

    @property
    def interval(self) -> Interval | None:
        """The interval for prompts like these, where it was asked for and there is one."""
        return self.intervals[0].interval if self.intervals else None

    @property
    def interval_reason(self) -> str:
        """Why there is no such interval, else empty."""
        return self.intervals[0].reason if self.intervals else "not asked for"

    def rate_intervals(self, feature: str) -> tuple[EstimatedInterval, ...]:
        """Return the intervals of :meth:`rate`, one for each estimand."""
        return tuple(
            rate_interval(self.hits[feature], self.sizes, estimand, deterministic=self.fixed)
            for estimand in Estimand
        )

    @property
    def ranked(self) -> float | None:
        """The burden where it may be ranked: None where it is undefined or few are usable."""
        return None if self.usable.few else self.symptom_burden.value

    def rate(self, feature: str) -> Estimate:
        """Share of the responses with a burden in which a feature of the set is present."""
        return ratio(self.present[feature], self.n_burden, NO_BURDEN)


def symptom_burden(
    responses: Iterable[RatedResponse],
    features: Sequence[str],
    categories: Mapping[str, Sequence[str]] | None = None,
    *,
    interval: bool = False,
) -> Burden:
    """Return the symptom burden of responses under one rater.

    ``burden = sum of features present / responses that have a burden``. A response for which any
    feature of the set is undefined has none and is counted with its cause. A category's count is
    the same mean over its own features. Source: docs/results.md; categories: TAB, table 5.

    Args:
        responses: with identical replicates counted once where nothing was drawn.
        features: the fixed set.
        categories: category to its features; those outside the set are left out.
        interval: whether to compute :attr:`Burden.intervals`.

    >>> seen = RatedResponse(("m", "ct1"), "We went.", 2, frozenset({"retracing"}))
    >>> none = RatedResponse(("m", "ct2"), "", 0, None, "no-response")
    >>> burden = symptom_burden([seen, none], ["retracing", "jargon"])
    >>> burden.symptom_burden.value, burden.n_responses, burden.no_burden
    (1.0, 2, {'no-response': 1})
    """
    counted = list(responses)
    profiles = [response.present for response in counted if response.present is not None]
    sizes = [len(present) for present in profiles]
    usable = [response for response in counted if not response.unusable]
    missing = Counter(response.cause for response in counted if response.cause)
    items = _by_item(counted)
    drawn = any(not response.fixed for response in counted if response.present is not None)
    fixed = bool(profiles) and not drawn
    values = [[float(len(present)) for present in item] for item in items]
    intervals = tuple(
        burden_interval(values, len(features), estimand, deterministic=fixed)
        for estimand in Estimand
        if interval
    )
    return Burden(
        features=tuple(features),
        n_responses=len(counted),
        n_distinct=len({response.text for response in counted}),
        words_mean=ratio(sum(response.words for response in usable), len(usable), NO_USABLE),
        n_burden=len(profiles),
        no_burden=dict(sorted(missing.items())),
        symptom_burden=ratio(sum(sizes), len(profiles), NO_BURDEN),
        intervals=intervals,
        categories={
            name: _category(profiles, frozenset(members) & frozenset(features))
            for name, members in (categories or {}).items()
        },
        present={name: sum(name in present for present in profiles) for name in features},
        usable=count_usable(response.unusable for response in counted),
        hits={
            name: tuple(sum(name in present for present in item) for item in items)
            for name in features
        },
        sizes=tuple(map(len, items)),
        fixed=fixed,
    )


def _category(profiles: Sequence[frozenset[str]], members: frozenset[str]) -> CategoryBurden:
    if not members:
        nothing = Estimate(None, "the rater's set has no feature of this category")
        return CategoryBurden(nothing, nothing, 0)
    sizes = [len(present & members) for present in profiles]
    return CategoryBurden(
        count=ratio(sum(sizes), len(sizes), NO_BURDEN),
        rate=ratio(sum(size > 0 for size in sizes), len(sizes), NO_BURDEN),
        of=len(members),
    )


def _by_item(responses: Sequence[RatedResponse]) -> list[list[frozenset[str]]]:
    items: dict[Hashable, list[frozenset[str]]] = {}
    for response in responses:
        if response.present is not None:
            items.setdefault(response.cluster, []).append(response.present)
    return [items[cluster] for cluster in sorted(items, key=str)]
