"""What tests of several folders share: files of the project, and packages that may be missing."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BATTERIES = ROOT / "batteries"
TAB = BATTERIES / "tab" / "battery.toml"
FORMS = BATTERIES / "forms"
DATA = ROOT / "tests" / "data"
SPEECH = DATA / "speech"
DOG = SPEECH / "dog_d1a4fb3f_0.flac"


def needs(*modules: str) -> None:
    """Skip a file of tests where a package is not installed, and import none of them."""
    for module in modules:
        if find_spec(module) is None:
            pytest.skip(f"needs {module}", allow_module_level=True)


def recordings(folder: Path, *items: str, **clips: str) -> Path:
    """Make a folder with a recording of each item: of "dog", or a file of :data:`SPEECH`."""
    folder.mkdir(parents=True, exist_ok=True)
    for item, clip in {**dict.fromkeys(items, DOG.name), **clips}.items():
        shutil.copy(SPEECH / clip, folder / f"{item}.flac")
    return folder


def typed_table(path: Path, **said: str) -> Path:
    """Write the table of what a person typed of each item."""
    rows = "".join(f"{item}\t{text}\n" for item, text in said.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"utterance_id\ttranscript\n{rows}", encoding="utf-8")
    return path
