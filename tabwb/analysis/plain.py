"""Records as plain data, for the JSON documents of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from tabwb.scoring.estimate import Estimate, Interval

Json = dict[str, Any]


def plain(value: object) -> Any:
    """Return a value as what JSON can hold: None, texts, numbers, lists and objects.

    An estimate becomes its value, an interval its two ends, any other record its fields.

    >>> plain((Estimate(0.5), Interval(0.1, 0.9), {"a": ()}))
    [0.5, [0.1, 0.9], {'a': []}]
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Estimate):
        return value.value
    if isinstance(value, Interval):
        return [value.low, value.high]
    if is_dataclass(value) and not isinstance(value, type):
        return picked(value, *(field.name for field in fields(value)))
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def picked(record: object, *names: str) -> Json:
    """Return attributes of a record as plain data, by name.

    >>> picked(Estimate(None, "no item"), "value", "reason")
    {'value': None, 'reason': 'no item'}
    """
    return {name: plain(getattr(record, name)) for name in names}


def renamed(record: object, names: str) -> Json:
    """Return attributes of a record as plain data: ``name``, or ``key=name`` under another key.

    >>> renamed(Estimate(None, "no item"), "mean=value reason")
    {'mean': None, 'reason': 'no item'}
    """
    parts = (one.rpartition("=") for one in names.split())
    return {key or name: plain(getattr(record, name)) for key, _, name in parts}


def picked_or_none(record: object | None, *names: str) -> Json:
    """Return attributes of a record as plain data, each None where there is no record."""
    return dict.fromkeys(names) if record is None else picked(record, *names)
