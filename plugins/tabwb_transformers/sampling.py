"""Draws the next token. Imported only where torch is."""

from __future__ import annotations

import torch

from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding


class Sampler:
    """Nucleus sampling with its own generator on the CPU.

    The same seed draws the same tokens from the same probabilities on every device.
    """

    def __init__(self, decoding: Decoding, seed: int) -> None:
        self._decoding = decoding
        self._generator = torch.Generator().manual_seed(seed % 2**63)

    def draw(self, logits: torch.Tensor) -> int:
        """Return the next token for logits of shape (vocabulary,)."""
        scores = logits.detach().to("cpu", torch.float32) / self._decoding.temperature
        probabilities = torch.softmax(scores, dim=-1)
        if not bool(torch.isfinite(probabilities[0])):
            raise not_numbers()
        if self._decoding.top_p < 1.0:
            ordered, order = probabilities.sort(descending=True, stable=True)
            # The smallest set of most probable tokens whose mass reaches top_p.
            outside = ordered.cumsum(0) - ordered >= self._decoding.top_p
            probabilities[order[outside]] = 0.0
        return int(torch.multinomial(probabilities, 1, generator=self._generator))


def most_probable(logits: torch.Tensor) -> tuple[list[int], list[float]]:
    """Return the most probable token of each row, and its lead over the second.

    Args:
        logits: shape (rows, vocabulary).
    """
    (best, second), (tokens, _) = (part.T for part in logits.topk(2, dim=-1))
    unit = best.abs().clamp(min=1.0) * torch.finfo(logits.dtype).eps
    return tokens.tolist(), ((best - second) / unit).tolist()


def not_numbers() -> ComponentError:
    """Return the error for logits that are not numbers."""
    return ComponentError(
        "the model's probabilities are not numbers",
        hint="take another dtype (float32, bfloat16), or restore the model's parameters",
    )
