from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.extend.configuration import Configuration
from tabwb.records.errors import UsageError


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    project, user = tmp_path / "project", tmp_path / "user"
    project.mkdir()
    user.mkdir()
    return project, user


def loaded(folders: tuple[Path, Path], **environ: str) -> Configuration:
    project, user = folders
    return Configuration.load(cwd=project, environ={"TABWB_CONFIG_DIR": str(user), **environ})


def write(folder: Path, text: str) -> Path:
    path = folder / "tabwb.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_files_everything_has_its_default(folders: tuple[Path, Path]) -> None:
    configuration = loaded(folders)
    assert (configuration.store, configuration.offline, configuration.theme) == (None, False, None)
    assert configuration.files == ()


def test_environment_beats_project_beats_user(folders: tuple[Path, Path]) -> None:
    project, user = folders
    write(user, 'store = "sqlite:///user"\ntheme = "user"\noffline = true')
    write(project, 'store = "sqlite:///project"\noffline = false')
    configuration = loaded(folders)
    assert configuration.store == "sqlite:///project"
    assert configuration.theme == "user"
    assert configuration.offline is False
    assert loaded(folders, TABWB_STORE="here", TABWB_OFFLINE="1").store == "here"
    assert loaded(folders, TABWB_OFFLINE="1").offline is True


def test_a_relative_store_counts_from_its_file(folders: tuple[Path, Path]) -> None:
    project, _ = folders
    write(project, 'store = "results/a.db"')
    assert loaded(folders).store == str(project / "results" / "a.db")


def test_a_projects_file_names_no_keys(tmp_path: Path) -> None:
    user, project = tmp_path / "user", tmp_path / "project"
    text = '[profile.x]\nid = "echo"\noptions = { key_env = "AWS_SECRET_ACCESS_KEY" }\n'
    for folder in (user, project):
        folder.mkdir()
    (user / "tabwb.toml").write_text(text, encoding="utf-8")
    environ = {"TABWB_CONFIG_DIR": str(user)}
    assert "x" in Configuration.load(cwd=project, environ=environ).profiles
    (project / "tabwb.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="may not name where keys stand"):
        Configuration.load(cwd=project, environ=environ)


def test_a_profile_holds_what_a_spec_cannot(folders: tuple[Path, Path]) -> None:
    write(
        folders[1],
        '[profile.big]\nid = "echo"\noptions = { text = "a, b @ c=d", delay = 0.5, loud = true }',
    )
    spec = loaded(folders).profiles["big"].spec
    assert spec.id == "echo"
    assert spec.options == {"text": "a, b @ c=d", "delay": "0.5", "loud": "true"}


def test_plugin_folders_of_project_and_user_are_kept_apart(folders: tuple[Path, Path]) -> None:
    project, user = folders
    write(project, 'plugin_folders = ["theirs"]')
    write(user, 'plugin_folders = ["mine"]')
    configuration = loaded(folders)
    assert configuration.plugin_folders == (user / "mine",)
    assert configuration.project_plugin_folders == (project / "theirs",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("offlin = true", ["offlin", "did you mean 'offline'?"]),
        ('offline = "yes"', ["offline", "true or false"]),
        ("store = 3", ["store", "3", "a string"]),
        ("store = [", ["tabwb.toml:1"]),
        ('plugin_folders = "x"', ["plugin_folders", "a list"]),
        ("[profile.x]\nid = 3", ["profile.x.id", "3"]),
        ('[profile.x]\nid = "echo"\nnam = "y"', ["profile.x.nam", "did you mean 'name'?"]),
        ('[profile.x]\nid = "echo"\noptions = { a = [1] }', ["profile.x.options", "[1]"]),
    ],
)
def test_a_mistake_is_named_with_file_and_key(
    folders: tuple[Path, Path], text: str, words: list[str]
) -> None:
    path = write(folders[0], text)
    with pytest.raises(UsageError) as caught:
        loaded(folders)
    for word in [str(path), *words]:
        assert word in str(caught.value)


def test_a_mistake_in_the_weaker_file_is_not_hidden(folders: tuple[Path, Path]) -> None:
    write(folders[0], "offline = true")
    write(folders[1], "offline = 1")
    with pytest.raises(UsageError, match="offline"):
        loaded(folders)


def test_a_switch_that_is_neither_on_nor_off_is_refused(folders: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="TABWB_OFFLINE: 'perhaps' is neither on nor off"):
        loaded(folders, TABWB_OFFLINE="perhaps")
