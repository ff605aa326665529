"""Generates replies with one model, one or many together. Imported only where torch is.

A batch is refilled as soon as a quarter of its places is free. Identical prompts are read once, and
so is the common start of all prompts; under several lesions side by side, once for each.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import torch

from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Likelihood, Wait
from tabwb.records.reasoning import passed_on
from tabwb.records.states import StopReason
from tabwb_transformers.cache import Rows, joined
from tabwb_transformers.engine import WORTH_SHARING, Engine, common, log_probabilities, padded
from tabwb_transformers.loading import OutOfMemory
from tabwb_transformers.writing import ROUNDING, Writing, most_probable, not_numbers

_Prompt = tuple[int | None, tuple[int, ...]]


def write_alone(engine: Engine, writing: Writing, cancel: Cancel) -> Iterator[str | Wait]:
    """Generate one reply; yield its pieces."""
    past: Any = None
    given = list(writing.ids)
    while writing.ended is None:
        if cancel.is_set():
            yield from passed_on(writing, writing.end(StopReason.CANCELLED))
            return
        past, logits = engine.alone(given, past)
        (token,) = _drawn([writing], logits)
        if isinstance(token, ComponentError):
            raise token
        yield from passed_on(writing, writing.take(token))
        # A model without a cache reads everything again.
        given = [token] if engine.remembers else [*given, token]


class Crowd:
    """A queue of replies, and the replies that are being generated."""

    def __init__(self, engine: Engine, writings: Sequence[Writing], places: int) -> None:
        self._engine = engine
        self._waiting = deque(writings)
        self._active: list[Writing] = []
        self._rows: Rows | None = None
        self._logits: torch.Tensor | None = None
        self._shelf: tuple[_Prompt, Rows, torch.Tensor] | None = None
        self._beginning = _beginning(engine, writings)
        self._begun: Rows | None = None
        self._lanes = 1 + max((writing.lane or 0 for writing in writings), default=0)
        self.places = places

    def finished(self, cancel: Cancel) -> Iterator[tuple[Writing, ComponentError | None]]:
        """Yield each reply when it has ended or failed; none once ``cancel`` is set."""
        while (self._waiting or self._active) and not cancel.is_set():
            try:
                self._admit()
                assert self._logits is not None
                tokens = _drawn(self._active, self._logits)
                for writing, token in zip(self._active, tokens, strict=True):
                    if writing.ended is not None:
                        continue
                    if isinstance(token, ComponentError):
                        writing.end(StopReason.ERROR)
                        yield writing, token
                        continue
                    writing.take(token)
                    if writing.ended is not None:
                        yield writing, None
                self._step([token if isinstance(token, int) else 0 for token in tokens])
            except OutOfMemory as error:
                if failed := self._make_room():
                    yield failed, error

    def _admit(self) -> None:
        """Fill free places, once a quarter is free."""
        free = self.places - len(self._active)
        if not self._waiting or (self._active and free < max(1, self.places // 4)):
            return
        group = list(islice(self._waiting, free))
        rows, logits = self._read(group)
        if self._rows is not None:
            assert self._logits is not None
            rows, logits = joined(self._rows, rows), torch.cat([self._logits, logits])
        self._rows, self._logits = rows, logits
        for _ in group:
            self._waiting.popleft()
        self._active += group

    def _read(self, group: Sequence[Writing]) -> tuple[Rows, torch.Tensor]:
        """Read the prompts of a group, equal ones once; return a row and logits for each."""
        for writing in group:
            writing.restart()
        prompts = list({_prompt(writing): writing for writing in group}.values())
        if self._shelf is not None and self._shelf[0] == _prompt(prompts[0]):
            _, rows, logits = self._shelf
            if prompts[1:]:
                others, further = self._prefill(prompts[1:])
                rows, logits = joined(rows, others), torch.cat([logits, further])
        else:
            rows, logits = self._prefill(prompts)
        self._shelf = None
        last = _prompt(prompts[-1])
        if len(group) < len(self._waiting) and _prompt(self._waiting[len(group)]) == last:
            self._shelf = (last, rows.picked([len(prompts) - 1]), logits[-1:])
        if len(prompts) == len(group) and len(prompts) > 1:
            return rows, logits
        place = {_prompt(writing): number for number, writing in enumerate(prompts)}
        places = [place[_prompt(writing)] for writing in group]
        return rows.picked(places), logits[places]

    def _prefill(self, prompts: Sequence[Writing]) -> tuple[Rows, torch.Tensor]:
        """Read prompts, no two of them equal in text and lane."""
        begun = len(self._beginning)
        lanes = [writing.lane for writing in prompts if writing.lane is not None]
        if not begun:
            rows = Rows.empty(len(prompts), self._engine.device, lanes or None)
        elif not lanes:
            rows = self._engine.known(self._beginning)[0].picked([0] * len(prompts))
        else:
            # What was read under another lesion is another memory: each lane has its own.
            if self._begun is None:
                every = range(self._lanes)
                empty = Rows.empty(self._lanes, self._engine.device, every)
                self._begun, _ = self._engine.prefill([self._beginning for _ in every], empty)
            rows = self._begun.picked(lanes)
        return self._engine.prefill([writing.ids[begun:] for writing in prompts], rows)

    def _step(self, tokens: Sequence[int]) -> None:
        """Read the new tokens; ended replies leave when they are a quarter of the batch."""
        assert self._rows is not None
        left = [place for place, writing in enumerate(self._active) if writing.ended is None]
        if not left:
            self._active, self._rows, self._logits = [], None, None
            return
        if len(self._active) - len(left) >= max(1, len(self._active) // 4):
            self._rows = self._rows.picked(left)
            self._active = [self._active[place] for place in left]
            tokens = [tokens[place] for place in left]
        ids = torch.tensor(tokens, device=self._engine.device)[:, None]
        self._logits = self._engine.read(self._rows, ids)[:, -1]

    def _make_room(self) -> Writing | None:
        """Start again with half the places; return the reply that does not fit even alone."""
        left = [writing for writing in self._active if writing.ended is None]
        self._waiting.extendleft(reversed(left))
        self._active, self._rows, self._logits, self._shelf = [], None, None, None
        self._engine.forget()
        if self.places == 1:
            return self._waiting.popleft()
        self.places = max(1, min(self.places, max(len(left), 2)) // 2)
        return None


def _prompt(writing: Writing) -> _Prompt:
    """Return what makes the memory of a prompt: its tokens and the lesion."""
    return writing.lane, tuple(writing.ids)


def _drawn(writings: Sequence[Writing], logits: torch.Tensor) -> list[int | ComponentError]:
    """Return the next token of each reply (0 for an ended one), or its error."""
    best: list[int] = []
    ahead: list[float] = []
    if any(writing.greedy for writing in writings):
        best, ahead = most_probable(logits)
    if not all(writing.greedy for writing in writings):
        logits = logits.to("cpu", torch.float32)
    tokens: list[int | ComponentError] = []
    for place, writing in enumerate(writings):
        if writing.ended is not None:
            tokens.append(0)
        elif not writing.greedy:
            try:
                tokens.append(writing.draw(logits[place]))
            except ComponentError as error:
                tokens.append(error)
        elif ahead[place] >= 0.0:
            writing.closest = min(writing.closest, ahead[place])
            tokens.append(best[place])
        else:
            tokens.append(not_numbers())
    return tokens


def _beginning(engine: Engine, writings: Sequence[Writing]) -> Sequence[int]:
    """Return the common start of all prompts, where reading it once is faster."""
    prompts = list({tuple(writing.ids): writing.ids for writing in writings}.values())
    if len(prompts) < 2 or not engine.shares:
        return []
    # At least one token of each prompt remains.
    length = min(common(prompts), min(map(len, prompts)) - 1)
    return list(prompts[0][:length]) if length >= WORTH_SHARING else []


CHUNK = 256
"""Tokens of a long text that are read at once, because logits of all would fill the memory."""


def weigh(
    engine: Engine,
    prompt: Sequence[int],
    texts: Sequence[Sequence[int]],
    *,
    places: int,
    limit: int | None,
    cancel: Cancel,
) -> list[Likelihood]:
    r"""Return the likelihood of each text after the prompt: sum of ln p(token | all before it).

    The first token of a text after an empty prompt has nothing before it and is not counted. What
    is longer than the model's limit is read in windows: as soon as one is full, the next begins
    with its second half as context.
    """
    together = places if engine.crowd and prompt else 1
    done: list[Likelihood] = []
    while len(done) < len(texts) and not cancel.is_set():
        group = texts[len(done) : len(done) + together]
        short = max(map(len, group)) <= min(CHUNK, (limit or 2**62) - len(prompt))
        try:
            if together > 1 and short:
                done += _together(engine, prompt, group)
            else:
                likelihood = _alone(engine, prompt, group[0], limit, cancel)
                if likelihood is None:
                    break
                done.append(likelihood)
        except OutOfMemory:
            engine.forget()
            if together == 1:
                raise
            together = max(1, min(together, len(group)) // 2)
    return done


def is_clear(weighed: Sequence[Likelihood], epsilon: float) -> bool:
    """Return whether the lead of the most likely text is larger than rounding.

    A text of n tokens with L = sum of ln p(token) is known to within ROUNDING x epsilon x
    (n + abs(L)): a token's log probability is rounded in units of its own size, of 1 at least.

    >>> sure, close = Likelihood(-2.0, 1), Likelihood(-2.0001, 1)
    >>> is_clear([sure, Likelihood(-2.4, 3)], 2**-23), is_clear([sure, close], 2**-23)
    (True, False)
    """
    first, *others = sorted(weighed, key=lambda likelihood: -likelihood.log_probability)

    def doubt(likelihood: Likelihood) -> float:
        return ROUNDING * epsilon * (likelihood.tokens + abs(likelihood.log_probability))

    return all(
        first.log_probability - other.log_probability > doubt(first) + doubt(other)
        for other in others
    )


def _together(
    engine: Engine, prompt: Sequence[int], texts: Sequence[Sequence[int]]
) -> list[Likelihood]:
    """Score short texts after one prompt, which is read once with their common start.

    Neither is read again for the next call.
    """
    shared = min(common(texts), min(map(len, texts)) - 1) if len(texts) > 1 else 0
    shared = max(shared, 0)
    # The last known token is read with the texts: its logits score the next.
    last = [prompt[-1], *texts[0][:shared]]
    before, known = engine.known(prompt[:-1], last)
    beginning = math.fsum(known[len(known) - shared :]) if shared else 0.0
    rests = [text[shared:] for text in texts]
    ids, given = padded([[last[-1], *rest[:-1]] for rest in rests], engine.device)
    width = ids.shape[1]
    logits = engine.read(before.picked([0] * len(texts)), ids, given, keep=width)
    weighed = []
    for row, rest in enumerate(rests):
        scores = log_probabilities(logits[row, width - len(rest) :], rest)
        weighed.append(Likelihood(beginning + math.fsum(scores), shared + len(rest)))
    return weighed


def _alone(
    engine: Engine, prompt: Sequence[int], text: Sequence[int], limit: int | None, cancel: Cancel
) -> Likelihood | None:
    """Return the likelihood of one text of any length; None once ``cancel`` is set."""
    known = list(prompt)
    left = list(text)
    if not known:
        known, left = left[:1], left[1:]
    counted, total = len(left), 0.0
    limit = limit or 2**62
    past: Any = None
    read = 0  # how many of the known tokens are in ``past``
    while left:
        if cancel.is_set():
            return None
        if len(known) > limit:
            known, past, read = known[-max(1, limit // 2) :], None, 0
        new = left[: min(CHUNK, limit - len(known) + 1)]
        given = [*known[read:], *new[:-1]]
        past, logits = engine.alone(given, past, keep=len(new))
        total += math.fsum(log_probabilities(logits, new))
        known += new[:-1]
        read = len(known) if engine.remembers else 0
        if not engine.remembers:
            past = None
        known, left = [*known, new[-1]], left[len(new) :]
    return Likelihood(total, counted)
