"""Registers the formats of other evaluation tools, and tables of answers; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tabwb.plugin_api import Descriptor, Register, Spec, hookimpl


def _made(module: str, name: str) -> Callable[[Spec, Any], Any]:
    return lambda spec, options: getattr(import_module(f"tabwb_interchange.{module}"), name)()


@hookimpl
def tabwb_register_exporters(register: Register) -> None:
    """Register logs of inspect_ai and samples of lm-evaluation-harness."""
    register(
        Descriptor(
            "inspect",
            "inspect_ai logs: one .eval file, or a folder of them",
            _made("inspect_export", "InspectExporter"),
        )
    )
    register(
        Descriptor(
            "lm-eval",
            "lm-evaluation-harness results and samples, in a folder",
            _made("lm_eval", "LmEvalExporter"),
        )
    )


@hookimpl
def tabwb_register_importers(register: Register) -> None:
    """Register the same two, CHAT transcripts, tiers of running speech, and tables."""
    register(
        Descriptor(
            "inspect",
            "inspect_ai log (.eval, .json), or a folder of .eval logs",
            _made("inspect_log", "InspectLog"),
        )
    )
    register(
        Descriptor(
            "lm-eval",
            "lm-evaluation-harness samples (samples_TASK_DATE.jsonl, or their folder)",
            _made("lm_eval", "LmEvalSamples"),
        )
    )
    register(
        Descriptor("chat", "CHAT transcript (.cha), or a folder of them", _made("chat", "Chat"))
    )
    register(
        Descriptor(
            "tiers",
            "running speech in a tier of a TextGrid or an EAF, or of a folder of them",
            _made("chat", "Tiers"),
            needs=("annotations",),
        )
    )
    register(Descriptor("table", "CSV, TSV or JSON lines of answers", _made("table", "Table")))
