"""Files of one kind that come with tabwb or are in the user's configuration folder, by id."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from tabwb.plugin_api.config.settings import config_folder


def bundled_folder(kind: str) -> Path:
    """Return the folder of the files of a kind (``judges``, ``forms``) that come with tabwb."""
    batteries = find_spec("tabwb_batteries")
    (root, *_) = (batteries and batteries.submodule_search_locations) or ("",)
    return Path(root) / kind


def own_files(
    kind: str, noun: str, name_problem: Callable[[str], str]
) -> tuple[dict[str, Path], list[str]]:
    """Return the TOML files of a kind by id, and the problems of other files' names.

    A file has its id as its name: ``tab-19.toml``. A file of tabwb is never replaced: an id must
    mean the same on every machine.

    Args:
        kind: name of the folder.
        noun: for messages.
        name_problem: returns why a word cannot be an id; empty where it can.
    """
    files: dict[str, Path] = {}
    wrong: list[str] = []
    for folder in (bundled_folder(kind), config_folder(os.environ) / kind):
        for path in sorted(folder.glob("*.toml"), key=lambda path: path.stem):
            if problem := name_problem(path.stem):
                wrong.append(f"{path}: {problem}")
            elif path.stem in files:
                wrong.append(
                    f"{path}: a {noun} '{path.stem}' comes with tabwb; choose another name"
                )
            else:
                files[path.stem] = path
    return files, wrong
