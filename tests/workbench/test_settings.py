"""What is remembered from one opening to the next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabwb.workbench.shell import settings
from tests.workbench.seat import Sit


async def test_folds_and_widths_are_remembered(sit: Sit, battery: str) -> None:
    async with sit((160, 48)) as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.press("f3", "right_curly_bracket")
        assert not seat.desk.query_one("#explorer-dock").display
    async with sit((160, 48)) as seat:
        assert not seat.desk.query_one("#explorer-dock").display
        await seat.begin(battery=battery, model="echo")
        assert seat.desk.query_one("#scores-dock").region.width == 48


async def test_the_theme_is_remembered(sit: Sit) -> None:
    async with sit() as seat:
        assert seat.app.theme == "dark"
        await seat.press("f5")
        assert seat.app.theme == "light"
    async with sit() as seat:
        assert seat.app.theme == "light"


def test_what_is_damaged_is_as_if_new(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    damaged = '{"theme": "pink", "explorer_width": "x", "scores": 3}'
    unshown = r'{"microphone": "\ud800", "begun": {"seed": 1, "model": "\u001b[2J"}}'
    for text in ("", "{", "[]", "[" * 100_000, damaged, unshown):
        path.write_text(text, encoding="utf-8")
        assert settings.load(path) == settings.Remembered()
    path.write_text(json.dumps({"scores_width": 999}), encoding="utf-8")
    assert settings.load(path).scores_width == settings.MAX_WIDTH


def test_memory_lies_in_the_configuration_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(tmp_path / "here"))
    assert settings.save(settings.Remembered(theme="light"))
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["workbench.json"]
    assert settings.load().theme == "light"
