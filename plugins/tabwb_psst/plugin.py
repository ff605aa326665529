"""Registers the commands of the PSST challenge; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tabwb.plugin_api import (
    Descriptor,
    Operation,
    OperationSource,
    Register,
    RegisterOperation,
    Spec,
    hookimpl,
)

GROUP = "Work with the corpus of the PSST challenge (Gale et al. 2022): tables, systems, splits."
OPERATIONS: tuple[tuple[str, str, str, str], ...] = (
    ("psst table", "Make tables 1, 2, 3 or 7 of the paper.", "tables", "PaperTable"),
    ("psst split", "Assign speakers to train, valid and test.", "split", "SplitSpeakers"),
    ("psst made", "Write a made corpus, to try commands with.", "made", "MakeCorpus"),
    ("psst tran", "Tell right from wrong responses by sound.", "tran", "ClassifyResponses"),
    ("psst train", "Train a transcriber by a recipe.", "train.operation", "Train"),
)
"""Id, help, module, class."""


def _loaded(module: str, name: str) -> Callable[[], type[Operation]]:
    def load() -> type[Operation]:
        found: type[Operation] = getattr(import_module(f"tabwb_psst.{module}"), name)
        return found

    return load


@hookimpl
def tabwb_register_operations(register: RegisterOperation) -> None:
    """Register every command."""
    for id_, help_, module, name in OPERATIONS:
        title = f"PSST: {id_.partition(' ')[2]}"
        register(OperationSource(id_, help_, _loaded(module, name), title, GROUP))


def _importer(spec: Spec, options: Any) -> object:
    from tabwb_psst.importing import PsstImporter

    return PsstImporter()


@hookimpl
def tabwb_register_importers(register: Register) -> None:
    """Register the corpus."""
    register(
        Descriptor(
            "psst", "the PSST corpus: recordings with transcripts, in its public layout", _importer
        )
    )


def _exporter(spec: Spec, options: Any) -> object:
    from tabwb_psst.exporting import PsstExporter

    return PsstExporter()


@hookimpl
def tabwb_register_exporters(register: Register) -> None:
    """Register the corpus' layout."""
    register(
        Descriptor("psst", "The PSST corpus' layout: splits with tables and sounds", _exporter)
    )
