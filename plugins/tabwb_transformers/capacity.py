"""The default batch size. Imported only where torch is."""

from __future__ import annotations

import os
from typing import Any

import torch

ON_PROCESSOR, ON_ACCELERATOR = 16, 64
"""Larger batches gain little: a processor is busy with fewer rows than an accelerator."""
MOST_LANES = 8
"""Rows for more lesions side by side only take memory: they are not faster."""
SHARE = 0.5
"""Of the free memory; the rest is for what a step computes with."""


def default_places(model: Any, device: torch.device, tokens: int, lanes: int = 1) -> int:
    """Return the batch size where the user has set none.

    As many rows as keep their keys and values in half of the free memory, between 1 and 16 (on a
    processor) or 64 (on an accelerator). A row takes 2 * layers * heads of keys * width * tokens
    numbers.
    """
    most = ON_PROCESSOR if device.type == "cpu" else ON_ACCELERATOR
    most *= min(lanes, MOST_LANES)
    row, free = _row_bytes(model, tokens), _free_bytes(device)
    if row is None or free is None:
        return most
    return max(1, min(most, int(free * SHARE) // max(row, 1)))


def _row_bytes(model: Any, tokens: int) -> int | None:
    config = model.config
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    layers = getattr(config, "num_hidden_layers", None)
    if not isinstance(layers, int):
        return None
    # Gemma 4 and others have heads of another width in some layers.
    own = getattr(config, "per_layer_config", None)
    numbers = [_row_numbers(config if own is None else own[layer]) for layer in range(layers)]
    if None in numbers:
        return None
    return sum(number or 0 for number in numbers) * tokens * int(model.dtype.itemsize)


def _row_numbers(config: Any) -> int | None:
    """Return how many numbers a layer keeps of a token of one row; None: not known."""
    heads = getattr(config, "num_attention_heads", None)
    hidden = getattr(config, "hidden_size", None)
    if not (isinstance(heads, int) and isinstance(hidden, int)):
        return None
    width = getattr(config, "head_dim", None) or hidden // max(heads, 1)
    kept = getattr(config, "num_key_value_heads", None) or heads
    return int(2 * kept * width)


def _free_bytes(device: torch.device) -> int | None:
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None
