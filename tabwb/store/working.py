"""Working folders of processes, beside a store: copies of what people said, for a short time."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "working-"


def make(folder: Path) -> Path:
    """A new working folder of this process, after :func:`sweep`."""
    sweep(folder)
    return Path(tempfile.mkdtemp(dir=folder, prefix=f"{PREFIX}{os.getpid()}-"))


def sweep(folder: Path) -> None:
    """Remove what processes left that have ended: a voice stays nowhere that nobody looks."""
    for left in folder.glob(f"{PREFIX}*"):
        if not _is_alive(left.name.removeprefix(PREFIX).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)


def _is_alive(pid: str) -> bool:
    if not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
