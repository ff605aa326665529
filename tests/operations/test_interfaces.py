"""Each operation does the same from the command line, from Python and in the workbench."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.operations.judge import JudgeRun
from tabwb.operations.operation import Operation
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
