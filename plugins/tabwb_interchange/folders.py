"""A new folder, written whole or not at all, that only its owner can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabwb.plugin_api import TabwbError, draft_of
from tabwb.records.speakers import README, origin_line
from tabwb.records.words import RESEARCH_ONLY


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
