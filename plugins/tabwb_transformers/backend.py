"""Causal language models in the transformers format, with our own generation loop.

With our loop pieces stream, cancel works between tokens, a reply leaves its batch when it ends, and
each reply has its own seed; greedy tokens are those of
``model.generate(do_sample=False)`` without penalties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tabwb.lesion.declared import Part, Pool
from tabwb.lesion.spec import parse_lesions
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import NOT_SENT, Likelihood, Reply, Request, Wait
from tabwb.records.reasoning import with_split
from tabwb.records.specs import mixed
from tabwb.records.states import Protocol, StopReason
from tabwb_transformers.options import LocalOptions, TransformersOptions
from tabwb_transformers.prompts import Prompts
from tabwb_transformers.writing import trie_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tabwb_transformers.engine import Engine
    from tabwb_transformers.lesions.surgery import Responses, Surgery
    from tabwb_transformers.loading import Loaded
    from tabwb_transformers.writing import Terms, Writing


@dataclass(slots=True)
class Opened:
    """A loaded model with its engine and prompts."""

    loaded: Loaded
    engine: Engine
    prompts: Prompts
    terms: Terms
    surgery: Surgery | None = None
    responses: Responses | None = None


def surgery_of(opened: Opened) -> Surgery:
    """Return what lesions the model, made on first use."""
    from tabwb_transformers.lesions.surgery import Surgery

    if opened.surgery is None:
        opened.surgery = Surgery(opened.loaded.model, opened.engine.changed)
    return opened.surgery


def applied(opened: Opened, spec: str) -> Mapping[str, str]:
    """Apply a lesion in place of the one that the model has; return facts to store."""
    if spec:
        lesions = parse_lesions(spec)
        return surgery_of(opened).apply(lesions, responses_of(opened).scores(lesions))
    if opened.surgery is not None:
        opened.surgery.restore()
    return {}


def responses_of(opened: Opened) -> Responses:
    """Return what asks how strongly units respond to texts, made on first use."""
    from tabwb_transformers.lesions.surgery import Responses

    if opened.responses is None:
        check = partial(room_after, opened.loaded)
        opened.responses = Responses(opened.engine, opened.prompts, check, surgery_of(opened))
    return opened.responses


def default_places_of(opened: Opened, tokens: int, lanes: int = 1) -> int:
    """Return the batch size where the user has set none."""
    from tabwb_transformers.cache import default_places

    limit = opened.loaded.limit
    tokens = tokens if limit is None else min(tokens, limit)
    return default_places(opened.loaded.model, opened.loaded.device, tokens, lanes)


def room_after(loaded: Loaded, ids: Sequence[int]) -> int:
    """Return the number of tokens that fit after the prompt."""
    if not ids:
        raise ComponentError("the prompt has no tokens")
    if loaded.limit is None:
        return 2**31
    if len(ids) >= loaded.limit:
        raise ComponentError(
            f"the prompt has {len(ids)} tokens and leaves no room for a reply",
            allowed=f"prompt and reply together: {loaded.limit} tokens",
        )
    return loaded.limit - len(ids)


def ending_tokens(loaded: Loaded) -> frozenset[int]:
    """Return the tokens that end a reply: of the tokenizer and the generation configuration."""
    tokens: set[int] = set()
    configured = getattr(loaded.model.generation_config, "eos_token_id", None)
    for ends in (configured, loaded.tokenizer.eos_token_id):
        if isinstance(ends, int):
            tokens.add(ends)
        elif ends is not None:
            tokens.update(int(end) for end in ends)
    return frozenset(tokens)


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A request as rendered for the model."""

    request: Request
    rendered: str
    ids: list[int]
    protocol: Protocol


