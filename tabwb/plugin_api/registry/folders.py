"""Plugin folders: packages that are imported from a folder without being installed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from typing import Any, NoReturn

from tabwb.records.errors import ComponentError

GROUP = "tabwb"
"""The entry-point group, in installed packages and in a folder's ``pyproject.toml``."""

_folders: set[Path] = set()


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One entry point that a plugin folder's ``pyproject.toml`` declares."""

    name: str
    value: str
    distribution: str
    version: str


def folder_entries(folder: Path) -> tuple[FolderEntry, ...]:
    """Return the entry points that a plugin folder declares in ``[project.entry-points.tabwb]``.

    Raises:
        ComponentError: the folder is not a plugin folder.
    """
    import tomli

    path = folder / "pyproject.toml"
    try:
        project: Any = tomli.loads(path.read_text(encoding="utf-8")).get("project", {})
    except OSError as error:
        raise ComponentError(
            f"is not a plugin folder: {error.strerror} (pyproject.toml)", where=str(folder)
        ) from error
    except (tomli.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ComponentError(f"is not TOML: {error}", where=str(path)) from error
    declared = project.get("entry-points", {}).get(GROUP, {}) if isinstance(project, dict) else {}
    if not isinstance(declared, dict) or not declared:
        raise ComponentError(
            f"declares no entry point in [project.entry-points.{GROUP}]", where=str(path)
        )
    name, version = str(project.get("name", "")), str(project.get("version", ""))
    return tuple(
        FolderEntry(key, value, name, version)
        for key, value in declared.items()
        if isinstance(value, str)
    )


def open_folder(folder: Path) -> None:
    """Make the packages of a folder importable, after everything that is installed.

    Only source files are imported and no byte code is read or written there, so that exactly the
    files run that were hashed when the folder was trusted.
    """
    resolved = folder.resolve()
    if resolved in _folders:
        return
    if not _folders:
        sys.path_hooks.insert(0, _finder)
    _folders.add(resolved)
    sys.path.append(str(resolved))
    sys.path_importer_cache.pop(str(resolved), None)


class _SourceOnly(SourceFileLoader):
    """Imports source without the byte code cache, which needs ``path_stats``."""

    def path_stats(self, path: object) -> NoReturn:
        raise OSError("byte code is not used in plugin folders")


def _finder(path: str) -> FileFinder:
    here = Path(path)
    if not any(here.is_relative_to(folder) for folder in _folders):
        raise ImportError(path)
    return FileFinder(path, (_SourceOnly, [".py"]))
