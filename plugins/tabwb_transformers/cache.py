"""The cache of several texts together, whose rows leave, join and grow.

Positions are counted per row, so that a row's memory does not depend on its neighbours: padding is
masked and gets no position. Imported only where torch is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

_SPARE = 64


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of one layer, shape (rows, heads, tokens, width), with room to grow.

    The library's own layer copies everything for each new token.
    """

    keys: Any
    values: Any
    _room: tuple[torch.Tensor, torch.Tensor] | None = None

    @classmethod
    def of(cls, keys: torch.Tensor, values: torch.Tensor) -> GrowingLayer:
        """Return a layer with these states; they are copied before a write."""
        layer = cls()
        layer.dtype, layer.device = keys.dtype, keys.device
        layer.keys, layer.values, layer.is_initialized = keys, values, True
        return layer

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add the states of new tokens; return all states."""
        if self.keys is None:
            self.dtype, self.device = key_states.dtype, key_states.device
            self.keys, self.values = key_states, value_states
            self.is_initialized = True
            return key_states, value_states
        held = self.keys.shape[-2]
        length = held + key_states.shape[-2]
        if self._room is None or length > self._room[0].shape[-2]:
            spare = length + max(_SPARE, length // 4)
            self._room = (_roomy(self.keys, spare), _roomy(self.values, spare))
        keys, values = self._room
        keys[:, :, held:length] = key_states
        values[:, :, held:length] = value_states
        self.keys, self.values = keys[:, :, :length], values[:, :, :length]
        return self.keys, self.values


def _roomy(states: torch.Tensor, length: int) -> torch.Tensor:
    rows, heads, held, width = states.shape
    room = states.new_empty(rows, heads, length, width)
    room[:, :, :held] = states
    return room


@dataclass(slots=True)
class Rows:
    """The texts that a model has read, one per row.

    Attributes:
        cache: of the library, its layers being ours; None where nothing was read.
        lengths: tokens of each row, shape (rows,), int64.
        mask: True for a token, False for padding, shape (rows, columns); None where no row is
            padded.
        lanes: which of several lesions a row is read under, shape (rows,), int64; None: the model
            as it is.
    """

    cache: Any
    lengths: torch.Tensor
    mask: torch.Tensor | None = None
    lanes: torch.Tensor | None = None

    @classmethod
    def empty(cls, rows: int, device: torch.device, lanes: Sequence[int] | None = None) -> Rows:
        """Return rows that have read nothing."""
        lengths = torch.zeros(rows, dtype=torch.int64, device=device)
        of = None if lanes is None else torch.tensor(list(lanes), device=device)
        return cls(_cache([]), lengths, lanes=of)

    @property
    def columns(self) -> int:
        """The number of columns, padding included."""
        return int(self.cache.get_seq_length())

    def picked(self, rows: Sequence[int]) -> Rows:
        """Return these rows in this order (a row may occur twice), as narrow as possible.

        Tokens move to the right end, so that only the padding that the longest row needs remains
        before them.
        """
        indices = torch.tensor(list(rows), dtype=torch.int64, device=self.lengths.device)
        lengths = self.lengths[indices]
        lanes = None if self.lanes is None else self.lanes[indices]
        if self.mask is None:
            return Rows(self._with(lambda states: states[indices]), lengths, lanes=lanes)
        mask = self.mask[indices]
        width = int(lengths.max())
        # A stable sort brings padding to the front and keeps the order of the tokens.
        order = mask.to(torch.uint8).argsort(dim=1, stable=True)[:, -width:]
        row = indices[:, None]

        def moved(states: torch.Tensor) -> torch.Tensor:
            return states[row, :, order].transpose(1, 2)

        return Rows(self._with(moved), lengths, _mask(lengths, width), lanes)

    def cropped(self, tokens: int) -> Rows:
        """Return the first tokens of one row."""
        lengths = torch.full_like(self.lengths, tokens)
        return Rows(self._with(lambda states: states[:, :, :tokens]), lengths)

    def _with(self, change: Any) -> Any:
        layers = [
            GrowingLayer.of(change(layer.keys), change(layer.values)) for layer in self.cache.layers
        ]
        return _cache(layers)


def joined(first: Rows, second: Rows) -> Rows:
    """Return the rows of both, those of the first before those of the second."""
    width = max(first.columns, second.columns)
    layers = []
    for layer, other in zip(first.cache.layers, second.cache.layers, strict=True):
        pairs = ((layer.keys, other.keys), (layer.values, other.values))
        layers.append(GrowingLayer.of(*(_stacked(*pair, width) for pair in pairs)))
    lengths = torch.cat([first.lengths, second.lengths])
    lanes = None
    if first.lanes is not None and second.lanes is not None:
        lanes = torch.cat([first.lanes, second.lanes])
    return Rows(_cache(layers), lengths, _mask(lengths, width), lanes)


def _cache(layers: list[GrowingLayer]) -> Any:
    cache = Cache(layer_class_to_replicate=GrowingLayer)
    cache.layers = layers
    return cache


def _stacked(first: torch.Tensor, second: torch.Tensor, width: int) -> torch.Tensor:
    rows = first.shape[0] + second.shape[0]
    stacked = first.new_zeros(rows, first.shape[1], width, first.shape[3])
    stacked[: first.shape[0], :, width - first.shape[2] :] = first
    stacked[first.shape[0] :, :, width - second.shape[2] :] = second
    return stacked


def _mask(lengths: torch.Tensor, width: int) -> torch.Tensor | None:
    """Return the mask of rows of these lengths; None where no row is padded."""
    columns = torch.arange(width, device=lengths.device)
    mask = columns[None, :] >= width - lengths[:, None]
    return None if bool(mask.all()) else mask


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
