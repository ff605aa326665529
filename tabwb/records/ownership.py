"""Marks of running processes: files that are locked as long as their process lives.

The system frees the lock when the process ends. So the files of a killed process are distinguished
from those of a living one without process numbers, which are reused.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tabwb.records.files import open_private

_held: set[int] = set()


def claim(path: Path) -> int | None:
    """Make a mark and hold it; None where a living process holds it already.

    Args:
        path: of the mark.

    Returns:
        The descriptor, for :func:`release`.

    Raises:
        OSError: it cannot be made.
    """
    while True:
        descriptor = open_private(path, os.O_RDWR | os.O_CREAT)
        if not _lock(descriptor):
            os.close(descriptor)
            return None
        # Another process may have removed the mark between our open and our lock.
        if _is_at(descriptor, path):
            _held.add(descriptor)
            return descriptor
        os.close(descriptor)


def take_over(path: Path) -> int | None:
    """Hold the mark of a process that has ended; None where it lives or there is no mark.

    Raises:
        OSError: the mark cannot be opened.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return None
    if not _is_ours(descriptor) and _lock(descriptor) and _is_at(descriptor, path):
        _held.add(descriptor)
        return descriptor
    os.close(descriptor)
    return None


def is_abandoned(path: Path) -> bool:
    """Return whether no living process holds this mark; True where there is none.

    Raises:
        OSError: the mark cannot be opened.
    """
    descriptor = take_over(path)
    if descriptor is None:
        return not path.exists()
    release(descriptor)
    return True


def release(descriptor: int, path: Path | None = None) -> None:
    """Give a mark back.

    Args:
        descriptor: of :func:`claim` or :func:`take_over`.
        path: of the mark, to remove it while it is still held; None leaves it.
    """
    if descriptor not in _held:
        return
    if path is not None:
        with suppress(OSError):
            path.unlink()
    _held.discard(descriptor)
    with suppress(OSError):
        os.close(descriptor)
    if path is not None:
        # Windows removes no file that is open.
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _is_ours(descriptor: int) -> bool:
    """Return whether this process already holds the file (not every file system's lock tells)."""
    stat = os.fstat(descriptor)
    return any(os.path.samestat(stat, os.fstat(held)) for held in tuple(_held))


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _lock(descriptor: int) -> bool:
    """Lock without waiting; False where another process holds the lock."""
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_on_windows(descriptor: int) -> bool:
    import importlib

    msvcrt = importlib.import_module("msvcrt")
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def _give_up_after_fork() -> None:
    # The lock belongs to the open file: a child would hold it longer than its parent lives.
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_up_after_fork)
