"""Where a file may be written: a new place, or a file that may be replaced."""

from __future__ import annotations

from pathlib import Path

from tabwb.host.writing import promise
from tabwb.records.errors import TabwbError

SQLITE = b"SQLite format 3\0"
"""The first bytes of every SQLite file, thus of every embedded store and of its backups."""


IN_PYTHON = "choose another name, or pass force=True"
"""What to do about a file that already exists, for functions with ``force``."""


def check_destination(
    out: Path, *, force: bool = False, remedy: str = "choose another name"
) -> Path:
    """Return the file to write; a link is followed to its target."""
    try:
        # A link is followed: to replace the link itself would leave the file it names as it was.
        place = out.expanduser().resolve() if out.is_symlink() else out.expanduser()
        if place.exists():
            _check_existing(place, force=force, remedy=remedy)
            promise(place, replaces=True)
        elif not place.parent.is_dir():
            raise TabwbError(
                f"there is no folder '{place.parent}'", where=str(out), hint="make it first"
            )
        else:
            promise(place, replaces=force)
    except (OSError, RuntimeError, ValueError) as error:
        # RuntimeError: links that go round in a circle; ValueError: a NUL in the name.
        reason = getattr(error, "strerror", None) or str(error)
        raise TabwbError(f"cannot be written: {reason}", where=str(out)) from error
    return place


def _check_existing(place: Path, *, force: bool, remedy: str) -> None:
    if place.is_dir():
        raise TabwbError(
            "this folder already exists",
            where=str(place),
            allowed="a file in it; for a format that writes a folder, a new name",
        )
    if not place.is_file():
        raise TabwbError("this is a device or a pipe", where=str(place), allowed="a file")
    with place.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            raise TabwbError(
                "this is a store or another database, which no export replaces", where=str(place)
            )
    if not force:
        raise TabwbError("the file already exists", where=str(place), hint=remedy)
