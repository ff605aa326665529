"""Plain data of the records as canonical JSON text, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tabwb.records.condition_table import conditions_from
from tabwb.records.conditions import Conditions


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
    """Conditions from JSON; those that a later version declared have the value from before."""
    return conditions_from(from_json(text))
