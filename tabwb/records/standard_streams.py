"""``-`` for standard input and standard output, where a file is named."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import BinaryIO, TextIO

from tabwb.records.errors import TabwbError
from tabwb.records.files import expanded, open_file

DASH = "-"
_STDOUT = frozenset({DASH, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
_read: list[tuple[object, bytes]] = []


def is_stdin(path: Path) -> bool:
    """Return whether a path means standard input.

    >>> is_stdin(Path("-")), is_stdin(Path("./-x"))
    (True, False)
    """
    return str(path) == DASH


def is_stdout(path: Path) -> bool:
    """Return whether a path means standard output.

    >>> is_stdout(Path("-")), is_stdout(Path("/dev/stdout")), is_stdout(Path("out.csv"))
    (True, True, False)
    """
    return str(path) in _STDOUT


def read_stdin(limit: int | None = None) -> bytes:
    """Return the text of standard input; the same text at every call."""
    stream = sys.stdin
    if not _read or _read[0][0] is not stream:
        buffer: BinaryIO = stream.buffer
        _read[:] = [(stream, buffer.read() if limit is None else buffer.read(limit))]
    return _read[0][1]


def write_stdout(content: bytes) -> None:
    """Write bytes to standard output; to a terminal with its control characters escaped."""
    if sys.stdout.isatty() and b"\0" in content[:8192]:
        raise TabwbError(
            "this format is not text and is not written to a terminal",
            where="standard output",
            hint="redirect it to a file, or name one with --out",
        )
    sys.stdout.flush()
    if sys.stdout.isatty():
        # Answers are quoted in it. The escape is that of JSON, so that JSON stays what it was.
        from tabwb.records.visible import json_escaped

        text = content.decode("utf-8", "replace").replace("\r\n", "\n")
        content = json_escaped(text).encode()
    out = getattr(sys.stdout, "buffer", None)
    if out is None:  # another program took the stream's place
        sys.stdout.write(content.decode("utf-8"))
        return
    out.write(content)
    out.flush()


def copy_to_stdout(file: Path) -> None:
    """Write a file to standard output, as :func:`write_stdout`."""
    if sys.stdout.isatty() or not hasattr(sys.stdout, "buffer"):
        write_stdout(file.read_bytes())
        return
    with file.open("rb") as opened:
        while piece := opened.read(1 << 20):
            write_stdout(piece)


class _Redirection:
    """Writes to stderr what is printed to stdout meanwhile, in any thread.

    Several threads may be inside at once: the last to leave puts stdout back. Entered for each
    piece of a streamed reply, so it is a class and not a generator.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._before: TextIO = sys.stdout
        self._instead: TextIO = sys.stderr

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._before, self._instead = sys.stdout, sys.stderr
                sys.stdout = sys.stderr
            self._depth += 1

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._depth -= 1
            # Another program, a test for one, may have put its own stream there meanwhile.
            if self._depth == 0 and sys.stdout is self._instead:
                sys.stdout = self._before


stdout_to_stderr = _Redirection()


def read_file(path: Path, limit: int | None = None) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``."""
    if is_stdin(path):
        return read_stdin(limit)
    with open_file(path) as file:
        return file.read() if limit is None else file.read(limit)


def located(name: str) -> str:
    """Return a file's name as it holds from every folder; ``-`` stays.

    >>> located("-"), located("/a")
    ('-', '/a')
    """
    return name if name == DASH else str(expanded(name).absolute())
