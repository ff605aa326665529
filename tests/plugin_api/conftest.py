"""Plugins that are installed for one test: a module and a dist-info folder on the import path."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tabwb.host.plugins import Plugins
from tests.cli.conftest import run

Install = Callable[[str, str], Path]
Load = Callable[[], Plugins]
__all__ = ["run"]

PREAMBLE = """\
import os, signal, sys, threading, time
from tabwb.plugin_api import BatterySource, Descriptor, hookimpl
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Likelihood, Reply, Wait
from tabwb.records.ratings import valued
from tabwb.records.states import StopReason
"""


def write_plugin(site: Path, name: str, source: str) -> Path:
    """Write a plugin's module and its dist-info folder into ``site``; return the module's path."""
    module = f"plugin_for_tests_{name.replace('-', '_')}"
    path = site / f"{module}.py"
    path.write_text(PREAMBLE + dedent(source), encoding="utf-8")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {name}-package\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[tabwb]\n{name} = {module}\n", encoding="utf-8")
    return path


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a plugin from its source, here and in child processes."""
    site = tmp_path / "site"
    site.mkdir()
    paths = [str(site), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.syspath_prepend(str(site))
    modules: list[str] = []

    def make(name: str, source: str) -> Path:
        path = write_plugin(site, name, source)
        modules.append(path.stem)
        return path

    yield make
    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture
def load() -> Iterator[Callable[[], Plugins]]:
    """Load plugins; they are closed at the end of the test."""
    loaded: list[Plugins] = []

    def call() -> Plugins:
        loaded.append(Plugins.load())
        return loaded[-1]

    yield call
    for plugins in loaded:
        plugins.close()
