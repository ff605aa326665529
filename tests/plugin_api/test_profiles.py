"""Profiles written by the program: read back equal, and nothing else in the file changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.plugin_api.config.profiles import Profile, remove_profile, write_profile
from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import UsageError
from tabwb.records.specs import Spec

LLAMA = Profile(
    Spec("openai", "llama3.2:1b", {"base_url": "http://localhost:11434/v1", "stop": "a, b"}),
    "",
    "Llama-3.2",
    "instruct",
    1_240_000_000,
)


def read(folder: Path) -> Configuration:
    return Configuration.load(cwd=folder, environ={"TABWB_CONFIG_DIR": str(folder)})


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    write_profile(tmp_path, "llama", LLAMA)
    found = read(tmp_path).profiles["llama"]
    assert (found.spec, found.labels) == (LLAMA.spec, LLAMA.labels)
    assert found.labels == {
        "family": "Llama-3.2",
        "tuning": "instruct",
        "parameters": "1240000000",
    }


def test_the_rest_of_the_file_stays_as_it_is(tmp_path: Path) -> None:
    before = '# mine\ntheme = "dark"  # easy on the eyes\n\n[profile.a]\nid = "echo"\n'
    path = tmp_path / "tabwb.toml"
    path.write_text(before, encoding="utf-8")
    write_profile(tmp_path, "llama", LLAMA)
    write_profile(tmp_path, "llama", Profile(Spec("bundled"), ""))
    assert path.read_text(encoding="utf-8").startswith(before)
    assert set(read(tmp_path).profiles) == {"a", "llama"}
    assert read(tmp_path).profiles["llama"].spec == Spec("bundled")
    remove_profile(tmp_path, "llama")
    assert path.read_text(encoding="utf-8").rstrip() == before.rstrip()


def test_a_profile_that_is_not_there_cannot_be_removed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no profile 'x'"):
        remove_profile(tmp_path, "x")


@pytest.mark.parametrize("name", ["", "Llama 1B", "a.b", "../x"])
def test_a_name_that_no_spec_can_hold_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a profile"):
        write_profile(tmp_path, name, LLAMA)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_toml_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tabwb.toml"
    path.write_text("[profile", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be read"):
        write_profile(tmp_path, "llama", LLAMA)
    assert path.read_text(encoding="utf-8") == "[profile"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('tuning = "chat"', "not a valid tuning"),
        ("parameters = 0", "not a number of parameters"),
        ("parameters = true", "not a number of parameters"),
        ("family = 3", "not a string"),
    ],
)
def test_labels_that_mean_nothing_are_refused(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "tabwb.toml"
    path.write_text(f'[profile.x]\nid = "echo"\n{line}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read(tmp_path)


def test_labels_belong_to_the_profile_that_was_named(tmp_path: Path) -> None:
    write_profile(tmp_path, "tiny", Profile(Spec("echo"), "", "demo", "base", 1))
    plugins = Plugins.load(read(tmp_path))
    try:
        assert plugins.labels_of("profile:tiny")["family"] == "demo"
        assert plugins.labels_of("echo") == {}
    finally:
        plugins.close()


def test_what_no_spec_can_say_is_copied_whole_and_an_equal_spec_changes_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "tabwb.toml"
    before = (
        '[profile.a]\nid = "echo"\ntuning = ""\n[profile.a.options]\ntext = "a, b"\ndelay = 0.50\n'
    )
    before += '[profile.gone]\nid = "no-such-model"\n'
    path.write_text(before, encoding="utf-8")
    plugins = Plugins.load(read(tmp_path))
    try:
        write_profile(tmp_path, "a", plugins.profile_of("a", "profile:a", "", "", ""))
        assert path.read_text(encoding="utf-8") == before
        assert plugins.profile_of("gone", "echo", "", "", "").spec == Spec("echo")
        write_profile(tmp_path, "b", plugins.profile_of("b", "profile:a@delay=2", "F", "", "1K"))
    finally:
        plugins.close()
    copied = read(tmp_path).profiles["b"]
    assert copied.spec == Spec("echo", None, {"text": "a, b", "delay": "2"})
    assert (copied.family, copied.parameters) == ("F", 1000)
