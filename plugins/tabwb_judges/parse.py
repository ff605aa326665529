"""Reads a judge's reply: one JSON object with exactly the requested keys, each 0 or 1."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

MOST_STARTS = 200
"""A reply with so many braces that do not begin a JSON object has none."""
_FENCE = re.compile(r"```(?:json)?", re.IGNORECASE)
_MOST_NAMED = 4
_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: _Pairs(tuple(pairs)))


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a reply.

    Attributes:
        values: JSON key to 0 or 1, in the order asked for.
        extra: something other than a code fence surrounds the object.
    """

    values: dict[str, int]
    extra: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a reply cannot be read, in words that the model gets too."""

    problem: str


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A JSON object as it was written, with repeated keys."""

    pairs: tuple[tuple[str, object], ...] = field(default=())


def read_labels(text: str, keys: Sequence[str]) -> Labels | Unreadable:
    """Read the one JSON object of a reply; text around it is allowed and reported.

    Nothing is guessed: a missing, further or repeated key, and a value that is not the whole
    number 0 or 1 (``true``, ``"1"``, ``0.0``), make the reply unreadable as a whole.

    >>> read_labels('Sure: {"Anomia": 1, "Jargon": 0}', ["Anomia", "Jargon"])
    Labels(values={'Anomia': 1, 'Jargon': 0}, extra=True)
    >>> read_labels('{"Anomia": true}', ["Anomia", "Jargon"]).problem
    "the value of 'Anomia' is true, not 0 or 1; missing: 'Jargon'"
    """
    objects = _objects(text)
    if not objects:
        return Unreadable("it holds no complete JSON object")
    if len(objects) > 1:
        return Unreadable(f"it holds {len(objects)} JSON objects instead of one")
    (start, end, read), *_ = objects
    problems = list(_problems(read.pairs, keys))
    if problems:
        return Unreadable("; ".join(problems))
    values = {key: int(bool(value)) for key, value in read.pairs}
    around = _FENCE.sub("", text[:start] + text[end:])
    return Labels({key: values[key] for key in keys}, extra=bool(around.strip()))


def _objects(text: str) -> list[tuple[int, int, _Pairs]]:
    """Return every outermost JSON object with its start and end."""
    objects: list[tuple[int, int, _Pairs]] = []
    at, failed = 0, 0
    while failed < MOST_STARTS and (start := text.find("{", at)) >= 0:
        try:
            read, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            at, failed = start + 1, failed + 1
            continue
        objects.append((start, at, read))
    return objects


def _problems(pairs: Sequence[tuple[str, object]], keys: Sequence[str]) -> list[str]:
    given = [key for key, _ in pairs]
    asked, there = frozenset(keys), frozenset(given)
    twice = [key for key, count in Counter(given).items() if count > 1]
    wrong = [
        f"the value of {_quoted(key)} is {_shown(value)}, not 0 or 1"
        for key, value in pairs
        if key in asked and not (type(value) is int and value in (0, 1))
    ]
    return [
        *(f"{_quoted(key)} is given twice" for key in twice[:_MOST_NAMED]),
        *wrong[:_MOST_NAMED],
        *_named("missing", [key for key in keys if key not in there]),
        *_named("not asked for", list(dict.fromkeys(key for key in given if key not in asked))),
    ]


def _named(what: str, keys: Sequence[str]) -> list[str]:
    if not keys:
        return []
    more = f" and {len(keys) - _MOST_NAMED} more" if len(keys) > _MOST_NAMED else ""
    return [f"{what}: {', '.join(map(_quoted, keys[:_MOST_NAMED]))}{more}"]


def _quoted(key: str) -> str:
    return f"'{key[:40]}'"


def _shown(value: object) -> str:
    match value:
        case _Pairs() | list():
            return "an object" if isinstance(value, _Pairs) else "an array"
        case int() if abs(value) > 10**9:
            return "a large number"
        case _:
            return json.dumps(value)[:40]
