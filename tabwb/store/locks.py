"""One advisory lock for each administration of an embedded store.

``flock`` on a small file in ``<store>.locks``: the system frees it when the process ends, however
it ends. The file names the holder's process id. A lock belongs to the open file, so a second one
in the same process is refused too, and a child made by ``fork`` gives up its copy at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tabwb.records.errors import StoreError

_held: set[int] = set()


def folder_of(store: Path) -> Path:
    """Where the locks of a store lie."""
    return store.with_name(f"{store.name}.locks")


@contextmanager
def lock_file(store: Path, administration_id: int) -> Iterator[None]:
    """Hold the lock of one administration.

    Raises:
        StoreError: somebody holds it; the message names the process.
    """
    path = folder_of(store) / str(administration_id)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _acquire(path, administration_id)
    except OSError as error:
        raise StoreError(
            f"the lock of administration {administration_id} cannot be made: {error.strerror}",
            where=str(path),
            hint="allow writing there, or name another place with --store",
        ) from error
    _held.add(descriptor)
    owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner:
            # Taken away while it is still held, so that nobody locks a file that is going.
            with suppress(OSError):
                path.unlink()
            _held.discard(descriptor)
            os.close(descriptor)


def _acquire(path: Path, administration_id: int) -> int:
    import fcntl

    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise held_by(os.pread(descriptor, 64, 0).decode(), administration_id) from None
            # The former holder may have taken the file away between our open and our lock.
            try:
                current = path.stat().st_ino == os.fstat(descriptor).st_ino
            except FileNotFoundError:
                current = False
            if current:
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def held_by(process: str, administration_id: int) -> StoreError:
    """The error for a lock that somebody else holds."""
    holder = f"process {process}" if process else "another process"
    return StoreError(
        f"administration {administration_id} is open in {holder}",
        hint="close it there first; when that process ends, however it ends, the lock is free",
    )


def _close_after_fork() -> None:
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_close_after_fork)
