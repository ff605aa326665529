"""Files and folders of one user, and marks of running processes.

Speech, and settings that decide which code runs, are private to the user. Every function sets the
mode itself, whatever the process's umask. A mark is a file that is locked as long as its process
lives, so that files of a killed process are distinguished from those of a living one without
process numbers, which are reused. A work folder holds temporary copies of speech; that of a killed
process remains, unlocked, and the next start removes it, together with the drafts elsewhere (of a
backup or an export) that its journal names. ``-`` names standard input and standard output.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Self, TextIO

from tabwb.records.errors import TabwbError, UsageError

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_private_folder(folder: Path) -> Path:
    """Make a folder with its parents, readable by its owner only; one that exists stays as it
    is.
    """
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            # mkdir's mode is narrowed by the umask, never widened: 0700 holds with every umask.
            path.mkdir(mode=FOLDER_MODE, exist_ok=True)
    if not folder.is_dir():
        raise OSError(errno.ENOTDIR, "Not a directory", str(folder))
    return folder


def open_private(path: Path, flags: int) -> int:
    """Open a file; when it is made it is readable and writable by its owner only."""
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), FILE_MODE)


def write_private(path: Path, text: str, *, mode: int = FILE_MODE) -> None:
    """Write a text file whole or not at all, with the given mode."""
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


def sync_file(path: Path) -> None:
    """Have the disk keep a file that was written; on Windows only who may write can ask for it."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def is_inside(folder: Path, name: str) -> bool:
    """Return whether a name in a file leads to a place inside its folder, links followed.

    >>> is_inside(Path("/data"), "a/b.wav"), is_inside(Path("/data"), "../b.wav")
    (True, False)
    """
    try:
        # Not Path.resolve: that raises where a link leads back to itself.
        place = Path(os.path.realpath(folder / name))
    except (OSError, ValueError):  # a null character
        return False
    return not Path(name).is_absolute() and place.is_relative_to(os.path.realpath(folder))


def file_inside(folder: Path, name: str, where: str) -> Path:
    """Return the file that a table of a folder names."""
    if not is_inside(folder, name):
        raise UsageError(
            f"{name!r} lies outside the folder",
            where=where,
            allowed="a file in the folder itself; copy it there",
        )
    if not (folder / name).is_file():
        raise UsageError(f"there is no file '{name}'", where=where)
    return folder / name


def check_inside(folder: Path, files: Iterable[Path]) -> None:
    """Refuse files found in a folder that are links which lead out of it."""
    for file in files:
        file_inside(folder, os.path.relpath(file, folder), str(folder))


def sync_folder(folder: Path) -> None:
    """Have the disk keep that the files of a folder are there; nothing on Windows."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def others_can_write(path: Path) -> bool:
    """Return whether another user than the owner of this process (and root) can change a file."""
    if not hasattr(os, "getuid"):
        return False
    status = path.stat()
    return bool(status.st_mode & 0o022) or status.st_uid not in (os.getuid(), 0)


def expanded(text: str | Path) -> Path:
    """Return a path with the home folder in place of ``~``.

    Unlike :meth:`~pathlib.Path.expanduser` it leaves ``~name`` where no user has that name.

    >>> expanded("~nobody-has-this-name/file").parts[0]
    '~nobody-has-this-name'
    """
    return Path(os.path.expanduser(text))  # noqa: PTH111


_OF_THE_MACHINE = {errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
"""Failures for which the words of a command are not to blame."""


_SUBSTITUTED = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""What a shell hands over for ``<(command)``; such a pipe has a writer."""


