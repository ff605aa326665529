"""Without the modules and names that only POSIX has, TAB, naming and the workbench still run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tabwb.cli.main import main
from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery
from tests.builders import recordings, typed_table

HIDE = """
import asyncio, subprocess, sys, types  # they take their Windows parts where a msvcrt is found
TERMINAL
for name in ("fcntl", "termios", "tty", "pwd", "grp", "resource", "readline", "curses", "syslog"):
    sys.modules[name] = None
sys.modules["msvcrt"] = types.SimpleNamespace(locking=lambda *given: None, LK_NBLCK=2, LK_UNLCK=0)
import os, signal
for name in ("fork", "register_at_fork", "getuid", "geteuid", "getpgid", "killpg", "setsid",
             "pread", "pwrite", "mkfifo", "sysconf", "statvfs", "getloadavg", "WNOHANG"):
    delattr(os, name)
for name in ("SIGHUP", "SIGQUIT", "SIGALRM", "SIGWINCH", "SIGTSTP", "SIGUSR1",
             "setitimer", "pthread_sigmask"):
    delattr(signal, name)
"""
COMMANDS = """
from tabwb.cli.main import main
for words in {commands!r}:
    status = main(words)
    if status:
        raise SystemExit(status)
"""
# They take their Linux parts by the name of the platform; headless nothing of them is used.
DRIVER = "import platformdirs, textual.app, textual.drivers.linux_driver"
WORKBENCH = """
from pathlib import Path
from tabwb.workbench.app import make_workbench
from tests.workbench.conftest import Seat

async def answer_first_item():
    app = make_workbench(location={store!r}, offline=True, memory=Path({memory!r}))
    async with app.run_test(size=(100, 30)) as pilot:
        seat = Seat(app, pilot, Path({store!r}))
        await seat.until(lambda: app.desk.catalogue)
        await pilot.press("enter")  # the first notice
        await seat.begin(battery="tab", model="echo")
        await seat.next()
        app.desk.close_worker()

asyncio.run(answer_first_item())
"""


def python(code: str, *, terminal: bool = False) -> subprocess.CompletedProcess[str]:
    """Run code where only what Windows has too is found."""
    hidden = HIDE.replace("TERMINAL", DRIVER if terminal else "")
    return subprocess.run(
        [sys.executable, "-c", hidden + code],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
    )


def run(*commands: list[str]) -> subprocess.CompletedProcess[str]:
    return python(COMMANDS.format(commands=commands))


def test_tab_runs_resumes_and_exports(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    lines = (
        "run tab --model echo --quiet",
        "results 1",
        "trial void 1 1 --reason noise",
        f"export 1 --format jsonl --out {out}",
    )
    ran = run(*(f"{line} --store {tmp_path / 'store.db'}".split() for line in lines))
    assert ran.returncode == 0, ran.stderr
    with Store.open(tmp_path / "store.db") as store:
        assert store.administration(1).status is AdministrationStatus.DONE
    assert out.exists()


def test_naming_runs_from_files(tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    battery = tmp_path / "battery"
    responses = recordings(tmp_path / "responses", "dog", "cat", "tree", "house")
    typed = typed_table(tmp_path / "typed.tsv", dog="D AO G", cat="D AO G")
    ran = run([
        *("name", str(naming_battery(battery)), "--speaker", "S-014", "--input", str(responses)),
        *("--transcriber", f"manual:{typed}", "--store", str(tmp_path / "store.db"), "--json"),
    ])  # fmt: skip
    assert ran.returncode in {0, 3}, ran.stderr
    document = json.loads(ran.stdout)
    answers = {trial["item"]: trial["response"] for trial in document["trials"]}
    assert (answers["dog"], answers["cat"]) == ("D AO G", "D AO G")
    assert len(document["recordings"]) == 4


def test_the_workbench_administers_an_item(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    code = WORKBENCH.format(store=str(store), memory=str(tmp_path / "memory.json"))
    ran = python(code, terminal=True)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    with Store.open(store) as given:
        assert [one.answered >= 1 for one in given.administrations()] == [True]


def test_one_administration_still_has_one_writer(tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    assert main(["run", "tab", "--model", "echo", "--quiet", "--store", store]) == 0
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
    assert run(["trial", "note", "1", "1", "after", "--store", store]).returncode == 0
