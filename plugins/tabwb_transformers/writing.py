"""A reply that is being generated: its next token, its text, and its end.

Used for a single reply and for replies in a batch. Imported only where torch is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from tabwb.plugin_api import StopStrings
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import REASONING_TOKENS, Decoding
from tabwb.records.reasoning import AUTO, KEEP, ReasoningStream, Split
from tabwb.records.states import StopReason

Decode = Callable[[Sequence[int]], str]
_INCOMPLETE = "\N{REPLACEMENT CHARACTER}"
_CONTEXT = 8


class TextStream:
    """Decodes a growing list of tokens piece by piece.

    Tokens are decoded after the prompt's last ones, because a tokenizer may drop the space in
    front of a text but not inside it. A character whose bytes are spread over several tokens is
    held back until it is whole.
    """

    def __init__(self, decode: Decode, prompt: Sequence[int]) -> None:
        self._decode = decode
        self._settled = list(prompt[-_CONTEXT:])
        self._waiting: list[int] = []

    def feed(self, token: int) -> str:
        """Append a token; return the text that it completes, perhaps none."""
        self._waiting.append(token)
        text = self._new()
        if not text or text.endswith(_INCOMPLETE):
            return ""
        return self._settle(text)

    def flush(self) -> str:
        """Return the text that was held back."""
        return self._settle(self._new()) if self._waiting else ""

    def _new(self) -> str:
        before = self._decode(self._settled)
        after = self._decode([*self._settled, *self._waiting])
        return after[len(before) :]

    def _settle(self, text: str) -> str:
        self._settled = [*self._settled, *self._waiting][-_CONTEXT - len(self._waiting) :]
        self._waiting.clear()
        return text


@dataclass(slots=True)
class Node:
    """The tokens that may follow.

    Attributes:
        next: the token that may come, and what may follow it.
        option: the answer that is complete here, or None.
    """

    next: dict[int, Node] = field(default_factory=dict)
    option: str | None = None


def trie_of(options: Mapping[str, Iterable[tuple[int, ...]]]) -> Node:
    """Return the tree of all token sequences of the options.

    Where two options are written alike the first one is meant.

    >>> root = trie_of({"boat": [(1, 2)], "boathouse": [(1, 2, 3)]})
    >>> node = root.next[1].next[2]
    >>> node.option, sorted(node.next)
    ('boat', [3])
    """
    root = Node()
    for option, ways in options.items():
        for tokens in ways:
            node = root
            for token in tokens:
                node = node.next.setdefault(token, Node())
            if node is not root and node.option is None:
                node.option = option
    return root


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


ROUNDING = 512.0
"""Units in the last place by which two ways to compute the same logits may differ."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings of every reply of one model.

    Attributes:
        decode: tokens to text, special tokens written out.
        ends: tokens that end a reply.
        special: tokens without text.
        stops: strings that end a reply, besides the request's own.
        reasoning: the option ``reasoning`` of the model.
    """

    decode: Decode
    ends: frozenset[int]
    special: frozenset[int]
    stops: tuple[str, ...] = ()
    reasoning: str = AUTO


class Writing:
    """A free reply.

    Attributes:
        lane: which of several lesions it is written under; None: the model as it is.
        thoughts: tokens of thinking, its tags included.
    """

    def __init__(
        self,
        index: int,
        ids: Sequence[int],
        decoding: Decoding,
        room: int,
        terms: Terms,
        *,
        opened: str = "",
        thinking_limit: int = 0,
    ) -> None:
        self.index = index
        self.ids = ids
        self.lane: int | None = None
        self.greedy = decoding.greedy
        self._decoding = decoding
        self._limit = min(decoding.max_tokens, room)
        self._room, self._opened, self._thinking_limit = room, opened, thinking_limit
        self._terms = terms
        self.restart()

    def restart(self) -> None:
        """Start again without text."""
        self.tokens = self.thoughts = 0
        self._thinking = ReasoningStream(self._terms.reasoning, self._opened)
        self.texts: list[str] = []
        self.ended: StopReason | None = StopReason.LENGTH if self._limit <= 0 else None
        self.started = time.monotonic()
        self.first_piece_s: float | None = None
        self.closest = float("inf")
        self._void, self._returned = False, 0
        self._stream = TextStream(self._terms.decode, self.ids)
        self._stops = StopStrings((*self._decoding.stop, *self._terms.stops))
        self._sampler = Sampler(self._decoding, self._decoding.seed)

    def draw(self, logits: torch.Tensor) -> int:
        """Return the next token for logits of shape (vocabulary,); not called where greedy."""
        return self._sampler.draw(logits)

    def take(self, token: int) -> str:
        """Append a token; return the text that is now certain, perhaps none."""
        if token in self._terms.ends:
            return self.end(StopReason.END)
        self.tokens += 1
        thought = self._thinking.inside
        if token not in self._terms.special:
            self._add(self._thinking.feed(self._stream.feed(token)))
        if self._thinking.inside and not (thought or self._thinking.said):
            self.thoughts = self.tokens
        elif thought or self._thinking.inside:
            self.thoughts += 1
        if self._stops.found is not None or self._is_full():
            return self.end(StopReason.LENGTH)
        return self._passed()

    def _is_full(self) -> bool:
        """Return whether the limit of what is being written is reached."""
        if not self._thinking_limit:
            return self.tokens >= self._limit
        if self.tokens >= self._room:
            return True
        if self._thinking.inside:
            return self.thoughts >= self._thinking_limit
        return self.tokens - self.thoughts >= self._decoding.max_tokens

    @property
    def split(self) -> Split:
        """The reasoning and the response of a reply that has ended."""
        found = self._thinking.finish(cut=self.ended is StopReason.LENGTH)
        if self._stops.found is None:
            return found
        before, cut, _ = found.response.partition(self._stops.found)
        return replace(found, response=before if cut else "".join(self.texts), unclosed=False)

    def end(self, reason: StopReason) -> str:
        """End the reply; return the held text. A stop string in it becomes the reason."""
        self._add(self._thinking.feed(self._stream.flush()))
        split = self._thinking.finish(cut=reason is StopReason.LENGTH)
        self._add(self._thinking.rest_of(split.response))
        self._append(self._stops.flush())
        self.ended = StopReason.STOP_STRING if self._stops.found is not None else reason
        self.latency_s = time.monotonic() - self.started
        return self._passed()

    def notes(self) -> dict[str, str]:
        """Return metadata on how the reply was generated."""
        notes = {} if self._stops.found is None else {"stop_string": self._stops.found}
        if self.thoughts:
            notes[REASONING_TOKENS] = str(self.thoughts)
        if self._thinking_limit:
            notes["reasoning_limit"] = str(self._thinking_limit)
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

    def taken_back(self) -> bool:
        """Return whether what was returned has just proved to be no response; True once."""
        void, self._void = self._void, False
        return void

    def _add(self, response: str) -> None:
        """Append new text of the response up to a stop string; after thinking, from its start."""
        if self._thinking.taken_back():
            self._void, self._returned = True, 0
            self.texts.clear()
            self._stops = self._stops.anew()
        self._append(self._stops.feed(response))

    def _append(self, text: str) -> None:
        if text:
            if self.first_piece_s is None:
                self.first_piece_s = time.monotonic() - self.started
            self.texts.append(text)

    def _passed(self) -> str:
        """Return the texts that were not returned before."""
        new, self._returned = self.texts[self._returned :], len(self.texts)
        return "".join(new)


class OptionWriting(Writing):
    """A reply that must be one of the allowed answers.

    The most probable of the tokens that continue an allowed answer is taken. Where an answer is
    complete and a longer one begins with it, the tokens that end a reply compete with the rest of
    the longer one.
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
        super().__init__(
            index, ids, Decoding(max_tokens=room), room, replace(terms, reasoning=KEEP)
        )
        self.greedy = False

    def restart(self) -> None:
        """Start again without a choice."""
        super().restart()
        self._node = self._root
        self._mass: float | None = None
        self._log_probability = 0.0

    def draw(self, logits: torch.Tensor) -> int:
        """Return the most probable allowed token."""
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
        """Append a token; return the whole answer once it is certain."""
        if token in self._node.next:
            self.tokens += 1
            self._node = self._node.next[token]
            if self._node.next:
                return ""
        self._append(self._node.option or "")
        return super().end(StopReason.END)

    @property
    def split(self) -> Split:
        """The answer, which has no reasoning."""
        return Split("", "".join(self.texts))

    def notes(self) -> dict[str, str]:
        """Return the answer's log probability and the probability of the allowed first tokens."""
        notes = {"enforced_log_probability": f"{self._log_probability:.6g}"}
        if self._mass is not None:
            notes["allowed_probability"] = f"{self._mass:.6g}"
        return notes
