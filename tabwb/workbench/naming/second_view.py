"""The picture for a second terminal, through one small file beside the store.

The file holds the picture that is before the speaker, as the battery has it, and nothing else; it
is empty between items, and gone when nothing is administered. Only its user may read it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tabwb.store import takes
from tabwb.store.store import Store

FILE_NAME = "picture"


def path_of(store: Store) -> Path:
    """Where the picture of a store's administration lies."""
    return takes.folder_of(store) / FILE_NAME


class Showing:
    """Puts pictures there. A second terminal that cannot be served never stops an administration.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def show(self, picture: bytes) -> None:
        """Show this picture; nothing with no bytes."""
        passing = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            passing.unlink(missing_ok=True)
            with os.fdopen(
                os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                file.write(picture)
            passing.replace(self._path)

    def blank(self) -> None:
        """Show nothing."""
        self.show(b"")

    def end(self) -> None:
        """Nothing is administered any more."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def read(path: Path) -> bytes | None:
    """What is shown: a picture, nothing (empty), or None while nothing is administered."""
    try:
        return path.read_bytes()
    except OSError:
        return None
