"""The public signatures, one in a line: ``python -m tests.api.signatures`` writes the file."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import tabwb
import tabwb.plugin_api
from tabwb.plugin_api import hookspecs

FILE = Path(__file__).parent / "signatures.txt"


def lines() -> Iterator[str]:
    """Yield a line for each public name, its parameters, methods and fields."""
    for name in sorted(tabwb.__all__):
        if name != "__version__":
            yield from _lines_of(f"tabwb.{name}", getattr(tabwb, name))
    for name in sorted(tabwb.plugin_api._MODULE_OF):
        yield f"tabwb.plugin_api.{name}"
    for name, hook in inspect.getmembers(hookspecs, inspect.isfunction):
        if name.startswith("tabwb_"):
            yield f"hook {name}({', '.join(inspect.signature(hook).parameters)})"


def _lines_of(name: str, thing: object) -> Iterator[str]:
    if not inspect.isclass(thing):
        assert callable(thing)
        yield f"{name}{inspect.signature(thing)}"
        return
    if issubclass(thing, Warning):
        yield name
    elif is_dataclass(thing):
        yield f"{name}({', '.join(field.name for field in fields(thing))})"
    else:
        yield f"{name}{inspect.signature(thing)}"
    inherited = (kind for kind in thing.__mro__ if kind.__module__.startswith("tabwb.api"))
    for key in sorted({*vars(thing), *(key for kind in inherited for key in vars(kind))}):
        value = inspect.getattr_static(thing, key)
        if key.startswith("_") and key not in ("__arrow_c_stream__", "_repr_html_"):
            continue
        if isinstance(value, property):
            yield f"{name}.{key}"
        elif inspect.isfunction(value):
            yield f"{name}.{key}{inspect.signature(value)}"


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
