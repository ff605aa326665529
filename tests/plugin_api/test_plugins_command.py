from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tabwb.cli.main import main
from tabwb.plugin_api.registry.scaffold import write_plugin

Install = Callable[[str, str], Path]


def test_list_shows_components_with_their_owners(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "list"]) == 0
    out = capsys.readouterr().out
    for word in ("builtin", "echo", "replay", "rules-2", "jsonl", "tab"):
        assert word in out


def test_list_as_json_holds_what_failed(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("broken", "1 / 0")
    assert main(["plugins", "list", "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["format"] == 1
    assert {"name": "builtin", "distribution": "tabwb"}.items() <= next(
        plugin for plugin in document["plugins"] if plugin["name"] == "builtin"
    ).items()
    models = {model["id"]: model for model in document["components"]["models"]}
    assert models["bundled"]["runs"] == "child"
    assert models["echo"]["status"] == "ok"
    assert document["problems"] == [
        {"plugin": "broken", "what": "loading", "error": "ZeroDivisionError: division by zero"}
    ]


def test_list_says_what_failed_on_stderr(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("broken", "1 / 0")
    assert main(["plugins", "list"]) == 0
    assert "! broken: loading: ZeroDivisionError" in capsys.readouterr().err


def test_a_missing_extra_is_shown_with_its_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabwb.plugin_api.registry.index.is_installed", lambda name: False)
    assert main(["plugins", "list"]) == 0
    assert '[install it with: pip install "tabwb[local]"]' in capsys.readouterr().out


def test_a_new_plugin_is_used_once_it_is_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    root = tmp_path / "fresh-words"
    assert main(["plugins", "new", "fresh-words", "--in", str(tmp_path)]) == 0
    assert str(root / "pyproject.toml") in capsys.readouterr().out
    assert main(["plugins", "trust", str(root)]) == 0
    assert "is trusted as it is now" in capsys.readouterr().out
    status = main(["run", "fresh-words", "--model", "echo@text=a dog", "--json"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    trials = json.loads(captured.out)["trials"]
    values = {
        trial["item"]: rating["value"]
        for trial in trials
        for rating in trial["ratings"]
        if rating["rater"] == "fresh-words"
    }
    assert values == {"q1": 1.0, "q2": 0.0}
    (root / "new-file").touch()
    assert main(["plugins", "trust", str(root)]) == 0
    assert "has changed" in capsys.readouterr().out


def test_trusting_a_second_plugin_of_one_name_warns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        write_plugin("same-words", folder)
        assert main(["plugins", "trust", str(folder / "same-words")]) == 0
    warning = f"warning: '{first}/same-words' has a plugin 'same-words' too; only one is used"
    assert warning in capsys.readouterr().err
    assert main(["plugins", "untrust", str(second / "same-words")]) == 0
    assert "is no longer trusted" in capsys.readouterr().out


def test_what_is_no_plugin_folder_cannot_be_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plugins", "trust", str(tmp_path)]) == 1
    assert "is not a plugin folder" in capsys.readouterr().err
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert main(["plugins", "trust", str(tmp_path)]) == 1
    assert "declares no entry point" in capsys.readouterr().err


def test_new_refuses_to_overwrite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    assert main(["plugins", "new", "mine", "--in", str(tmp_path)]) == 1
    assert "nothing was written" in capsys.readouterr().err
