"""Registers the formats of phonetics and of the aphasia archives; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tabwb.plugin_api import Descriptor, Register, Spec, hookimpl


def _made(module: str, name: str) -> Callable[[Spec, Any], Any]:
    return lambda spec, options: getattr(import_module(f"tabwb_annotations.{module}"), name)()


@hookimpl
def tabwb_register_exporters(register: Register) -> None:
    """Register TextGrid, EAF, CHAT and a table of attempts."""
    register(
        Descriptor(
            "textgrid",
            "Praat TextGrids, one per recording, in a folder",
            _made("tiers", "TextGridExporter"),
            needs=("annotations",),
        )
    )
    register(
        Descriptor(
            "eaf",
            "ELAN files, one per recording, in a folder",
            _made("tiers", "EafExporter"),
            needs=("annotations",),
        )
    )
    register(
        Descriptor(
            "chat", "CHAT transcripts of spoken naming, in a folder", _made("chat", "ChatExporter")
        )
    )
    register(
        Descriptor(
            "attempts",
            "CSV, one row per spoken attempt with all of its response",
            _made("tiers", "AttemptsExporter"),
        )
    )
