"""Rasch and two-parameter logistic models of right and wrong answers, by marginal likelihood.

``P(examinee i is right on item j) = 1 / (1 + exp(-a_j (theta_i - b_j)))``, with the ability theta
standard normal over examinees, b the difficulty and a the discrimination of an item. In the Rasch
model all items have one a, which is the standard deviation of the abilities on Rasch's own scale
(where a is 1). Answers are independent given theta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tabwb.scoring.distributions import chi2_tail
from tabwb.scoring.marginal_likelihood import FittedItem, MarginalLikelihood

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Model = Literal["rasch", "2pl"]
LEAST_EXAMINEES: dict[Model, int] = {"rasch": 30, "2pl": 200}
"""Examinees from which on a model is fitted: 30 hold a Rasch difficulty to about 1 logit (Linacre,
Rasch Measurement Transactions 7 (1994), 328); 200 for the 2-PL model by marginal maximum likelihood
(Drasgow, Applied Psychological Measurement 13 (1989), 77). docs/uncertainty.md has the coverage."""
LEAST_ITEMS = 3
"""Items that vary: with two, the discriminations are not determined."""


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A fitted model, or the reason why there is none.

    Attributes:
        items: in the order given; empty where nothing was fitted.
        examinees: those with an answer to an item that varies.
        log_likelihood: marginal, at its maximum; None where nothing was fitted.
        parameters: how many were estimated.
    """

    model: Model
    items: tuple[FittedItem, ...]
    examinees: int
    log_likelihood: float | None
    parameters: int
    reason: str = ""

    @property
    def aic(self) -> float | None:
        """Akaike's criterion, ``2 parameters - 2 log likelihood``; lower is better."""
        if self.log_likelihood is None:
            return None
        return 2 * self.parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float | None:
        """Schwarz's criterion, ``parameters ln(examinees) - 2 log likelihood``."""
        if self.log_likelihood is None:
            return None
        return self.parameters * math.log(self.examinees) - 2 * self.log_likelihood


def fit_model(
    answers: Sequence[Sequence[float | None]],
    model: Model,
    counts: Sequence[int] | None = None,
    *,
    least: int | None = None,
) -> FittedModel:
    """Return a model fitted by marginal maximum likelihood.

    EM (Bock and Aitkin), then Newton-Raphson on the marginal likelihood until its gradient
    vanishes. Integrals over theta are sums over 61 equally spaced points from -6 to 6. Standard
    errors come from the observed information, that of ``b = -d / a`` by the delta method. Items
    that everybody answers alike have no parameters and are left out. A missing answer is taken as
    missing at random.

    Infit and outfit of the Rasch model are expectations over the posterior of theta:
    ``outfit = mean E[(x - P)^2 / (P (1 - P))]``, ``infit = sum E[(x - P)^2] / sum E[P (1 - P)]``.
    Both have the expectation 1 where the model holds, also for short tests.

    Source: Bock and Aitkin, Psychometrika 46 (1981), 443; Thissen, Psychometrika 47 (1982), 175
    (Rasch); Louis, Journal of the Royal Statistical Society B 44 (1982), 226 (information); Wright
    and Masters, Rating Scale Analysis (1982), chapter 5, and Adams and Wu in Multivariate and
    Mixture Distribution Rasch Models (2007), 57 (fit).

    Args:
        answers: for each examinee, the answer to each item: 1 right, 0 wrong, None missing.
        model: ``rasch`` or ``2pl``.
        counts: how many examinees gave each row of ``answers``; one each by default.
        least: examinees that are needed, instead of :data:`LEAST_EXAMINEES`.

    Raises:
        ValueError: rows of unequal length, or an answer that is not 1, 0 or None.

    >>> fit_model([[1, 0, 1]] * 5, "rasch").reason
    'fitted from 30 examinees on; there are 5'
    """
    import numpy as np

    if len({len(row) for row in answers}) > 1:
        raise ValueError("every examinee needs an entry for every item; None where it is missing")
    given = np.array([[np.nan if x is None else float(x) for x in row] for row in answers])
    if not np.all(np.isnan(given) | (given == 0) | (given == 1)):
        raise ValueError("an answer is 1 (right), 0 (wrong) or None (missing)")
    times: Floats = np.ones(len(given))
    if counts is not None:
        times = np.array(counts, dtype=np.float64)
    n_items = given.shape[1] if given.ndim == 2 else 0
    needed = LEAST_EXAMINEES[model] if least is None else least
    varied, reasons = _varied(given, times) if n_items else ([], [])
    kept = (~np.isnan(given[:, varied])).any(axis=1) & (times > 0) if varied else np.zeros(0, bool)
    examinees = int(times[kept].sum()) if varied else int(times.sum())
    if examinees < needed:
        why = f"fitted from {needed} examinees on; there are {examinees}"
        return FittedModel(model, (), examinees, None, 0, why)
    if len(varied) < LEAST_ITEMS:
        why = f"{LEAST_ITEMS} items or more must be answered right by some and wrong by others"
        return FittedModel(model, (), examinees, None, 0, why)
    patterns, inverse = np.unique(
        np.nan_to_num(given[kept][:, varied], nan=-1.0), axis=0, return_inverse=True
    )
    weights: Floats = np.zeros(len(patterns))
    np.add.at(weights, inverse.ravel(), times[kept])
    marginal = MarginalLikelihood(patterns, weights, common=model == "rasch")
    found, reason = marginal.maximise()
    if reason:
        return FittedModel(model, (), examinees, None, 0, reason)
    items = [FittedItem(reason=why) for why in reasons]
    for at, item in zip(varied, marginal.items(found), strict=True):
        items[at] = item
    value = marginal.value(found)
    return FittedModel(model, tuple(items), examinees, value, len(found))


def _varied(given: Floats, times: Floats) -> tuple[list[int], list[str]]:
    """Return the items with right and wrong answers, and why each other item has none."""
    import numpy as np

    varied, reasons = [], []
    for at in range(given.shape[1]):
        column = given[times > 0, at]
        known = column[~np.isnan(column)]
        if not len(known):
            reasons.append("nobody answered it")
        elif known.min() == known.max():
            reasons.append(f"everybody answered it {'right' if known[0] else 'wrong'}")
        else:
            varied.append(at)
            reasons.append("")
    return varied, reasons


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """The likelihood-ratio test of the Rasch model within the 2-PL model."""

    chi2: float
    df: int
    p: float


def compare_models(rasch: FittedModel, two_parameter: FittedModel) -> ModelComparison | None:
    """Return the likelihood-ratio test; None unless both models were fitted.

    ``chi2 = 2 (ln L(2-PL) - ln L(Rasch))``, the degrees of freedom are the difference in parameters
    (items less 1). Source: Wilks, Annals of Mathematical Statistics 9 (1938), 60.
    """
    if rasch.log_likelihood is None or two_parameter.log_likelihood is None:
        return None
    df = two_parameter.parameters - rasch.parameters
    chi2 = max(0.0, 2 * (two_parameter.log_likelihood - rasch.log_likelihood))
    return ModelComparison(chi2, df, chi2_tail(chi2, df))
