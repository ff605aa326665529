"""TAB runs where naming, rating, lesions and interchange are not there: each could be left out."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tabwb.battery.loader import load_battery
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import create_naming

ROOT = Path(__file__).parents[1]
CONTRACT = "Core: naming, rating and lesions are reached through declarations"
PLUGINS = ("tabwb_interchange", "tabwb_annotations")
HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if any(name == one or name.startswith(one + ".") for one in {hidden!r}):
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)

sys.meta_path.insert(0, Hidden())
"""
COMMANDS = """
import io, json
from contextlib import redirect_stderr, redirect_stdout
from tabwb.cli.main import main

printed = []
for words in sys.argv[1:]:
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as error:
        status = main(words.split())
    printed.append((status, out.getvalue(), error.getvalue()))
print(json.dumps(printed))
"""
IMPORTER = """
from tabwb.plugin_api import AnswerFile, Descriptor, RecordedAnswer, RecordedRun, hookimpl

class Words:
    def recognises(self, path):
        return path.suffix == ".words"

    def read(self, path, names):
        run = RecordedRun(model="other", origin="model")
        lines = [line.split() for line in path.read_text().splitlines()]
        answers = [RecordedAnswer(str(path), text, run=run, item=item) for item, text in lines]
        return AnswerFile("words", tuple(answers), (path,))

@hookimpl
def tabwb_register_importers(register):
    register(Descriptor("words", "Words", lambda spec, options: Words()))
"""
NAMES = """
import tabwb.plugin_api as api

for name in api.__all__:
    try:
        getattr(api, name)
    except ModuleNotFoundError as error:
        print(name, error.name)
"""
WORKBENCH = """
import asyncio
from pathlib import Path
from tabwb.workbench.app import make_workbench
from tabwb.workbench.shell import settings
from tabwb.workbench.trial.actions import TrialActions
from tabwb.workbench.trial.draft import default_draft

folder = Path(sys.argv[1])
settings.save(settings.Remembered(notice_seen=True), folder / "memory.json")
app = make_workbench(
    location=str(folder / "given.db"), offline=True, memory=folder / "memory.json"
)

async def until(pilot, condition):
    for _ in range(10_000):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("not reached")

async def give_one():
    async with app.run_test(size=(100, 30)) as pilot:
        desk = app.desk
        await until(pilot, lambda: desk.catalogue)
        draft = default_draft(desk.catalogue).filled(battery="tab", model="echo")
        desk.actions(TrialActions).begin(draft)
        await until(pilot, lambda: desk.work and not desk.work.loading)
        await pilot.press("space")
        await until(pilot, lambda: desk.work.item and not desk.work.asking)
        desk.close_worker()

asyncio.run(give_one())
"""


def hidden() -> tuple[str, ...]:
    """Return what the contract keeps from the core, with the plugins of interchange."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    (modules,) = (one["forbidden_modules"] for one in contracts if one["name"] == CONTRACT)
    return (*modules, *PLUGINS)


def run(program: str, *arguments: str) -> str:
    """Run a program in a process of its own, with what is left out; return what it prints."""
    code = HIDE.format(hidden=hidden()) + program
    made = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT
    )
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("TABWB_DATA_DIR", str(tmp_path))
    return str(tmp_path / "given.db")


def test_tab_is_given_judged_and_exported_without_them(store: str, tmp_path: Path) -> None:
    words = (
        f"run tab --model echo --json --store {store}",
        f"judge run 1 --judge rules --store {store}",
        f"results 1 --json --store {store}",
        f"export 1 --format jsonl --out {tmp_path}/x.jsonl --store {store}",
        "--help",
    )
    statuses, printed, errors = zip(*json.loads(run(COMMANDS, *words)), strict=True)
    assert set(statuses) == {0}, errors
    given, found = json.loads(printed[0]), json.loads(printed[2])
    assert given["administration"]["status"] == "done"
    assert found["trials"] == given["trials"]
    assert len((tmp_path / "x.jsonl").read_text().splitlines()) == len(given["trials"])
    assert "judge" in printed[4]


def test_what_was_named_is_read_and_not_continued_without_naming(
    store: str, plugins: Plugins, tmp_path: Path
) -> None:
    file = ROOT / "batteries" / "naming-demo" / "battery.toml"
    battery = load_battery(file)
    with Store.open(store) as kept:
        create_naming(kept, plugins, battery, Conditions("S-014", "speaker")).close()
    words = (
        f"results 1 --json --store {store}",
        f"export 1 --format jsonl --out {tmp_path}/x.jsonl --store {store}",
        f"resume 1 --store {store}",
        f"battery check {file} --json",
    )
    statuses, printed, errors = zip(*json.loads(run(COMMANDS, *words)), strict=True)
    assert statuses == (0, 0, 2, 1), errors
    given = json.loads(printed[0])
    assert len(given["trials"]) == sum(len(subtest.items) for subtest in battery.subtests)
    assert any("'naming'" in notice for notice in given["notices"])
    assert "'naming'" in errors[2]
    assert "response" in printed[3]


def test_answers_are_imported_by_a_plugin_without_them(store: str, tmp_path: Path) -> None:
    plugin, file, folder = tmp_path / "words.py", tmp_path / "x.words", tmp_path / "speech"
    plugin.write_text(IMPORTER, encoding="utf-8")
    file.write_text("rp1 cat\nrp2 dog\n", encoding="utf-8")
    folder.mkdir()
    (folder / "dog.wav").touch()
    words = (
        f"plugins trust {plugin}",
        f"import {file} --battery tab --json --store {store}",
        f"import {folder} --battery naming-demo --store {store}",
        f"import {file} --set read --store {store}",
        f"trial transcribe 1 --transcriber silence --store {store}",
        f"judge run 1 --judge rules --store {store}",
        f"results --by model --judge calibrated:rules --store {store}",
    )
    statuses, printed, errors = zip(*json.loads(run(COMMANDS, *words)), strict=True)
    assert statuses == (0, 0, 2, 2, 2, 0, 1), errors
    assert "'tabwb.administer.rating'" in errors[-1] and "unexpected" not in errors[-1]
    (made,) = json.loads(printed[1])["administrations"]
    assert (made["examinee"], made["answered"]) == ("imported:other", 2)


def test_plugins_find_every_other_name_without_them() -> None:
    missing = dict(line.split() for line in run(NAMES).splitlines())
    assert missing == {
        "lesioned_arrays": "tabwb.lesion.arrays",
        "localizer_scores": "tabwb.lesion.localizer",
    }


def test_the_workbench_gives_an_item_without_them(store: str, tmp_path: Path) -> None:
    run(WORKBENCH, str(tmp_path))
    with Store.open(store) as given:
        listed = given.administrations()
    assert [(one.battery, one.answered) for one in listed] == [("tab", 1)]
