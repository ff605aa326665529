"""A WAV file that grows: whole at every moment, whatever happens to the program that writes it.

The sizes in a WAV's header usually stay wrong until it is closed. Here they follow every block:
first the sound is written, then the header that tells of it, so that any reader takes all there is,
while it grows and after a SIGKILL. What only a power failure can leave, :func:`repair` puts right.

24-bit PCM is what archives of speech ask for (IASA TC-04: 48 kHz, 24 bits). With 16, an input
turned low, so that nothing clips, would leave a soft voice few bits.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
from pathlib import Path
from typing import BinaryIO

from tabwb.records.errors import TabwbError
from tabwb.records.files import sync_folder

WIDTH = 3
"""Bytes of a sample."""
HEADER = 44
MOST_BYTES = 2**32 - 1 - HEADER
"""Sizes in a WAV have 32 bits: eight hours of one channel at 48 kHz."""


class WavWriter:
    """Writes PCM to a new file of mode 0600, which a lock marks as growing."""

    def __init__(self, path: Path, rate: int, channels: int) -> None:
        self.path = path
        self.frames = 0
        self._rate = rate
        self._channels = channels
        self._frame = channels * WIDTH
        # Never over anything: what was recorded stays.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        self._file: BinaryIO = os.fdopen(descriptor, "r+b", buffering=0)
        lock(self._file)
        try:
            _write_all(self._file, header(rate, channels, 0))
            self.sync()
        except OSError:
            self._file.close()
            path.unlink()  # not even a header: there is nothing to keep
            raise
        sync_folder(path.parent)

    def write(self, block: bytes) -> None:
        """Append whole frames."""
        end = HEADER + self.frames * self._frame
        try:
            if end + len(block) > MOST_BYTES:
                raise OSError(errno.EFBIG, "a WAV holds 4 GB at most", str(self.path))
            self._file.seek(end)
            _write_all(self._file, block)
        finally:
            written = self._file.seek(0, os.SEEK_END) - HEADER
            self.frames = written // self._frame
            self._file.seek(0)
            self._file.write(header(self._rate, self._channels, self.frames))

    def sync(self) -> None:
        """Have the disk keep what was written; may take long."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """End the file."""
        _pad(self._file, self.frames * self._frame)
        self.sync()
        self._file.close()


def header(rate: int, channels: int, frames: int) -> bytes:
    r"""Return the 44 bytes of a WAV header.

    >>> header(48_000, 1, 0)[:12], len(header(48_000, 1, 0))
    (b'RIFF$\x00\x00\x00WAVE', 44)
    """
    frame = channels * WIDTH
    size = frames * frame
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", HEADER - 8 + size + size % 2, b"WAVE"),
        *(b"fmt ", 16, 1, channels, rate, rate * frame, frame, 8 * WIDTH),
        *(b"data", size),
    )


def repair(path: Path) -> tuple[int, int, int]:
    """Let the header of a file that was left growing tell of every whole frame in it."""
    with path.open("r+b", buffering=0) as file:
        if not lock(file):
            raise TabwbError("is still being recorded", where=str(path))
        head = file.read(HEADER)
        if len(head) < HEADER or head[:4] + head[8:16] + head[36:40] != b"RIFFWAVEfmt data":
            raise TabwbError(
                "is not an interrupted recording of this program",
                where=str(path),
                hint="a sound file from elsewhere is read as it is",
            )
        channels, rate = struct.unpack_from("<HI", head, 22)
        (frame,) = struct.unpack_from("<H", head, 32)
        frames = (file.seek(0, os.SEEK_END) - HEADER) // frame
        whole = header(rate, channels, frames)
        if whole != head:
            file.seek(0)
            file.write(whole)
            _pad(file, frames * frame)
            os.fsync(file.fileno())
        return rate, channels, frames


def _write_all(file: BinaryIO, data: bytes) -> None:
    """Write all bytes, also where a disk that becomes full takes only a part at first."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _pad(file: BinaryIO, size: int) -> None:
    """Write the byte that makes a chunk of a RIFF file even; a full disk is ignored."""
    if size % 2:
        with contextlib.suppress(OSError):
            file.seek(HEADER + size)
            file.write(b"\0")


def is_growing(path: Path) -> bool:
    """Return whether some process is writing this file now."""
    try:
        with path.open("r+b") as file:
            return not lock(file)
    except OSError:
        return False


def lock(file: BinaryIO) -> bool:
    """Take the lock of a growing file until it is closed; False where another has it."""
    try:
        import fcntl
    except ImportError:  # Windows: a file that is open for writing there cannot be moved anyway
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


_BINARY = getattr(os, "O_BINARY", 0)
