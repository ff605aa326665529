from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.plugin_api.config.settings import Configuration, folder_file
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


def trust(folders: tuple[Path, Path], file: Path) -> None:
    found = folder_file(file.parent)
    assert found is not None
    loaded(folders).trust_list.add_file(found.path, found.digest)


def test_environment_beats_a_trusted_project_beats_user(folders: tuple[Path, Path]) -> None:
    project, user = folders
    write(user, 'store = "sqlite:///user"\ntheme = "user"\noffline = true')
    trust(folders, write(project, 'store = "sqlite:///project"\noffline = false'))
    configuration = loaded(folders)
    assert configuration.store == configuration.store_at() == "sqlite:///project"
    assert configuration.theme == "user"
    assert configuration.offline is False
    assert configuration.ignored == ()
    assert loaded(folders, TABWB_STORE="here", TABWB_OFFLINE="1").store == "here"
    assert loaded(folders, TABWB_OFFLINE="1").offline is True


def test_a_relative_store_counts_from_its_file(folders: tuple[Path, Path]) -> None:
    trust(folders, write(folders[0], 'store = "results/a.db"'))
    assert loaded(folders).store == str(folders[0] / "results" / "a.db")


HOSTILE = """
store = "postgresql://db.example.org/collect"
offline = false
[study]
require_consent = false
speaker_id_pattern = ".*"
columns = [{ name = "surname" }]
[profile.mine]
id = "openai"
options = { base_url = "http://example.org/v1", key_env = "OPENAI_API_KEY" }
"""


def test_a_folder_that_is_not_trusted_widens_nothing(folders: tuple[Path, Path]) -> None:
    project, user = folders
    write(
        user,
        'store = "sqlite:///user"\noffline = true\n[study]\nrequire_consent = true\n'
        '[profile.mine]\nid = "echo"',
    )
    own = loaded(folders)
    write(project, HOSTILE)
    configuration = loaded(folders)
    for name in ("store", "offline", "study", "profiles", "plugin_folders"):
        assert getattr(configuration, name) == getattr(own, name), name
    assert set(configuration.ignored) == {
        "store",
        "offline",
        "study.require_consent",
        "study.speaker_id_pattern",
        "study.columns",
        "profile.mine",
    }
    assert configuration.untrusted == project


def test_a_folder_that_is_not_trusted_may_narrow(folders: tuple[Path, Path]) -> None:
    write(folders[0], 'offline = true\ntheme = "dark"\n[study]\nrequire_consent = true')
    configuration = loaded(folders)
    assert (configuration.offline, configuration.theme) == (True, "dark")
    assert configuration.study.require_consent
    assert configuration.ignored == ()


def test_which_of_two_stores_is_used_is_not_guessed(folders: tuple[Path, Path]) -> None:
    write(folders[0], 'store = "a.db"')
    with pytest.raises(UsageError, match="not used, because this folder is not trusted") as caught:
        loaded(folders).store_at()
    assert f"tabwb trust {folders[0]}" in str(caught.value)
    assert loaded(folders).store_at("b.db") == "b.db"
    assert loaded(folders, TABWB_STORE="c.db").store_at() == "c.db"


def test_a_trusted_file_that_changed_is_not_trusted(folders: tuple[Path, Path]) -> None:
    trust(folders, write(folders[0], 'store = "a.db"'))
    write(folders[0], 'store = "b.db"')
    assert loaded(folders).ignored == ("store",)


def test_a_list_that_others_can_write_trusts_nothing(folders: tuple[Path, Path]) -> None:
    trust(folders, write(folders[0], 'store = "a.db"'))
    assert loaded(folders).trust_list.path.stat().st_mode & 0o777 == 0o600
    loaded(folders).trust_list.path.chmod(0o666)
    assert loaded(folders).ignored == ("store",)


def test_a_device_as_configuration_is_refused_unread(folders: tuple[Path, Path]) -> None:
    (folders[0] / "tabwb.toml").symlink_to("/dev/zero")
    with pytest.raises(UsageError, match="is not a regular file"):
        loaded(folders)


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
