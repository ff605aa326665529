"""Each operation does the same from the command line, from Python and in the workbench."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.operations.files import DrawFigure, ExportResults, WriteReport
from tabwb.operations.judge import JudgeRun
from tabwb.operations.operation import Operation, made
from tabwb.operations.speaker import (
    AddSpeaker,
    ConsentOfSpeaker,
    DeleteSpeaker,
    ListSpeakers,
    LogOfSpeakers,
    SetSpeaker,
    ShowSpeaker,
)
from tabwb.operations.trial import (
    NoteOnTrial,
    RescoreAdministration,
    TagAdministrations,
    UndoLatest,
    VoidTrial,
)
from tabwb.records.errors import TabwbError
from tabwb.store.store import Store
from tabwb.workbench.engine.operations import JobController
from tests.cli.conftest import Run, replayed, run  # noqa: F401 - a fixture
from tests.workbench.seat import workbench


@pytest.fixture
def stores(run: Run, tmp_path: Path) -> list[Path]:  # noqa: F811
    """Three copies of a store with one administration that nobody has judged."""
    model = replayed(tmp_path / "answers.jsonl")
    first = tmp_path / "command.db"
    run("run", "tab", "--model", model, "--judge", "none", "--store", first)
    copies = [tmp_path / "python.db", tmp_path / "workbench" / "store.db"]
    copies[1].parent.mkdir()
    for copy in copies:
        shutil.copy(first, copy)
    return [first, *copies]


def ratings(path: Path) -> list[tuple[Any, ...]]:
    with Store.open(path) as store:
        return [
            (trial.plan.number, one.rater, one.measure, one.value, str(one.status), one.reason)
            for trial in store.trials(1)
            for one in trial.ratings
        ]


def ended(jobs: JobController, number: int) -> bool:
    return not jobs.state(number).active


async def worked(store: Path, *wanted: Operation) -> list[Any]:
    """Do operations as background jobs of the workbench; return their documents."""
    documents = []
    async with workbench(store.parent) as seat:
        jobs = seat.desk.controller(JobController)
        for one in wanted:
            number = await seat.desk.ask(jobs.begin, one)
            await seat.until(partial(ended, jobs, number), "the end")
            documents.append(jobs.state(number).document)
    return documents


async def test_judging(run: Run, stores: list[Path]) -> None:  # noqa: F811
    command, python, workbench_store = stores
    options = ("--judge", "rules-1", "--scope", "all", "--json")
    document = run("judge", "run", "1", *options, "--store", command).document
    with tabwb.open(python, write=True) as study:
        table = study.judge(1, "rules-1", scope="all")
    wanted = JudgeRun(ids=(1,), judge=("rules-1",), scope="all")
    (of_workbench,) = await worked(workbench_store, wanted)
    assert {"format": 1, **of_workbench} == document
    (row,) = document["judging"]
    assert row["judged"] == 20
    names = {"id": "administration"} | {name: name for name in table.names if name != "id"}
    assert list(table.rows()) == [tuple(row[names[name]] for name in table.names)]
    assert ratings(command) == ratings(python) == ratings(workbench_store) != []


CORRECTIONS: tuple[tuple[str, type[Operation], dict[str, Any]], ...] = (
    ("tag 1 --title pilot --add a --add b", TagAdministrations,
     {"ids": (1,), "title": "pilot", "add": ("a", "b")}),
    ("tag 1 --undo", TagAdministrations, {"ids": (1,), "undo": True}),
    ("trial void 1 rp1 --reason noise", VoidTrial,
     {"administration": 1, "trial": "rp1", "reason": "noise"}),
    ("trial note 1 2 loud", NoteOnTrial, {"administration": 1, "trial": 2, "text": "loud"}),
    ("trial rescore 1", RescoreAdministration, {"administration": 1}),
    ("trial undo 1", UndoLatest, {"administration": 1}),
)  # fmt: skip


async def test_corrections(run: Run, stores: list[Path]) -> None:  # noqa: F811
    command, python, workbench_store = stores
    documents = [
        run(*words.split(), "--json", "--store", command).document for words, *_ in CORRECTIONS
    ]
    with tabwb.open(python, write=True) as study:
        of_python = [
            getattr(study, words.split()[words.startswith("trial")])(**values)
            for words, _, values in CORRECTIONS
        ]
    wanted = [kind(**values) for _, kind, values in CORRECTIONS]
    of_workbench = await worked(workbench_store, *wanted)
    assert [{"format": 1, **one} for one in of_python] == documents
    assert [{"format": 1, **one} for one in of_workbench] == documents
    assert documents[0]["administrations"][0]["tags"] == ["a", "b"]
    assert documents[1]["administrations"][0]["tags"] == ["a"]  # each tag is a change
    assert documents[-1]["undone"] == [{"what": "void", "trial": documents[2]["trial"]}]
    assert ratings(command) == ratings(python) == ratings(workbench_store) != []


PEOPLE: tuple[tuple[str, str, type[Operation], dict[str, Any]], ...] = (
    ("speaker add S-014 AQ=71.3 dialect=Scots", "add_speaker", AddSpeaker,
     {"speaker": "S-014", "values": {"AQ": 71.3, "dialect": "Scots"}}),
    ("speaker set S-014 AQ= months_post_onset=18", "set_speaker", SetSpeaker,
     {"speaker": "S-014", "values": ["AQ=", "months_post_onset=18"]}),
    ("speaker consent S-014 --scope rate --scope share --given 2026-01-02", "consent",
     ConsentOfSpeaker, {"speaker": "S-014", "scope": ["rate", "share"], "given": "2026-01-02"}),
    ("speaker consent S-014 --all --withdrawn 2026-02-03", "consent", ConsentOfSpeaker,
     {"speaker": "S-014", "everything": True, "withdrawn": "2026-02-03"}),
    ("speaker list", "speakers", ListSpeakers, {}),
    ("speaker show S-014", "speaker", ShowSpeaker, {"speaker": "S-014"}),
    ("speaker log S-014", "log", LogOfSpeakers, {"speaker": "S-014"}),
    ("speaker delete S-014 --reason other --yes", "delete_speaker", DeleteSpeaker,
     {"speaker": "S-014", "reason": "other"}),
)  # fmt: skip


def undated(document: Any) -> Any:
    """A document without the times at which things were recorded."""
    if isinstance(document, dict):
        times = ("at", "recorded_at", "deleted_at", "format")
        return {key: undated(value) for key, value in document.items() if key not in times}
    return list(map(undated, document)) if isinstance(document, list | tuple) else document


async def test_people(run: Run, stores: list[Path]) -> None:  # noqa: F811
    command, python, workbench_store = stores
    documents = [run(*words.split(), "--json", "--store", command).document for words, *_ in PEOPLE]
    with tabwb.open(python, write=True) as study:
        of_python = [getattr(study, name)(**values) for _, name, _, values in PEOPLE]
    wanted = [made(kind, values) for _, _, kind, values in PEOPLE]
    of_workbench = await worked(workbench_store, *wanted)
    assert undated(of_python) == undated(documents) == undated(of_workbench)
    assert documents[1]["speaker"]["values"] == {"dialect": "Scots", "months_post_onset": 18.0}
    assert documents[4]["speakers"][0]["may"] == []
    assert documents[-1]["deleted"]["reason"] == "other"


FILES: tuple[tuple[str, str, str, type[Operation], dict[str, Any]], ...] = (
    ("export 1 --out {}", "a.jsonl", "export", ExportResults, {"ids": 1}),
    ("export 1 --out {} --format parquet --wide", "a.parquet", "export", ExportResults,
     {"ids": 1, "format": "parquet", "wide": True}),
    ("report --by model --out {} --title Test --responses 2", "a.html", "report", WriteReport,
     {"by": "model", "title": "Test", "responses": 2}),
    ("report 1 --by administration --out {} --subtest repetition", "a.md", "report", WriteReport,
     {"ids": 1, "by": "administration", "subtests": ("repetition",)}),
    ("figure accuracy 1 --out {} --option policy=normalised --width double", "a.pdf",
     "write_figure", DrawFigure,
     {"name": "accuracy", "ids": 1, "option": {"policy": "normalised"}, "width": "double"}),
)  # fmt: skip


async def test_files(run: Run, stores: list[Path], tmp_path: Path) -> None:  # noqa: F811
    command, python, workbench_store = stores
    folders = [tmp_path / name for name in ("command", "python", "workbench")]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    first, second, third = folders
    documents = []
    for words, name, *_ in FILES:
        line = words.format(first / name).split()
        documents.append(run(*line, "--json", "--store", command).document)
    with tabwb.open(python) as study:
        for _, name, method, _, values in FILES:
            assert getattr(study, method)(out=second / name, **values) == second / name
    wanted = [made(kind, {**values, "out": third / name}) for _, name, _, kind, values in FILES]
    of_workbench = await worked(workbench_store, *wanted)
    for (_, name, *_), document, other in zip(FILES, documents, of_workbench, strict=True):
        assert document == {"format": 1, "written": [str(first / name)]}
        assert other == {"written": [str(third / name)]}
        texts = {(folder / name).read_bytes() for folder in folders}
        assert len(texts) == 1, name


async def test_a_file_that_exists_is_kept(run: Run, stores: list[Path]) -> None:  # noqa: F811
    out = stores[0].with_name("a.csv")
    out.write_text("mine")
    options = ("--format", "csv", "--out", out)
    assert "--force" in run("export", 1, *options, "--store", stores[0], status=1).err
    with tabwb.open(stores[1]) as study, pytest.raises(TabwbError, match="already exists"):
        study.export(1, format="csv", out=out)
    async with workbench(stores[2].parent) as seat:
        jobs = seat.desk.controller(JobController)
        wanted = ExportResults(ids=(1,), format="csv", out=out)
        number = await seat.desk.ask(jobs.begin, wanted)
        await seat.until(partial(ended, jobs, number), "the end")
        assert jobs.state(number).phase == "refused"
    assert out.read_text() == "mine"
