"""A loaded model with what belongs to it. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tabwb.lesion.spec import parse_lesions
from tabwb.records.errors import ComponentError
from tabwb_transformers.prompts import Prompts

if TYPE_CHECKING:
    from tabwb_transformers.engine import Engine
    from tabwb_transformers.lesions.activations import Responses
    from tabwb_transformers.lesions.surgery import Surgery
    from tabwb_transformers.loading import Loaded
    from tabwb_transformers.writing import Terms


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
    from tabwb_transformers.lesions.activations import Responses

    if opened.responses is None:
        check = partial(room_after, opened.loaded)
        opened.responses = Responses(opened.engine, opened.prompts, check, surgery_of(opened))
    return opened.responses


def default_places_of(opened: Opened, tokens: int, lanes: int = 1) -> int:
    """Return the batch size where the user has set none."""
    from tabwb_transformers.capacity import default_places

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
