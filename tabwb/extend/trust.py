"""Which plugin folders the user trusts: by the hash of their content, not by their place.

A battery or project downloaded from somewhere may name plugin folders in its ``tabwb.toml``. They
are not loaded until ``tabwb plugins trust PATH``, and not any more once their content has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from tabwb.extend.configuration import Configuration
from tabwb.records.errors import ComponentError, UsageError

IGNORED = frozenset(
    {"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
)
"""Folders whose content is never imported from a plugin folder and changes by use."""

Standing = Literal["trusted", "changed", "unknown"]


def folder_hash(folder: Path) -> str:
    """SHA-256 (hex) over the names and contents of all files of a plugin folder.

    Raises:
        ComponentError: the folder cannot be read, or holds a link, whose target could change
            without the folder changing.
    """
    digest = hashlib.sha256()
    try:
        for path in _files(folder):
            name = path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape")
            content = hashlib.sha256(path.read_bytes()).digest()
            digest.update(len(name).to_bytes(4, "big") + name + content)
    except OSError as error:
        raise ComponentError(
            f"cannot be read: {error.strerror}", where=str(error.filename or folder)
        ) from error
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            raise ComponentError("is a link; a plugin folder must hold its files", where=str(path))
        if path.is_dir():
            if path.name not in IGNORED:
                yield from _files(path)
        elif path.is_file():
            yield path


def trusted(configuration: Configuration) -> Mapping[Path, str]:
    """The trusted folders with the hash that each had when it was trusted.

    Raises:
        UsageError: the file that keeps them is damaged.
    """
    path = configuration.trust_file
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {Path(folder): str(digest) for folder, digest in content["folders"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"cannot be read: {error}",
            where=str(path),
            hint="delete it and trust your plugin folders again",
        ) from error


def standing(folder: Path, trusted_folders: Mapping[Path, str]) -> Standing:
    """Whether a folder is trusted as it is now."""
    kept = trusted_folders.get(folder.resolve())
    if kept is None:
        return "unknown"
    return "trusted" if folder_hash(folder.resolve()) == kept else "changed"


def trust(folder: Path, configuration: Configuration) -> str:
    """Trust a folder as it is now; returns its hash.

    Raises:
        ComponentError: it cannot be read.
    """
    resolved = folder.resolve()
    digest = folder_hash(resolved)
    folders = {str(path): kept for path, kept in trusted(configuration).items()}
    folders[str(resolved)] = digest
    path = configuration.trust_file
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps({"folders": folders}, indent=2) + "\n", encoding="utf-8")
    draft.replace(path)
    return digest
