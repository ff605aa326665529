"""Packages of extras for sound: imported where they are needed, named where they are missing."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from tabwb.records.errors import ComponentError, MissingExtra
from tabwb.records.telemetry import import_onnxruntime


def is_installed(module: str) -> bool:
    """Return whether a package is there, without importing it.

    >>> is_installed("json"), is_installed("no_such_package")
    (True, False)
    """
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # somebody put None in its place
        return False


def need(module: str, what: str, extra: str = "audio") -> ModuleType:
    """Import a module of an extra.

    Args:
        module: its name, such as ``soundfile``.
        what: what it is needed for, as the subject of a sentence.
        extra: the extra that brings it.

    Raises:
        MissingExtra: it is not installed.
        ComponentError: it is, but a library beneath it is not.
    """
    try:
        if module == "onnxruntime":
            return import_onnxruntime()
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(what, extra, package=module) from error
    except OSError as error:
        raise ComponentError(
            f"{what} cannot be had here: {error}",
            where=f"package {module}",
            hint=f"install the library that is named, or {module} again with pip",
        ) from error
