"""The descriptor of a back end of a service. Imports nothing heavy."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any
from urllib.parse import urlsplit

from tabwb.plugin_api.descriptors import Descriptor, reply_tokens
from tabwb.records.specs import Spec
from tabwb.records.system import stays_here


def service_descriptor(
    service: str, title: str, *, model: str, options: str, thinking: str, remarks: str
) -> Descriptor:
    """Return the descriptor of a service's models.

    Args:
        service: id of the back end, and the extra of tabwb with its client.
        title: one line for people.
        model: ``MODULE:CLASS`` of the back end, which is made with a name, options and ``local``.
        options: ``MODULE:CLASS`` of its options.
        thinking: the option that holds the tokens for reasoning, which are added to the limit of a
            reply.
        remarks: what a user should know before choosing it.
    """

    def make(spec: Spec, chosen: Any) -> Any:
        return resolve_name(model)(spec.name, chosen, local=not needs_network(spec))

    return Descriptor(
        service,
        title,
        make,
        options=lambda: resolve_name(options),
        needs=(service,),
        needs_network=needs_network,
        name_help="NAME",
        name_required=True,
        remarks=remarks,
        batches=True,
        reply_tokens=lambda spec, limit: reply_tokens(spec, limit, thinking),
        protocols=("generate", "enforced"),
    )


def needs_network(spec: Spec) -> bool:
    """Return whether the server that a spec names is not this machine's own.

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
