"""A PostgreSQL server of a test's own, from the system's package."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import until

OWNER = "postgres"


def find_programs() -> Path | None:
    """Return the folder of ``initdb`` and ``postgres``, the newest of Debian's, or None."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    found = str(debian[-1]) if debian else shutil.which("initdb")
    return Path(found).parent if found else None


def _version(program: Path) -> float:
    return float(program.parts[-3])


class PostgreSQL:
    """One server, reached by a unix socket in its folder."""

    def __init__(self, programs: Path, folder: Path, owner: str | None) -> None:
        self._programs, self._folder, self._owner = programs, folder, owner
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"postgresql://{OWNER}@/postgres?host={folder}"
        self._run("initdb", "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, "-D", self._folder / "data", *arguments],
            check=True, user=self._owner, cwd=self._folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip

    def start(self) -> None:
        """Start it; return when it answers."""
        # A process that is killed, unlike a computer, loses nothing that was not flushed.
        options = ("-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60")
        places = ("-D", self._folder / "data", "-k", self._folder)

        def begin() -> None:
            self._process = subprocess.Popen(
                [self._programs / "postgres", *places, *options],
                user=self._owner, cwd=self._folder, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip

        def answers() -> bool:
            assert self._process is not None
            if self._process.poll() is not None:
                begin()  # processes of a server that was killed may still be ending
            ready = [str(self._programs / "pg_isready"), "-q", "-h", str(self._folder), "-U", OWNER]
            return subprocess.run(ready, timeout=60).returncode == 0

        begin()
        until(answers, "PostgreSQL answers")

    def kill(self) -> None:
        """Kill it; its other processes notice that and end too."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(60)

    def stop(self) -> None:
        """Stop it at once if it runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(60)


@contextmanager
def own_server() -> Iterator[PostgreSQL]:
    """Yield a running server; skip the test where none can be started."""
    programs = find_programs()
    owner = None
    if os.geteuid() == 0:
        try:
            owner = pwd.getpwnam(OWNER).pw_name
        except KeyError:
            programs = None
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="tabwb-pg-", dir="/tmp"))
    try:
        if owner is not None:
            shutil.chown(folder, owner)
        server = PostgreSQL(programs, folder, owner)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
