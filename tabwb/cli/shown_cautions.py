"""Cautions on a terminal: whole the first time in a store, afterwards as one line."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from tabwb.host.settings import config_folder
from tabwb.records.files import write_private
from tabwb.records.words import plural

FILE = "shown-cautions.json"
"""In the user's configuration folder: of each store the hashes of the sentences that were shown."""


def cautions_for(location: str, *, whole: bool) -> Callable[[Iterable[str]], str]:
    """Return a function that writes the cautions of results from the store at a location.

    ``whole``: write every sentence, as is done wherever the output is not a terminal.
    """
    return "\n".join if not sys.stdout.isatty() else lambda told: _written(told, location, whole)


def _written(cautions: Iterable[str], location: str, whole: bool) -> str:
    sentences = dict.fromkeys(cautions)
    path, store = config_folder(os.environ) / FILE, _hash(location)
    shown = _read(path)
    before = set(shown.get(store, ()))
    new = [sentence for sentence in sentences if _hash(sentence) not in before]
    if new:
        shown[store] = sorted(before.union(map(_hash, new)))
        # Where it cannot be written, the sentences are shown whole again.
        with contextlib.suppress(OSError):
            write_private(path, json.dumps(shown))
    again = len(sentences) - len(new)
    if whole or not again:
        return "\n".join(sentences)
    line = f"{plural(again, 'caution')} shown before: 'tabwb results --cautions' shows all"
    return "\n".join((*new, line))


def _read(path: Path) -> dict[str, list[str]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    whole = isinstance(found, dict) and all(isinstance(one, list) for one in found.values())
    return found if whole else {}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
