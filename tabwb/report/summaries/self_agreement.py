"""How far a judge that is asked several times agrees with itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tabwb.agreement.pairs import (
    Counts,
    Floats,
    cohen_kappa,
    percent_agreement,
    samples,
    tables_of,
)
from tabwb.records.judgements import Judged


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """One judge, one feature, asked several times.

    Attributes:
        pairs: pairs of verdicts on one response that could be compared.
        percent: share of those pairs with the same verdict, in [0, 1]; None without pairs.
        kappa: Cohen's kappa over those pairs; None where no verdict varies.
    """

    feature: str
    pairs: int
    percent: float | None
    kappa: float | None


def self_agreement(
    judged: Sequence[Judged], rater: str, features: Sequence[str]
) -> tuple[SelfAgreement, ...]:
    """Agreement of a judge's repetitions with each other, feature by feature.

    Every two repetitions are compared on the calls that both have a verdict on; their tables are
    added up, in both orders, because neither of the two comes first. A call is what a judge was
    asked, to the letter: answers of one text share it and count once, and a verdict under another
    prompt is none of its repetitions.
    """
    verdicts: dict[int, dict[str, list[float]]] = {}
    for each in judged:
        if each.judgement.rater == rater:
            given = {rating.measure: rating.value for rating in each.judgement.ratings}
            values = [given.get(name) for name in features]
            row = [float("nan") if value is None else value for value in values]
            # Of several judgements of one number the last one stands.
            verdicts.setdefault(each.judgement.repeat, {})[each.judgement.key] = row
    tables: Counts = np.zeros((len(features), 2, 2), dtype=np.int64)
    for one, other in combinations(sorted(verdicts), 2):
        shared = sorted(verdicts[one].keys() & verdicts[other].keys())
        if shared:
            first, second = (_rows(verdicts[n], shared) for n in (one, other))
            tables += tables_of(first, second) + tables_of(second, first)
    percent, kappa = percent_agreement(tables), cohen_kappa(tables)
    return tuple(
        SelfAgreement(name, int(pairs) // 2, _or_none(percent[at]), _or_none(kappa[at]))
        for at, (name, pairs) in enumerate(zip(features, samples(tables), strict=True))
    )


def _rows(verdicts: dict[str, list[float]], keys: list[str]) -> Floats:
    return np.array([verdicts[key] for key in keys], dtype=np.float64)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
