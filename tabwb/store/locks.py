"""One lock for each administration, and each rater of a rating set, of an embedded store.

A small file in ``<store>.locks`` names the holder's process and is locked through ``filelock``: the
system frees the lock when the process ends. A second lock in the same process is refused too, and a
child made by ``fork`` gives up its copy at once. Without such locks ``filelock`` uses the existence
of the file, and takes over one whose process is gone. The file of a process that was killed has no
meaning; whoever takes a lock of the store next removes it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.records.errors import HeldElsewhere, StoreError
from tabwb.records.files import make_private_folder

if TYPE_CHECKING:
    from filelock import BaseFileLock


_OWN: set[Path] = set()
"""The files of the locks that this process holds."""


def folder_of(store: Path) -> Path:
    """Return where the locks of a store lie."""
    return store.with_name(f"{store.name}.locks")


@contextmanager
def lock_file(store: Path, name: str, what: str) -> Iterator[None]:
    """Hold one lock."""
    path = folder_of(store) / name
    try:
        make_private_folder(path.parent)
        lock = _acquired(path, what)
    except OSError as error:
        raise StoreError(
            f"the lock for '{what}' cannot be made: {error.strerror}",
            where=str(path),
            hint="allow writing there, or name another place with --store",
        ) from error
    _remove_stale(path.parent)
    owner = os.getpid()
    _OWN.add(path)
    try:
        yield
    finally:
        if os.getpid() == owner:
            # Removed while it is still held, so that no process locks a file that is being removed.
            # Windows does not remove open files; there it remains without meaning.
            with suppress(OSError):
                path.unlink()
            lock.release()
            _OWN.discard(path)


def is_held(store: Path, administration_id: int) -> bool:
    """Return whether a session holds the lock of an administration."""
    return _is_held(folder_of(store) / str(administration_id))


def _remove_stale(folder: Path) -> None:
    """Remove the files of processes that are gone."""
    with suppress(OSError):
        for path in folder.iterdir():
            _is_held(path)


def _is_held(path: Path) -> bool:
    """Return whether the lock of a file is held; remove the file of a process that is gone.

    The lock itself is tried unless the process that the file names is known to run, so that nobody
    who opens the administration meanwhile is refused. A process that was killed before it wrote its
    number leaves a file without one; on Windows a locked file cannot be read.
    """
    if not path.exists():
        return False
    process = _holder(path)
    if path in _OWN:
        return True
    # In a container each run of the program may have the same process id.
    if process and int(process) != os.getpid() and _is_alive(int(process)):
        return True
    try:
        lock = _acquired(path, "")
    except (StoreError, OSError):
        return True
    # It names this process now; the next one to look must not take that for a holder.
    with suppress(OSError):
        path.unlink()
    lock.release()
    return False


def _is_alive(process: int) -> bool:
    """Return whether a process of this machine is known to run."""
    if os.name == "nt":  # there a signal 0 would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    with suppress(OSError, IndexError):  # only Linux says more
        # A process that has ended stays, as a zombie, until its parent asks for its status.
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}
    return True


def _acquired(path: Path, what: str) -> BaseFileLock:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a platform has no locks
        from filelock import FileLock, SoftFileLock, Timeout

    lock: BaseFileLock = FileLock(path, timeout=0, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise held_by(_holder(path), what) from None
    if not isinstance(lock, SoftFileLock):  # that one writes the process itself
        with suppress(OSError):  # on Windows nobody reads or writes a locked file
            path.write_text(str(os.getpid()), encoding="ascii")
    return lock


def _holder(path: Path) -> str:
    try:
        first, *_ = path.read_text(encoding="ascii", errors="replace").split() or [""]
    except OSError:
        return ""
    return first if first.isdigit() else ""


def open_administration(number: int) -> str:
    """Return what is open while an administration is held."""
    return f"administration {number} is open"


def held_by(process: str, what: str) -> HeldElsewhere:
    """Return the error for a lock that another process holds."""
    holder = f"process {process}" if process else "another process"
    return HeldElsewhere(
        f"{what} in {holder}",
        hint="close it there first; when that process ends, however it ends, the lock is free",
    )