def open_file(path: Path) -> BufferedReader:
    """Open a file to read its bytes.

    A device, a socket or a named pipe is refused unopened: reading it might never end. The pipe
    of a shell's ``<(command)`` is a file here, and so is the null device.
    """
    try:
        mode = path.stat().st_mode
    except ValueError as error:  # half a character, or a null
        raise FileNotFoundError(errno.ENOENT, "is not the name of a file", str(path)) from error
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, "is a directory", str(path))
    piped = stat.S_ISFIFO(mode) and str(path).startswith(_SUBSTITUTED)
    if not (stat.S_ISREG(mode) or piped or str(path) == os.devnull):
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return path.open("rb")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    import hashlib

    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_regular(path: Path, limit: int) -> bytes | None:
    """Read a regular file of at most ``limit`` bytes; None where there is no file."""
    try:
        with open_file(path) as file:
            content = file.read(limit + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        failure = TabwbError if error.errno in _OF_THE_MACHINE else UsageError
        raise failure(f"cannot be read: {error.strerror}", where=str(path)) from error
    if len(content) > limit:
        raise UsageError("is too large", where=str(path), allowed=f"up to {limit:,} bytes")
    return content


_held: set[int] = set()


def claim(path: Path) -> int | None:
    """Make a mark and return its descriptor for :func:`release`.

    None where a living process holds it already.
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
    """Hold the mark of a process that has ended; None where it lives or there is no mark."""
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
    """Return whether no living process holds this mark; True where there is none."""
    descriptor = take_over(path)
    if descriptor is None:
        return not path.exists()
    release(descriptor)
    return True


def release(descriptor: int, path: Path | None = None) -> None:
    """Give a mark back."""
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


FOLDER = "work"
"""The folder of work folders, in the user's data folder and beside a store's recordings."""
PREFIX = "work-"
DRAFT = ".tabwb-draft-"
"""Every draft elsewhere has this in its name, so that nothing else can be removed for one."""
_LOCK, _JOURNAL = "lock", "drafts.json"
_GATE = ".gate"


class WorkFolder:
    """A private folder of this process; removed by :meth:`close`, or by the next start."""

    def __init__(self, root: Path) -> None:
        make_private_folder(root)
        with _gate(root):
            _sweep(root)
            self._folder = Path(tempfile.mkdtemp(dir=root, prefix=PREFIX))
            descriptor = claim(self._folder / _LOCK)
        assert descriptor is not None, "nobody else knows this folder yet"
        self._descriptor = descriptor
        self._drafts: list[tuple[Path, Path | None]] = []
        self.path = make_private_folder(self._folder / "files")

    def draft(self, out: Path) -> Path:
        """Return a name beside ``out`` for a draft of it, after noting it in the journal."""
        number = len(self._drafts)
        draft = out.absolute().with_name(f"{_mark(self._folder)}{number}-{out.name}"[:200])
        self._note(draft, None)
        return draft

    def moving(self, draft: Path, final: Path, unless: Path) -> None:
        """Move a draft folder to its final name, which counts as a draft until ``unless`` is
        there.
        """
        (draft / _mark(self._folder)).touch(mode=0o600)
        self._note(final.absolute(), unless.absolute())
        draft.rename(final)

    def _note(self, path: Path, unless: Path | None) -> None:
        self._drafts.append((path, unless))
        rows = [[str(draft), str(other or "")] for draft, other in self._drafts]
        write_private(self._folder / _JOURNAL, json.dumps(rows))

    def close(self) -> None:
        """Remove the folder and the drafts that are left; may be called twice."""
        for draft, unless in self._drafts:
            _remove(draft, unless, _mark(self._folder))
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            (self._folder / _JOURNAL).unlink(missing_ok=True)
        release(self._descriptor, self._folder / _LOCK)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def sweep(root: Path) -> None:
    """Remove what ended processes left in their work folders, and their drafts elsewhere.

    A draft on a medium that is not there now is removed by a later start.
    """
    with suppress(OSError):
        if not any(root.glob(f"{PREFIX}*")):
            return
        with _gate(root):
            _sweep(root)


@contextmanager
def _gate(root: Path) -> Iterator[None]:
    """Making and sweeping exclude each other: a folder without its lock is never seen."""
    descriptor = _wait(root / _GATE)
    try:
        yield
    finally:
        release(descriptor)


def _wait(path: Path) -> int:
    until = time.monotonic() + 10
    while (descriptor := claim(path)) is None:
        if time.monotonic() > until:
            raise TimeoutError(110, "another process holds it", str(path))
        time.sleep(0.005)
    return descriptor


def _sweep(root: Path) -> None:
    for folder in root.glob(f"{PREFIX}*"):
        lock = folder / _LOCK
        try:
            # Without a lock its maker was killed before it could put anything into it.
            descriptor = take_over(lock) if lock.exists() else None
            if descriptor is None and lock.exists():
                continue
            mark = _mark(folder)
            # Every draft is tried, also after one that cannot be removed now.
            removed = [_remove(*draft, mark) for draft in _drafts_of(folder)]
            shutil.rmtree(folder if all(removed) else folder / "files", ignore_errors=True)
            if descriptor is not None:
                release(descriptor)
        except OSError:
            continue


def _mark(folder: Path) -> str:
    return f"{DRAFT}{folder.name.removeprefix(PREFIX)}-"


def _drafts_of(folder: Path) -> list[tuple[Path, Path | None]]:
    try:
        rows = json.loads((folder / _JOURNAL).read_text(encoding="utf-8"))
        return [(Path(path), Path(unless) if unless else None) for path, unless in rows]
    except (OSError, ValueError, TypeError, RecursionError):
        return []


def _remove(draft: Path, unless: Path | None, mark: str) -> bool:
    """Remove a draft with what lies beside it, if marked as its own; True when all is done."""
    if not draft.parent.is_dir():
        # Inside a draft that was removed before it, or on a medium that is not there now.
        return draft.parent.name.startswith(DRAFT)
    if not draft.name.startswith(mark):
        inside = draft / mark
        if not inside.is_file():
            return True
        if unless is not None and unless.exists():
            with suppress(OSError):
                inside.unlink()
            return True
    for path in draft.parent.glob(f"{escape(draft.name)}*"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)
    return not os.path.lexists(draft)


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
        from tabwb.records.words import json_escaped

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
