"""Writes an export whole or not at all, with its explanation; only its owner can read the files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tabwb.plugin_api.config.settings import data_folder
from tabwb.records.errors import TabwbError
from tabwb.records.files import open_private
from tabwb.records.words import RESEARCH_ONLY
from tabwb.records.workfolder import FOLDER, WorkFolder


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
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TabwbError(
            f"a response holds a character that is not valid text ({error.reason})", where=str(out)
        ) from error
    write_with(out, lambda path: path.write_bytes(content), notes)


def write_with(out: Path, write: Callable[[Path], object], notes: Sequence[str]) -> None:
    """Let ``write`` write the file under another name, then rename it; write the notes.

    Args:
        out: the file.
        write: writes the file at a path.
        notes: paragraphs, as for :func:`write_text`.

    Raises:
        TabwbError: it cannot be written, or the notes would replace another file.
    """
    explanation = "\n\n".join(notes) + "\n"
    beside = out.with_name(out.name + ".README.txt")
    existed = beside.exists()
    if existed and not is_explanation(beside):
        raise TabwbError(
            "is a file that tabwb did not write",
            where=str(beside),
            hint="the explanation of an export goes there: move it, or choose another name",
        )
    # The explanation first, so that there is no export without it.
    _replace(beside, lambda path: path.write_bytes(explanation.encode()))
    try:
        _replace(out, write)
    except TabwbError:
        if not existed:
            beside.unlink(missing_ok=True)
        raise


def write_bytes(out: Path, content: bytes) -> None:
    """Write a file that explains itself: under another name first, then renamed.

    Args:
        out: the file; an existing one is replaced.
        content: its bytes.

    Raises:
        TabwbError: it cannot be written; nothing has changed.
    """
    _replace(out, lambda path: path.write_bytes(content))


def is_explanation(path: Path) -> bool:
    """Return whether a file is the explanation of an export, written by tabwb."""
    try:
        with path.open("rb") as file:
            return file.read(len(RESEARCH_ONLY.encode())) == RESEARCH_ONLY.encode()
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


def _replace(out: Path, write: Callable[[Path], object]) -> None:
    try:
        with draft_of(out) as beside:
            os.close(open_private(beside, os.O_CREAT | os.O_RDWR))
            write(beside)
            with beside.open("rb+") as file:
                os.fsync(file.fileno())
            beside.replace(out)
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise TabwbError(message, where=str(out), hint="choose another place") from error
