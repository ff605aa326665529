"""The hash of a plugin changes with its code, wherever the file is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from tabwb.plugin_api.registry.identity import identity_of


def test_two_files_of_one_name_cannot_change_places_unseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "swapped"
    texts = {"a": "x = 1", "b": "x = 2"}
    for folder, text in texts.items():
        (package / folder).mkdir(parents=True)
        (package / folder / "rule.py").write_text(text, encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    module = ModuleType("swapped")
    module.__file__ = str(package / "__init__.py")
    monkeypatch.setitem(sys.modules, "swapped", module)
    before = identity_of(module, "swapped", "1")
    assert before.sha256 and before == identity_of(module, "swapped", "1")
    for folder, other in (("a", "b"), ("b", "a")):
        (package / folder / "rule.py").write_text(texts[other], encoding="utf-8")
    assert identity_of(module, "swapped", "1") != before
