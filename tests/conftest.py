"""What every test gets: folders of its own, no network, nothing of the person's; a battery."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tabwb.records.telemetry import switch_off

switch_off(os.environ)  # before a test imports onnxruntime itself
# A shell starts what runs in its background with SIGINT ignored, and children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("tabwb", deadline=None, max_examples=50)
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
    if keys := sys.modules.get("tabwb.plugin_api.remote.keys"):
        monkeypatch.setattr(keys, "_seen", set())
    monkeypatch.setenv("TABWB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    yield


@pytest.fixture
def battery_file(tmp_path: Path) -> Path:
    """A battery of three items: two choices and one sentence to say."""
    folder = tmp_path / "small"
    folder.mkdir()
    path = folder / "battery.toml"
    path.write_text(BATTERY, encoding="utf-8")
    return path
