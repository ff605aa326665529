"""Batteries from Python."""

from __future__ import annotations

import os
from os import PathLike
from typing import TYPE_CHECKING

from tabwb.api.engine import opened_plugins

if TYPE_CHECKING:
    from tabwb.battery.model import Battery


def load_battery(name: str | PathLike[str]) -> Battery:
    """Return a battery: its subtests, items and features as frozen records.

    Args:
        name: an id (``"tab"``) or the path of a battery file.

    Raises:
        UsageError: there is none of this id.
        BatteryProblems: the file has problems; the message lists all of them.

    >>> [subtest.id for subtest in load_battery("tab").subtests][:2]
    ['connected-text', 'word-comprehension']
    """
    from tabwb.administer.session.setup import find_battery

    with opened_plugins() as plugins:
        return find_battery(plugins, named(name))


def named(name: str | PathLike[str]) -> str:
    """Return a battery's id or path as the engine reads it: a path object is never an id.

    >>> from pathlib import Path
    >>> named("tab"), named(Path("tab"))
    ('tab', './tab')
    """
    text = os.fspath(name)
    return text if isinstance(name, str) or "/" in text else f"./{text}"
