"""Plain data of the records as canonical JSON text, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding
from tabwb.records.states import Protocol


def to_json(value: object) -> str:
    """Canonical JSON: sorted keys, no spaces, text as it is.

    >>> to_json({"b": ["é"], "a": 1})
    '{"a":1,"b":["é"]}'
    """
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def from_json(text: str) -> Any:
    """Return the plain data of a JSON text."""
    return json.loads(text)


def strings(mapping: Mapping[str, str]) -> str:
    """Return a mapping of strings as JSON."""
    return to_json(dict(mapping)) if mapping else "{}"


def conditions_to_json(conditions: Conditions) -> str:
    """Return conditions as JSON, which :func:`conditions_from_json` reads back equal."""
    return to_json(asdict(conditions))


def conditions_from_json(text: str) -> Conditions:
    """Return conditions from JSON; fields that a later version added have their defaults.

    Before ``token_limits`` there was one rule, the smaller of both limits.
    """
    data = {"token_limits": "smaller", **from_json(text)}
    decoding = data.pop("decoding")
    return Conditions(
        **{
            **data,
            "protocol": Protocol(data["protocol"]),
            "judges": tuple(data["judges"]),
            "decoding": Decoding(**{**decoding, "stop": tuple(decoding["stop"])}),
        }
    )
