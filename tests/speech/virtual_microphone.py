"""A microphone that tests can speak into."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from ctypes.util import find_library
from dataclasses import dataclass, field
from pathlib import Path

import pytest

TOOLS = ("pulseaudio", "pactl", "paplay", "parec")
PLUGIN = "libasound_module_pcm_pulse.so"
RATE = 44_100
"""Of the virtual microphone; the server converts what is played into it."""
ALSA = """
pcm.pulse { type pulse server "%(server)s" hint { show on description "Virtual microphone" } }
ctl.pulse { type pulse server "%(server)s" }
pcm.!default { type pulse server "%(server)s" hint { show on description "The default" } }
"""
_numbers = itertools.count(1)


@dataclass
class SoundServer:
    """A PulseAudio daemon of one test process."""

    folder: Path
    daemon: subprocess.Popen[bytes]
    environment: dict[str, str] = field(default_factory=dict)

    def pactl(self, *words: str) -> str:
        """Run pactl against this server."""
        done = subprocess.run(
            ["pactl", *words], env=self.environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, f"pactl {' '.join(words)}: {done.stderr}"
        return done.stdout.strip()


@dataclass
class VirtualMicrophone:
    """A null sink whose monitor is the default source."""

    server: SoundServer
    name: str
    modules: list[str] = field(default_factory=list)
    clients: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """For a program that is to use this microphone; the test's own process has it already."""
        return self.server.environment

    def speak(self, path: Path) -> subprocess.Popen[bytes]:
        """Play a sound file (WAV, FLAC) into the microphone, without waiting for its end."""
        playing = subprocess.Popen(
            ["paplay", f"--device={self.name}", str(path)], env=self.environment
        )
        self.clients.append(playing)
        return playing

    def add(self, name: str, *, awake: bool = True) -> str:
        """Add a further null sink; its module's number."""
        module = self.server.pactl(
            "load-module",
            "module-null-sink",
            f"sink_name={name}",
            f"rate={RATE}",
            f"sink_properties=device.description={name}",
        )
        self.modules.append(module)
        if awake:
            # An idle sink's monitor gives its first sound late: somebody always listens.
            self.clients.append(
                subprocess.Popen(
                    ["parec", f"--device={name}.monitor", "--latency-msec=50"],
                    env=self.environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        return module

    def unplug(self, module: str | None = None) -> None:
        """Take the microphone (or another module) away, as if its cable were pulled."""
        module = module or self.modules[0]
        self.modules.remove(module)
        self.server.pactl("unload-module", module)

    def close(self) -> None:
        """Take away all that was added."""
        for client in self.clients:
            client.kill()
            client.wait()
        for module in reversed(self.modules):
            self.server.pactl("unload-module", module)


@pytest.fixture(scope="session")
def sound_server() -> Iterator[SoundServer]:
    """A PulseAudio daemon for this process of pytest; skips where it cannot be had."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed (make system)")
    if find_library("portaudio") is None:
        pytest.skip("libportaudio2 is not installed (make system)")
    if not any(Path("/usr").glob(f"lib*/**/alsa-lib/{PLUGIN}")):
        pytest.skip("libasound2-plugins is not installed (make system)")
    folder = Path(tempfile.mkdtemp(prefix="tabwb-sound-"))  # a socket's path has to be short
    socket = folder / "socket"
    address = f"unix:{socket}"
    (folder / "asound.conf").write_text(ALSA % {"server": address}, encoding="utf-8")
    (folder / "client.conf").write_text("autospawn = no\nenable-shm = no\n", encoding="utf-8")
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PULSE_", "ALSA_"))},
        "PULSE_SERVER": address,
        "PULSE_CLIENTCONFIG": str(folder / "client.conf"),
        "PULSE_COOKIE": str(folder / "cookie"),
        "PULSE_RUNTIME_PATH": str(folder / "run"),
        "PULSE_STATE_PATH": str(folder / "state"),
        "ALSA_CONFIG_PATH": str(folder / "asound.conf"),
    }
    with (folder / "log").open("wb") as log:
        daemon = subprocess.Popen(
            [
                *("pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--disable-shm=yes"),
                *("--exit-idle-time=-1", "--realtime=no", "--high-priority=no"),
                *("-L", f"module-native-protocol-unix auth-anonymous=1 socket={socket}"),
            ],
            env={**environment, "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    server = SoundServer(folder, daemon, environment)
    try:
        _wait_for(server)
        yield server
    finally:
        daemon.terminate()
        daemon.wait(10)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def microphone(
    sound_server: SoundServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[VirtualMicrophone]:
    """A fresh virtual microphone, the default one of this test and of what it starts."""
    for name in ("PULSE_SERVER", "PULSE_CLIENTCONFIG", "PULSE_COOKIE", "ALSA_CONFIG_PATH"):
        monkeypatch.setenv(name, sound_server.environment[name])
    virtual = VirtualMicrophone(sound_server, f"mic{next(_numbers)}")
    try:
        virtual.add(virtual.name)
        sound_server.pactl("set-default-source", f"{virtual.name}.monitor")
        sound_server.pactl("set-default-sink", virtual.name)
        yield virtual
    finally:
        virtual.close()


def _wait_for(server: SoundServer) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.daemon.poll() is None:
        asked = subprocess.run(["pactl", "info"], env=server.environment, capture_output=True)
        if asked.returncode == 0:
            return
        time.sleep(0.05)
    pytest.fail(f"pulseaudio did not start: {(server.folder / 'log').read_text()[-600:]}")
