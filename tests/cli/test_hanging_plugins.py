"""Two ctrl+c end the program whatever a plugin does, and leave no process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plugin_api.conftest import Install, install

__all__ = ["install"]

FURTHER = [("busy in C", "child"), ("locked in a library", "child")]
if "TABWB_TORTURE_KILLS" not in os.environ:  # a child that is stopped or deaf is killed alike
    FURTHER.clear()
PLUGIN = """
import atexit, ctypes, re
from pathlib import Path

NOTES = Path({notes!r})
HOW = {how!r}

def tell():
    with NOTES.open("a") as notes:
        notes.write(f"{{os.getpid()}}\\n")

def hang():
    tell()
    if HOW == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    if HOW == "busy in C":
        re.match(r"(a+)+$", "a" * 60 + "b")
    if HOW == "deaf":
        while True:
            try:
                time.sleep(1)
            except BaseException:
                pass
    if HOW == "locked in a library":
        library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
        library.pthread_mutex_lock(mutex)
        library.pthread_mutex_lock(mutex)
    if HOW == "holds the interpreter's lock":
        library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(256)
        library.pthread_mutex_lock(mutex)
        library.pthread_mutex_lock(mutex)

if HOW == "import":
    tell()
    time.sleep(3600)

class Model:
    def open(self):
        if HOW == "opening":
            tell()
            time.sleep(3600)
        return {{}}

    def reply(self, request, cancel):
        if HOW == "thread":
            tell()
            threading.Thread(target=time.sleep, args=(3600,)).start()
        elif HOW == "atexit":
            tell()
            atexit.register(time.sleep, 3600)
        else:
            hang()
        yield Reply("dog", StopReason.END, 0.0)

    def close(self):
        pass

@hookimpl
def tabwb_register_models(register):
    register(Descriptor("hangs", "Hangs", lambda spec, options: Model(), runs={runs!r}))
"""


def pids(notes: Path) -> list[int]:
    return [int(line) for line in notes.read_text().split()] if notes.exists() else []


def is_gone(pid: int) -> bool:
    for _ in range(1200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def hanging(install: Install, tmp_path: Path) -> Callable[..., tuple[int, list[int]]]:
    """Run a battery with a model that hangs, press ctrl+c; the status and the processes."""

    def call(how: str, runs: str, presses: int = 2) -> tuple[int, list[int]]:
        notes = tmp_path / "notes"
        install("hangs", PLUGIN.format(notes=str(notes), how=how, runs=runs))
        command = [sys.executable, "-m", "tabwb.cli.main", "run", "tab", "--model", "hangs"]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ
        )
        deadline = time.monotonic() + 60
        while not pids(notes) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.5 if how in {"thread", "atexit"} else 0.3)
        for _ in range(presses):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        try:
            return process.wait(timeout=60), pids(notes)
        finally:
            process.kill()

    return call


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize(
    ("how", "runs"),
    [
        ("stopped", "child"),
        ("deaf", "child"),
        ("opening", "child"),
        *FURTHER,
        ("deaf", "here"),
        ("locked in a library", "here"),
        ("opening", "here"),
        ("thread", "here"),
        ("atexit", "here"),
        ("import", "here"),
    ],
)
def test_two_ctrl_c_end_the_program(
    hanging: Callable[[str, str], tuple[int, list[int]]], how: str, runs: str
) -> None:
    status, started = hanging(how, runs)
    # A run that was done before may keep its status; a second SIGINT may meet the interpreter's
    # own end, where a shell reports 130 as well.
    ended = {130, -signal.SIGINT}
    assert status in ended | ({0} if how in {"thread", "atexit"} else {3})
    assert started
    assert all(map(is_gone, started))


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("presses", [2, 3])
def test_a_watchdog_ends_what_runs_no_python(
    hanging: Callable[..., tuple[int, list[int]]], presses: int
) -> None:
    status, started = hanging("holds the interpreter's lock", "here", presses)
    assert status == -signal.SIGKILL
    assert all(map(is_gone, started))


@pytest.mark.skipif(os.name != "posix", reason="reads /proc")
def test_a_thread_that_a_plugin_leaves_does_not_keep_the_program(
    install: Install, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    install("hangs", PLUGIN.format(notes=str(notes), how="thread", runs="here"))
    done = subprocess.run(
        [sys.executable, "-m", "tabwb.cli.main", "run", "tab", "--model", "hangs", "--json"],
        capture_output=True, timeout=60, text=True,
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["administration"]["status"] == "done"
    assert "a plugin left threads that do not end" in done.stderr
