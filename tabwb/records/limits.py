"""Limits of the system, such as those of ``ulimit``: what they make fail, said in one message."""

from __future__ import annotations

import errno
import os
from typing import NoReturn

from tabwb.records.errors import TabwbError

FILES_AT_LEAST = 16
"""A store, its log, its locks and the pipes of one child need so many open files."""
MEMORY_AT_LEAST = 64 * 2**20
"""Bytes of address space that the smallest commands need."""
WORKBENCH_AT_LEAST = 512 * 2**20
"""Bytes of address space that the workbench needs, with the stacks of its threads."""
_OUT_OF_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread")


def check_open_files() -> None:
    """Leave with one message where the system allows too few open files for any command."""
    opened: list[int] = []
    try:
        while len(opened) < FILES_AT_LEAST:
            opened.append(os.dup(0))
    except OSError:
        _leave(
            f"fewer than {FILES_AT_LEAST} files may be open at once (ulimit -n)\n"
            f"  allowed: {FILES_AT_LEAST} or more\n  raise the limit: ulimit -n 1024"
        )
    finally:
        for number in opened:
            os.close(number)


def check_memory(least: int = MEMORY_AT_LEAST) -> None:
    """Leave with one message where the system allows a process less memory than is needed."""
    if (limit := _memory_limit()) is not None and limit < least:
        _leave(
            f"a process may have only {_mib(limit)} of memory (ulimit -v)\n"
            f"  allowed: {_mib(least)} or more\n  raise the limit: ulimit -v unlimited"
        )


def exhausted(error: BaseException) -> TabwbError | None:
    """Return the message for an error that a limit caused; None where no limit did.

    >>> print(exhausted(OSError(24, "Too many open files")))
    too many files are open (ulimit -n)
    raise the limit: ulimit -n 1024
    >>> exhausted(ValueError("no"))
    """
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.EMFILE, errno.ENFILE):
        return TabwbError(
            "too many files are open (ulimit -n)", hint="raise the limit: ulimit -n 1024"
        )
    words = str(error).lower() if isinstance(error, ImportError | RuntimeError) else ""
    if not (
        isinstance(error, MemoryError)
        or number == errno.ENOMEM
        or any(part in words for part in _OUT_OF_MEMORY)
    ):
        return None
    limit = _memory_limit()
    if limit is None:
        return TabwbError("there is not enough memory", hint="close other programs")
    return TabwbError(
        f"there is not enough memory: a process may have only {_mib(limit)} (ulimit -v)",
        hint="raise the limit: ulimit -v unlimited",
    )


def _memory_limit() -> int | None:
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    except ImportError:  # there is no memory for it
        return 0
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _mib(count: int) -> str:
    return f"{count // 2**20} MiB"


def _leave(text: str) -> NoReturn:
    # The interpreter's own end may need what is missing.
    os.write(2, f"error: {text}\n".encode())
    os._exit(1)
