"""ONNX Runtime without its telemetry, which official builds since 1.29 send over HTTPS.

Standard library only. Source: ``Privacy.md`` in the package onnxruntime 1.31.1.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import MutableMapping
from types import ModuleType

SWITCHES = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
"""Environment variables that stop all of it where they are set before onnxruntime is imported: no
uploader, no events, no identifier in ``$TMPDIR/.ses``. Builds differ in the name."""


def switch_off(environ: MutableMapping[str, str]) -> None:
    """Set the variables that keep ONNX Runtime's telemetry off.

    >>> variables = {"ORT_DISABLE_TELEMETRY": "0"}
    >>> switch_off(variables)
    >>> variables["ORT_DISABLE_TELEMETRY"]
    '1'
    """
    environ.update(dict.fromkeys(SWITCHES, "1"))


def import_onnxruntime(module: str = "onnxruntime") -> ModuleType:
    """Import ONNX Runtime, or a module of it, with its telemetry off.

    Args:
        module: ``onnxruntime`` or a module in it.

    Raises:
        ImportError: it is not installed.
    """
    switch_off(os.environ)
    imported = importlib.import_module(module)
    # Windows builds look at this switch only.
    disable = getattr(importlib.import_module("onnxruntime"), "disable_telemetry_events", None)
    if disable is not None:
        disable()
    return imported
