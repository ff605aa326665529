"""Burdens of single responses, for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tabwb.scoring.burden import Burden, RatedCounts, burden_of, categories_of, count_usable
from tabwb.scoring.intervals import Totals, totals_of_profiles


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


def symptom_burden(
    responses: Iterable[RatedResponse],
    features: Sequence[str],
    categories: Mapping[str, Collection[str]] | None = None,
    *,
    interval: bool = False,
) -> Burden:
    """Return the symptom burden of responses under one rater, see ``burden_of``."""
    counts = count_rated(responses, features)
    by_category = categories_of(counts, features, categories or {})
    return burden_of(counts, features, by_category, interval=interval)


def count_rated(responses: Iterable[RatedResponse], features: Sequence[str]) -> RatedCounts:
    """Return responses under one rater, counted."""
    given = list(responses)
    profiles: dict[Hashable, Counter[frozenset[str]]] = {}
    for response in given:
        if response.present is not None:
            profiles.setdefault(response.cluster, Counter())[response.present] += 1
    items = sorted(profiles, key=str)

    def present(features: Collection[str]) -> list[tuple[Totals, int]]:
        return [totals_of_profiles(profiles[item], features) for item in items]

    return RatedCounts(
        items,
        present,
        {name: tuple(n for _, n in present([name])) for name in features},
        most=max((len(each.present) for each in given if each.present is not None), default=0),
        no_burden=Counter(response.cause for response in given if response.cause),
        n_distinct=len({response.text for response in given}),
        words=sum(response.words for response in given if not response.unusable),
        usable=count_usable(response.unusable for response in given),
        fixed=bool(profiles) and all(each.fixed for each in given if each.present is not None),
        lost=Counter(response.cluster for response in given if response.unusable),
    )
