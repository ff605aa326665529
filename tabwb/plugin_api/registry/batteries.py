"""The batteries that plugins register, by id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tabwb.plugin_api.descriptors import BatterySource
from tabwb.records.errors import UsageError
from tabwb.records.specs import is_kebab
from tabwb.records.words import did_you_mean


class BatteryIndex:
    """Batteries by id. Two with one id are both refused."""

    def __init__(self) -> None:
        self._sources: dict[str, list[BatterySource]] = {}

    def add(self, source: BatterySource, owner: str) -> None:
        """Register a battery.

        Args:
            source: the battery.
            owner: the plugin.

        Raises:
            TypeError: it is not a battery source.
            ValueError: its id is malformed.
        """
        if not isinstance(source, BatterySource):
            raise TypeError(f"register() takes a BatterySource, not {type(source).__name__}")
        if not is_kebab(source.id):
            raise ValueError(f"'{source.id}' is not a kebab-case id")
        self._sources.setdefault(source.id, []).append(replace(source, owner=owner))

    @property
    def sources(self) -> tuple[BatterySource, ...]:
        """The usable batteries, by id."""
        return tuple(given[0] for _, given in sorted(self._sources.items()) if len(given) == 1)

    @property
    def conflicts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The ids that are registered twice, with their owners."""
        for identifier, sources in self._sources.items():
            if len(sources) > 1:
                yield identifier, tuple(source.owner for source in sources)

    def find(self, identifier: str) -> Path:
        """Return the file of the battery with an id.

        Raises:
            UsageError: there is none, or there are two.
        """
        sources = self._sources.get(identifier, [])
        if len(sources) > 1:
            owners = " and ".join(f"'{source.owner}' ({source.path})" for source in sources)
            raise UsageError(
                f"battery '{identifier}' is registered by {owners}; neither is used",
                hint="name the file itself: a path with '/'",
            )
        if not sources:
            raise UsageError(
                f"there is no battery '{identifier}'" + did_you_mean(identifier, self._sources),
                allowed=", ".join(sorted(self._sources)) or "none is installed",
                hint="a file is named by a path with '/' or ending in .toml",
            )
        return sources[0].path


def battery_file(argument: str) -> Path:
    """Return the battery file that a path names; of a folder its ``battery.toml``.

    Raises:
        UsageError: there is no such file.
    """
    path = Path(argument)
    try:
        path = path.expanduser()
        path = path / "battery.toml" if path.is_dir() else path
        if not path.is_file():
            raise UsageError("there is no such file", where=str(path))
    except (OSError, ValueError, RuntimeError) as error:
        # A name too long, a NUL in it, a home directory that does not exist.
        raise UsageError(f"this cannot be a file: {error}", where=argument[:80]) from error
    return path
