"""What tests of several folders share: files of the project, and packages that may be missing."""

from __future__ import annotations

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
