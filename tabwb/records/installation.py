"""How tabwb was installed; packages of extras, and the command that installs a missing one.

``pip install`` in a shell changes another environment than the one that pipx or ``uv tool`` made.
ONNX Runtime is imported without its telemetry, which official builds since 1.29 send over HTTPS
(source: ``Privacy.md`` in the package onnxruntime 1.31.1). Standard library only; what takes time
is imported when it is needed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import MutableMapping
from pathlib import Path
from types import ModuleType

from tabwb.records.errors import ComponentError, MissingExtra

NAME = "tabwb"


def extra_command(extra: str) -> str:
    """Return the command that installs an extra of tabwb into the environment it runs in."""
    requirements = requirements_of(extra) or (f"{NAME}[{extra}]",)
    injected = " ".join(f'"{requirement}"' for requirement in requirements)
    return _command(injected, f'"{NAME}[{extra}]"', extra=extra)


def package_command(package: str) -> str:
    """Return the command that installs a package into the environment that tabwb runs in."""
    return _command(package, package, package=package)


def _command(injected: str, installed: str, *, extra: str = "", package: str = "") -> str:
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():  # pipx leaves it there
        return f"pipx inject {NAME} {injected}"
    receipt = prefix / "uv-receipt.toml"
    if receipt.is_file():  # of "uv tool install"
        return _uv_tool(receipt, extra, package)
    return f"pip install {installed}"


def requirements_of(extra: str) -> tuple[str, ...]:
    """Return the requirements that an extra of the installed tabwb adds; empty where unknown."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires(NAME) or []
    except PackageNotFoundError:
        return ()
    wanted = (f'extra == "{extra}"', f"extra == '{extra}'")
    return tuple(line.partition(";")[0].strip() for line in lines if line.endswith(wanted))


def _uv_tool(receipt: Path, extra: str, package: str) -> str:
    """Return the whole command: ``uv tool install`` forgets what it is not told again."""
    import tomllib

    try:
        known = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]["requirements"]
        extras = [
            name
            for requirement in known
            if requirement["name"] == NAME
            for name in requirement.get("extras", ())
        ]
        others = [str(requirement["name"]) for requirement in known if requirement["name"] != NAME]
    except (OSError, ValueError, LookupError, TypeError):
        extras, others = [], []
    extras = sorted({*extras, *filter(None, [extra])})
    others = list(dict.fromkeys([*others, *filter(None, [package])]))
    spec = f'"{NAME}[{",".join(extras)}]"' if extras else NAME
    return " ".join(["uv tool install", spec, *(f"--with {name}" for name in others)])


SWITCHES = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
"""Environment variables that stop all of it where they are set before onnxruntime is imported: no
uploader, no events, no identifier in ``$TMPDIR/.ses``. Builds differ in the name."""


def switch_telemetry_off(environ: MutableMapping[str, str]) -> None:
    """Set the variables that keep ONNX Runtime's telemetry off.

    >>> variables = {"ORT_DISABLE_TELEMETRY": "0"}
    >>> switch_telemetry_off(variables)
    >>> variables["ORT_DISABLE_TELEMETRY"]
    '1'
    """
    environ.update(dict.fromkeys(SWITCHES, "1"))


def import_onnxruntime(module: str = "onnxruntime") -> ModuleType:
    """Import ONNX Runtime, or a module in it, with its telemetry off."""
    switch_telemetry_off(os.environ)
    imported = importlib.import_module(module)
    # Windows builds look at this switch only.
    disable = getattr(importlib.import_module("onnxruntime"), "disable_telemetry_events", None)
    if disable is not None:
        disable()
    return imported


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it.

    >>> is_installed("json"), is_installed("no_such_package")
    (True, False)
    """
    try:
        return importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # its package is missing; None is in its place
        return False


def need(module: str, what: str, extra: str = "audio") -> ModuleType:
    """Import a module of an extra."""
    try:
        if module == "onnxruntime":
            return import_onnxruntime()
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(what, extra, package=module) from error
    except OSError as error:
        raise ComponentError(
            f"{what} is not available here: {error}",
            where=f"package {module}",
            hint=f"install the library that is named, or {module} again with pip",
        ) from error
