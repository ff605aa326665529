"""Registers the commands of the PSST challenge; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from tabwb.plugin_api import Operation, OperationSource, RegisterOperation, hookimpl

GROUP = """Work with the corpus of the PSST challenge: its tables, its systems, its splits.

The challenge is described by Gale et al. (2022).
"""
OPERATIONS: tuple[tuple[str, str, str, str], ...] = ()
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
        register(OperationSource(id_, help_, _loaded(module, name), group=GROUP))
