"""The processes that the program has started end with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, signal, subprocess, sys
from tabwb.records import processes

started = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, start_new_session=True)
processes.register(started)
os.killpg(started.pid, signal.SIGSTOP)
os.waitpid(started.pid, os.WUNTRACED)  # it is stopped now, and cannot see that its input ended
print(started.pid, flush=True)
raise KeyboardInterrupt
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_interrupted_program_leaves_no_stopped_child() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60
    )
    assert "KeyboardInterrupt" in done.stderr
    assert not _is_stopped(int(done.stdout))


def _is_stopped(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] in {"T", "t"}
