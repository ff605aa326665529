"""Members of zip archives, read one by one within limits; nothing is ever unpacked to the disk."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Self

from tabwb.plugin_api import MissingExtra, TabwbError
from tabwb.records.files import open_file

MOST_MEMBER = 64 * 2**20
"""The largest member, unpacked."""
MOST_WHOLE = 4 * 2**30
"""All members that are read, unpacked."""
MOST_DIRECTORY = 16 * 2**20
"""The largest table of contents: about 200,000 members."""
_WINDOW = 2**27


class Archive:
    """An open archive. Of several members with one name the last is read, as zip tools do."""

    def __init__(self, path: Path, file: IO[bytes], members: dict[str, zipfile.ZipInfo]) -> None:
        self._path, self._file, self._members = path, file, members
        self._left = MOST_WHOLE

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[Self]:
        """Yield the archive in a file."""
        with ExitStack() as opened:
            try:
                file = opened.enter_context(open_file(path))
                _check_directory(file, path)
                archive = opened.enter_context(zipfile.ZipFile(file))
            except OSError as error:
                reason = error.strerror or error
                raise TabwbError(f"cannot be read: {reason}", where=str(path)) from error
            except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
                raise TabwbError(f"is not a whole zip archive: {error}", where=str(path)) from error
            yield cls(path, file, {info.filename: info for info in archive.infolist()})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members, in the order of the archive."""
        return tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def place(self, name: str) -> str:
        """Return the archive and a member of it, for messages."""
        return f"{self._path} ({name})"

    def read(self, name: str) -> bytes:
        """Return the content of a member."""
        info = self._members[name]
        where = self.place(name)
        if info.flag_bits & 0x1:
            raise TabwbError("is encrypted", where=where)
        most = min(MOST_MEMBER, self._left)
        try:
            content = self._unpacked(info, most, where)
        except (
            zlib.error,
            zipfile.BadZipFile,
            EOFError,
            OSError,
            ValueError,
            struct.error,
        ) as error:
            raise TabwbError(f"is damaged: {error}", where=where) from error
        if len(content) > most:
            raise TabwbError(
                "is too large and was not read",
                where=where,
                allowed=f"up to {MOST_MEMBER // 2**20} MiB a member, {MOST_WHOLE // 2**30} GiB "
                "in all, unpacked",
            )
        if zlib.crc32(content) != info.CRC:
            raise TabwbError("is damaged: its checksum is wrong", where=where)
        self._left -= len(content)
        return content

    def _unpacked(self, info: zipfile.ZipInfo, most: int, where: str) -> bytes:
        """Return the content, or a little more than ``most`` bytes of it."""
        self._file.seek(info.header_offset)
        header = self._file.read(30)
        if header[:4] != b"PK\3\4":
            raise TabwbError("is damaged: it has no header", where=where)
        name, extra = struct.unpack("<HH", header[26:30])
        self._file.seek(name + extra, 1)
        packed = _Part(self._file, info.compress_size)
        match info.compress_type:
            case zipfile.ZIP_STORED:
                return packed.read(most + 1)
            case zipfile.ZIP_DEFLATED:
                return _inflated(packed, most)
            case 93:  # Zstandard, which Python knows from 3.14 on
                return _of_zstandard(packed, most, where)
        raise TabwbError(
            f"is packed with method {info.compress_type}",
            where=where,
            allowed="stored, deflated or Zstandard",
        )


class _Part:
    """The next ``size`` bytes of a file."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        content = self._file.read(wanted)
        self._left -= len(content)
        return content


def _inflated(packed: _Part, most: int) -> bytes:
    unpack = zlib.decompressobj(-zlib.MAX_WBITS)
    content = bytearray()
    pending = b""
    while len(content) <= most and not unpack.eof:
        pending = pending or packed.read(2**16)
        if not pending:
            raise EOFError("it ends in the middle")
        content += unpack.decompress(pending, most + 1 - len(content))
        pending = unpack.unconsumed_tail
    return bytes(content)


def _of_zstandard(packed: _Part, most: int, where: str) -> bytes:
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtra(f"{where}: packed with Zstandard", "interchange") from error
    unpack = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    try:
        with unpack.stream_reader(packed, read_across_frames=True) as reader:  # type: ignore[arg-type]
            content = bytearray()
            while len(content) <= most:
                piece = reader.read(min(2**20, most + 1 - len(content)))
                if not piece:
                    break
                content += piece
            return bytes(content)
    except zstandard.ZstdError as error:
        raise TabwbError(f"is damaged: {error}", where=where) from error


def _check_directory(file: IO[bytes], path: Path) -> None:
    """Refuse a table of contents that would not fit into memory, before it is read."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(0, size - 2**16 - 22 - 20))
    tail = file.read()
    end = tail.rfind(b"PK\5\6")
    if end < 0 or len(tail) - end < 22:
        raise TabwbError("is not a zip archive", where=str(path))
    (length,) = struct.unpack("<L", tail[end + 12 : end + 16])
    if length == 0xFFFFFFFF and end >= 20 and tail[end - 20 : end - 16] == b"PK\6\7":
        (place,) = struct.unpack("<Q", tail[end - 12 : end - 4])
        file.seek(min(place, size))
        record = file.read(56)
        if len(record) == 56:
            (length,) = struct.unpack("<Q", record[40:48])
    if length > MOST_DIRECTORY:
        raise TabwbError(
            "has too many members",
            where=str(path),
            allowed=f"a table of contents of up to {MOST_DIRECTORY // 2**20} MiB",
        )
    file.seek(0)
