"""Offline reaches no sound server on another computer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.records.errors import NeedsNetwork
from tabwb.speech.process import environment

OFFLINE = {"TABWB_OFFLINE": "1"}


@pytest.mark.parametrize(
    "server", ["192.0.2.7", "tcp:192.0.2.7:4713", "unix:/run/p tcp:studio:4713", "{ab}studio"]
)
def test_a_server_elsewhere_is_refused_offline(server: str) -> None:
    with pytest.raises(NeedsNetwork, match="was refused: tabwb is offline"):
        environment({**OFFLINE, "PULSE_SERVER": server})
    assert environment({"PULSE_SERVER": server})["PULSE_SERVER"] == server


@pytest.mark.parametrize("server", ["unix:/run/p", "/run/p", "tcp:127.0.0.1:4713", "localhost"])
def test_a_server_here_is_used_offline(server: str) -> None:
    assert environment({**OFFLINE, "PULSE_SERVER": server})["PULSE_SERVER"] == server


def test_the_default_server_of_a_file_counts(tmp_path: Path) -> None:
    file = tmp_path / "pulse" / "client.conf"
    file.parent.mkdir()
    file.write_text("; a comment\nautospawn = no\ndefault-server = tcp:192.0.2.7\n")
    environ = {**OFFLINE, "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    with pytest.raises(NeedsNetwork) as refused:
        environment(environ)
    assert refused.value.where == str(file)
    assert environment({**environ, "PULSE_SERVER": "unix:/run/p"})
    file.write_text("; default-server = tcp:192.0.2.7\n")
    assert environment(environ)


def test_offline_the_root_window_names_no_server() -> None:
    assert "DISPLAY" not in environment({**OFFLINE, "DISPLAY": ":0", "PULSE_SERVER": "/run/p"})
    assert environment({"DISPLAY": ":0"})["DISPLAY"] == ":0"
