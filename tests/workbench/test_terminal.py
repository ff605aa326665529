"""The program itself in its own terminal: opened, killed, closed."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import sys
import termios
import threading
import time
from pathlib import Path

import pytest

from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store

PROGRAM = """
import sys
from tabwb.workbench.app import run_workbench
sys.exit(run_workbench(sys.argv[1], offline=True, battery=sys.argv[2], model="echo@delay=0.3"))
"""


HOLDING = """
import ctypes, pathlib, sys
from tabwb import start
from tabwb.workbench.app import run_workbench
from tabwb_builtin.models import EchoModel

store, battery, held = sys.argv[1:]
del sys.argv[1:]

def reply(self, request, cancel):
    library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(256)
    library.pthread_mutex_lock(mutex)
    pathlib.Path(held).touch()
    library.pthread_mutex_lock(mutex)
    yield

EchoModel.reply = reply
start.open_workbench = lambda *_: run_workbench(store, offline=True, battery=battery, model="echo")
sys.exit(start.main())
"""


WHOLE = """
import sys
from tabwb.start import main
sys.exit(main())
"""


class Terminal:
    """A terminal of 80x24 with the workbench in it."""

    def __init__(
        self, *arguments: str, first: tuple[str, ...] = (), program: str = PROGRAM
    ) -> None:
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            command = [*first, sys.executable, "-c", program, *arguments]
            os.execv(command[0], command)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.seen = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                return

    def until(self, words: str) -> None:
        for _ in range(1200):
            if words.encode() in self.seen:
                return
            time.sleep(0.05)
        raise AssertionError(f"never came: {words}")

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def ended(self) -> int:
        for _ in range(1200):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError("the program did not end")


@pytest.fixture
def terminal(tmp_path: Path, battery: str) -> Terminal:
    return answering(tmp_path, battery)


def answering(tmp_path: Path, battery: str, first: tuple[str, ...] = ()) -> Terminal:
    """The workbench while a model answers; ``first`` runs it in the terminal."""
    folder = tmp_path / "tabwb-config"
    folder.mkdir()
    (folder / "workbench.json").write_text('{"notice_seen": true}', encoding="utf-8")
    opened = Terminal(str(tmp_path / "store.db"), battery, first=first)
    opened.until("New administration")
    time.sleep(0.5)
    opened.press("\r")
    opened.until("a gives all")
    opened.press(" ")
    opened.until("answering")
    return opened


@pytest.mark.parametrize("end", ["hang up", "terminate", "quit"])
def test_an_ended_program_leaves_a_paused_administration(
    terminal: Terminal, tmp_path: Path, end: str
) -> None:
    if end == "hang up":
        os.kill(terminal.pid, signal.SIGHUP)
        os.close(terminal.master)
    elif end == "terminate":
        os.kill(terminal.pid, signal.SIGTERM)
    else:
        terminal.press("\x11")
    terminal.ended()
    with Store.open(tmp_path / "store.db") as store:
        assert store.administrations()[0].status is AdministrationStatus.PAUSED


def test_a_program_that_another_runs_ends_with_its_terminal(tmp_path: Path, battery: str) -> None:
    # As make does: it alone is told that the terminal is closed, and waits for what it runs.
    waits = ("/bin/sh", "-c", 'trap : HUP; "$@"; true', "sh")
    terminal = answering(tmp_path, battery, waits)
    os.close(terminal.master)
    terminal.ended()
    with Store.open(tmp_path / "store.db") as store:
        assert store.administrations()[0].status is AdministrationStatus.PAUSED


def test_a_killed_program_loses_nothing_and_holds_nothing(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.until("complete")
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.ended()
    with Store.open(tmp_path / "store.db") as store:
        assert store.administrations()[0].answered == 1
        with store.lock(1):
            pass


def test_ctrl_c_ends_a_workbench_that_runs_no_python(tmp_path: Path, battery: str) -> None:
    folder = tmp_path / "tabwb-config"
    folder.mkdir()
    (folder / "workbench.json").write_text('{"notice_seen": true}', encoding="utf-8")
    store, held = tmp_path / "store.db", tmp_path / "held"
    # A shell keeps the terminal: what waits to be read is dropped when its owner ends.
    shell = ("/bin/sh", "-c", 'trap : INT; "$@"; exit $?', "sh")
    opened = Terminal(str(store), battery, str(held), first=shell, program=HOLDING)
    opened.until("New administration")
    time.sleep(0.5)
    opened.press("\r")
    opened.until("a gives all")
    opened.press(" ")
    for _ in range(1200):
        if held.exists():
            break
        time.sleep(0.05)
    assert not termios.tcgetattr(opened.master)[3] & termios.ISIG
    for _ in range(60):
        opened.press("\x03")
        time.sleep(0.8)  # not when the program is killed: ctrl+c drops output that waits
        if b"stopped at once" in opened.seen:
            break
    assert os.waitstatus_to_exitcode(opened.ended()) == 128 + signal.SIGKILL
    assert termios.tcgetattr(opened.master)[3] & termios.ISIG
    assert b"\x1b[?1049l" in opened.seen
    with Store.open(store) as whole, whole.lock(1):
        pass


def test_the_command_without_arguments_opens_the_workbench(tmp_path: Path) -> None:
    opened = Terminal("--store", str(tmp_path / "store.db"), program=WHOLE)
    opened.until("tabwb is an instrument for research")
    opened.press("\x11")
    assert opened.ended() == 0
    assert b"Traceback" not in opened.seen


def test_a_byte_that_is_not_utf8_does_not_end_the_workbench(terminal: Terminal) -> None:
    terminal.until("Item 1 of")
    os.write(terminal.master, b"\xe9a\xff\xfe")
    terminal.press("?")
    terminal.until("All keys")
    assert b"Traceback" not in terminal.seen
    terminal.press("\x11")
    assert terminal.ended() == 0
