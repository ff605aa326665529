"""Drawing the next token. Imported only where torch is."""

from __future__ import annotations

import torch

from tabwb.records.exchange import Decoding


class Sampler:
    """Greedy, or nucleus sampling with a generator of its own on the CPU.

    The same seed draws the same tokens from the same probabilities on every device.
    """

    def __init__(self, decoding: Decoding, seed: int) -> None:
        self._decoding = decoding
        self._generator = torch.Generator().manual_seed(seed % 2**63)

    def draw(self, logits: torch.Tensor) -> int:
        """The next token, given its logits (shape: vocabulary)."""
        if self._decoding.greedy:
            return int(logits.argmax())
        scores = logits.detach().to("cpu", torch.float32) / self._decoding.temperature
        probabilities = torch.softmax(scores, dim=-1)
        if self._decoding.top_p < 1.0:
            ordered, order = probabilities.sort(descending=True, stable=True)
            # The smallest set of most probable tokens whose mass reaches top_p.
            outside = ordered.cumsum(0) - ordered >= self._decoding.top_p
            probabilities[order[outside]] = 0.0
        return int(torch.multinomial(probabilities, 1, generator=self._generator))
