"""``[study]`` in ``tabwb.toml``: IDs and columns; every mistake is named with its key."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration, Profile, folder_file, remove_profile, write_profile
from tabwb.records.errors import UsageError
from tabwb.records.speakers import BUILT_IN, Column, Study
from tabwb.records.specs import Spec


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
    project, user = folders
    configuration = loaded(folders)
    assert (configuration.store, configuration.offline, configuration.theme) == (None, False, None)
    assert configuration.files == ()
    # Plugin folders of project and user are kept apart.
    write(project, 'plugin_folders = ["theirs"]')
    write(user, 'plugin_folders = ["mine"]')
    configuration = loaded(folders)
    assert configuration.plugin_folders == (user / "mine",)
    assert configuration.project_plugin_folders == (project / "theirs",)


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


def test_a_folder_that_is_not_trusted_widens_nothing_and_may_narrow(
    folders: tuple[Path, Path],
) -> None:
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
        "store", "offline", "study.require_consent", "study.speaker_id_pattern", "study.columns",
        "profile.mine",
    }  # fmt: skip
    assert configuration.untrusted == project
    write(user, "")
    write(project, 'offline = true\ntheme = "dark"\n[study]\nrequire_consent = true')
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


def test_a_trusted_file_is_trusted_unchanged_and_by_a_list_that_nobody_else_can_write(
    folders: tuple[Path, Path],
) -> None:
    project, _ = folders
    trust(folders, write(project, 'store = "results/a.db"'))
    assert loaded(folders).store == str(project / "results" / "a.db"), "relative to its file"
    listed = loaded(folders).trust_list.path
    assert listed.stat().st_mode & 0o777 == 0o600
    listed.chmod(0o666)
    assert loaded(folders).ignored == ("store",)
    listed.chmod(0o600)
    assert loaded(folders).ignored == ()
    write(project, 'store = "b.db"')
    assert loaded(folders).ignored == ("store",)


def test_a_profile_holds_what_a_spec_cannot(folders: tuple[Path, Path]) -> None:
    write(
        folders[1],
        '[profile.big]\nid = "echo"\noptions = { text = "a, b @ c=d", delay = 0.5, loud = true }',
    )
    spec = loaded(folders).profiles["big"].spec
    assert spec.id == "echo"
    assert spec.options == {"text": "a, b @ c=d", "delay": "0.5", "loud": "true"}


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
        ('[profile.x]\nid = "echo"\ntuning = "chat"', ["not a valid tuning"]),
        ('[profile.x]\nid = "echo"\nparameters = 0', ["not a number of parameters"]),
        ('[profile.x]\nid = "echo"\nparameters = true', ["not a number of parameters"]),
        ('[profile.x]\nid = "echo"\nfamily = 3', ["not a string"]),
        (None, ["is not a regular file"]),
    ],
)
@pytest.mark.parametrize("of_user", [False, True])  # the weaker file hides no mistake
def test_a_mistake_is_named_with_file_and_key(
    folders: tuple[Path, Path], text: str | None, words: list[str], of_user: bool
) -> None:
    project, user = folders
    path = (user if of_user else project) / "tabwb.toml"
    if of_user:
        write(project, "offline = true")
    if text is None:
        path.symlink_to("/dev/zero")
    else:
        write(path.parent, text)
    with pytest.raises(UsageError) as caught:
        loaded(folders)
    for word in [str(path), *words]:
        assert word in str(caught.value)
    path.unlink()
    with pytest.raises(UsageError, match="TABWB_OFFLINE: 'perhaps' is neither on nor off"):
        loaded(folders, TABWB_OFFLINE="perhaps")


def load(folder: Path, text: str) -> Study:
    (folder / "tabwb.toml").write_text(text, encoding="utf-8")
    return Configuration.load(cwd=folder, environ={"TABWB_CONFIG_DIR": str(folder)}).study


def test_without_the_table_there_are_the_built_in_columns(tmp_path: Path) -> None:
    assert load(tmp_path, "") == Study()
    assert [column.name for column in BUILT_IN] == [
        "AQ", "severity", "aphasia_type", "aetiology", "months_post_onset", "age_years", "sex",
        "education", "SES", "language", "dialect", "site", "corpus", "split", "group", "role",
        "custom", "variety", "ipa",
    ]  # fmt: skip


def test_a_study_adds_columns_and_says_built_in_ones_anew(tmp_path: Path) -> None:
    study = load(
        tmp_path,
        """
        [study]
        speaker_id_pattern = "[A-Z]{2}[0-9]{3}"
        require_consent = true
        columns = [
          { name = "hours", type = "number", unit = "h", minimum = 0, maximum = 500 },
          { name = "group", type = "choice", choices = ["early", "late"] },
        ]
        """,
    )
    assert study.require_consent
    assert study.remark("AB123") == ""
    assert "S-014" in study.remark("S-014")
    assert len(study.columns) == len(BUILT_IN) + 1
    assert study.read({"hours": "1.5", "group": "late"}) == {"hours": 1.5, "group": "late"}
    with pytest.raises(UsageError, match="early, late"):
        study.read({"group": "A"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AQ", "101"), ("AQ", "-1"), ("AQ", "nan"), ("AQ", "inf"), ("AQ", "high"), ("AQ", ""),
        ("months_post_onset", "-1"), ("severity", "light"), ("dialect", ""),
        ("dialect", "two\nlines"), ("dialect", "x" * 201),
    ],
)  # fmt: skip
def test_a_value_that_is_none_is_refused(name: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"not a valid value of '{name}'"):
        Study().read({name: text})


def test_values_of_columns_are_read() -> None:
    assert [Study().read({"AQ": end}) for end in ("0", "100")] == [{"AQ": 0}, {"AQ": 100}]
    with pytest.raises(UsageError, match="did you mean 'dialect'"):
        Study().read({"dialects": "Scots"})
    sessions = Column("sessions", "whole", minimum=1)
    assert sessions.read("3") == 3
    with pytest.raises(UsageError, match="allowed: a whole number from 1"):
        sessions.read("3.5")
    variety = next(each for each in BUILT_IN if each.name == "variety")
    assert variety.read("h-dropping,non-rhotic") == "h-dropping, non-rhotic"
    with pytest.raises(UsageError, match="'Scottish'"):
        variety.read("Scottish")


def test_bands_are_declared_and_severity_follows_from_those_of_the_quotient(
    tmp_path: Path,
) -> None:
    study = load(
        tmp_path,
        """
        [study]
        columns = [{ name = "hours", type = "number", bands = { few = 10, many = inf } }]
        [study.bands]
        AQ = { low = 60, high = 100 }
        age_years = { young = 64, old = 120 }
        """,
    )
    bands = {column.name: column.band for column in study.columns}
    assert [bands["age_years"](age) for age in (20, 64, 64.5)] == ["young", "young", "old"]
    assert [bands["hours"](hours) for hours in (10, 1e9)] == ["few", "many"]
    assert study.values_of({"AQ": 60}) == {"AQ": 60, "severity": "low"}
    assert study.read({"severity": "HIGH"}) == {"severity": "high"}
    assert study.values_of({"AQ": 60, "severity": "high"})["severity"] == "high"
    assert len(study.doubts({"AQ": 60, "severity": "high"})) == 1
    assert study.doubts({"severity": "high"}) == study.doubts({"AQ": 60}) == ()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[study.bands]\nAQ = { low = 60 }", "study.bands.AQ"),
        ("[study.bands]\nAQ = { low = 60, high = 'x' }", "study.bands.AQ"),
        ("[study.bands]\nage_years = { a = 200, b = 200 }", "study.bands.age_years"),
        ("[study.bands]\nAQ = 60", "study.bands.AQ"),
        (f"[study.bands]\nAQ = {{ low = 1{'0' * 400}, high = inf }}", "study.bands.AQ"),
        ("[study.bands]\nAQ = { 'not recorded' = 60, high = 100 }", "study.bands.AQ"),
        (
            "[study]\ncolumns = [{ name = 'a', type = 'number', minimum = nan }]",
            r"study.columns\[0\].minimum",
        ),
        (
            "[study]\ncolumns = [{ name = 'a', type = 'choices', choices = ['b, c'] }]",
            r"study.columns\[0\].choices",
        ),
        (
            '[study]\ncolumns = [{ name = "a", type = "choice", choices = ["b\\u001b"] }]',
            r"study.columns\[0\].choices",
        ),
        ('[study]\ncolumns = [{ name = "a", title = "b\\n" }]', r"study.columns\[0\].title"),
        ("[study.bands]\nsex = { a = 1 }", "study.bands.sex"),
        ("[study.bands]\nheight = { a = 1 }", "study.bands.height"),
        ("[study]\ncolumns = [{ name = 'a', bands = { b = inf } }]", r"study.columns\[0\].bands"),
        ("study = 1", "study"),
        ("[study]\npattern = 'x'", "study.pattern"),
        ("[study]\nspeaker_id_pattern = '['", "study.speaker_id_pattern"),
        ("[study]\nspeaker_id_pattern = 1", "study.speaker_id_pattern"),
        ("[study]\nrequire_consent = 'no'", "study.require_consent"),
        ("[study]\ncolumns = 'AQ'", "study.columns"),
        ("[study]\ncolumns = ['AQ']", r"study.columns\[0\]"),
        ("[study]\ncolumns = [{ name = 'a b' }]", r"study.columns\[0\].name"),
        ("[study]\ncolumns = [{ name = 'a' }, { name = 'a' }]", r"study.columns\[1\].name"),
        ("[study]\ncolumns = [{ name = 'a', type = 'date' }]", r"study.columns\[0\].type"),
        ("[study]\ncolumns = [{ name = 'a', unit = 1 }]", r"study.columns\[0\].unit"),
        ("[study]\ncolumns = [{ name = 'a', minimum = 1 }]", r"study.columns\[0\].minimum"),
        (
            "[study]\ncolumns = [{ name = 'a', type = 'whole', minimum = 2, maximum = 1 }]",
            r"study.columns\[0\].minimum",
        ),
        ("[study]\ncolumns = [{ name = 'a', type = 'choice' }]", r"study.columns\[0\].choices"),
        ("[study]\ncolumns = [{ name = 'a', choices = ['b'] }]", r"study.columns\[0\].choices"),
        ("[study]\ncolumns = [{ name = 'a', units = 'h' }]", r"study.columns\[0\].units"),
    ],
)
def test_a_mistake_in_the_study_is_named_with_file_and_key(
    tmp_path: Path, text: str, key: str
) -> None:
    with pytest.raises(UsageError, match=rf"tabwb\.toml: {key}:"):
        load(tmp_path, text)


def test_the_varieties_are_those_that_the_rules_know() -> None:
    from tabwb.records.speakers import VARIETIES as names
    from tabwb.scoring.naming.target import VARIETIES

    assert tuple(VARIETIES) == names


LLAMA = Profile(
    Spec("openai", "llama3.2:1b", {"base_url": "http://localhost:11434/v1", "stop": "a, b"}),
    "",
    "Llama-3.2",
    "instruct",
    1_240_000_000,
)


def read(folder: Path) -> Configuration:
    return Configuration.load(cwd=folder, environ={"TABWB_CONFIG_DIR": str(folder)})


def test_what_is_written_is_read_back_and_the_rest_of_the_file_stays_as_it_is(
    tmp_path: Path,
) -> None:
    before = '# mine\ntheme = "dark"  # easy on the eyes\n\n[profile.a]\nid = "echo"\n'
    path = tmp_path / "tabwb.toml"
    path.write_text(before, encoding="utf-8")
    write_profile(tmp_path, "llama", LLAMA)
    found = read(tmp_path).profiles["llama"]
    assert (found.spec, found.labels) == (LLAMA.spec, LLAMA.labels)
    assert found.labels == {"family": "Llama-3.2", "tuning": "instruct", "parameters": "1240000000"}
    with closing(Plugins.load(read(tmp_path))) as plugins:
        assert plugins.labels_of("profile:llama")["family"] == "Llama-3.2"
        assert plugins.labels_of("echo") == {}
    write_profile(tmp_path, "llama", Profile(Spec("bundled"), ""))
    assert path.read_text(encoding="utf-8").startswith(before)
    assert set(read(tmp_path).profiles) == {"a", "llama"}
    assert read(tmp_path).profiles["llama"].spec == Spec("bundled")
    remove_profile(tmp_path, "llama")
    assert path.read_text(encoding="utf-8").rstrip() == before.rstrip()
    with pytest.raises(UsageError, match="no profile 'x'"):
        remove_profile(tmp_path, "x")
    for name in ("", "Llama 1B", "a.b", "../x"):
        with pytest.raises(UsageError, match="cannot name a profile"):
            write_profile(tmp_path, name, LLAMA)
    assert path.read_text(encoding="utf-8").rstrip() == before.rstrip()
    path.write_text("[profile", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be read"):
        write_profile(tmp_path, "llama", LLAMA)
    assert path.read_text(encoding="utf-8") == "[profile"


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
