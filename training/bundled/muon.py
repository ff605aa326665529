"""Muon in float32: momentum whose matrices are made nearly orthogonal before each step.

Method: K. Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024). The
version in torch uses bfloat16, which is slow on processors without bfloat16 arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrices: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """Bring all singular values near 1 by Newton-Schulz iteration.

    ``matrices`` is float32 of shape (count, rows, columns); the result has the same shape.
    """
    a, b, c = _COEFFICIENTS
    x: torch.Tensor
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum; a step is scaled to the root mean square of an Adam step."""

    def __init__(
        self,
        matrices: Iterable[torch.nn.Parameter],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.02,
    ) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every matrix; those of one shape are updated together."""
        del closure
        for group in self.param_groups:
            shapes: dict[torch.Size, list[torch.nn.Parameter]] = {}
            for matrix in group["params"]:
                if matrix.grad is not None:
                    shapes.setdefault(matrix.shape, []).append(matrix)
            for shape, matrices in shapes.items():
                directions = torch.stack([self._direction(m, group["momentum"]) for m in matrices])
                scale = 0.2 * max(shape) ** 0.5 * group["lr"]
                for matrix, update in zip(matrices, orthogonalise(directions), strict=True):
                    matrix.mul_(1.0 - group["lr"] * group["weight_decay"])
                    matrix.add_(update, alpha=-scale)

    def _direction(self, matrix: torch.nn.Parameter, momentum: float) -> torch.Tensor:
        gradient = matrix.grad
        assert gradient is not None
        state = self.state[matrix]
        if "mean" not in state:
            state["mean"] = torch.zeros_like(gradient)
        mean: torch.Tensor = state["mean"].lerp_(gradient, 1.0 - momentum)
        return gradient.lerp(mean, momentum)
