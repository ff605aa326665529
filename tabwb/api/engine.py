"""Plugins, store and configuration for one call of the Python interface."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.api.functions import Answering, plugin_of
from tabwb.records.errors import TabwbWarning, UsageError

if TYPE_CHECKING:
    from tabwb.plugin_api.config.settings import Configuration
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.store.store import Store

Place = str | PathLike[str] | None
"""A store: path of an SQLite file, URL of a PostgreSQL database, or None for the configured one."""


_HERE = str(Path(__file__).parents[1]) + os.sep


def warn(*messages: str) -> None:
    """Issue each message that is not empty as a :class:`TabwbWarning` of the user's code."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(_HERE)
        or frame.f_globals.get("__name__") == "contextlib"
    ):
        level, frame = level + 1, frame.f_back
    for message in filter(None, messages):
        warnings.warn(message, TabwbWarning, stacklevel=level)


def configuration(*, offline: bool | None = None) -> Configuration:
    """Return the user's settings, as the command line reads them."""
    from tabwb.plugin_api.config.settings import Configuration
    from tabwb.plugin_api.remote.offline import go_offline
    from tabwb.records.files import FOLDER, sweep

    loaded = Configuration.load()
    if offline is not None:
        loaded = replace(loaded, offline=offline)
    if loaded.offline:
        go_offline()  # for the whole process, and not to be taken back
    sweep(loaded.data_dir / FOLDER)
    named = [key for key in loaded.ignored if key != "store"]  # the store has its own error
    if named:
        warn(
            f"ignored, because this folder is not trusted: {', '.join(named)} "
            f"({loaded.untrusted}/tabwb.toml; read it, then run: tabwb trust {loaded.untrusted})"
        )
    return loaded


@contextmanager
def opened_plugins(
    *, offline: bool | None = None, function: Answering | None = None, workers: int = 1
) -> Iterator[Plugins]:
    """Yield the plugins with the user's settings."""
    from tabwb.plugin_api.registry.plugins import Plugins

    settings = configuration(offline=offline)
    with closing(Plugins.load(settings, modules=plugin_of(function, workers))) as plugins:
        yield plugins


def open_store(place: Place, settings: Configuration, *, create: bool = False) -> Store:
    """Return the store of a place.

    Raises:
        StoreError: there is none, or it cannot be opened.
        UsageError: ``place`` is of another type.
    """
    from tabwb.store.store import Store

    if place is not None and not isinstance(place, str | PathLike):
        raise UsageError(
            f"{place!r:.60} is not a store",
            where="store",
            allowed="a path, the URL of a PostgreSQL database, or None for the configured store",
        )
    named = None if place is None else str(place)
    return Store.open(settings.store_at(named), create=create)
