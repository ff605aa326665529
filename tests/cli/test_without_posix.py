"""Without the modules and names that only POSIX has, TAB still runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HIDE = """
import subprocess, sys, types  # subprocess takes a msvcrt that is there for Windows
for name in ("fcntl", "termios", "tty", "pwd", "grp", "resource", "readline", "curses"):
    sys.modules[name] = None
sys.modules["msvcrt"] = types.SimpleNamespace(locking=lambda *given: None, LK_NBLCK=2, LK_UNLCK=0)
import os, signal
for name in ("fork", "register_at_fork", "getuid", "geteuid", "killpg", "setsid",
             "pread", "pwrite"):
    delattr(os, name)
for name in ("SIGHUP", "SIGWINCH", "SIGTSTP", "SIGUSR1"):
    delattr(signal, name)
from tabwb.cli.main import main
raise SystemExit(main(ARGUMENTS))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = HIDE.replace("ARGUMENTS", repr(list(arguments)))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_tab_runs_resumes_and_exports(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store.db")]
    ran = run("run", "tab", "--model", "echo", "--json", *store)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["administration"]["status"] == "done"
    assert run("results", "1", *store).returncode == 0
    assert run("trial", "void", "1", "1", "--reason", "noise", *store).returncode == 0
    out = tmp_path / "answers.jsonl"
    assert run("export", "1", "--format", "jsonl", "--out", str(out), *store).returncode == 0
    assert out.exists()


def test_one_administration_still_has_one_writer(tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    assert run("run", "tab", "--model", "echo", "--store", store).returncode == 0
    holding = (
        "import sys\nfor name in ('fcntl', 'termios', 'pwd'): sys.modules[name] = None\n"
        "from tabwb.store.store import Store\nfrom tabwb.records.errors import StoreError\n"
        f"with Store.open({store!r}) as store, store.lock(1):\n"
        "    try:\n        store.lock(1).__enter__()\n    except StoreError as error:\n"
        "        print(error)\n"
        "import os, signal\n"
        f"store = Store.open({store!r}); store.lock(1).__enter__()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    held = subprocess.run([sys.executable, "-c", holding], capture_output=True, text=True)
    assert held.stdout.startswith("administration 1 is open in process ")
    # The process is gone, and its lock with it.
    assert run("trial", "note", "1", "1", "after", "--store", store).returncode == 0
