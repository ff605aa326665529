"""The processes that the program has started end with it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tabwb.records import system
from tabwb.records.system import child_environ

ROOT = Path(__file__).parents[2]
OTHER_WAY = re.compile(
    r"Popen\(|create_subprocess|subprocess_(exec|shell)\(|\bmultiprocessing\b|ProcessPoolExecutor"
    r"|subprocess\.(run|call|check|getoutput|getstatus)|from subprocess import"
    r"|\bos\.(system|popen|fork|forkpty|spawn|exec|posix_spawn|startfile)|\bpty\.(spawn|fork)"
)
PROGRAM = """
import os, signal, sys
from tabwb.records import system

started = system.start([sys.executable, "-c", "input()"], os.environ, stdin=system.PIPE)
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


def test_every_child_is_started_in_one_place() -> None:
    files = [*ROOT.glob("tabwb/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    found = {
        file.relative_to(ROOT).as_posix()
        for file in files
        if OTHER_WAY.search(file.read_text(encoding="utf-8"))
    }
    assert len(files) > 500
    assert found == {"tabwb/records/system.py"}


def test_a_child_runs_no_code_of_the_current_folder_and_no_program_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "tabwb"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')", encoding="utf-8")
    program = tmp_path / "pactl"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", os.defpath]))
    started = system.start(system.python("json.tool"), child_environ(os.environ))
    started.wait()
    assert not (tmp_path / "ran").exists()
    assert system.find_program("pactl") != str(program)
    monkeypatch.setenv("PATH", os.pathsep.join([".", str(tmp_path)]))
    assert system.find_program("pactl") == str(program)
