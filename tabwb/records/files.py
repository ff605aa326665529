"""Files and folders that belong to one user: private modes, and reading only regular files.

Speech, and settings that decide which code runs, are private to the user. Every function sets the
mode itself, whatever the process's umask.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from tabwb.records.errors import UsageError

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_private_folder(folder: Path) -> Path:
    """Make a folder with its parents, readable by its owner only; one that exists stays as it is.

    Args:
        folder: to be made.

    Returns:
        The folder.

    Raises:
        OSError: it cannot be made.
    """
    missing = []
    at = folder
    while not at.exists() and at != at.parent:
        missing.append(at)
        at = at.parent
    for parent in reversed(missing):
        # mkdir's mode is narrowed by the umask, never widened: 0700 holds with every umask.
        parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
    if not folder.is_dir():
        raise OSError(errno.ENOTDIR, "Not a directory", str(folder))
    return folder


def open_private(path: Path, flags: int) -> int:
    """Open a file; when it is made it is readable and writable by its owner only.

    Args:
        path: of the file.
        flags: of :func:`os.open`.

    Returns:
        The descriptor.

    Raises:
        OSError: it cannot be opened.
    """
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), FILE_MODE)


def write_private(path: Path, text: str, *, mode: int = FILE_MODE) -> None:
    """Write a text file whole or not at all, with the given mode.

    Args:
        path: of the file; its folder is made, private, where it is missing.
        text: to be written as UTF-8.
        mode: of the file.

    Raises:
        OSError: it cannot be written; what was there is unchanged.
    """
    make_private_folder(path.parent)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".tabwb-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(mode)
        Path(draft).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(draft).unlink()
        raise


def others_can_write(path: Path) -> bool:
    """Return whether another user than the owner of this process (and root) can change a file."""
    if not hasattr(os, "getuid"):
        return False
    status = path.stat()
    return bool(status.st_mode & 0o022) or status.st_uid not in (os.getuid(), 0)


def read_regular(path: Path, limit: int) -> bytes | None:
    """Read a regular file of at most ``limit`` bytes; None where there is no file.

    A pipe, a device or a socket is refused unread: reading it might never end.

    Args:
        path: of the file.
        limit: bytes.

    Raises:
        UsageError: it is not a regular file, is too large, or cannot be read.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            kind = "a pipe" if stat.S_ISFIFO(status.st_mode) else "a device or a socket"
            raise UsageError(f"is {kind}", where=str(path), allowed="a file")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if len(content) > limit:
        raise UsageError("is too large", where=str(path), allowed=f"up to {limit:,} bytes")
    return content