class TransformersModel:
    """A model back end over one loaded model."""

    def __init__(self, name: str, options: LocalOptions, *, shown: str | None = None) -> None:
        self._name = name
        self._options = options
        self._shown = shown
        self._opened: Opened | None = None
        self._lesion = ""
        self._released = False
        """A lesion that could not be applied released the model."""

    def open(self) -> Mapping[str, str]:
        """Load the model."""
        from tabwb_transformers.engine import Engine
        from tabwb_transformers.loading import load
        from tabwb_transformers.writing import Terms

        loaded = load(self._name, self._options, shown=self._shown)
        options = self._options
        wish, keywords = "auto", {}
        if isinstance(options, TransformersOptions):
            wish, keywords = options.template, options.chat
        prompts = Prompts(self._name, loaded.tokenizer, wish, keywords, options.reasoning)
        ends = ending_tokens(loaded)
        terms = Terms(prompts.decode, ends, prompts.special, prompts.stops, options.reasoning)
        opened = Opened(loaded, Engine(loaded), prompts, terms)
        facts = {**loaded.facts, "template": prompts.id, **applied(opened, self._lesion)}
        self._opened, self._released = opened, False
        if prompts.template is not None:
            facts["template_sha256"] = prompts.template.sha256
        return facts

    def close(self) -> None:
        """Release the model's memory."""
        self._opened, self._released = None, False

    # ---------------------------------------------------------------- lesions

    def parts(self) -> list[Part]:
        """Return the parts that can be lesioned, in the order of the layers."""
        return surgery_of(self._ready()).parts

    def lesion(self, spec: str) -> Mapping[str, str]:
        """Answer under this lesion from now on, in place of an earlier one; return facts.

        Where it cannot be applied, the model is released: what is asked next meets the error again.
        """
        self._lesion = spec
        if self._opened is None:  # not opened yet, or released
            return self.open() if self._released else {}
        opened, self._opened = self._opened, None
        self._released = True
        facts = applied(opened, spec)
        self._opened, self._released = opened, False
        return facts

    def activations(
        self, target: str, texts: Sequence[str], pool: Pool, cancel: Cancel
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the response of each unit to each text, of the model as it is now."""
        return responses_of(self._ready()).activations(target, texts, pool, cancel)

    def lanes(self, specs: Sequence[str]) -> list[int]:
        """Return for each lesion how many conditions like it should share a batch."""
        from tabwb_transformers.lesions.lanes import most_lanes

        opened = self._ready()
        if not opened.engine.crowd:
            return [0] * len(specs)
        dtype = opened.engine.dtype
        return [most_lanes(surgery_of(opened), spec, dtype) for spec in specs]

    # ---------------------------------------------------------------- answering

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Stream a reply."""
        from tabwb_transformers.generation import write_alone

        opened = self._ready()
        prompt = self._prompt(opened, request)
        writing = self._writing(opened, 0, prompt)
        yield from write_alone(opened.engine, writing, cancel)
        yield self._reply_of(opened, prompt, writing)

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | ComponentError]]:
        """Yield ``(index, reply)`` as replies end; their texts are those of :meth:`reply`.

        Greedy texts do not depend on the batch, except by rounding: where two tokens were so close
        that rounding could decide, the metadata has ``batch_exact=no``.
        """
        opened = self._ready()
        prompts: dict[int, _Prompt] = {}
        yield from self._encoded(opened, requests, prompts)
        yield from self._write(opened, prompts, None, cancel)

    def reply_lanes(
        self, lesions: Sequence[str], requests: Sequence[tuple[int, Request]], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | ComponentError]]:
        """Yield ``(index, reply)`` of requests under several lesions in one batch.

        Texts are those of :meth:`reply_many` under each lesion, as far as these do not depend on
        the batch.
        """
        from tabwb_transformers.lesions.lanes import Lanes

        opened = self._ready()
        prompts: dict[int, _Prompt] = {}
        yield from self._encoded(opened, [request for _, request in requests], prompts)
        try:
            applied(opened, "")
            lanes = Lanes(surgery_of(opened), lesions)
            with opened.engine.beside(lanes):
                yield from self._write(opened, prompts, [lane for lane, _ in requests], cancel)
        finally:
            applied(opened, self._lesion)

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        """Return the likelihood of each continuation as the reply to ``request``, in their order.

        Options of an item are scored as they are written after the prompt. A request without
        messages asks for the likelihood of whole texts: the first token then follows the token that
        begins texts; where the tokenizer has none, it is not counted.
        """
        opened = self._ready()
        rendered, ids = opened.prompts.encode(request, answers=True)
        if request.protocol is not Protocol.LIKELIHOOD:
            return self._weighed(opened, rendered, ids, continuations, cancel)
        texts = [opened.prompts.written(option) for option in continuations]
        weighed = self._weighed(opened, rendered, ids, texts, cancel)
        if len(weighed) < len(texts):
            return weighed
        import torch

        from tabwb_transformers.generation import is_clear

        epsilon = torch.finfo(opened.loaded.model.dtype).eps
        clear = len(weighed) < 2 or is_clear(weighed, epsilon)
        notes = _notes(opened, _Prompt(request, rendered, ids, request.protocol))
        notes["batch_exact"] = "yes" if clear else "no"
        first = replace(weighed[0], prompt_tokens=len(ids), metadata=notes)
        return [first, *weighed[1:]]

    # ---------------------------------------------------------------- the steps

    def _ready(self) -> Opened:
        if self._opened is None:
            self.open()
        assert self._opened is not None
        return self._opened

    def _prompt(self, opened: Opened, request: Request) -> _Prompt:
        protocol = request.protocol if request.options else Protocol.GENERATE
        if protocol is Protocol.LIKELIHOOD:
            raise ComponentError(
                "options under the protocol 'likelihood' are scored by likelihood(), not written"
            )
        answers = protocol is Protocol.ENFORCED
        rendered, ids = opened.prompts.encode(request, answers=answers)
        room_after(opened.loaded, ids)
        return _Prompt(request, rendered, ids, protocol)

    def _encoded(
        self, opened: Opened, requests: Sequence[Request], prompts: dict[int, _Prompt]
    ) -> Iterator[tuple[int, ComponentError]]:
        """Add the prompts of requests by index; yield the errors of the others."""
        for index, request in enumerate(requests):
            try:
                prompts[index] = self._prompt(opened, request)
            except ComponentError as error:
                yield index, error

    def _writing(self, opened: Opened, index: int, prompt: _Prompt) -> Writing:
        from tabwb_transformers.writing import OptionWriting, Writing

        room = room_after(opened.loaded, prompt.ids)
        if prompt.protocol is Protocol.ENFORCED:
            prompts, before = opened.prompts, (prompt.rendered, prompt.ids)
            root = trie_of({text: prompts.ways(*before, text) for text in prompt.request.options})
            stops = (*opened.terms.stops, *prompt.request.decoding.stop) or ("\n",)
            firsts = (prompts.after(*before, stop)[:1] for stop in stops)
            closing = opened.terms.ends.union(*firsts)
            return OptionWriting(index, prompt.ids, room, opened.terms, root, closing)
        decoding = prompt.request.decoding
        if self._options.seed is not None:
            decoding = replace(decoding, seed=mixed(decoding.seed, self._options.seed))
        return Writing(
            index,
            prompt.ids,
            decoding,
            room,
            opened.terms,
            opened=opened.prompts.opened_by(prompt.rendered),
            thinking_limit=self._options.reasoning_tokens,
        )

    def _write(
        self,
        opened: Opened,
        prompts: Mapping[int, _Prompt],
        lanes: Sequence[int] | None,
        cancel: Cancel,
    ) -> Iterator[tuple[int, Reply | ComponentError]]:
        from tabwb_transformers.generation import Crowd, write_alone

        def place(index: int) -> tuple[int, list[int], int]:
            ids = prompts[index].ids
            return -len(ids), ids, 0 if lanes is None else lanes[index]

        # The longest first, so that memory runs out at once. Equal prompts are neighbours.
        writings = [
            self._writing(opened, index, prompts[index]) for index in sorted(prompts, key=place)
        ]
        if lanes is not None:
            for writing in writings:
                writing.lane = lanes[writing.index]
        if lanes is not None or (len(writings) > 1 and opened.engine.crowd):
            places = self._places(opened, list(prompts.values()), len(set(lanes or [0])))
            crowd = Crowd(opened.engine, writings, places)
            for writing, error in crowd.finished(cancel):
                prompt = prompts[writing.index]
                yield writing.index, error or self._reply_of(opened, prompt, writing)
            return
        for writing in writings:
            if cancel.is_set():
                return
            writing.restart()
            try:
                for _ in write_alone(opened.engine, writing, cancel):
                    pass
            except ComponentError as error:
                yield writing.index, error
                continue
            if writing.ended is not StopReason.CANCELLED:
                yield writing.index, self._reply_of(opened, prompts[writing.index], writing)

    def _reply_of(self, opened: Opened, prompt: _Prompt, writing: Writing) -> Reply:
        assert writing.ended is not None
        reply = Reply(
            text="",
            stop_reason=writing.ended,
            latency_s=writing.latency_s,
            first_piece_s=writing.first_piece_s,
            prompt_tokens=len(prompt.ids),
            reply_tokens=writing.tokens,
            metadata={**_notes(opened, prompt), **writing.notes()},
        )
        return with_split(reply, writing.split)

    def _weighed(
        self,
        opened: Opened,
        rendered: str,
        ids: Sequence[int],
        continuations: Sequence[str],
        cancel: Cancel,
    ) -> list[Likelihood]:
        from tabwb_transformers.generation import weigh

        if ids:
            room_after(opened.loaded, ids)
        texts = [opened.prompts.after(rendered, ids, text) for text in continuations]
        tokens = len(ids) + max(map(len, texts), default=0)
        return weigh(
            opened.engine,
            ids,
            texts,
            places=self._options.batch_size or default_places_of(opened, tokens),
            limit=opened.loaded.limit,
            cancel=cancel,
        )

    def _places(self, opened: Opened, prompts: Sequence[_Prompt], lanes: int) -> int:
        if self._options.batch_size is not None or not prompts:
            return self._options.batch_size or 1
        longest = max(len(prompt.ids) + prompt.request.decoding.max_tokens for prompt in prompts)
        longest += self._options.reasoning_tokens
        return default_places_of(opened, longest, lanes)


def _notes(opened: Opened, prompt: _Prompt) -> dict[str, str]:
    notes = {
        "rendered_prompt": prompt.rendered,
        "template": opened.prompts.id,
        "protocol": prompt.protocol.value,
    }
    if prompt.protocol is Protocol.GENERATE:
        return notes
    # The other protocols take the whole most probable option at any temperature.
    return notes | {"sampled": "no", "max_tokens": NOT_SENT, "stop": NOT_SENT}
