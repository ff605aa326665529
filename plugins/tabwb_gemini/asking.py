"""The arguments of a request to Google's client."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types

from tabwb.host.remote_model import is_enforced
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Request
from tabwb.records.specs import mixed
from tabwb.records.states import Protocol
from tabwb_gemini.options import ROOM_TO_THINK, GeminiOptions

MOST_STOPS = 5
"""Stop sequences that the API accepts; more are searched for here."""
_ROLES = {"user": "user", "assistant": "model"}
_HARMS = (
    types.HarmCategory.HARM_CATEGORY_HARASSMENT,
    types.HarmCategory.HARM_CATEGORY_HATE_SPEECH,
    types.HarmCategory.HARM_CATEGORY_SEXUALLY_EXPLICIT,
    types.HarmCategory.HARM_CATEGORY_DANGEROUS_CONTENT,
)
"""The filters of text that the API can switch off. It refuses requests with the client's other
filters, which are for images or another service; civic integrity is deprecated."""


def contents(request: Request) -> list[types.Content]:
    """Return the conversation without system messages, which belong to the configuration."""
    return [
        types.Content(role=_ROLES[message.role], parts=[types.Part(text=message.content)])
        for message in request.messages
        if message.role != "system"
    ]


def thinking_budget(request: Request, options: GeminiOptions) -> int | None:
    """Return the tokens that the model may think before it answers; None: the model decides.

    Without the option the model does not think where the limit is below ``ROOM_TO_THINK``.

    >>> from tabwb.records.exchange import Decoding
    >>> [thinking_budget(Request((), Decoding(max_tokens=n)), GeminiOptions()) for n in (64, 2048)]
    [0, None]
    """
    if options.thinking_budget is not None:
        return options.thinking_budget
    return 0 if request.decoding.max_tokens < ROOM_TO_THINK else None


def room_to_think(options: GeminiOptions) -> int:
    """Return the tokens to add to a reply's limit, against which the service counts thinking.

    A thinking budget of the options is an additional limit. Where the model decides, thinking and
    text share the limit of the reply.

    >>> [room_to_think(GeminiOptions(thinking_budget=n)) for n in (None, -1, 0, 512)]
    [0, 0, 0, 512]
    """
    return max(options.thinking_budget or 0, 0)


def configuration(
    request: Request, options: GeminiOptions, budget: int | None
) -> types.GenerateContentConfig:
    """Return everything of a request besides the conversation."""
    decoding = request.decoding
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    asked: dict[str, Any] = {
        "temperature": decoding.temperature,
        "max_output_tokens": decoding.max_tokens + room_to_think(options),
        "stop_sequences": list(decoding.stop[:MOST_STOPS]) or None,
        "system_instruction": system or None,
    }
    if not decoding.greedy:
        asked |= {"top_p": decoding.top_p, "seed": mixed(decoding.seed, options.seed)}
    if budget is not None:
        asked["thinking_config"] = types.ThinkingConfig(thinking_budget=budget)
    if options.safety == "off":
        threshold = types.HarmBlockThreshold.BLOCK_NONE
        asked["safety_settings"] = [
            types.SafetySetting(category=harm, threshold=threshold) for harm in _HARMS
        ]
    return types.GenerateContentConfig(**asked, **_shape(request, options))


def _shape(request: Request, options: GeminiOptions) -> dict[str, Any]:
    """Return what makes the reply follow the options or a schema."""
    if request.protocol is Protocol.LIKELIHOOD:
        raise ComponentError(
            "Gemini's API does not return the likelihood of an answer", allowed="generate, enforced"
        )
    if is_enforced(request):
        if options.structured == "none":
            raise ComponentError(
                "structured=none cannot answer under the protocol 'enforced'",
                allowed="structured=auto",
            )
        choices = list(dict.fromkeys(request.options))
        return {
            "response_mime_type": "text/x.enum",
            "response_schema": {"type": "STRING", "enum": choices},
        }
    if request.json_schema and options.structured == "auto":
        return {
            "response_mime_type": "application/json",
            "response_json_schema": json.loads(request.json_schema),
        }
    return {}


def is_structured(config: types.GenerateContentConfig) -> bool:
    """Return whether the reply must follow options or a schema."""
    return config.response_mime_type is not None
