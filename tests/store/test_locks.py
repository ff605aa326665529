"""One administration, one writer: from a file's store and from a server's."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tabwb.records.errors import StoreError
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import AttemptEntry, RatingsEntry
from tabwb.store import database
from tabwb.store.database import is_held, lock_file
from tabwb.store.maintenance import check
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, scores
from tests.waiting import until


def test_a_second_lock_in_the_same_process_is_refused_and_names_it(store: Store) -> None:
    number = begin(store).id
    refused: list[StoreError] = []

    def lock() -> None:
        try:
            with store.lock(number):
                pass
        except StoreError as error:
            refused.append(error)

    for _ in range(3):
        lock()
    with pytest.raises(ZeroDivisionError), store.lock(number):
        raise ZeroDivisionError
    assert refused == [], "it is free again after each block"
    with store.lock(number):
        lock()
        thread = threading.Thread(target=lock)
        thread.start()
        thread.join()
    assert len(refused) == 2
    assert all(f"open in process {os.getpid()}" in str(error) for error in refused)


@contextmanager
def holder(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has said that it holds a lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_another_process_is_named_and_its_death_frees_the_lock(store: Store, location: str) -> None:
    begin(store)
    code = (
        "import sys, time; from tabwb.store.store import Store\n"
        f"with Store.open({location!r}) as store, store.lock(1):\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    with holder(code) as process:
        with pytest.raises(StoreError, match=rf"open in process {process.pid}\b"), store.lock(1):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        _soon(store)


def _soon(store: Store) -> None:
    """The lock is to be had: at once from a file, within a moment from a server."""
    until = time.monotonic() + 60
    while True:
        try:
            with store.lock(1):
                return
        except StoreError:
            if store.embedded is not None or time.monotonic() > until:
                raise
            time.sleep(0.02)


def test_a_forked_child_neither_keeps_nor_takes_its_parents_lock(file: Path) -> None:
    with Store.open(file) as store:
        begin(store)
        ready, release = os.pipe(), os.pipe()
        with store.lock(1):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    with store.lock(1):
                        pass
                except StoreError:
                    status = 0
                finally:
                    os.write(ready[1], b"x")
                    os.read(release[0], 1)
                    os._exit(status)
            os.read(ready[0], 1)
            with pytest.raises(StoreError), store.lock(1):
                pass
        try:
            # The child still lives and inherited the open file.
            with store.lock(1):
                pass
        finally:
            os.write(release[1], b"x")
            assert os.waitpid(child, 0)[1] == 0
            for end in (*ready, *release):
                os.close(end)


def test_many_processes_want_one_lock_and_never_two_have_it(file: Path) -> None:
    with Store.open(file) as store:
        begin(store)
    marker = file.with_name("inside")
    code = (
        "import os, sys; from tabwb.store.store import Store\n"
        "from tabwb.records.errors import StoreError\n"
        f"store = Store.open({str(file)!r}); got = 0\n"
        "while got < 10:\n"
        "    try:\n"
        "        with store.lock(1):\n"
        f"            os.close(os.open({str(marker)!r}, os.O_CREAT | os.O_EXCL))\n"
        f"            os.unlink({str(marker)!r})\n"
        "            got += 1\n"
        "    except StoreError: pass\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert list(Path(f"{file}.locks").iterdir()) == []


def test_a_kill_between_lock_and_write_leaves_nothing_that_runs(file: Path) -> None:
    code = (
        "import os, signal; from pathlib import Path; from tabwb.store.store import Store\n"
        "Path.write_text = lambda *given, **more: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"with Store.open({str(file)!r}) as store, store.lock(1): pass\n"
    )
    with Store.open(file) as store:
        begin(store)
        left = Path(f"{file}.locks") / "1"
        assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
        assert left.read_text() == "", "killed before it wrote its number"
        assert not is_held(file, 1) and not left.exists()
        assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
        with store.lock(1):
            assert is_held(file, 1)


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
    file = database.lock_folder(store) / "1"
    with holder(HOLD, str(store)) as process:
        assert database.is_held(store, 1)
        number = file.read_text(encoding="ascii")
        file.write_text("", encoding="ascii")
        assert database.is_held(store, 1), "also where its file is empty"
        file.write_text(number, encoding="ascii")
        process.send_signal(signal.SIGKILL)
        assert process.stdout is not None
        process.stdout.read()  # it has ended, and nobody has asked for its status yet
        until(lambda: not database.is_held(store, 1), "the end of the lock")
    database.lock_folder(store).mkdir(exist_ok=True)
    file.write_text(str(process.pid), encoding="ascii")
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


LOOK = """
import sys
from pathlib import Path
from tabwb.store.database import is_held, lock_file
print("looks", flush=True)
while sys.stdin.readable():
    for number in range(200):
        is_held(Path(sys.argv[1]), number)
"""


@pytest.mark.parametrize("where", ["thread", "process"])
def test_who_only_looks_takes_no_lock_from_who_begins(tmp_path: Path, where: str) -> None:
    store = tmp_path / "store.db"
    ended = threading.Event()

    def look() -> None:
        while not ended.is_set():
            for number in range(200):
                is_held(store, number)

    thread = threading.Thread(target=look)
    looker = None
    if where == "thread":
        thread.start()
    else:
        looker = subprocess.Popen(
            [sys.executable, "-c", LOOK, str(store)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert looker.stdout is not None and looker.stdout.readline() == "looks\n"
    try:
        for turn in range(300):
            with lock_file(store, str(turn % 200), "it is open"):
                assert is_held(store, turn % 200)
    finally:
        ended.set()
        if looker is None:
            thread.join()
        else:
            looker.kill()
            looker.communicate()


KILLS = int(os.environ.get("TABWB_TORTURE_KILLS", "12"))


def _append_until_killed(file: Path, first: int, report: int) -> None:
    """Append attempts and report the number of each one after ``append`` has returned."""
    with Store.open(file) as store:
        for number in range(first, first + 100_000):
            answer = attempt(number, response=f"answer {number} " + "x" * (number % 97 * 40))
            store.append(1, [AttemptEntry(1, answer), RatingsEntry(1, number, scores())])
            os.write(report, b"%d\n" % number)


def _life(file: Path, first: int, lives_s: float) -> list[int]:
    """One process from its start to its SIGKILL; the numbers that it reported."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            _append_until_killed(file, first, write)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as reports:
        seen = reports.readline()
        time.sleep(lives_s)
        os.kill(child, signal.SIGKILL)
        seen += reports.read()
    status = os.waitpid(child, 0)[1]
    assert os.WTERMSIG(status) == signal.SIGKILL
    # The last line may have been cut off by the kill.
    return [int(line) for line in seen.split(b"\n")[:-1]]


@pytest.mark.crash
def test_kills_lose_nothing_that_was_reported(file: Path) -> None:
    generator = random.Random(20260517)
    with Store.open(file) as store:
        begin(store, 1)
    reported: set[int] = set()
    recorded: list[int] = []
    for _ in range(KILLS):
        reported |= set(_life(file, len(recorded) + 1, generator.random() * 0.03))
        with Store.open(file) as store:
            (trial,) = store.trials(1)
        recorded = [each.number for each in trial.attempts]
        assert recorded == list(range(1, len(recorded) + 1)), "one is missing or double"
        assert reported <= set(recorded), "one that was reported is gone"
        assert len(recorded) - len(reported) <= KILLS, "more than the one under way per life"
        assert trial.ratings == scores(), "an answer without its ratings"
        for each in trial.attempts:
            assert each.response.startswith(f"answer {each.number} ")
    assert len(reported) > KILLS
    assert check(file) == ()
