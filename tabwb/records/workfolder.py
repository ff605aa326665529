"""Work folders for temporary copies of speech, removed also after a crash.

The work folder of a killed process remains, unlocked, and the next start removes it, together with
the drafts elsewhere (of a backup or an export) that its journal names.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Self

from tabwb.records.files import claim, make_private_folder, release, take_over, write_private

FOLDER = "work"
"""The folder of work folders, in the user's data folder and beside a store's recordings."""
PREFIX = "work-"
DRAFT = ".tabwb-draft-"
"""Every draft elsewhere has this in its name, so that nothing else can be removed for one."""
_LOCK, _JOURNAL = "lock", "drafts.json"
_GATE = ".gate"


class WorkFolder:
    """A private folder of this process; removed by :meth:`close`, or by the next start.

    Attributes:
        path: the folder for files.
    """

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
