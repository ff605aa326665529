"""What importers share: reading of files, folders and archives, and times in them."""

from __future__ import annotations

import json
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Self

from tabwb.plugin_api import MissingExtra, TabwbError, draft_of
from tabwb.records.files import is_stdin, open_file, read_stdin
from tabwb.records.speakers import README, origin_line
from tabwb.records.words import RESEARCH_ONLY


def moment_of(value: object) -> str:
    """Return a moment as the store has it (UTC, milliseconds); empty where it is not one.

    >>> moment_of("2026-11-20T12:00:00.5+02:00"), moment_of(1_700_000_000), moment_of("soon")
    ('2026-11-20T10:00:00.500+00:00', '2023-11-14T22:13:20.000+00:00', '')
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            moment = datetime.fromtimestamp(value, UTC)
        else:
            return ""
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""


@dataclass(slots=True)
class NewFolder:
    """The draft of a folder.

    Attributes:
        path: where its files are written.
        notices: what the text beside them says.
    """

    path: Path
    notices: dict[str, None] = field(default_factory=lambda: {RESEARCH_ONLY: None})

    def tell_of(self, document: Mapping[str, Any]) -> None:
        """Add the notices of an administration, and who made its responses."""
        given = document["administration"]
        self.notices |= dict.fromkeys(document["notices"])
        line = origin_line(given["uid"], given["origin"], given.get("participant"))
        self.notices[line] = None


@contextmanager
def new_folder(out: Path, explanation: str) -> Iterator[NewFolder]:
    """Yield the draft of a folder; put it at ``out`` with its README.txt afterwards."""
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise TabwbError(
                "exists and is not an empty folder",
                where=str(out),
                hint="choose another name",
            )
        with draft_of(out) as draft:
            draft.mkdir(mode=0o700)
            folder = NewFolder(draft)
            yield folder
            text = "\n\n".join([*folder.notices, explanation]) + "\n"
            (draft / README).write_text(text, encoding="utf-8")
            for path in draft.rglob("*"):
                path.chmod(0o700 if path.is_dir() else 0o600)
            if out.exists():
                out.rmdir()
            draft.replace(out)
    except OSError as error:
        raise TabwbError(
            f"cannot be written: {error.strerror or error}",
            where=str(out),
            hint="choose another place",
        ) from error


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


MOST_BYTES = 256 * 2**20
"""The largest file that is read whole."""


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file, or of standard input for ``-``."""
    if is_stdin(path):
        content = read_stdin(most + 1)
    else:
        try:
            with open_file(path) as file:
                content = file.read(most + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise TabwbError(f"cannot be read: {reason}", where=str(path)) from error
    if len(content) > most:
        raise TabwbError(
            "is too large and was not read",
            where=str(path),
            allowed=f"up to {most // 2**20} MiB",
            hint="split it into several files",
        )
    return content


def text_of(content: bytes, where: str) -> str:
    """Return bytes as text."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TabwbError("is UTF-16", where=where, allowed="UTF-8", hint="save it as 'CSV UTF-8'")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TabwbError(
            f"is not UTF-8: byte 0x{content[error.start]:02x}",
            where=f"{where}:{line}",
            allowed="text in UTF-8",
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TabwbError("holds a NUL byte", where=f"{where}:{line}", allowed="text in UTF-8")
    return text


def parsed(text: str, where: str, allowed: str = "JSON") -> Any:
    """Return the value of a JSON text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise TabwbError(
            f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})",
            where=where,
            allowed=allowed,
        ) from error
    except (RecursionError, ValueError) as error:
        # Nested more deeply, or with longer numbers, than any such file.
        raise TabwbError(f"cannot be read: {error}", where=where, allowed=allowed) from error


def table_of(value: object, where: str, what: str) -> dict[str, Any]:
    """Return a JSON object."""
    if not isinstance(value, dict):
        raise TabwbError(
            f"{what} is {kind_of(value)}", where=where, allowed="a JSON object ({...})"
        )
    return value


def list_of(value: object, where: str, what: str) -> list[Any]:
    """Return a JSON array."""
    if not isinstance(value, list):
        raise TabwbError(f"{what} is {kind_of(value)}", where=where, allowed="a JSON array ([...])")
    return value


def mapping(value: object) -> dict[str, Any]:
    """Return a JSON object, empty where the value is something else."""
    return value if isinstance(value, dict) else {}


def kind_of(value: object) -> str:
    """Return what a JSON value is, in words.

    >>> kind_of(None), kind_of(True), kind_of([]), kind_of("x")
    ('missing', 'true', 'an array', "the text 'x'")
    """
    match value:
        case None:
            return "missing"
        case bool():
            return str(value).lower()
        case dict():
            return "an object"
        case list():
            return "an array"
        case str():
            return f"the text {value[:40]!r}"
    return f"the number {value!r:.40}"


def number_of(value: object) -> int | float | None:
    """Return a finite number of JSON or of text, or None where it is something else.

    >>> number_of(3), number_of("9007199254740993"), number_of(" 1e3 "), number_of("1e999")
    (3, 9007199254740993, 1000.0, None)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return None
    try:
        # Through a float a large seed would lose digits.
        return int(value) if isinstance(value, int | str) else number
    except ValueError:
        return number


def whole(value: object, low: int = 0, high: int = 2**63 - 1) -> int | None:
    """Return a whole number of JSON within the limits, or None where it is something else.

    >>> whole(3), whole(3.0), whole("3"), whole(True), whole(-1)
    (3, 3, None, None, None)
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and low <= value <= high else None


def real(value: object, low: float = 0.0, high: float = math.inf) -> float | None:
    """Return a finite number of JSON within the limits, or None where it is something else.

    >>> real(0.5), real(2), real("2"), real(float("nan")), real(-1)
    (0.5, 2.0, None, None, None)
    """
    if type(value) not in (int, float):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        return None
    return number if math.isfinite(number) and low <= number <= high else None


def words_of(value: object) -> str:
    """Return text of JSON, empty where it is something else."""
    return value if isinstance(value, str) else ""


def plain_text(value: object, most: int = 2_000) -> str:
    """Return any JSON value as one plain string, shortened.

    >>> plain_text("a"), plain_text([1, None]), plain_text("x" * 10, 5)
    ('a', '[1, null]', 'xxxx…')
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else text[: most - 1] + "…"
