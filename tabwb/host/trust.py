"""The plugin folders and ``tabwb.toml`` files that the user trusts, by the hash of their content.

Until ``tabwb trust FOLDER`` a file can only restrict the program, and its plugin folders are not
loaded without it or ``tabwb plugins trust PATH``. What changes is no longer trusted.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.files import others_can_write, write_private
from tabwb.records.ratings import PluginVersion
from tabwb.records.system import NAME

IGNORED = frozenset(
    {"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
)
"""Folders that are never imported from a plugin folder and change by use."""


def folder_hash(folder: Path) -> str:
    """Return the SHA-256 (hex) over the names and contents of all files of a plugin folder.

    A file is a plugin of its own.

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
    if folder.is_file():
        yield folder
        return
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            raise ComponentError("is a link; a plugin folder must hold its files", where=str(path))
        if path.is_dir():
            if path.name not in IGNORED:
                yield from _files(path)
        elif path.is_file():
            yield path


class TrustList:
    """The file with the hashes of trusted folders and files; it need not exist."""

    def __init__(self, config_dir: Path) -> None:
        self.path = config_dir / "trusted-plugins.json"

    def add_file(self, path: Path, digest: str) -> None:
        """Trust a ``tabwb.toml`` as long as its bytes have this digest."""
        # A link elsewhere to a trusted file is not trusted: its relative paths mean other places.
        self._add("files", path.parent.resolve() / path.name, digest)

    def add_folder(self, folder: Path) -> str:
        """Trust a plugin folder as it is now; return its hash (:func:`folder_hash`)."""
        resolved = folder.resolve()
        digest = folder_hash(resolved)
        self._add("folders", resolved, digest)
        return digest

    def remove_folder(self, folder: Path) -> None:
        """Remove a plugin folder, which need not exist any more, from the list.

        Raises:
            UsageError: it is not in the list.
        """
        content = self.read()
        if content["folders"].pop(folder.resolve(), None) is None:
            raise UsageError(
                "is not a trusted plugin folder",
                where=str(folder.resolve()),
                allowed=", ".join(map(str, content["folders"])) or "none is trusted",
            )
        self._write(content)

    def _add(self, kind: str, path: Path, digest: str) -> None:
        content = self.read()
        content[kind][path] = digest
        self._write(content)

    def _write(self, content: dict[str, dict[Path, str]]) -> None:
        plain = {
            kind: {str(place): digest for place, digest in hashes.items()}
            for kind, hashes in content.items()
        }
        write_private(self.path, json.dumps(plain, indent=2) + "\n")

    def read(self) -> dict[str, dict[Path, str]]:
        """Return the trusted plugin ``folders`` and ``tabwb.toml`` ``files`` with their hashes.

        Raises:
            UsageError: the list is damaged, or others can write to it.
        """
        try:
            if others_can_write(self.path):
                raise UsageError(
                    "other users of this computer can write to it, so it is not used",
                    where=str(self.path),
                    hint=f"check the folders that it lists, then run: chmod 600 {self.path}",
                )
            content = json.loads(self.path.read_text(encoding="utf-8"))
            return {
                kind: {Path(place): str(digest) for place, digest in content.get(kind, {}).items()}
                for kind in ("folders", "files")
            }
        except FileNotFoundError:
            return {"folders": {}, "files": {}}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"cannot be read: {error}",
                where=str(self.path),
                hint="delete it and trust your plugin folders again",
            ) from error


LARGEST = 8_000_000
"""Of a larger file (a model) the hash has name and size only."""
RULES = "scoring"
"""The package of tabwb with the rules that its own plugins apply."""


def identity_of(plugin: object, distribution: str, version: str) -> PluginVersion:
    """Return package, version and hash of a plugin.

    The hash is over the places and contents of all files of its import package, so that a change
    without a new version is seen; of a plugin of tabwb over the modules with scoring rules too.

    Args:
        plugin: the module or object of its entry point.
        distribution: the package that is installed; empty: the import package's name is taken.
        version: of the distribution.
    """
    name = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__
    root = _root(name)
    files = [] if root is None else [(path, root) for path in _package_files(root)]
    if distribution == NAME and (rules := _root(f"{NAME}.{RULES}")) is not None:
        files += [(path, rules) for path in sorted(rules.rglob("*.py"))]
    if not files:
        return PluginVersion(distribution or name.partition(".")[0], version)
    digest = hashlib.sha256()
    for path, inside in files:
        content = path.read_bytes() if path.stat().st_size <= LARGEST else b""
        place = path.relative_to(inside.parent).as_posix()
        parts = place.encode(), str(path.stat().st_size).encode(), content
        digest.update(b"".join(hashlib.sha256(part).digest() for part in parts))
    return PluginVersion(distribution or name.partition(".")[0], version, digest.hexdigest())


def _root(name: str) -> Path | None:
    """Return the folder of the import package that a module is in, or the module's own file."""
    parts = name.split(".")
    first = 2 if parts[0] == NAME else 1
    for end in range(first, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:end]))
        file = getattr(module, "__file__", None)
        if file is not None:  # a namespace package has none
            path = Path(file)
            return path.parent if path.name == "__init__.py" else path
    return None


def _package_files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for path in sorted(root.iterdir()):
        if path.is_dir() and path.name not in IGNORED:
            yield from _package_files(path)
        elif path.is_file() and path.suffix != ".pyc":
            yield path
