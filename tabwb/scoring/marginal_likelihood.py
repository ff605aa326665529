"""The marginal likelihood of the models of :mod:`tabwb.scoring.item_response`, and its maximum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NODES, REACH = 61, 6.0
"""Equally spaced points of theta, from -REACH to REACH, for integrals over the normal density."""
STEEPEST = 12.0
"""A discrimination beyond which the likelihood is taken to have no maximum."""
FLATTEST = 0.02
"""A common discrimination of the Rasch model below which abilities do not differ."""
FLAT = "caution: a is below 2 SE, so that b and its SE are hardly determined"
_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class FittedItem:
    """One item of a fitted model.

    Attributes:
        difficulty, discrimination: b and a; None where the answers do not determine them.
        difficulty_se, discrimination_se: standard errors from the observed information.
        infit, outfit: mean squares of the Rasch model, about 1 where it holds; None of the 2-PL.
        reason: why there are no parameters, else empty.
    """

    difficulty: float | None = None
    difficulty_se: float | None = None
    discrimination: float | None = None
    discrimination_se: float | None = None
    infit: float | None = None
    outfit: float | None = None
    reason: str = ""

    @property
    def caution(self) -> str:
        """Why the parameters are uncertain: the discrimination is below 2 standard errors."""
        a, se = self.discrimination, self.discrimination_se
        return FLAT if a is not None and se is not None and a < 2 * se else ""


class MarginalLikelihood:
    """The marginal likelihood of slopes a and intercepts d, ``P = expit(a theta + d)``.

    Parameters are one vector: the slopes (one where it is ``common``), then the intercepts.
    """

    def __init__(self, patterns: Floats, weights: Floats, *, common: bool) -> None:
        import numpy as np

        self.answered = patterns >= 0
        self.right = (patterns == 1).astype(np.float64)
        self.weights, self.common = weights, common
        self.n_items = patterns.shape[1]
        self.theta = np.linspace(-REACH, REACH, NODES)
        density = np.exp(-(self.theta**2) / 2)
        self.log_density = np.log(density / density.sum())

    def _split(self, parameters: Floats) -> tuple[Floats, Floats]:
        import numpy as np

        slopes = 1 if self.common else self.n_items
        a = np.broadcast_to(parameters[:slopes], (self.n_items,)) if self.common else parameters
        return np.asarray(a[: self.n_items]), parameters[slopes:]

    def _probabilities(self, parameters: Floats) -> Floats:
        """Return P(right): float64, (nodes, items), kept off 0 and 1."""
        import numpy as np

        a, d = self._split(parameters)
        logits = np.clip(self.theta[:, None] * a + d, -35.0, 35.0)
        return np.asarray(1 / (1 + np.exp(-logits)))

    def _posterior(self, p: Floats, rows: slice) -> tuple[Floats, Floats]:
        """Return the log likelihood of patterns and their posterior over nodes."""
        import numpy as np

        right, answered = self.right[rows], self.answered[rows]
        log_joint = right @ np.log(p).T + (answered - right) @ np.log1p(-p).T + self.log_density
        top = log_joint.max(axis=1, keepdims=True)
        joint = np.exp(log_joint - top)
        total = joint.sum(axis=1, keepdims=True)
        return np.log(total[:, 0]) + top[:, 0], joint / total

    def _blocks(self) -> list[slice]:
        return [slice(start, start + _BLOCK) for start in range(0, len(self.weights), _BLOCK)]

    def value(self, parameters: Floats) -> float:
        """Return the log likelihood."""
        p = self._probabilities(parameters)
        parts = (self._posterior(p, rows)[0] @ self.weights[rows] for rows in self._blocks())
        return float(math.fsum(parts))

    def expected(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return expected answers and right ones at each node: float64, (nodes, items)."""
        import numpy as np

        p = self._probabilities(parameters)
        n, r = np.zeros_like(p), np.zeros_like(p)
        for rows in self._blocks():
            weighted = self._posterior(p, rows)[1] * self.weights[rows][:, None]
            n += weighted.T @ self.answered[rows]
            r += weighted.T @ self.right[rows]
        return n, r

    def derivatives(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return gradient and Hessian of the log likelihood.

        With s the score and H the Hessian of one examinee's complete likelihood at a node, the
        gradient is sum E[s], the Hessian ``sum E[H] + E[s s'] - E[s] E[s]'`` (Louis), E being over
        the posterior of theta.
        """
        import numpy as np

        p, k = self._probabilities(parameters), self.n_items
        gradient, hessian = np.zeros(2 * k), np.zeros((2 * k, 2 * k))
        for start in range(0, len(self.weights), 64):
            rows = slice(start, start + 64)
            weights, answered = self.weights[rows], self.answered[rows]
            posterior = self._posterior(p, rows)[1]
            residual = (self.right[rows][:, None, :] - p) * answered[:, None, :]
            score = np.concatenate([residual * self.theta[:, None], residual], axis=2)
            mean = np.einsum("iq,iqj->ij", posterior, score)
            gradient += weights @ mean
            flat = (score * np.sqrt(posterior * weights[:, None])[:, :, None]).reshape(-1, 2 * k)
            hessian += flat.T @ flat - (mean * weights[:, None]).T @ mean
            spread = (posterior * weights[:, None]).T @ answered * p * (1 - p)
            for power, (at, to) in enumerate(((k, k), (0, k), (0, 0))):
                diagonal = self.theta**power @ spread
                hessian[range(at, at + k), range(to, to + k)] -= diagonal
                if at != to:
                    hessian[range(to, to + k), range(at, at + k)] -= diagonal
        if not self.common:
            return gradient, hessian
        join = np.zeros((2 * k, k + 1))
        join[:k, 0] = 1.0
        join[k:, 1:] = np.eye(k)
        return gradient @ join, join.T @ hessian @ join

    def maximise(self) -> tuple[Floats, str]:
        """Return the parameters at the maximum, or the reason why there is none."""
        import numpy as np

        shares = (self.weights @ self.right) / (self.weights @ self.answered)
        slopes = 1 if self.common else self.n_items
        found = np.concatenate([np.ones(slopes), 1.16 * np.log(shares / (1 - shares))])
        for _ in range(30):
            found = self._em_step(found)
        value = self.value(found)
        for _ in range(500):
            if np.abs(found[:slopes]).max() > STEEPEST:
                return found, "the likelihood has no maximum: a discrimination grows without limit"
            if self.common and abs(float(found[0])) < FLATTEST:
                return found, "examinees do not differ more than their answers vary by chance"
            gradient, hessian = self.derivatives(found)
            step, rising = _newton(gradient, hessian)
            if rising and np.abs(step).max() < 1e-9:
                break
            for _ in range(30):
                following = found + step
                reached = self.value(following)
                if rising and reached >= value - 1e-12 * abs(value):
                    break
                step, rising = step / 2, rising and np.abs(step).max() > 1e-12
            else:
                following = self._em_step(found)
                reached = self.value(following)
            found, value = following, reached
        else:
            return found, "the fit has not converged"
        if self.common:
            found[0] = abs(found[0])
        return found, ""

    def _em_step(self, parameters: Floats) -> Floats:
        """Return the parameters after an E step and a few Newton steps of the M step."""
        import numpy as np

        n, r = self.expected(parameters)
        found = parameters
        slopes = 1 if self.common else self.n_items
        for _ in range(3):
            p = self._probabilities(found)
            residual, spread = r - n * p, n * p * (1 - p)
            g_d, h_dd = residual.sum(axis=0), spread.sum(axis=0)
            g_a, h_ad = self.theta @ residual, self.theta @ spread
            h_aa = self.theta**2 @ spread
            if self.common:
                # The intercepts are eliminated: they depend on each other through the slope alone.
                own = h_aa.sum() - (h_ad**2 / h_dd).sum()
                a = (g_a.sum() - (h_ad * g_d / h_dd).sum()) / own
                step = np.concatenate([[a], (g_d - h_ad * a) / h_dd])
            else:
                det = h_aa * h_dd - h_ad**2
                step = np.concatenate(
                    [(h_dd * g_a - h_ad * g_d) / det, (h_aa * g_d - h_ad * g_a) / det]
                )
            found = found + np.clip(step, -1.0, 1.0)
        found[:slopes] = np.clip(found[:slopes], -2 * STEEPEST, 2 * STEEPEST)
        return found

    def items(self, found: Floats) -> list[FittedItem]:
        """Return the items at the maximum, with standard errors and, of the Rasch model, fit."""
        import numpy as np

        a, d = self._split(found)
        covariance = np.linalg.inv(-self.derivatives(found)[1])
        fit = self._fit(found) if self.common else [(None, None)] * self.n_items
        items = []
        slopes = 1 if self.common else self.n_items
        for at, (infit, outfit) in enumerate(fit):
            of_a, of_d = (0 if self.common else at), slopes + at
            slope, difficulty = float(a[at]), float(-d[at] / a[at])
            variance = (
                covariance[of_d, of_d]
                + difficulty**2 * covariance[of_a, of_a]
                + 2 * difficulty * covariance[of_a, of_d]
            ) / slope**2
            errors = math.sqrt(variance), math.sqrt(covariance[of_a, of_a])
            items.append(FittedItem(difficulty, errors[0], slope, errors[1], infit, outfit))
        return items

    def _fit(self, found: Floats) -> list[tuple[float, float]]:
        """Return infit and outfit of each item."""
        import numpy as np

        p = self._probabilities(found)
        squares, spreads, ratios, n = (np.zeros(self.n_items) for _ in range(4))
        for rows in self._blocks():
            weights, answered = self.weights[rows], self.answered[rows]
            weighted = self._posterior(p, rows)[1] * weights[:, None]
            # E[(x - P)^2] is P^2 where x = 0 and (1 - P)^2 where x = 1.
            at_right, at_any = weighted.T @ self.right[rows], weighted.T @ answered
            residual = at_right * (1 - p) ** 2 + (at_any - at_right) * p**2
            squares += residual.sum(axis=0)
            spreads += (at_any * p * (1 - p)).sum(axis=0)
            ratios += (residual / (p * (1 - p))).sum(axis=0)
            n += weights @ answered
        return list(zip((squares / spreads).tolist(), (ratios / n).tolist(), strict=True))


def _newton(gradient: Floats, hessian: Floats) -> tuple[Floats, bool]:
    """Return the Newton step, and whether the likelihood is concave there."""
    import numpy as np

    try:
        np.linalg.cholesky(-hessian)
    except np.linalg.LinAlgError:
        return gradient * 0.0, False
    return np.asarray(np.linalg.solve(-hessian, gradient)), True
