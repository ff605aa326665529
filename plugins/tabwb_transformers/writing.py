"""One reply under way: which token comes next, what text that makes, and when it is over.

The same for a reply that streams and for one of many. Imported only where torch is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tabwb.plugin_api.stops import StopStrings
from tabwb.records.exchange import Decoding
from tabwb.records.states import StopReason
from tabwb_transformers.sampling import Sampler, not_numbers
from tabwb_transformers.text import Decode, TextStream
from tabwb_transformers.trie import Node

ROUNDING = 512.0
"""So many units in the last place may two ways of computing the same logits differ."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for every reply of one model.

    Attributes:
        decode: tokens to text, special tokens written out.
        ends: tokens that end a reply.
        special: tokens that are no text.
        stops: strings that end a reply, besides the request's own.
    """

    decode: Decode
    ends: frozenset[int]
    special: frozenset[int]
    stops: tuple[str, ...] = ()


class Writing:
    """A reply that is being written freely.

    Args:
        index: which request it answers.
        ids: the prompt's tokens.
        decoding: how to draw; its seed is used as it stands.
        room: how many tokens fit after the prompt.
        terms: of the model.
    """

    def __init__(
        self, index: int, ids: Sequence[int], decoding: Decoding, room: int, terms: Terms
    ) -> None:
        self.index = index
        self.ids = ids
        self.greedy = decoding.greedy
        self._decoding = decoding
        self._limit = min(decoding.max_tokens, room)
        self._terms = terms
        self.restart()

    def restart(self) -> None:
        """Begin anew: nothing was written yet."""
        self.tokens = 0
        self.said: list[str] = []
        self.ended: StopReason | None = StopReason.LENGTH if self._limit <= 0 else None
        self.started = time.monotonic()
        self.first_piece_s: float | None = None
        self.closest = float("inf")
        self._stream = TextStream(self._terms.decode, self.ids)
        self._stops = StopStrings((*self._decoding.stop, *self._terms.stops))
        self._sampler = Sampler(self._decoding, self._decoding.seed)

    def draw(self, logits: torch.Tensor) -> int:
        """The next token, given its logits (shape: vocabulary); not asked where greedy."""
        return self._sampler.draw(logits)

    def take(self, token: int) -> str:
        """Go on with a token: the text that is certain now, perhaps none."""
        if token in self._terms.ends:
            return self.end(StopReason.END)
        self.tokens += 1
        sure = ""
        if token not in self._terms.special:
            sure = self._say(self._stops.feed(self._stream.feed(token)))
        if self._stops.found is not None or self.tokens >= self._limit:
            sure += self.end(StopReason.LENGTH)
        return sure

    def end(self, reason: StopReason) -> str:
        """End the reply; what was held back. A stop string found there is the reason."""
        rest = self._say(self._stops.feed(self._stream.flush()) + self._stops.flush())
        self.ended = StopReason.STOP_STRING if self._stops.found is not None else reason
        self.latency_s = time.monotonic() - self.started
        return rest

    def notes(self) -> dict[str, str]:
        """What is worth keeping of how the reply came about."""
        notes = {} if self._stops.found is None else {"stop_string": self._stops.found}
        if self._limit < self._decoding.max_tokens:
            notes["max_tokens"] = str(max(self._limit, 0))
        if self._terms.stops:
            stops = (*self._decoding.stop, *self._terms.stops)
            notes["stop"] = json.dumps(stops, ensure_ascii=False)
        if not self.greedy:
            notes["seed"] = str(self._decoding.seed)
        else:
            notes["batch_exact"] = "yes" if self.closest > ROUNDING else "no"
        return notes

    def _say(self, text: str) -> str:
        if text:
            if self.first_piece_s is None:
                self.first_piece_s = time.monotonic() - self.started
            self.said.append(text)
        return text


class OptionWriting(Writing):
    """A reply that must be one of the allowed answers.

    Of the tokens with which an allowed answer can go on, the most probable one is taken. Where an
    answer is complete and a longer one begins with it, the tokens that end a reply compete with
    the rest of the longer one.

    Args:
        root: the allowed answers.
        closing: tokens that end an answer: end tokens and those with which stop strings begin.
    """

    def __init__(
        self,
        index: int,
        ids: Sequence[int],
        room: int,
        terms: Terms,
        root: Node,
        closing: frozenset[int],
    ) -> None:
        self._root = root
        self._closing = closing
        super().__init__(index, ids, Decoding(max_tokens=room), room, terms)
        self.greedy = False

    def restart(self) -> None:
        """Begin anew: nothing was chosen yet."""
        super().restart()
        self._node = self._root
        self._mass: float | None = None
        self._log_probability = 0.0

    def draw(self, logits: torch.Tensor) -> int:
        """The most probable of the allowed tokens."""
        allowed = list(self._node.next)
        if self._node.option is not None:
            allowed += [token for token in self._closing if token not in self._node.next]
        scores = torch.log_softmax(logits.detach().to("cpu", torch.float32), dim=-1)
        among = scores[torch.tensor(allowed)]
        if not bool(torch.isfinite(among.max())):
            raise not_numbers()
        whole = among.logsumexp(0)
        if self._mass is None:
            self._mass = float(whole.exp())
        best = int(among.argmax())
        self._log_probability += float(among[best] - whole)
        return allowed[best]

    def take(self, token: int) -> str:
        """Go on with a token; the whole answer once it is certain."""
        if token in self._node.next:
            self.tokens += 1
            self._node = self._node.next[token]
            if self._node.next:
                return ""
        sure = self._say(self._node.option or "")
        super().end(StopReason.END)
        return sure

    def notes(self) -> dict[str, str]:
        """How far the model had to be bent: what it gave to the allowed first tokens itself."""
        notes = {"enforced_log_probability": f"{self._log_probability:.6g}"}
        if self._mass is not None:
            notes["allowed_probability"] = f"{self._mass:.6g}"
        return notes
