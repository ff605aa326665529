"""Layout and theme, kept in a small JSON file."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from tabwb.plugin_api.config.settings import config_folder
from tabwb.records.files import write_private
from tabwb.workbench.shell.themes import NAMES

FILE_NAME = "workbench.json"
MIN_WIDTH, MAX_WIDTH = 16, 60


@dataclass(frozen=True, slots=True)
class Remembered:
    """Settings of the user interface that are kept.

    Attributes:
        theme: one of :data:`tabwb.workbench.shell.themes.NAMES`, or empty for the configuration's.
        explorer, scores: whether the docks stand (from 100 columns up).
        explorer_width, scores_width: columns.
        notice_seen: the research-only sentence was shown once.
        microphone: name of the microphone for spoken naming, or empty for the system's own.
    """

    theme: str = ""
    explorer: bool = True
    scores: bool = True
    explorer_width: int = 26
    scores_width: int = 44
    notice_seen: bool = False
    microphone: str = ""


def load(path: Path | None = None) -> Remembered:
    """Return the kept settings, with the default for every missing or damaged value."""
    path = path or config_folder(os.environ) / FILE_NAME
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Remembered()
    if not isinstance(found, dict):
        return Remembered()
    new = Remembered()
    kept = {
        one.name: found[one.name]
        for one in fields(Remembered)
        if type(found.get(one.name)) is type(getattr(new, one.name))
    }
    for name in ("explorer_width", "scores_width"):
        if name in kept:
            kept[name] = min(max(kept[name], MIN_WIDTH), MAX_WIDTH)
    if kept.get("theme") not in NAMES:
        kept.pop("theme", None)
    return Remembered(**kept)


def save(remembered: Remembered, path: Path | None = None) -> bool:
    """Write the settings atomically; return False if the folder cannot be written."""
    path = path or config_folder(os.environ) / FILE_NAME
    try:
        write_private(path, json.dumps(asdict(remembered), indent=1) + "\n")
    except OSError:
        return False
    return True
