"""Where work folders of a store lie: copies of what people said, for the time of one process."""

from __future__ import annotations

from pathlib import Path

from tabwb.records import workfolder
from tabwb.store.location import data_folder


def beside(store: Path) -> Path:
    """Return the root of the work folders beside an embedded store; see :mod:`.workfolder`."""
    return store.with_name(f"{store.name}.takes") / workfolder.FOLDER


def of_user() -> Path:
    """Return the root of the work folders of what belongs to no embedded store."""
    return data_folder() / workfolder.FOLDER
