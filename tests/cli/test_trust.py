"""``tabwb trust``: a folder's ``tabwb.toml`` widens nothing before it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "downloaded"
    folder.mkdir()
    (folder / "tabwb.toml").write_text('store = "collect.db"\n[profile.lab]\nid = "echo"\n')
    monkeypatch.chdir(folder)
    return folder


def test_nothing_is_kept_where_a_downloaded_folder_says(
    run: Run, folder: Path, battery_file: Path
) -> None:
    run("run", battery_file, "--model", "echo", status=2, err=f"tabwb trust {folder}")
    assert not (folder / "collect.db").exists()
    run("run", battery_file, "--model", "profile:lab", "--store", "x.db", status=2)
    run("run", battery_file, "--model", "echo", "--store", "mine.db")
    assert not (folder / "collect.db").exists()


def test_ignored_settings_are_named(run: Run, folder: Path) -> None:
    run("model", "list", err=f"ignored, because this folder is not trusted: profile.lab ({folder}")


def test_a_trusted_folder_chooses_its_store(run: Run, folder: Path, battery_file: Path) -> None:
    trusted = run("trust", folder, "--json").document["trusted"]
    assert trusted["settings"] == ["store", "profile.lab"]
    assert trusted["store"] == str(folder / "collect.db")
    run("run", battery_file, "--model", "profile:lab")
    assert (folder / "collect.db").exists()


def test_trusting_a_folder_trusts_the_plugins_it_names(run: Run, folder: Path) -> None:
    run("plugins", "new", "kit")
    (folder / "tabwb.toml").write_text('plugin_folders = ["kit"]\n')
    run("plugins", "list", err="is not trusted")
    run("trust")
    content = json.loads((folder.parent / "tabwb-config" / "trusted-plugins.json").read_text())
    assert list(content["folders"]) == [str(folder / "kit")]
    assert "is not trusted" not in run("plugins", "list").err


def test_a_folder_without_the_file_is_refused(run: Run, tmp_path: Path) -> None:
    run("trust", tmp_path, status=2, err="there is no tabwb.toml in this folder")
