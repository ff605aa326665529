"""Right or wrong from features: t tests, and classifiers by grid search (Tran 2022)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabwb.phonology.corpus import Classification
from tabwb.records.system import need
from tabwb.scoring.distributions import t_tail

Values = NDArray[np.float64]
Truths = NDArray[np.bool_]
FOLDS = 5
"""Groups of speakers of the grid search; of fewer speakers as many as there are [ours]."""
_C = (0.1, 1.0, 10.0)
_GAMMA = (0.01, 0.1, 1.0)
GRID: Mapping[str, Mapping[str, Sequence[object]]] = {
    "logistic regression": {"C": (0.01, *_C, 100.0)},
    "SVM, linear": {"kernel": ("linear",), "C": _C},
    "SVM, radial": {"kernel": ("rbf",), "C": _C, "gamma": _GAMMA},
    "SVM, polynomial": {"kernel": ("poly",), "degree": (2, 3), "C": _C, "gamma": (0.1,)},
}
"""The classifiers, simpler ones first, and the values that are tried [ours]. ``gamma`` is for
features with standard deviation 1."""


class TTest(NamedTuple):
    """Welch's t test of a feature between right and wrong responses; None where undefined."""

    n: tuple[int, int]
    mean: tuple[float | None, float | None]
    sd: tuple[float | None, float | None]
    t: float | None
    df: float | None
    p: float | None


def welch(right: Values, wrong: Values) -> TTest:
    """Return Welch's t test, two-sided: unequal variances, df of Welch and Satterthwaite.

    It is undefined with fewer than two values on a side, or if no value differs from another.

    >>> found = welch(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    >>> round(found.t, 4), round(found.df, 4), round(found.p, 4)  # by hand: -2 / sqrt(5 / 3)
    (-1.5492, 2.9412, 0.2209)
    """
    sides = (right, wrong)
    n = (len(right), len(wrong))
    means = tuple(float(one.mean()) if len(one) else None for one in sides)
    sds = tuple(float(one.std(ddof=1)) if len(one) > 1 else None for one in sides)
    t = df = p = None
    if min(n) > 1:
        errors = [float(one.var(ddof=1)) / len(one) for one in sides]
        if sum(errors) > 0:
            t = float(right.mean() - wrong.mean()) / math.sqrt(sum(errors))
            below = sum(error**2 / (count - 1) for error, count in zip(errors, n, strict=True))
            df = sum(errors) ** 2 / below
            p = min(2 * t_tail(abs(t), df), 1.0)
    return TTest(n, (means[0], means[1]), (sds[0], sds[1]), t, df, p)


@dataclass(frozen=True, slots=True)
class Sample:
    """Responses of a split: features, shape (responses, features), labels and speakers."""

    features: Values
    right: Truths
    speakers: Sequence[str]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A classifier with the best values of its grid.

    Attributes:
        parameters: the best values.
        search_f1: its mean F1 over the groups of training speakers that were left out.
        predicted: for each split its predictions; empty where it could not be fitted.
        reason: why it could not.
    """

    name: str
    parameters: Mapping[str, object]
    search_f1: float | None
    predicted: Mapping[str, Truths]
    reason: str = ""


def fitted(sets: Mapping[str, Sample], seed: int) -> Iterator[Fitted]:
    """Yield each classifier, fitted on ``train``, with its predictions of every split.

    Features are standardised by the training data. The values with the highest mean F1 over groups
    of training speakers are taken (the first of equal ones): no speaker is on both sides.

    Args:
        sets: by split; ``train`` among them.
        seed: of the groups of speakers.
    """
    need("sklearn", "a classifier", "psst")
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    train = sets["train"]
    count = min(FOLDS, len(set(train.speakers)))
    folds: list[Any] = []
    if count > 1:
        groups = GroupKFold(count, shuffle=True, random_state=seed)
        split = groups.split(train.features, train.right, train.speakers)
        folds = [
            pair for pair in split
            if all(len(set(train.right[side].tolist())) > 1 for side in pair)
        ]  # fmt: skip
    for name, values in GRID.items():
        if not folds:
            reason = "no group of training speakers leaves right and wrong responses on both sides"
            yield Fitted(name, {}, None, {}, reason)
            continue
        estimator = SVC() if "kernel" in values else LogisticRegression(max_iter=1_000)
        steps = make_pipeline(StandardScaler(), estimator)
        step = steps.steps[-1][0]
        grid = {f"{step}__{key}": list(tried) for key, tried in values.items()}
        search = GridSearchCV(steps, grid, scoring="f1", cv=folds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fold may have no prediction of right
            search.fit(train.features, train.right)
        best = {
            key.partition("__")[2]: value
            for key, value in search.best_params_.items()
            if not key.endswith("__kernel")
        }
        predicted = {
            split: search.predict(own.features).astype(bool) if len(own.right) else own.right
            for split, own in sets.items()
        }
        yield Fitted(name, best, float(search.best_score_), predicted)


def scored(right: Truths, predicted: Truths) -> Classification:
    """Return how predictions agree with labels."""
    return Classification.of(zip(right.tolist(), predicted.tolist(), strict=True))
