"""Registers ``gemini:NAME``. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tabwb.plugin_api import Descriptor, ModelBackend, Register, Spec, hookimpl, stays_here

if TYPE_CHECKING:
    from pydantic import BaseModel


def needs_network(spec: Spec) -> bool:
    """Whether the service that a spec names is not this machine's own.

    >>> from tabwb.records.specs import parse_spec
    >>> needs_network(parse_spec("gemini:gemini-2.5-flash"))
    True
    >>> needs_network(parse_spec("gemini:gemini-2.5-flash@base_url=http://127.0.0.1:8000"))
    False
    """
    try:
        host = urlsplit(spec.options.get("base_url", "")).hostname
    except ValueError:
        return True
    return not host or not stays_here(host)


def _options() -> type[BaseModel]:
    from tabwb_gemini.options import GeminiOptions

    return GeminiOptions


def reply_tokens(spec: Spec, limit: int) -> int:
    """Return the most tokens of a reply: what is given for reasoning is added to its limit.

    >>> from tabwb.records.specs import parse_spec
    >>> [reply_tokens(parse_spec("gemini:m" + told), 64) for told in ("", "@thinking_budget=512")]
    [64, 576]
    """
    try:
        return limit + max(int(spec.options.get("thinking_budget", 0)), 0)
    except ValueError:
        return limit  # the options are checked when the model is made


def _made(spec: Spec, options: Any) -> ModelBackend:
    from tabwb_gemini.backend import GeminiModel

    assert spec.name is not None
    return GeminiModel(spec.name, options, local=not needs_network(spec))


@hookimpl
def tabwb_register_models(register: Register) -> None:
    """Gemini models by Google's API."""
    register(
        Descriptor(
            "gemini",
            "A Gemini model by Google's API, for example gemini-2.5-flash",
            _made,
            options=_options,
            needs=("gemini",),
            needs_network=needs_network,
            name_help="NAME",
            name_required=True,
            remarks="the key stands in GEMINI_API_KEY or GOOGLE_API_KEY, or in the keyring: "
            "tabwb key set gemini",
            batches=True,
            reply_tokens=reply_tokens,
            protocols=("generate", "enforced"),
        )
    )
