from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tabwb.host.scaffold import write_plugin
from tabwb.records.errors import TabwbError, UsageError


def test_the_written_plugin_passes_its_own_test(tmp_path: Path) -> None:
    write_plugin("my-words", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path / "my-words",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


def test_kebab_and_snake_case_name_the_same_plugin(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    kebab = write_plugin("my-words", tmp_path / "a")
    snake = write_plugin("my_words", tmp_path / "b")
    assert [path.read_text() for path in kebab] == [path.read_text() for path in snake]
    assert {path.parent.name for path in kebab} >= {"my-words", "my_words"}


def test_the_written_plugin_is_formatted_and_clean(tmp_path: Path) -> None:
    write_plugin("my-words", tmp_path)
    for command in (["ruff", "check"], ["ruff", "format", "--check"]):
        settings = Path(__file__).parents[2] / "pyproject.toml"
        done = subprocess.run(
            [sys.executable, "-m", *command, "--config", str(settings), "--no-cache", "."],
            cwd=tmp_path / "my-words" / "my_words",
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "my-words").mkdir()
    with pytest.raises(TabwbError, match="already exists; nothing was written"):
        write_plugin("my_words", tmp_path)
    assert list((tmp_path / "my-words").iterdir()) == []


@pytest.mark.parametrize("name", ["My Words", "a/b", "", "-a", "1st", "json", "tabwb", ".."])
def test_a_name_that_cannot_be_a_package_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [[], ["--editable"]])
def test_the_written_plugin_installs_with_all_its_files_and_without_a_warning(
    how: list[str], tmp_path: Path
) -> None:
    write_plugin("my-words", tmp_path)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
            *("--no-build-isolation", "--disable-pip-version-check", "--root-user-action=ignore"),
            *("--target", str(tmp_path / "site"), *how, str(tmp_path / "my-words")),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    look = (
        f"import site; site.addsitedir({str(tmp_path / 'site')!r}); "
        "from my_words.plugin import BATTERY; print(BATTERY.is_file())"
    )
    seen = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, cwd=tmp_path
    )
    assert seen.stdout == "True\n", seen.stderr
