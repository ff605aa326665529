"""What a plugin's importer returns and raises is checked, and the message names it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tabwb.host.guarded import GuardedImporter, recognising
from tabwb.host.plugins import Plugins
from tabwb.host.scaffold import write_plugin
from tabwb.host.settings import Configuration, folder_file, folder_hash
from tabwb.plugin_api import (
    AnswerFile,
    ImportedSession,
    Importer,
    Named,
    RecordedAnswer,
    RecordedRun,
    SpokenFile,
    Transcript,
)
from tabwb.records.errors import (
    ComponentError,
    MissingExtra,
    MissingPackage,
    TabwbError,
    UsageError,
)
from tabwb.records.ratings import Declaration, valued

Load = Callable[[], Plugins]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    write_plugin("lying-there", tmp_path)
    before = list(sys.path)
    yield tmp_path / "lying-there"
    sys.path[:] = before
    for name in [name for name in sys.modules if name.startswith("lying_there")]:
        del sys.modules[name]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tabwb.toml").write_text('plugin_folders = ["lying-there"]')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(plugins: Plugins) -> set[str]:
    return {plugin.name for plugin in plugins.plugins}


def test_a_folder_that_a_project_names_is_not_loaded(
    folder: Path, project: Path, load: Load
) -> None:
    plugins = load()
    assert "lying-there" not in names(plugins)
    assert "lying_there.plugin" not in sys.modules
    (problem,) = plugins.problems
    assert "is not trusted" in problem.error
    assert f"tabwb plugins trust {folder}" in problem.error


def test_a_trusted_folder_is_loaded_as_long_as_it_is_there_unchanged(
    folder: Path, load: Load
) -> None:
    Configuration.load().trust_list.add_folder(folder)
    before = sorted(folder.rglob("*"))
    plugins = load()
    (info,) = [plugin for plugin in plugins.plugins if plugin.name == "lying-there"]
    assert (info.distribution, info.version, info.folder) == ("lying-there", "0.1.0", str(folder))
    assert plugins.scorer("lying-there").measures == {"mentioned": "verdict"}
    assert plugins.problems == ()
    assert sorted(folder.rglob("*")) == before, "loading wrote into the folder"
    (folder / "lying_there" / "plugin.py").write_text("raise SystemExit('changed')")
    plugins = load()
    assert "lying-there" not in names(plugins)
    assert "changed since it was trusted" in plugins.problems[0].error
    for missing in (lambda: plugins.scorer("lying-there"), lambda: plugins.find_battery("mine")):
        with pytest.raises(UsageError) as caught:
            missing()
        assert f"not loaded: {folder} (changed since it was trusted" in str(caught.value)
    folder.rename(folder.with_name("moved"))
    (problem,) = load().problems
    assert problem.error.endswith(f"tabwb plugins untrust {folder}")
    Configuration.load().trust_list.remove_folder(folder)
    assert load().problems == ()
    with pytest.raises(UsageError, match="is not a trusted plugin folder"):
        Configuration.load().trust_list.remove_folder(folder)


def test_two_folders_with_one_plugin_are_both_named(
    folder: Path, tmp_path: Path, load: Load
) -> None:
    write_plugin("lying-there", tmp_path / "copy")
    copy = tmp_path / "copy" / "lying-there"
    for place in (folder, copy):
        Configuration.load().trust_list.add_folder(place)
    (problem,) = load().problems
    assert problem.error.startswith(f"'{folder}' and '{copy}' both have a plugin with this name")


def test_a_folder_in_the_users_own_configuration_is_loaded(
    folder: Path, tmp_path: Path, load: Load
) -> None:
    own = tmp_path / "tabwb-config"
    own.mkdir()
    (own / "tabwb.toml").write_text(f"plugin_folders = ['{folder}']")
    assert "lying-there" in names(load())


def test_planted_byte_code_is_not_run(folder: Path, load: Load) -> None:
    source = folder / "lying_there" / "__init__.py"
    import importlib.util
    import marshal
    import struct

    code = compile("raise SystemExit('planted')", str(source), "exec")
    cache = Path(importlib.util.cache_from_source(str(source)))
    cache.parent.mkdir()
    stat = source.stat()
    head = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(stat.st_mtime), stat.st_size)
    cache.write_bytes(head + marshal.dumps(code))
    Configuration.load().trust_list.add_folder(folder)
    assert "lying-there" in names(load())


def test_the_hash_changes_with_content_and_names_and_a_link_has_none(folder: Path) -> None:
    first = folder_hash(folder)
    (folder / "empty").touch()
    second = folder_hash(folder)
    (folder / "empty").rename(folder / "other")
    assert len({first, second, folder_hash(folder)}) == 3
    (folder / "link.py").symlink_to("/etc/hostname")
    with pytest.raises(ComponentError, match="is a link"):
        folder_hash(folder)


def test_a_damaged_list_is_a_problem_and_stops_nothing(tmp_path: Path, load: Load) -> None:
    own = tmp_path / "tabwb-config"
    own.mkdir()
    (own / "trusted-plugins.json").write_text("{")
    plugins = load()
    assert "builtin" in names(plugins)
    assert "delete it" in plugins.problems[0].error
    with pytest.raises(UsageError, match="cannot be read"):
        Configuration.load().trust_list.add_folder(tmp_path)


def test_a_link_to_a_trusted_file_is_not_trusted(tmp_path: Path) -> None:
    environ = {"TABWB_CONFIG_DIR": str(tmp_path / "config")}
    trusted, other = tmp_path / "trusted", tmp_path / "other"
    for folder in (trusted, other):
        folder.mkdir()
    (trusted / "tabwb.toml").write_text('store = "lab.db"\n', encoding="utf-8")
    (other / "tabwb.toml").symlink_to(trusted / "tabwb.toml")
    found = folder_file(trusted)
    assert found is not None
    trust_list = Configuration.load(cwd=trusted, environ=environ).trust_list
    trust_list.add_file(found.path, found.digest)
    assert Configuration.load(cwd=trusted, environ=environ).ignored == ()
    assert Configuration.load(cwd=other, environ=environ).ignored == ("store",)


RUN = RecordedRun()
FILE = Path("x.made-up")


class MadeUp:
    """An importer that recognises and reads what it is given; an exception is raised."""

    def __init__(self, read: Any = None, known: Any = True) -> None:
        self._read, self._known = read, known

    def recognises(self, path: Path) -> bool:
        return self._given(self._known)  # type: ignore[no-any-return]

    def read(self, path: Path, names: object) -> AnswerFile:
        return self._given(self._read)  # type: ignore[no-any-return]

    @staticmethod
    def _given(what: Any) -> Any:
        if isinstance(what, Exception):
            raise what
        return what


DECLARED = Declaration("r", ("m",))


def guarded(read: Any = None, known: Any = True) -> GuardedImporter:
    return GuardedImporter(MadeUp(read, known), "made-up")


def answer(**fields: Any) -> AnswerFile:
    given = {"where": "x:1", "text": "lion", "run": RUN, "item": "wc1", **fields}
    return AnswerFile("made up", (RecordedAnswer(**given),), (FILE,))


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (RuntimeError("boom"), "read() of the importer 'made-up' failed: RuntimeError: boom"),
        (TabwbError("no header"), "no header"),
        (None, "the importer 'made-up' returned a NoneType\nallowed: an AnswerFile"),
        (AnswerFile("x", [], ()), "returned answers as a list\nallowed: a tuple"),  # type: ignore[arg-type]
        (AnswerFile("x", (), (FILE,)), "x.made-up: there is no answer in it"),
        (AnswerFile("x", (), ("f",)), "returned files=('f',)"),  # type: ignore[arg-type]
        (AnswerFile("x", (3,), ()), "returned answer 1 with the type int"),  # type: ignore[arg-type]
        (answer(text=3), "answer 1 with text=3\nallowed: text, or None"),
        (answer(run=None), "answer 1 with run=None\nallowed: a RecordedRun"),
        (answer(latency_s=float("nan")), "latency_s=nan\nallowed: 0 or more, or None"),
        (answer(replicate=-4), "replicate=-4\nallowed: 0 or more, or None"),
        (answer(replicate="1"), "replicate='1'\nallowed: a whole number, or None"),
        (answer(stop_reason="stop"), "stop_reason='stop'\nallowed: a StopReason: end, length"),
        (answer(metadata={"a": 3}), "metadata={'a': 3}\nallowed: texts by name"),
        (answer(ratings=(valued("r", "m", 1),)), "allowed: ratings of raters in AnswerFile"),
        (replace(answer(ratings=(valued("r", "m", 1),) * 2), declarations=(DECLARED,)),
         "'m' rated twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_answers_is_said(read: Any, said: str) -> None:
    with pytest.raises(TabwbError) as raised:
        guarded(read).read(FILE, {})
    assert said in str(raised.value)
    right = guarded(answer(text=None, replicate=0, latency_s=1))
    assert right.read(FILE, {}).title == "made up"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sound": "a.wav"}, "sessions.0.responses.0.sound='a.wav'\nallowed: an instance of"),
        ({"item": 3}, "responses.0.item=3\nallowed: a valid string"),
        ({"transcripts": (Transcript("", "good"),)}, "transcripts.0.status='good'"),  # type: ignore[arg-type]
        ({"start_s": float("nan")}, "start_s=nan\nallowed: a finite number"),
    ],
)
def test_what_is_wrong_with_spoken_responses_is_said(changed: dict[str, Any], said: str) -> None:
    named = replace(Named("dog", sound=FILE), **changed)
    read = SpokenFile("made up", (ImportedSession("S-014", FILE, (named,)),), {})
    importer = guarded(read)
    importer.spoken = True
    with pytest.raises(ComponentError) as raised:
        importer.read(FILE, {})
    assert said in str(raised.value)


def test_an_importer_that_fails_does_not_hide_the_one_that_fits() -> None:
    fits, fitting = guarded(), partial(guarded, known=False)
    broken = partial(guarded, known=RuntimeError("boom"))
    assert recognising([broken, lambda: fits], FILE) is fits
    with pytest.raises(ComponentError, match=r"recognises\(\) of the importer 'made-up' failed"):
        recognising([broken, fitting], FILE)
    with pytest.raises(ComponentError, match="None from recognises"):
        guarded(known=None).recognises(FILE)


@pytest.mark.parametrize(
    "missing", [MissingExtra("'other'", "annotations"), MissingPackage("'other'", "other")]
)
def test_an_importer_without_its_packages_is_passed_over(missing: ComponentError) -> None:
    def other() -> Importer:
        raise missing

    fits = guarded()
    assert recognising([other, lambda: fits], FILE) is fits
    assert recognising([other, partial(guarded, known=False)], FILE) is None
