"""Registers ``openai:NAME@base_url=...``. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tabwb.plugin_api import Descriptor, ModelBackend, Register, Spec, hookimpl, stays_here

if TYPE_CHECKING:
    from pydantic import BaseModel


def needs_network(spec: Spec) -> bool:
    """Whether the server that a spec names is not this machine's own.

    >>> from tabwb.records.specs import parse_spec
    >>> [needs_network(parse_spec(f"openai:m{options}")) for options in (
    ...     "", "@base_url=http://localhost:11434/v1", "@base_url=http://192.168.1.5/v1",
    ...     "@socket=/run/llama.sock")]
    [True, False, True, False]
    """
    if "socket" in spec.options:
        return False
    try:
        host = urlsplit(spec.options.get("base_url", "")).hostname
    except ValueError:
        return True
    return not host or not stays_here(host)


def _options() -> type[BaseModel]:
    from tabwb_openai.options import OpenAIOptions

    return OpenAIOptions


def reply_tokens(spec: Spec, limit: int) -> int:
    """Return the most tokens of a reply: what is given for reasoning is added to its limit.

    >>> from tabwb.records.specs import parse_spec
    >>> [reply_tokens(parse_spec("openai:m" + told), 64) for told in ("", "@reasoning_tokens=512")]
    [64, 576]
    """
    try:
        return limit + max(int(spec.options.get("reasoning_tokens", 0)), 0)
    except ValueError:
        return limit  # the options are checked when the model is made


def _made(spec: Spec, options: Any) -> ModelBackend:
    from tabwb_openai.backend import OpenAIModel

    assert spec.name is not None
    return OpenAIModel(spec.name, options, local=not needs_network(spec))


@hookimpl
def tabwb_register_models(register: Register) -> None:
    """Chat completions, wherever they are served."""
    register(
        Descriptor(
            "openai",
            "A model behind the chat completions of OpenAI, Ollama, llama.cpp, vLLM, LM Studio ...",
            _made,
            options=_options,
            needs=("openai",),
            needs_network=needs_network,
            name_help="NAME",
            name_required=True,
            remarks="base_url names the server, for example http://localhost:11434/v1 for Ollama; "
            "one on this machine works under --offline",
            batches=True,
            reply_tokens=reply_tokens,
            protocols=("generate", "enforced"),
        )
    )
