"""Specs in exports: files by their names, without the folders in which they lie.

A folder can bear a person's name or study ID (``manual:/home/ada/S-014/typed.tsv``). The store
keeps every spec as it was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tabwb.records.errors import UsageError
from tabwb.records.specs import Spec, parse_spec

OF_FILES = frozenset({"replay", "manual"})
"""Components whose NAME always is a file; of others it may be a repository (``org/model``)."""
SPEC_KEYS = frozenset({"examinee", "model", "lesion", "judges", "rater", "transcriber"})
"""Keys of a document whose values are specs."""
_PLACED = re.compile(r"(~[^/\\]*|\.{0,2}|[A-Za-z]:)[/\\]")
"""Begins a path that can only be one of this machine."""
_SEPARATORS = re.compile(r"[/\\]")


def without_folders(text: str) -> str:
    """Return a spec, or a path, with files named without their folders.

    >>> without_folders("manual:/home/ada/S-014/typed.tsv"), without_folders("replay:S-014/a.jsonl")
    ('manual:typed.tsv', 'replay:a.jsonl')
    >>> without_folders("naming-2:manual:/home/ada/S-014/typed.tsv")
    'naming-2:manual:typed.tsv'
    >>> without_folders("transformers:~/models/small@template=/home/ada/t.jinja,dtype=float32")
    'transformers:small@template=t.jinja,dtype=float32'
    >>> without_folders("openai:org/model@base_url=http://localhost:8000/v1")
    'openai:org/model@base_url=http://localhost:8000/v1'
    """
    try:
        spec = parse_spec(text)
    except UsageError:
        head, colon, rest = text.partition(":")
        if colon and head in OF_FILES:
            return f"{head}:{_last(rest)}"
        return _unplaced(text)
    name = spec.name
    if name is not None:
        # A rater of spoken answers is named after its transcriber: naming-2:manual:typed.tsv.
        inner = ":" in name and not _PLACED.match(name)
        short = without_folders if inner else _unplaced
        name = _last(name) if spec.id in OF_FILES else short(name)
    options = {key: _unplaced(value) for key, value in spec.options.items()}
    return str(Spec(spec.id, name, options))


def file_names(specs: Iterable[str]) -> dict[str, str]:
    """Return, for each spec with a folder, what an export calls it; no two are called the same.

    >>> file_names(["replay:/a/x.jsonl", "echo", "replay:/b/x.jsonl"])
    {'replay:/a/x.jsonl': 'replay:x.jsonl', 'replay:/b/x.jsonl': 'replay:x.jsonl (2)'}
    """
    short = {spec: without_folders(spec) for spec in specs}
    used = {spec for spec, name in short.items() if name == spec}
    names: dict[str, str] = {}
    for spec, without in short.items():
        if without == spec:
            continue
        name, n = without, 1
        while name in used:
            n += 1
            name = f"{without} ({n})"
        used.add(name)
        names[spec] = name
    return names


def named(text: str, names: Mapping[str, str]) -> str:
    """Return a text with every spec in it replaced by its name, the longest first."""
    for spec in sorted(names, key=len, reverse=True):
        text = text.replace(spec, names[spec])
    return text


def with_file_names(document: Any) -> Any:
    """Return a document whose specs name files without their folders; responses are unaltered."""
    return renamed(document, file_names(specs_in(document)))


def specs_in(value: Any, key: str = "") -> Iterator[str]:
    """Yield every text under a key of specs, and all facts of a model."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from specs_in(inner, key if key == "model_facts" else name)
    elif isinstance(value, list | tuple | Iterator):
        for inner in value:
            yield from specs_in(inner, key)
    elif isinstance(value, str) and (key in SPEC_KEYS or key == "model_facts"):
        yield value


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return a document, or a part of one, with specs replaced by their names."""
    return _renamed(value, names) if names else value


def _renamed(value: Any, names: Mapping[str, str], key: str = "") -> Any:
    if isinstance(value, dict):
        return {names.get(name, name): _renamed(of, names, name) for name, of in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(inner, names, key) for inner in value]
    if isinstance(value, str):
        return named(value, names) if key == "notices" else names.get(value, value)
    return value


def _unplaced(text: str) -> str:
    return _last(text) if _PLACED.match(text) else text


def _last(path: str) -> str:
    return _SEPARATORS.split(path.rstrip("/\\"))[-1] or path
