"""The command that adds a package to the environment that tabwb runs in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tabwb.records.errors import MissingPackage
from tabwb.records.system import extra_command, package_command

RECEIPT = """
[tool]
requirements = [{ name = "tabwb", extras = ["audio"] }, { name = "my-words" }]
"""


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the environment."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("prefix")
def test_pip_is_the_default() -> None:
    assert extra_command("local") == 'pip install "tabwb[local]"'
    assert package_command("whisper") == "pip install whisper"


def test_pipx_injects_what_the_extra_requires(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").touch()
    assert extra_command("keyring") == 'pipx inject tabwb "keyring>=25"'
    assert package_command("whisper") == "pipx inject tabwb whisper"


def test_uv_is_told_again_what_is_there(prefix: Path) -> None:
    (prefix / "uv-receipt.toml").write_text(RECEIPT, encoding="utf-8")
    assert extra_command("local") == 'uv tool install "tabwb[audio,local]" --with my-words'
    assert package_command("whisper") == (
        'uv tool install "tabwb[audio]" --with my-words --with whisper'
    )


def test_a_damaged_receipt_still_gives_a_command(prefix: Path) -> None:
    (prefix / "uv-receipt.toml").write_text("[tool", encoding="utf-8")
    assert extra_command("local") == 'uv tool install "tabwb[local]"'


def test_a_plugin_can_name_its_own_command() -> None:
    assert "conda install whisper" in str(MissingPackage("'x'", "whisper", "conda install whisper"))
