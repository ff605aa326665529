"""Microphones that are there, and machines on which sound does not work."""

from __future__ import annotations

import sys
from ctypes.util import find_library
from pathlib import Path

import pytest

from tabwb.records.errors import ComponentError, MissingExtra, NeedsNetwork, UsageError
from tabwb.speech.files import read_clip
from tabwb.speech.process import Device, choose, environment, inputs, outputs, pick
from tabwb.speech.recorder import Recorder
from tests.speech.virtual_microphone import RATE, VirtualMicrophone

DEVICES = (
    Device(0, "Built-in Microphone", "Core Audio", 1, 48_000, False),
    Device(3, "USB Headset", "Core Audio", 1, 44_100, True),
    Device(4, "USB Interface", "Core Audio", 2, 96_000, False),
    Device(5, "Built-in Microphone", "JACK", 1, 48_000, False),
)


def chosen(wanted: str | int | None) -> int:
    return choose(DEVICES, wanted, "microphone").index


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (None, 3),
        (4, 4),
        ("4", 4),
        ("usb headset", 3),
        ("interface", 4),
        ("Built-in Microphone, JACK", 5),
    ],
)
def test_a_microphone_is_chosen_by_name_part_or_number(
    wanted: str | int | None, index: int
) -> None:
    assert chosen(wanted) == index


def test_a_name_of_two_or_of_none_is_refused() -> None:
    with pytest.raises(UsageError, match="several microphones") as caught:
        chosen("Built-in Microphone")
    assert "0 Built-in Microphone, Core Audio" in str(caught.value)
    assert "5 Built-in Microphone, JACK" in str(caught.value)
    with pytest.raises(UsageError, match="did you mean 'USB Headset'"):
        chosen("USB Hedset")
    # Without a default the first is taken.
    assert choose(DEVICES[2:], None, "microphone").index == 4


def test_what_the_system_has_is_listed(microphone: VirtualMicrophone) -> None:
    found = inputs()
    assert [(d.name, d.host, d.rate, d.default) for d in found] == [
        ("pulse", "ALSA", RATE, False),
        ("default", "ALSA", RATE, True),
    ]
    assert [d.name for d in outputs()] == ["pulse", "default"]
    assert pick(None).name == "default"


def test_a_device_that_comes_later_is_seen(
    microphone: VirtualMicrophone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(inputs()) == 2
    path = tmp_path / "asound.conf"
    old = Path(microphone.environment["ALSA_CONFIG_PATH"]).read_text()
    path.write_text(old + old.replace("pcm.pulse", "pcm.headset").replace("pcm.!default", "pcm.x"))
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(path))
    assert "headset" in [d.name for d in inputs()]


def without_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configuration: str) -> None:
    path = tmp_path / "none.conf"
    path.write_text(configuration)
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(path))


NOTHING = "pcm.gone { type no_such_plugin }\n"
alsa = pytest.mark.skipif(
    sys.platform != "linux" or find_library("portaudio") is None,
    reason="needs ALSA and libportaudio2 (make system)",
)


@alsa
def test_where_there_is_no_microphone_this_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_devices(tmp_path, monkeypatch, NOTHING)
    assert inputs() == ()
    with pytest.raises(ComponentError, match="no microphone was found"):
        pick(None)
    with pytest.raises(ComponentError, match="no microphone was found"):
        Recorder(None, tmp_path / "take.wav").start()
    assert not (tmp_path / "take.wav").exists()


@alsa
@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ("pcm.broken {", "the audio system failed"),  # a PortAudioError
        ("", r"PortAudio broke down \(SIGABRT\)"),  # it ends the process it lives in
    ],
)
def test_a_broken_audio_configuration_is_an_error_with_advice(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    configuration: str,
    said: str,
) -> None:
    without_devices(tmp_path, monkeypatch, configuration)
    with pytest.raises(ComponentError, match=said) as caught:
        inputs()
    assert "sound server" in str(caught.value)
    assert tuple(capfd.readouterr()) == ("", "")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere sounddevice brings it along")
def test_without_the_portaudio_library_it_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # sounddevice asks the system for the library; here the system knows of none.
    (tmp_path / "sitecustomize.py").write_text(
        "import ctypes.util\nctypes.util.find_library = lambda name: None\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ComponentError, match="PortAudio, which records and plays") as caught:
        inputs()
    assert "apt-get install libportaudio2" in str(caught.value)


def test_without_the_extra_it_is_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    monkeypatch.setitem(sys.modules, "soundfile", None)
    for act in (inputs, lambda: read_clip(tmp_path / "a.wav")):
        with pytest.raises(MissingExtra) as caught:
            act()
        assert 'pip install "tabwb[audio]"' in str(caught.value)


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
