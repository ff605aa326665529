"""Registers ``bundled``, the demonstration model that comes with tabwb. Imports nothing heavy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.extend.components import Descriptor, ModelBackend
from tabwb.extend.hookspecs import Register, hookimpl
from tabwb.records.specs import Spec

if TYPE_CHECKING:
    from pydantic import BaseModel

FOLDER = Path(__file__).parent / "model"


def _options() -> type[BaseModel]:
    from tabwb_transformers.options import LocalOptions

    return LocalOptions


def _made(spec: Spec, options: Any) -> ModelBackend:
    from tabwb_transformers.backend import TransformersModel

    return TransformersModel(str(FOLDER), options, shown="bundled")


@hookimpl
def tabwb_register_models(register: Register) -> None:
    """The bundled model, by the same back end as any other."""
    register(
        Descriptor(
            "bundled",
            "A small model made for tabwb from generated text; nothing to download",
            _made,
            options=_options,
            needs=("local",),
            runs="child",
            batches=True,
            likelihood=True,
            protocols=("generate", "enforced", "likelihood"),
            remarks="a demonstration: it answers TAB's kinds of items and knows nothing else",
        )
    )
