"""The arguments of one chat completion."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tabwb.host.remote_model import is_enforced
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Message, Request
from tabwb.records.specs import mixed
from tabwb_openai.options import OpenAIOptions, SystemRole

STOPS = 4
"""The API accepts no more stop strings; replies are cut here as well, at all of them."""
CONCESSIONS = ("stream_options", "seed", "response_format")
"""Parameters that are left out where a server refuses them; the reply's metadata says so."""


def arguments(
    model: str, request: Request, options: OpenAIOptions, not_taken: frozenset[str]
) -> dict[str, Any]:
    """Return the arguments of ``chat.completions.create`` for a request."""
    decoding = request.decoding
    asked: dict[str, Any] = {
        "model": model,
        "messages": turns(request.messages, options.system_role),
        "temperature": decoding.temperature,
        token_parameter(options, not_taken): decoding.max_tokens + options.reasoning_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if not decoding.greedy:
        asked["seed"] = mixed(decoding.seed, options.seed)
        if decoding.top_p < 1.0:
            asked["top_p"] = decoding.top_p
    if options.reasoning_effort is not None:
        asked["reasoning_effort"] = options.reasoning_effort
    if options.chat:
        asked["extra_body"] = {"chat_template_kwargs": dict(options.chat)}
    if decoding.stop:
        asked["stop"] = list(decoding.stop[:STOPS])
    if is_enforced(request):
        shape = dict(_enforcement(list(dict.fromkeys(request.options)), options))
        if extra := {**asked.get("extra_body", {}), **shape.pop("extra_body", {})}:
            asked["extra_body"] = extra
        asked |= shape
    elif request.json_schema and options.structured in {"auto", "json-schema"}:
        asked |= _response_format(json.loads(request.json_schema), "reply")
    return {name: value for name, value in asked.items() if name not in not_taken}


def token_parameter(options: OpenAIOptions, not_taken: frozenset[str]) -> str:
    """Return the server's name of the token limit; the other name where it refused one."""
    if options.token_parameter != "auto":
        return options.token_parameter
    names = ["max_tokens", "max_completion_tokens"]
    if options.is_own:
        names.reverse()
    return names[1] if names[0] in not_taken else names[0]


def turns(messages: Sequence[Message], system_role: SystemRole) -> list[dict[str, str]]:
    r"""Return the conversation in the API's form.

    >>> turns([Message("system", "Be brief."), Message("user", "Hello")], "user")
    [{'role': 'user', 'content': 'Be brief.\n\nHello'}]
    """
    if system_role != "user":
        names = {"system": system_role}
        return [{"role": names.get(m.role, m.role), "content": m.content} for m in messages]
    system = [message.content for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    first = next((n for n, message in enumerate(rest) if message.role == "user"), -1)
    return [
        {
            "role": message.role,
            "content": "\n\n".join([*system, message.content]) if n == first else message.content,
        }
        for n, message in enumerate(rest)
    ]


def _enforcement(choices: list[str], options: OpenAIOptions) -> Mapping[str, Any]:
    """Return the arguments that restrict a reply to the choices."""
    match options.structured:
        case "none":
            raise ComponentError(
                "structured=none cannot answer under the protocol 'enforced'",
                allowed="structured=auto, json-schema, choice, guided-choice",
            )
        case "choice":
            return {"extra_body": {"structured_outputs": {"choice": choices}}}
        case "guided-choice":
            return {"extra_body": {"guided_choice": choices}}
        case "auto" | "json-schema":
            schema = {
                "type": "object",
                "properties": {"answer": {"type": "string", "enum": choices}},
                "required": ["answer"],
                "additionalProperties": False,
            }
            return _response_format(schema, "answer")


def _response_format(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    wrapped = {"name": name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": wrapped}}
