"""Options of model back ends that concern the reasoning of models and their chat templates."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BeforeValidator, Field

Keyword = str | int | float | bool | None


def _keyword(value: object) -> object:
    """Return a keyword as the template gets it: a number, true, false, null, or text.

    >>> [_keyword(text) for text in ("false", "True", "1024", "low")]
    [False, True, 1024, 'low']
    """
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value.lower() if value in ("True", "False", "None") else value)
    except (ValueError, RecursionError):
        return value
    return read if isinstance(read, Keyword) else value


def _keywords(value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError("chat.NAME=VALUE, for example chat.enable_thinking=false")
    return {name: _keyword(given) for name, given in value.items()}


ChatKeywords = Annotated[
    dict[str, Keyword],
    BeforeValidator(_keywords),
    Field(
        description="chat.NAME=VALUE: a keyword of the model's chat template, for example "
        "chat.enable_thinking=false; a number, true, false, or text"
    ),
]
"""The field ``chat`` of options: ``chat.NAME=VALUE`` for each keyword."""
ReasoningTokens = Annotated[
    int,
    Field(
        ge=0,
        le=1_000_000,
        description="token limit of reasoning, apart from that of the response, up to 1000000; "
        "0: both share the limit of the response",
    ),
]
