"""Writes an export whole or not at all, with its explanation; only its owner can read the files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tabwb.host.settings import data_folder
from tabwb.records.errors import TabwbError
from tabwb.records.files import FOLDER, WorkFolder, open_private
from tabwb.records.words import RESEARCH_ONLY

_FREE: set[Path] = set()
"""Names at which there was no file when a command began, see :func:`promise`."""
_BUFFER = 1_000_000
"""Characters that are put together before they are written."""


def write_text(out: Path, text: str, notes: Sequence[str]) -> None:
    """Write a text file and, beside it, ``OUT.README.txt`` with the notes.

    Args:
        out: the file; an existing one is replaced.
        text: its content.
        notes: paragraphs. The first is :data:`~tabwb.records.words.RESEARCH_ONLY`, which marks an
            older explanation as one that may be replaced.

    Raises:
        TabwbError: as :func:`write_with`; nothing has changed.
    """
    write_pieces(out, lambda file: file.write(text), notes)


def write_with(
    out: Path,
    write: Callable[[Path], object],
    notes: Sequence[str] | Callable[[], Sequence[str]],
) -> None:
    """Let ``write`` write the file under another name, then write the notes and rename the file.

    Args:
        out: the file.
        write: writes the file at a path.
        notes: paragraphs, as for :func:`write_text`; or a function that returns them once the file
            is written.

    Raises:
        TabwbError: it cannot be written, or the notes would replace another file.
    """
    beside = out.with_name(out.name + ".README.txt")
    existed = beside.exists()
    if existed and not is_explanation(beside):
        raise TabwbError(
            "is a file that tabwb did not write",
            where=str(beside),
            hint="the export needs this name: move the file, or choose another name",
        )
    with _unwritable(out), draft_of(out) as draft:
        _written(draft, write)
        _check_free(out)
        explanation = "\n\n".join(notes() if callable(notes) else notes) + "\n"
        # The explanation first, so that there is no export without it.
        with _unwritable(beside), draft_of(beside) as text:
            _written(text, lambda path: path.write_bytes(explanation.encode()))
            text.replace(beside)
        try:
            draft.replace(out)
        except OSError:
            if not existed:
                beside.unlink(missing_ok=True)
            raise


def promise(out: Path, *, replaces: bool) -> None:
    """Keep in mind whether a file that is written later may replace one.

    Between this and the writing all is computed, and another program may write the same name.
    """
    (_FREE.discard if replaces else _FREE.add)(out.absolute())


def _check_free(out: Path) -> None:
    if out.absolute() in _FREE and out.exists():
        raise TabwbError(
            "another program wrote this file in the meantime",
            where=str(out),
            hint="it was not changed: choose another name",
        )
    _FREE.discard(out.absolute())


class TextFile:
    """Writes text in pieces to a file, UTF-8; pieces are put together to one megabyte."""

    def __init__(self, file: BinaryIO, where: Path) -> None:
        self._file, self._where = file, where
        self._pieces: list[str] = []
        self._size = 0

    def write(self, text: str | bytes) -> None:
        """Write a piece; bytes as they are."""
        if isinstance(text, bytes):
            self.flush()
            self._file.write(text)
            return
        self._pieces.append(text)
        self._size += len(text)
        if self._size > _BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write what was put together.

        Raises:
            TabwbError: it holds a character that is not valid text.
        """
        text = "".join(self._pieces)
        self._pieces, self._size = [], 0
        try:
            self._file.write(text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise TabwbError(
                f"a response holds a character that is not valid text ({error.reason})",
                where=str(self._where),
            ) from error


def write_pieces(
    out: Path,
    write: Callable[[TextFile], object],
    notes: Sequence[str] | Callable[[], Sequence[str]],
) -> None:
    """Write a text file in pieces and, beside it, its notes; as :func:`write_with`.

    Args:
        out: the file.
        write: writes the text.
        notes: paragraphs, or a function that returns them once the text is written.

    Raises:
        TabwbError: as :func:`write_with`; nothing has changed.
    """

    def to_file(path: Path) -> None:
        with path.open("wb") as file:
            text = TextFile(file, out)
            write(text)
            text.flush()

    write_with(out, to_file, notes)


def write_bytes(out: Path, content: bytes) -> None:
    """Write a file that explains itself: under another name first, then renamed.

    Raises:
        TabwbError: it cannot be written; nothing has changed.
    """
    with _unwritable(out), draft_of(out) as draft:
        _written(draft, lambda path: path.write_bytes(content))
        _check_free(out)
        draft.replace(out)


PACKAGE_START = '{\n  "tabwb": "'
"""How every description of an export (``datapackage.json``) begins."""


def is_explanation(path: Path) -> bool:
    """Return whether a file is the explanation or description of an export, written by tabwb."""
    starts = RESEARCH_ONLY.encode(), PACKAGE_START.encode()
    try:
        with path.open("rb") as file:
            return file.read(max(map(len, starts))).startswith(starts)
    except OSError:
        return False


@contextmanager
def draft_of(out: Path) -> Iterator[Path]:
    """Yield a path beside ``out`` for a draft; remove the draft at the end.

    If the process is killed, the next start removes it. Without a writable data folder there is no
    journal of drafts, and a killed process leaves its draft.
    """
    try:
        work = WorkFolder(data_folder(os.environ) / FOLDER)
        draft = work.draft(out)
    except OSError:
        draft = out.with_name(f".{out.name}.{os.getpid()}.part")
        try:
            yield draft
        finally:
            if draft.is_dir():
                shutil.rmtree(draft, ignore_errors=True)
            draft.unlink(missing_ok=True)
        return
    with work:
        yield draft


def _written(draft: Path, write: Callable[[Path], object]) -> None:
    """Let a draft be written for its owner only, and see that it is on the disk."""
    os.close(open_private(draft, os.O_CREAT | os.O_RDWR))
    write(draft)
    with draft.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def _unwritable(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise TabwbError(message, where=str(out), hint="choose another place") from error
