"""An administration whose process was killed runs no longer, and is listed so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tabwb.records.states import AdministrationStatus
from tabwb.store import database
from tabwb.store.store import Store
from tests.waiting import until

HOLD = """
import sys, time
from pathlib import Path
from tabwb.store.database import lock_file
with lock_file(Path(sys.argv[1]), "1", "it is open"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_is_held_while_its_process_lives(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    assert not database.is_held(store, 1)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        assert database.is_held(store, 1)
        holder.send_signal(signal.SIGKILL)
        holder.stdout.read()  # it has ended, and nobody has asked for its status yet
        until(lambda: not database.is_held(store, 1), "the end of the lock")
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    database.lock_folder(store).mkdir(exist_ok=True)
    (database.lock_folder(store) / "1").write_text(str(holder.pid), encoding="ascii")
    assert (database.lock_folder(store) / "1").exists()
    assert not database.is_held(store, 1)
    assert not database.is_held(store, 1), "the first look left a lock behind"


@pytest.mark.parametrize("platform", ["posix", "nt"])
def test_a_process_that_was_killed_before_it_wrote_its_number_holds_no_lock(
    tmp_path: Path, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store.db"
    database.lock_folder(store).mkdir()
    (database.lock_folder(store) / "1").touch()
    assert not database.is_held(store, 1)
    # On Windows nobody knows whether a process runs: the lock itself is tried.
    (database.lock_folder(store) / "2").write_text(str(os.getppid()), encoding="ascii")
    assert database.is_held(store, 2)
    if platform == "nt":
        monkeypatch.setattr(database, "_is_alive", lambda process: False)
        assert not database.is_held(store, 2)


def test_a_live_process_holds_its_lock_also_where_its_file_is_empty(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        (database.lock_folder(store) / "1").write_text("", encoding="ascii")
        assert database.is_held(store, 1)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def test_a_file_that_names_this_process_but_is_not_its_lock_is_stale(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    database.lock_folder(store).mkdir()
    left = database.lock_folder(store) / "7"
    left.write_text(str(os.getpid()), encoding="ascii")
    assert not database.is_held(store, 7)
    assert not left.exists()


def test_the_next_lock_removes_the_file_of_a_process_that_is_gone(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    gone = subprocess.Popen(["true"])
    gone.wait()
    folder = database.lock_folder(store)
    folder.mkdir()
    (folder / "1").write_text(str(gone.pid), encoding="ascii")
    (folder / "set-1-2").write_text(str(os.getppid()), encoding="ascii")
    with database.lock_file(store, "7", "it is open"):
        assert {path.name for path in folder.iterdir()} == {"7", "set-1-2"}


def test_a_run_that_was_killed_is_interrupted_until_it_is_resumed(tmp_path: Path) -> None:
    location = tmp_path / "store.db"
    command = [sys.executable, "-m", "tabwb.cli.main"]
    run = [*command, "run", "tab", "--model", "echo@delay=0.01", "--store", str(location)]
    process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if "1/20" in line or "2/20" in line:
                break
        with Store.open(location, create=False) as store:
            (running,) = store.administrations()
        assert (running.status_word, running.interrupted) == ("running", False)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()
    with Store.open(location, create=False) as store:
        (killed,) = store.administrations()
        assert store.administration(1) == killed
    assert killed.status is AdministrationStatus.RUNNING
    assert (killed.status_word, killed.interrupted) == ("interrupted", True)
    listed = subprocess.run(
        [*command, "results", "--store", str(location)], capture_output=True, text=True, check=True
    )
    assert "interrupted" in listed.stdout
    subprocess.run(
        [*command, "resume", "1", "--store", str(location)], capture_output=True, check=True
    )
    with Store.open(location, create=False) as store:
        assert store.administration(1).status_word == "done"
