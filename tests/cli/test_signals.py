"""ctrl+c, ``kill`` and a closed terminal, at a model's and at a person's administration."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time
import tty
from pathlib import Path

import pytest

from tabwb.cli.signals import stopping
from tabwb.cli.watchdog import LOOK_S, _UnreadKeys
from tests.cli.conftest import Run

PERSON = ("run", "tab", "--speaker", "S-01", "--research-protocol", "IRB-7")


def begun(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tabwb.cli.main", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until_shown(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"'{text}' was never shown")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_pauses_what_a_person_answers(run: Run, number: signal.Signals) -> None:
    process = begun(*PERSON)
    assert process.stdin is not None
    process.stdin.write("It was fine.\n\n")
    process.stdin.flush()
    wait_until_shown(process, "item 2/20")
    time.sleep(0.2)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert "administration 1 is paused: stopped by the user" in errors
    document = run("results", 1, "--json").document
    assert document["administration"]["status"] == "paused"
    assert document["trials"][0]["response"] == "It was fine."


def test_a_terminal_that_is_gone_pauses(run: Run) -> None:
    process = begun(*PERSON)
    assert process.stdin is not None
    assert process.stdout is not None
    wait_until_shown(process, "item 1/20")
    process.stdout.close()
    process.stdin.write("It was fine.\n\n")
    process.stdin.flush()
    assert process.wait(timeout=60) == 3
    assert run("results", 1, "--json").document["administration"]["status"] == "paused"


def test_a_signal_that_was_ignored_from_the_start_stays_ignored() -> None:
    earlier = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        cancel = threading.Event()
        with stopping(cancel):
            os.kill(os.getpid(), signal.SIGHUP)
            assert not cancel.is_set()
            os.kill(os.getpid(), signal.SIGTERM)
            assert cancel.is_set()
    finally:
        signal.signal(signal.SIGHUP, earlier)


def test_an_answer_of_many_lines_may_begin_with_a_colon(run: Run, tmp_path: Path) -> None:
    process = begun(*PERSON)
    process.communicate("::first line\nsecond line\n\n:pause\n", timeout=60)
    trials = run("results", 1, "--json").document["trials"]
    assert [trial["response"] for trial in trials[:2]] == [":first line\nsecond line", None]


def test_a_terminal_at_its_end_is_not_looked_at_all_the_time() -> None:
    master, terminal = pty.openpty()
    try:
        keys = _UnreadKeys(terminal)
        assert keys.looks_in_s(0.0) is None
        keys.look(0.0)
        assert keys.looks_in_s(0.0) == LOOK_S
        keys.look(LOOK_S)
        assert keys.looks_in_s(LOOK_S) is None
    finally:
        os.close(master)
        os.close(terminal)


def test_a_terminal_that_another_program_has_is_left_as_it_is() -> None:
    master, terminal = pty.openpty()
    try:
        keys = _UnreadKeys(terminal)
        tty.setraw(terminal)
        modes = termios.tcgetattr(terminal)
        keys.restore()
        assert termios.tcgetattr(terminal) == modes
    finally:
        os.close(master)
        os.close(terminal)
