"""Each operation does the same from the command line, from Python and in the workbench."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.operations.judge import JudgeRun
from tabwb.operations.operation import Operation
from tabwb.operations.trial import (
    NoteOnTrial,
    RescoreAdministration,
    TagAdministrations,
    UndoLatest,
    VoidTrial,
)
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


async def worked(store: Path, wanted: Operation) -> Any:
    """Do an operation as a background job of the workbench; return its document."""
    async with workbench(store.parent) as seat:
        jobs = seat.desk.controller(JobController)
        number = await seat.desk.ask(jobs.begin, wanted)
        await seat.until(lambda: not jobs.state(number).active, "the end")
        return jobs.state(number).document


async def test_judging(run: Run, stores: list[Path]) -> None:  # noqa: F811
    command, python, workbench_store = stores
    options = ("--judge", "rules-1", "--scope", "all", "--json")
    document = run("judge", "run", "1", *options, "--store", command).document
    with tabwb.open(python, write=True) as study:
        table = study.judge(1, "rules-1", scope="all")
    wanted = JudgeRun(ids=(1,), judge=("rules-1",), scope="all")
    assert {"format": 1, **await worked(workbench_store, wanted)} == document
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
    of_workbench = [
        await worked(workbench_store, kind(**values)) for _, kind, values in CORRECTIONS
    ]
    assert [{"format": 1, **one} for one in of_python] == documents
    assert [{"format": 1, **one} for one in of_workbench] == documents
    assert documents[0]["administrations"][0]["tags"] == ["a", "b"]
    assert documents[1]["administrations"][0]["tags"] == ["a"]  # each tag is a change
    assert documents[-1]["undone"] == [{"what": "void", "trial": documents[2]["trial"]}]
    assert ratings(command) == ratings(python) == ratings(workbench_store) != []
