"""What every test gets: its own folders, no network, nothing of the person's; a battery."""

from __future__ import annotations

import gc
import ipaddress
import os
import re
import signal
import socket
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from tabwb.records.system import switch_telemetry_off

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins
    from tabwb.store.store import Store

switch_telemetry_off(os.environ)  # before a test imports onnxruntime itself
# Before numpy and torch are imported: several workers share the cores, and threads that wait for
# each other there take many times the processor time of one. Child processes inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A shell starts what runs in its background with SIGINT ignored, and children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("tabwb", deadline=None, max_examples=25)
settings.register_profile("torture", deadline=None, max_examples=500)  # make torture
settings.register_profile("fast", deadline=None, max_examples=15)  # make test-fast
settings.load_profile("tabwb")

BATTERY = """
[battery]
id = "small"
title = "A small battery"
version = "1"
language = "en"
license = "MIT"
examinees = ["model", "speaker"]

[[subtest]]
id = "words"
title = "Words"
response = "choice"
template = "{prompt} ({options})"
scorers = ["choice"]
item = [
  { id = "w1", prompt = "Which one barks?", options = ["dog", "tree", "cup"], expected = "dog", foils = { cup = "semantic" } },
  { id = "w2", prompt = "Which one swims?", options = ["fish", "wall", "key"], expected = "fish" },
]

[[subtest]]
id = "saying"
title = "Saying"
response = "verbatim"
administrator = { text = "Say it slowly.", source = "ours" }
template = "{prompt}"
scorers = ["repetition"]
item = [{ id = "s1", prompt = "house.", expected = "house." }]
"""  # noqa: E501 - inline tables stand in one line

HERE = Path(__file__).parent
TORCH = {
    "cli/test_transcribe.py",
    "plugins/test_hostile_folders.py",
    "plugins/test_judges_likelihood.py",
    "plugins/test_models_openai_runs.py",
    "plugins/test_models_transformers.py",
    "plugins/test_transformers_batches.py",
    "plugins/test_transformers_child.py",
    "plugins/test_transformers_protocols.py",
    "plugins/test_wav2vec2_models.py",
    "plugins/test_words_model.py",
    "training/test_bundled_corpus.py",
    "training/test_words.py",
}
"""Files whose tests use torch; single tests elsewhere are marked where they stand."""
PACKAGING = {
    "cli/test_doctor.py",
    "cli/test_without_posix.py",
    "plugin_api/test_scaffold.py",
    "test_distribution.py",
}
"""Installations, and processes that lack what another platform lacks."""
CRASH = {
    "administer/rating/test_raters_at_once.py",
    "administer/rating/test_killed.py",
    "administer/test_kill.py",
    "cli/test_killed_voices.py",
    "store/test_interrupted.py",
}
TERMINAL = {
    "cli/test_hanging_plugins.py",
    "cli/test_streams.py",
    "serve/test_chromium.py",
    "serve/test_page.py",
    "workbench/test_terminal.py",
}
"""Terminals, what their keys send, and the streams of processes."""
FIXTURES = {
    "microphone": "audio",
    "sound_server": "audio",
    "sit": "workbench",
    "given": "workbench",
    "name_aloud": "workbench",
}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage while tests are collected, and later not among them: they all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests in no file of this folder: every object of it would be searched."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no torch where its tests are not selected."""
    unwanted = re.search(r"\bnot\b.*\btorch\b", config.option.markexpr or "")
    return True if unwanted and _place(collection_path) in TORCH else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the file they are in and by the fixtures they use."""
    files = {"torch": TORCH, "packaging": PACKAGING, "terminal": TERMINAL, "crash": CRASH}
    for item in items:
        used = FIXTURES.keys() & getattr(item, "fixturenames", ())
        place = _place(item.path)
        marks = {FIXTURES[name] for name in used} | {m for m in files if place in files[m]}
        for mark in sorted(marks):
            item.add_marker(mark)


def _place(path: Path) -> str:
    return path.relative_to(HERE).as_posix() if path.is_relative_to(HERE) else ""


_LOOPBACK = {"localhost", "localhost.localdomain", ""}


def _is_loopback(host: object) -> bool:
    if host is None or host in _LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        sock, address = arguments[0], arguments[1]
        if getattr(sock, "family", None) == getattr(socket, "AF_UNIX", object()):
            return
        host = address[0] if isinstance(address, tuple) else address
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = arguments[0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if not _is_loopback(host):
        raise AssertionError(f"a test tried to reach {host!r}: tests use no network")


# Audit hooks can't be taken away again, which is what is wanted here.
sys.addaudithook(_refuse_network)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Data and configuration folders of this test alone, also in its subprocesses."""
    for name in [name for name in os.environ if name.startswith("TABWB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TABWB_DATA_DIR", str(tmp_path / "tabwb-data"))
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(tmp_path / "tabwb-config"))
    # Forget the keys that an earlier test has read.
    if keys := sys.modules.get("tabwb.host.keys"):
        monkeypatch.setattr(keys, "_seen", set())
    # Forget the task types of plugins that an earlier test has loaded.
    if tasks := sys.modules.get("tabwb.battery.task_type"):
        monkeypatch.setattr(tasks, "_plugins", [*tasks._plugins])
    monkeypatch.setenv("TABWB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    yield


@pytest.fixture
def plugins() -> Iterator[Plugins]:
    """The plugins that are installed here."""
    from tabwb.host.plugins import Plugins

    loaded = Plugins.load()
    yield loaded
    loaded.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A new store in a file."""
    from tabwb.store.store import Store

    with Store.open(tmp_path / "store.db") as opened:
        yield opened


@pytest.fixture
def battery_file(tmp_path: Path) -> Path:
    """A battery of three items: two choices and one sentence to say."""
    folder = tmp_path / "small"
    folder.mkdir()
    path = folder / "battery.toml"
    path.write_text(BATTERY, encoding="utf-8")
    return path


@pytest.fixture
def lesionable(tmp_path: Path, own_folders: None) -> None:
    """Models that can be lesioned and have no weights: ``lesionable`` and ``lesionable-child``."""
    folder = tmp_path / "tabwb-config"
    folder.mkdir(exist_ok=True)
    plugin = HERE / "data" / "lesionable"
    (folder / "tabwb.toml").write_text(f"plugin_folders = ['{plugin}']\n", encoding="utf-8")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open models and transcribers in this process, where torch is loaded once for all tests."""
    from tabwb.host.plugins import Plugins

    def opened(self: Plugins, kind: Any, spec: str) -> Any:
        return self._make(*self._resolve(kind, spec))

    monkeypatch.setattr(Plugins, "_open", opened)
