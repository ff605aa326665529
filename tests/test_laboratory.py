"""A laboratory's study in one file, as the documentation has it: task, subjects and operation."""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Static

import tabwb
from tabwb.administer.session import setup
from tabwb.battery.loader import check_battery, load_battery
from tabwb.battery.task_type import task_type
from tabwb.cli.main import main
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.store.store import Store
from tests.workbench.seat import workbench

DOCS = (Path(__file__).parents[1] / "docs" / "plugins.md").read_text(encoding="utf-8")
CODE = DOCS.partition("## A study in one file")[2].partition("```python\n")[2].partition("```")[0]
BATTERY = """
[battery]
id = "fluency"
title = "Fluency"
version = "1"
language = "en"
license = "CC0-1.0"

[[subtest]]
id = "animals"
title = "Animals"
response = "word-fluency"
scorers = ["fluency"]
item = [{ id = "a1", prompt = "Name animals." }, { id = "a2", prompt = "Name birds." }]
"""


@pytest.fixture
def plugin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The file of the documentation, trusted."""
    file = tmp_path / "fluency.py"
    file.write_text(CODE, encoding="utf-8")
    assert main(["plugins", "trust", str(file)]) == 0
    capsys.readouterr()
    return file


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    file = tmp_path / "battery.toml"
    file.write_text(BATTERY, encoding="utf-8")
    return file


def test_command_and_python_give_its_task_to_a_model(
    plugin: Path, battery: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--store", str(tmp_path / "s.db")]
    assert main(["battery", "check", str(battery)]) == 0
    assert main(["battery", "schema"]) == 0
    assert "word-fluency" in capsys.readouterr().out
    assert main(["run", str(battery), "--model", "echo", "--json", *where]) == 0
    document = json.loads(capsys.readouterr().out)
    (subtest,) = document["summary"]["subtests"]
    assert subtest["response"] == "word-fluency"
    first = document["trials"][0]
    assert [(one["rater"], one["measure"], one["value"]) for one in first["ratings"]] == [
        ("fluency", "words", 2.0),
        ("fluency", "repeated", 0.0),
    ]
    given = tabwb.run(battery, "echo", store=tmp_path / "s.db")
    assert [trial["ratings"] for trial in given.to_dict()["trials"]] == [
        trial["ratings"] for trial in document["trials"]
    ]
    with tabwb.open(tmp_path / "s.db") as study:
        assert study.do("fluency", ids=[1, 2])["words"] == {"1": 4.0, "2": 4.0}
    assert main(["fluency", "1", *where]) == 0
    assert capsys.readouterr().out == "#1: 4 words\n"


async def test_the_workbench_gives_it_to_a_person(
    plugin: Path, battery: Path, tmp_path: Path
) -> None:
    async with partial(workbench, tmp_path)() as seat:
        await seat.begin(battery=str(battery), kind="speaker", speaker="S-014", judges="none")
        for words in ("cat dog cat", "owl"):
            await seat.press("space")
            await seat.until(lambda: getattr(seat.app.focused, "id", "") == "answer")
            await seat.type(words)
            await seat.press("enter")
            await seat.until(lambda: not seat.work.awaiting)
        await seat.press("escape")
        await seat.press("space")
        await seat.until(lambda: seat.desk.page == "results", "the results")
        await seat.press("X", reads="Tables and pages")
        await seat.press("end", reads="Add up the different words")
        await seat.press("enter")
        await seat.until(lambda: seat.app.screen.query("#said"), "the dialog")
        await seat.press_button("begin")
        said = seat.app.screen.query_one("#said", Static)
        await seat.until(lambda: "3 words" in str(said.content), "it is done")


def test_what_was_given_can_be_read_without_it_and_nothing_more_is_given(
    plugin: Path, battery: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--store", str(tmp_path / "s.db")]
    with Store.open(tmp_path / "s.db") as store, closing(Plugins.load()) as plugins:
        given = load_battery(battery)
        with setup.create(store, plugins, given, Conditions("S-014", "speaker")) as session:
            session.next()
            session.answer("cat, dog")
            session.pause()
    assert main(["results", "1", "--json", *where]) == 0
    before = json.loads(capsys.readouterr().out)
    assert main(["plugins", "untrust", str(plugin)]) == 0
    capsys.readouterr()
    assert main(["results", "1", "--json", *where]) == 0
    after = json.loads(capsys.readouterr().out)
    assert any("'word-fluency'" in notice for notice in after["notices"])
    assert after["trials"] == before["trials"]
    out = tmp_path / "out.jsonl"
    assert main(["export", "1", "--format", "jsonl", "--out", str(out), *where]) == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1
    capsys.readouterr()
    for words in (["run", str(battery), "--model", "echo"], ["resume", "1"]):
        assert main([*words, *where]) in (1, 2)
        assert "'word-fluency'" in capsys.readouterr().err
    Plugins.load().close()
    assert not task_type("word-fluency").is_installed
    (problem,) = check_battery(battery)
    assert (problem.line, problem.key) == (12, "subtest[1].response")
    assert "yes-no" in problem.allowed and "naming" in problem.allowed


def test_a_record_is_of_a_kind_of_subject(
    plugin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--store", str(tmp_path / "s.db")]
    add = ["speaker", "add", "S-014"]
    assert main([*add, "kind=control", *where]) == 2  # MMSE is required
    assert main([*add, "MMSE=29", *where]) == 2  # of a control only
    assert main([*add, "kind=control", "MMSE=31", *where]) == 2
    assert main([*add, "kind=control", "MMSE=29", *where]) == 0
    capsys.readouterr()
    with tabwb.open(tmp_path / "s.db") as study:
        record = study.speaker("S-014")["speaker"]["values"]
    assert record == {"kind": "control", "MMSE": 29}
    assert main(["speaker", "set", "S-014", "kind=", *where]) == 2
    assert main(["speaker", "columns", "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)["study"]["columns"]
    assert [column["name"] for column in columns][-2:] == ["kind", "MMSE"]


async def test_the_workbench_asks_for_the_columns_of_the_kind(plugin: Path, tmp_path: Path) -> None:
    async with partial(workbench, tmp_path)() as seat:
        await seat.press("p")
        await seat.until(lambda: seat.desk.page == "participants")
        await seat.press("a")
        await seat.until(lambda: seat.app.screen.query("#column-MMSE"), "the field")
        seat.fill(code="S-015", **{"column-kind": "control", "column-MMSE": "27"})
        await seat.press_button("accept")
        await seat.reads("S-015")
    with tabwb.open(seat.store) as study:
        assert study.speaker("S-015")["speaker"]["values"] == {"kind": "control", "MMSE": 27}


WRONG = {
    "a task type of tabwb": 'TaskType(kind="naming")',
    "no kind": 'TaskType(kind="Word Fluency")',
    "rated as what is not": 'TaskType(kind="a", rated_as="word-fluency")',
    "neither typed nor spoken": 'TaskType(kind="a", typed=False)',
    "not a tuple": 'TaskType(kind="a", scorers="fluency")',
    "not names": 'TaskType(kind="a", needs=(1,))',
    "no function": 'TaskType(kind="a", check=None)',
    "no keys": 'TaskType(kind="a", instead=None)',
    "a key of every item": 'TaskType(kind="a", tables=KEYS(prompt=(str, "")))',
    "a key that every item must have": 'TaskType(kind="a", tables=KEYS(q=(str, ...)))',
    "not installed": 'TaskType(kind="a", is_installed=False)',
    "a column of every study": 'SubjectKind("a", "A", (Column("AQ", "number"),))',
    "a choice of nothing": 'SubjectKind("a", "A", (Column("q", "choice"),))',
    "choices of a number": 'SubjectKind("a", "A", (Column("q", "number", choices=("b",)),))',
    "a bound that is text": 'SubjectKind("a", "A", (Column("q", "whole", minimum="1"),))',
    "a column twice": 'SubjectKind("a", "A", (Column("q"), Column("q")))',
    "required text": 'SubjectKind("a", "A", (Column("q"),), required="q")',
    "a column that it has not": 'SubjectKind("a", "A", required=("q",))',
}


def registering(file: Path, *declared: str) -> Path:
    """Write and trust a plugin that registers task types or kinds of subjects."""
    lines = ["from tabwb.plugin_api import Column, SubjectKind, TaskType, hookimpl"]
    lines += ["from pydantic import create_model as model"]
    lines += ["KEYS = lambda **keys: lambda: (model('S'), model('I', **keys))"]
    for kind, hook in (("TaskType", "tasks"), ("SubjectKind", "subjects")):
        if own := [f"    register({one})" for one in declared if one.startswith(kind)]:
            lines += ["@hookimpl", f"def tabwb_register_{hook}(register):", *own]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert main(["plugins", "trust", str(file)]) == 0
    return file


@pytest.mark.parametrize("declared", WRONG.values(), ids=WRONG)
def test_what_cannot_be_used_is_refused(declared: str, tmp_path: Path) -> None:
    registering(tmp_path / "wrong.py", declared)
    with closing(Plugins.load()) as plugins:
        assert (plugins.tasks(), plugins.study.kinds) == ((), ())
        assert [problem.plugin for problem in plugins.problems] == ["wrong"]


def test_kinds_may_share_a_column_that_is_the_same(tmp_path: Path) -> None:
    same, other = 'Column("MMSE", "whole", maximum=30)', 'Column("MMSE", "text")'
    kinds = (f'SubjectKind("{id_}", "T", ({column},))' for id_, column in
             (("control", same), ("patient", same), ("sibling", other)))  # fmt: skip
    registering(tmp_path / "people.py", *kinds)
    with closing(Plugins.load()) as plugins:
        assert [kind.id for kind in plugins.study.kinds] == ["control", "patient"]
        assert ["'sibling'" in problem.error for problem in plugins.problems] == [True]


def test_two_task_types_have_no_key_in_common(tmp_path: Path) -> None:
    tasks = (f'TaskType(kind="{kind}", tables=KEYS(level=({type_}, None)))' for kind, type_ in
             (("a", "int"), ("b", "str")))  # fmt: skip
    registering(tmp_path / "levels.py", *tasks)
    with closing(Plugins.load()) as plugins:
        assert [task.id for task in plugins.tasks()] == ["a"]
        assert ["'b'" in problem.error for problem in plugins.problems] == [True]


def test_an_error_in_the_code_of_a_task_type_names_it(
    battery: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = 'TaskType(kind="word-fluency", check=lambda path, subtest: 1 / 0)'
    registering(tmp_path / "fluency.py", declared)
    text = battery.read_text(encoding="utf-8")
    battery.write_text(text.replace('["fluency"]', "[]"), encoding="utf-8")
    assert main(["battery", "check", str(battery)]) == 1
    assert "'word-fluency' failed: ZeroDivisionError" in capsys.readouterr().err
    assert main(["plugins", "check", "fluency", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["checks"]
    assert (found["id"], found["status"]) == ("word-fluency", "failed")
