"""Causal language models in the transformers format, with a generation loop of our own.

The loop is ours so that pieces stream, cancel works between tokens and the sampler's seed is per
reply; greedy tokens are those of ``model.generate(do_sample=False)`` without penalties.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.extend.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Message, Reply, Request
from tabwb.records.states import Protocol, StopReason
from tabwb_transformers.options import LocalOptions, TransformersOptions
from tabwb_transformers.templates import PLAIN, PlainTemplate, load_template
from tabwb_transformers.text import StopStrings, TextStream

if TYPE_CHECKING:
    from tabwb_transformers.loading import Loaded


@dataclass(slots=True)
class _Ending:
    """Why a stream of tokens ended, and how many there were."""

    reason: StopReason = StopReason.LENGTH
    tokens: int = 0


class TransformersModel:
    """A model back end over one loaded model.

    Args:
        name: a folder or the id of a model on a hub.
        options: as validated.
        shown: how the model is called in what is stored; ``name`` when None.
    """

    def __init__(self, name: str, options: LocalOptions, *, shown: str | None = None) -> None:
        self._name = name
        self._options = options
        self._shown = shown
        self._loaded: Loaded | None = None
        self._template: PlainTemplate | None = None
        self._ends: frozenset[int] = frozenset()
        self._special: frozenset[int] = frozenset()

    def open(self) -> Mapping[str, str]:
        """Load the model.

        Raises:
            ComponentError: it cannot be loaded; the message says why and what to do.
        """
        from tabwb_transformers.loading import load

        loaded = self._loaded = load(self._name, self._options, shown=self._shown)
        self._template = self._choose_template(loaded.tokenizer)
        self._ends = _ends(loaded)
        self._special = frozenset(loaded.tokenizer.all_special_ids)
        facts = dict(loaded.facts)
        if self._template is None:
            facts["template"] = "chat"
        else:
            facts["template"] = self._template.id
            facts["template_sha256"] = self._template.sha256
        return facts

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Stream a reply.

        Raises:
            ComponentError: the prompt does not fit, memory ran out, or the protocol is another.
        """
        if request.protocol is not Protocol.GENERATE:
            raise ComponentError(
                f"cannot answer under the protocol '{request.protocol.value}'", allowed="generate"
            )
        if self._loaded is None:
            self.open()
        assert self._loaded is not None
        started = time.monotonic()
        decoding = request.decoding
        rendered, ids = self._encode(request.messages)
        stops = StopStrings((*decoding.stop, *(self._template.stop if self._template else ())))
        said: list[str] = []
        first: float | None = None
        ending = _Ending()
        for piece in self._pieces(ids, decoding, cancel, stops, ending):
            first = time.monotonic() - started if first is None else first
            said.append(piece)
            yield piece
        yield Reply(
            text="".join(said),
            stop_reason=ending.reason,
            latency_s=time.monotonic() - started,
            first_piece_s=first,
            prompt_tokens=len(ids),
            reply_tokens=ending.tokens,
            metadata=self._metadata(rendered, stops),
        )

    def close(self) -> None:
        """Give the model's memory back."""
        self._loaded = None

    # ---------------------------------------------------------------- prompt

    def _choose_template(self, tokenizer: Any) -> PlainTemplate | None:
        wish = self._options.template if isinstance(self._options, TransformersOptions) else "auto"
        has_chat = bool(getattr(tokenizer, "chat_template", None))
        if wish == "chat" and not has_chat:
            raise ComponentError(
                f"the tokenizer of '{self._name}' has no chat template",
                allowed="template=plain, or the path of a TOML file",
            )
        if wish == "chat" or (wish == "auto" and has_chat):
            return None
        return load_template(PLAIN if wish in {"auto", "plain"} else Path(wish).expanduser())

    def _encode(self, messages: Sequence[Message]) -> tuple[str, list[int]]:
        assert self._loaded is not None
        tokenizer = self._loaded.tokenizer
        if self._template is not None:
            rendered = self._template.render(messages)
            return rendered, list(tokenizer(rendered)["input_ids"])
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            rendered = tokenizer.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=True
            )
        except Exception as error:
            raise ComponentError(
                f"the chat template of '{self._name}' refuses this conversation: {error}",
                hint="template=plain writes it without the model's own format",
            ) from error
        # The chat template writes the special tokens itself.
        return rendered, list(tokenizer(rendered, add_special_tokens=False)["input_ids"])

    def _metadata(self, rendered: str, stops: StopStrings) -> dict[str, str]:
        metadata = {"rendered_prompt": rendered}
        metadata["template"] = "chat" if self._template is None else self._template.id
        if stops.found is not None:
            metadata["stop_string"] = stops.found
        return metadata

    # ---------------------------------------------------------------- reply

    def _pieces(
        self,
        ids: list[int],
        decoding: Decoding,
        cancel: Cancel,
        stops: StopStrings,
        ending: _Ending,
    ) -> Iterator[str]:
        assert self._loaded is not None
        tokenizer = self._loaded.tokenizer
        stream = TextStream(lambda tokens: _decode(tokenizer, tokens), ids)
        for token in self._tokens(ids, decoding, cancel, ending):
            if token in self._special:
                continue
            sure = stops.feed(stream.feed(token))
            if sure:
                yield sure
            if stops.found is not None:
                break
        rest = stops.feed(stream.flush()) + stops.flush()
        if stops.found is not None:
            ending.reason = StopReason.STOP_STRING
        if rest:
            yield rest

    def _tokens(
        self, ids: list[int], decoding: Decoding, cancel: Cancel, ending: _Ending
    ) -> Iterator[int]:
        import torch

        from tabwb_transformers.loading import memory_errors
        from tabwb_transformers.sampling import Sampler

        assert self._loaded is not None
        model, device = self._loaded.model, self._loaded.device
        room = self._room(ids)
        seed = decoding.seed if self._options.seed is None else self._options.seed
        sampler = Sampler(decoding, seed)
        given, past = torch.tensor([ids], device=device), None
        accepted = signature(model.forward).parameters
        caching = "past_key_values" in accepted
        fixed: dict[str, Any] = {"use_cache": caching}
        if "logits_to_keep" in accepted:
            fixed["logits_to_keep"] = 1
        while ending.tokens < min(decoding.max_tokens, room):
            if cancel.is_set():
                ending.reason = StopReason.CANCELLED
                return
            with memory_errors(), torch.inference_mode():
                cached = {"past_key_values": past} if caching else {}
                output = model(input_ids=given, **cached, **fixed)
                token = sampler.draw(output.logits[0, -1])
            if token in self._ends:
                ending.reason = StopReason.END
                return
            ending.tokens += 1
            yield token
            new = torch.tensor([[token]], device=device)
            if caching:
                past, given = output.past_key_values, new
            else:  # a model without such a cache reads everything again
                given = torch.cat([given, new], dim=1)

    def _room(self, ids: list[int]) -> int:
        assert self._loaded is not None
        limit = self._loaded.limit
        if not ids:
            raise ComponentError("the prompt has no tokens")
        if limit is None:
            return 2**31
        if len(ids) >= limit:
            raise ComponentError(
                f"the prompt has {len(ids)} tokens and leaves no room for a reply",
                allowed=f"prompt and reply together: {limit} tokens",
            )
        return limit - len(ids)


def _decode(tokenizer: Any, tokens: Sequence[int]) -> str:
    text = tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return str(text)


def _ends(loaded: Loaded) -> frozenset[int]:
    """The tokens that end a reply: the tokenizer's and those of the generation configuration."""
    found: set[int] = set()
    configured = getattr(loaded.model.generation_config, "eos_token_id", None)
    for ends in (configured, loaded.tokenizer.eos_token_id):
        if isinstance(ends, int):
            found.add(ends)
        elif ends is not None:
            found.update(int(end) for end in ends)
    return frozenset(found)
