"""The log of a child process: its output, up to a limit, in a file."""

from __future__ import annotations

import itertools
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from tabwb.records.files import make_private_folder, open_private

LIMIT = 1_000_000
"""Bytes of one log. When it is full its older half is removed."""
KEPT = 20
"""Number of logs that are kept; older ones are deleted."""
TAIL_LINES = 12
REMOVED = b"[earlier lines were removed]\n"
_numbers = itertools.count(1)


class ChildLog:
    """Copies the output of a process into a file, up to a limit, in a thread.

    Args:
        folder: of the logs; made, private, where it is missing.
        name: of the component.
    """

    def __init__(self, folder: Path, name: str) -> None:
        make_private_folder(folder)
        logs = sorted(folder.glob("child-*.log"), key=lambda path: path.name)
        for path in logs[: max(0, len(logs) - KEPT + 1)]:
            path.unlink(missing_ok=True)
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        self.path = folder / f"child-{stamp}-{os.getpid()}-{next(_numbers)}-{name}.log"
        self._file = os.fdopen(open_private(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL), "w+b")
        self._thread: threading.Thread | None = None

    def follow(self, stream: IO[bytes]) -> None:
        """Copy the stream until it ends."""
        self._thread = threading.Thread(
            target=self._copy, args=(stream,), name=f"log {self.path.name}", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Wait for the last output of a process that has ended; remove an empty log."""
        if self._thread is not None:
            self._thread.join(0.5)
        with suppress(OSError):
            if self.path.stat().st_size == 0:
                self.path.unlink(missing_ok=True)

    def tail(self) -> str:
        """Return the last lines."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self.path.stat().st_size - 20_000))
                lines = file.read().decode("utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(line for line in lines[-TAIL_LINES:] if line.strip())

    def _copy(self, stream: IO[bytes]) -> None:
        size = 0
        with stream, self._file as file:
            while piece := _read(stream):
                # A full disk costs the log, not the component.
                with suppress(OSError):
                    if size + len(piece) > LIMIT:
                        size = _halve(file)
                    file.write(piece)
                    file.flush()
                    size += len(piece)


def _read(stream: IO[bytes]) -> bytes:
    try:
        return os.read(stream.fileno(), 65_536)
    except (OSError, ValueError):
        return b""


def _halve(file: IO[bytes]) -> int:
    file.seek(-min(LIMIT // 2, file.tell()), os.SEEK_END)
    kept = file.read()
    file.seek(0)
    file.truncate()
    file.write(REMOVED + kept)
    return len(REMOVED) + len(kept)
