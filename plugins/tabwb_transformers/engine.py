"""The forward pass of a loaded model: many rows together, or one by one where it must be.

Imported only where torch is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import torch

from tabwb_transformers.cache import Rows
from tabwb_transformers.loading import Loaded, memory_errors
from tabwb_transformers.writing import not_numbers

if TYPE_CHECKING:
    from tabwb_transformers.lesions.lanes import Lanes

WORTH_SHARING = 16
"""Fewer common tokens are read again, which costs less than keeping them."""
_PROBES = (tuple(range(5, 53)), (5, 6, 7, 8, 12, 10))
"""Token ids of two texts of very different length with the same start; any will do."""
_AGREEMENT = {torch.float32: 1e-4, torch.float64: 1e-4}
_ROUGH_AGREEMENT = 0.03
"""The largest difference of equal logits, as a share of their range, of other dtypes."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The last text, one row that has read it (or all but its last token), and its scores.

    ``scores`` has ln p of the token at a place, after all before it.
    """

    ids: list[int]
    rows: Rows
    scores: dict[int, float]


class Engine:
    """Reads tokens with one model.

    ``crowd`` is whether several rows can be read together, ``shares`` whether they can begin with a
    text that was read once. Both are tested on the model itself on first use.
    """

    def __init__(self, loaded: Loaded) -> None:
        self.device = loaded.device
        self.dtype: torch.dtype = loaded.model.dtype
        self._model = loaded.model
        accepted = signature(loaded.model.forward).parameters
        self._caches = "past_key_values" in accepted
        self._masks = "attention_mask" in accepted
        self._positions = "position_ids" in accepted
        self._keeps = "logits_to_keep" in accepted
        self._last = None if loaded.limit is None else loaded.limit - 1
        self._agrees: tuple[bool, bool] | None = None
        self._known: _Known | None = None
        self._lanes: Lanes | None = None

    @property
    def crowd(self) -> bool:
        """Whether rows of different length may be read together."""
        return self._tried()[0]

    @property
    def shares(self) -> bool:
        """Whether rows can share the cache of a common beginning."""
        return self._tried()[1]

    # ---------------------------------------------------------------- reading

    def prefill(
        self, texts: Sequence[Sequence[int]], rows: Rows | None = None
    ) -> tuple[Rows, torch.Tensor]:
        """Read whole texts; return their rows and the logits after each, shape (rows,
        vocabulary).
        """
        ids, given = padded(texts, self.device)
        count = len(texts)
        rows = Rows.empty(count, self.device) if rows is None else rows
        logits = self.read(rows, ids, given)[:, -1]
        return (rows if rows.mask is None else rows.picked(range(count))), logits

    def read(
        self, rows: Rows, ids: torch.Tensor, given: torch.Tensor | None = None, keep: int = 1
    ) -> torch.Tensor:
        """Read further tokens into ``rows``.

        Args:
            rows: changed in place.
            ids: shape (rows, tokens).
            given: True for a token, False for padding, like ``ids``; None where nothing is padded.
            keep: for how many of the last columns logits are wanted.

        Returns:
            Logits, shape (rows, keep, vocabulary).
        """
        count, new = ids.shape
        if self._lanes is not None:
            self._lanes.at(rows.lanes)
        more: dict[str, Any] = {"logits_to_keep": keep} if self._keeps else {}
        lengths = rows.lengths
        if given is None and new == 1:
            positions = lengths[:, None]
        elif given is None:
            positions = lengths[:, None] + torch.arange(new, device=self.device)
        else:
            positions = lengths[:, None] + (given.cumsum(1) - 1).clamp(min=0)
        if rows.mask is not None or given is not None:
            read = rows.mask
            if read is None:
                read = ids.new_ones(count, rows.columns, dtype=torch.bool)
            fresh = ids.new_ones(count, new, dtype=torch.bool) if given is None else given
            rows.mask = torch.cat([read, fresh], dim=1)
        if rows.mask is not None:
            more["attention_mask"] = rows.mask
        if self._positions:
            # A row that has ended may be read on past the model's last position.
            last = self._last
            more["position_ids"] = positions if last is None else positions.clamp(max=last)
        with memory_errors(), torch.inference_mode():
            output = self._model(input_ids=ids, past_key_values=rows.cache, use_cache=True, **more)
            rows.lengths = lengths + (new if given is None else given.sum(1))
            logits: torch.Tensor = output.logits
        return logits[:, -keep:]

    def alone(
        self, ids: Sequence[int], past: Any = None, keep: int = 1
    ) -> tuple[Any, torch.Tensor]:
        """Read one text the model's own way, without mask and positions of ours.

        Returns:
            The model's memory (None where it keeps none), and logits, shape (keep, vocabulary).
        """
        more: dict[str, Any] = {"logits_to_keep": keep} if self._keeps else {}
        if self._caches:
            more |= {"past_key_values": past, "use_cache": True}
        with memory_errors(), torch.inference_mode():
            output = self._model(input_ids=torch.tensor([list(ids)], device=self.device), **more)
        return getattr(output, "past_key_values", None), output.logits[0, -keep:]

    @property
    def remembers(self) -> bool:
        """Whether the model has a cache of what it read."""
        return self._caches

    def known(self, ids: Sequence[int], then: Sequence[int] = ()) -> tuple[Rows, list[float]]:
        """Return one row that has read ``ids`` and all of ``then`` but its last token.

        Tokens of the last call are not read again: of growing prompts, and of prompts with the same
        start, only new tokens are read.
        """
        whole = [*ids, *then]
        reads = len(whole) - bool(then)
        held = self._known or _Known([], Rows.empty(1, self.device), {})
        have = min(common([whole, held.ids]), held.rows.columns, reads)
        scores = {at: score for at, score in held.scores.items() if at < have}
        # The token before the first one to score is read again for its logits.
        first = next((at for at in range(max(len(ids), 1), len(whole)) if at not in scores), None)
        begin = have if first is None else min(have, first - 1)
        begin = 0 if begin < WORTH_SHARING else begin
        rows = held.rows.cropped(begin) if begin else Rows.empty(1, self.device)
        if begin < reads:
            weighed = range(max(begin + 1, len(ids), 1), len(whole)) if then else range(0)
            new = torch.tensor([whole[begin:reads]], device=self.device)
            logits = self.read(rows, new, keep=max(len(weighed), 1))[0]
            values = log_probabilities(logits, [whole[at] for at in weighed])
            scores |= dict(zip(weighed, values, strict=True))
        self._known = _Known(whole, rows, scores)
        return rows.cropped(reads), [scores[at] for at in range(max(len(ids), 1), len(whole))]

    @contextmanager
    def beside(self, lanes: Lanes) -> Iterator[None]:
        """Read rows that have a lane under its lesion, as long as the context lasts."""
        with lanes.in_force():
            self._lanes = lanes
            try:
                yield
            finally:
                self._lanes = None

    def changed(self) -> None:
        """Drop everything that was computed with other weights."""
        self._known = None
        self._agrees = None

    def forget(self) -> None:
        """Release the memory of the last call."""
        self._known = None
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    # ---------------------------------------------------------------- trying out

    def _tried(self) -> tuple[bool, bool]:
        if self._agrees is None:
            if not (self._caches and self._masks):
                self._agrees = (False, False)
            else:
                whole = _attends_to_everything(self._model.config)
                self._agrees = (self._agree(share=False), whole and self._agree(share=True))
        return self._agrees

    def _agree(self, *, share: bool) -> bool:
        """Return whether padded rows have the logits of each text alone."""
        head, texts = (_PROBES[0][:3] if share else ()), _PROBES
        try:
            before = None
            if share:
                before = Rows.empty(1, self.device)
                self.read(before, torch.tensor([head], device=self.device))
                before = before.picked([0] * len(texts))
            rows, first = self.prefill([text[len(head) :] for text in texts], before)
            second = self.read(rows, torch.tensor([[13], [13]], device=self.device))[:, -1]
        except (RuntimeError, ValueError, TypeError, IndexError, AttributeError, KeyError):
            return False  # the model does not work with such a cache
        tolerance = _AGREEMENT.get(self.dtype, _ROUGH_AGREEMENT)
        for number, text in enumerate(texts):
            _, expected = self.alone([*text, 13], keep=2)
            compared = torch.stack([first[number], second[number]]).float()
            expected = expected.float()
            span = float(expected.max() - expected.min())
            if not float((compared - expected).abs().max()) <= tolerance * span:
                return False
        return True


def log_probabilities(logits: torch.Tensor, tokens: Sequence[int]) -> list[float]:
    """Return the natural log probability of each token."""
    if not tokens:
        return []
    scores = torch.log_softmax(logits.float(), dim=-1)
    chosen = scores.gather(1, torch.tensor(tokens, device=logits.device)[:, None])[:, 0]
    values: list[float] = chosen.tolist()
    if any(map(math.isnan, values)):
        raise not_numbers()
    return values


def padded(
    texts: Sequence[Sequence[int]], device: torch.device
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return the texts as one array, padded on the left, and its mask (None: no padding)."""
    width = max(map(len, texts))
    ids = torch.tensor([[0] * (width - len(text)) + list(text) for text in texts], device=device)
    if all(len(text) == width for text in texts):
        return ids, None
    lengths = torch.tensor([len(text) for text in texts], device=device)
    return ids, torch.arange(width, device=device)[None, :] >= width - lengths[:, None]


def common(texts: Sequence[Sequence[int]]) -> int:
    """Return the number of tokens that all texts have in common at the start.

    >>> common([[1, 2, 3], [1, 2, 4, 5], [1, 2]])
    2
    """
    first, last = min(map(list, texts)), max(map(list, texts))
    for place, (former, other) in enumerate(zip(first, last, strict=False)):
        if former != other:
            return place
    return min(len(first), len(last))


def _attends_to_everything(config: Any) -> bool:
    """Return whether no layer has a window of tokens, which would count gaps as tokens."""
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    types = getattr(config, "layer_types", None)
    if types is not None:
        return set(types) == {"full_attention"}
    windows = ("sliding_window", "attention_chunk_size", "window_size")
    return all(getattr(config, name, None) is None for name in windows)
