"""A results document as indented JSON, in pieces: what ``json.dumps(document, indent=2)`` returns.

The indenting encoder of the standard library is written in Python and calls itself for each value.
Here equal lists of ratings are encoded once, and a document is never in memory as a whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from tabwb.records.once import Once
from tabwb.report.documents.trial_document import SHARED
from tabwb.report.plain import Json

STEP = "  "


class Indented:
    r"""Encodes plain data with two spaces for each level; what is not finite becomes null.

    >>> Indented().text({"a": [1, None], "b": {}, "c": float("nan")})
    '{\n  "a": [\n    1,\n    null\n  ],\n  "b": {},\n  "c": null\n}'
    """

    def __init__(self, *, ascii_only: bool = False) -> None:
        string = encode_basestring_ascii if ascii_only else encode_basestring
        self._string = string
        # What these make needs no call of Python, but for numbers with a fraction.
        self._plain: dict[type, Callable[[Any], str]] = {
            str: string,
            type(None): {None: "null"}.__getitem__,
            bool: {True: "true", False: "false"}.__getitem__,
            int: int.__repr__,
            float: lambda value: float.__repr__(value) if math.isfinite(value) else "null",
        }

    def text(self, value: Any, start: str = "\n") -> str:
        """Return a value as JSON."""
        plain, inner = self._plain, start + STEP
        made = plain.get(value.__class__)
        if made is not None:
            return made(value)
        if isinstance(value, Mapping):
            if not value:
                return "{}"
            pairs = [
                f"{self._string(key if key.__class__ is str else _key(key))}: "
                f"{made(item) if (made := plain.get(item.__class__)) else self.text(item, inner)}"
                for key, item in value.items()
            ]
            return f"{{{inner}{f',{inner}'.join(pairs)}{start}}}"
        if isinstance(value, list | tuple):
            if not value:
                return "[]"
            items = [
                made(item) if (made := plain.get(item.__class__)) else self.text(item, inner)
                for item in value
            ]
            return f"[{inner}{f',{inner}'.join(items)}{start}]"
        for kind in (str, float, int):
            if isinstance(value, kind):
                return plain[kind](value)
        raise TypeError(f"JSON has no {type(value).__name__}")

    def document(self, document: Json) -> Iterator[str]:
        """Yield a document, whose ``trials`` are an iterator, in pieces."""
        between = "{"
        for key, value in document.items():
            yield f"{between}\n{STEP}{self._string(key)}: "
            between = ","
            if key == "trials":
                yield from self._trials(value)
            else:
                yield self.text(value, "\n" + STEP)
        yield "\n}"

    def _trials(self, trials: Iterator[Json]) -> Iterator[str]:
        start = "\n" + STEP * 2
        inner = start + STEP
        shared = Once(lambda given: self.text(given, inner))
        # Keys of which trials share values; those values are made once.
        keys = Once(lambda key: (f"{self._string(key)}: ", key in SHARED))
        before = "["
        for trial in trials:
            pairs = []
            for key, value in trial.items():
                begin, is_shared = keys.of(key)
                made = self._plain.get(value.__class__)
                if made is not None:
                    text = made(value)
                else:
                    text = shared.of(value) if is_shared else self.text(value, inner)
                pairs.append(begin + text)
            yield f"{before}{start}{{{inner}{f',{inner}'.join(pairs)}{start}}}"
            before = ","
        yield "[]" if before == "[" else f"\n{STEP}]"


def _key(key: object) -> str:
    """Return a key other than text as the standard library writes it."""
    return str(json.loads(json.dumps({key: 0}).partition(":")[0][1:]))
