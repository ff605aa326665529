"""Which plugin made a rater: its package, version, and a hash over its files."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from tabwb.plugin_api.config.trust import IGNORED
from tabwb.records.ratings import PluginVersion
from tabwb.records.system import NAME

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
    files = [] if root is None else [(path, root) for path in _files(root)]
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


def _files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for path in sorted(root.iterdir()):
        if path.is_dir() and path.name not in IGNORED:
            yield from _files(path)
        elif path.is_file() and path.suffix != ".pyc":
            yield path
