"""A request as Google's client wants it."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types

from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Request
from tabwb.records.states import Protocol
from tabwb_gemini.options import GeminiOptions

MOST_STOPS = 5
"""Stop sequences that the API takes; further ones are looked for here."""
_ROLES = {"user": "user", "assistant": "model"}
_HARMS = (
    types.HarmCategory.HARM_CATEGORY_HARASSMENT,
    types.HarmCategory.HARM_CATEGORY_HATE_SPEECH,
    types.HarmCategory.HARM_CATEGORY_SEXUALLY_EXPLICIT,
    types.HarmCategory.HARM_CATEGORY_DANGEROUS_CONTENT,
)


def contents(request: Request) -> list[types.Content]:
    """The conversation; system messages go into the configuration."""
    return [
        types.Content(role=_ROLES[message.role], parts=[types.Part(text=message.content)])
        for message in request.messages
        if message.role != "system"
    ]


def configuration(request: Request, options: GeminiOptions) -> types.GenerateContentConfig:
    """Everything of a request besides the conversation.

    Raises:
        ComponentError: the protocol cannot be kept.
    """
    decoding = request.decoding
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    asked: dict[str, Any] = {
        "temperature": decoding.temperature,
        "max_output_tokens": decoding.max_tokens,
        "stop_sequences": list(decoding.stop[:MOST_STOPS]) or None,
        "system_instruction": system or None,
    }
    if not decoding.greedy:
        seed = decoding.seed if options.seed is None else options.seed
        asked |= {"top_p": decoding.top_p, "seed": seed % 2**31}
    if options.thinking_budget is not None:
        asked["thinking_config"] = types.ThinkingConfig(thinking_budget=options.thinking_budget)
    if options.safety == "off":
        threshold = types.HarmBlockThreshold.BLOCK_NONE
        asked["safety_settings"] = [
            types.SafetySetting(category=harm, threshold=threshold) for harm in _HARMS
        ]
    return types.GenerateContentConfig(**asked, **_shape(request, options))


def _shape(request: Request, options: GeminiOptions) -> dict[str, Any]:
    """What keeps the reply to one of the options, or to a schema."""
    if request.protocol is Protocol.LIKELIHOOD:
        raise ComponentError(
            "Gemini's API tells no likelihood of a given answer", allowed="generate, enforced"
        )
    if request.protocol is Protocol.ENFORCED and request.options:
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
    """Whether the reply was to be kept to options or a schema."""
    return config.response_mime_type is not None
