"""Batteries are given alike by command, Python and the workbench's jobs, into copies of a store."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.operations.lesion import LesionTargets, LocalizeUnits, PlanLesion, SweepLesions
from tabwb.operations.run import ResumeAdministration, RunBattery
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.operations.test_interfaces import worked

VARIES = {
    "format", "uid", "created_at", "recorded_at", "session_date", "latency_s", "metadata", "at",
    "model_facts", "seconds_each",
}  # fmt: skip


def plain(document: Any) -> Any:
    """A document without ids, times and what depends on them."""
    if isinstance(document, dict):
        return {key: plain(value) for key, value in document.items() if key not in VARIES}
    return [plain(one) for one in document] if isinstance(document, list | tuple) else document


@pytest.fixture
def stores(run: Run, tmp_path: Path) -> list[Path]:  # noqa: F811
    """Three copies of a store with an administration that a limit has paused."""
    first = tmp_path / "command.db"
    limited = ("--max-requests", 3, "--judge", "none", "--batch-size", 1)
    run("run", "tab", "--model", "echo", *limited, "--store", first, status=3)
    copies = [tmp_path / "python.db", tmp_path / "workbench" / "store.db"]
    copies[1].parent.mkdir()
    for copy in copies:
        shutil.copy(first, copy)
    return [first, *copies]


def stored(run: Run, store: Path, number: int) -> Any:  # noqa: F811
    return plain(run("results", number, "--json", "--store", store).document)


async def test_running_and_resuming(run: Run, stores: list[Path]) -> None:  # noqa: F811
    command, python, workbench_store = stores
    asked = {"seed": 5, "option_order": "shuffled", "part_limit": 2, "judges": ["none"]}
    options = ("--seed", 5, "--shuffle-options", "--limit", 2, "--judge", "none")
    documents = [
        run("resume", 1, "--json", "--store", command).document,
        run("run", "tab", "--model", "echo", *options, "--json", "--store", command).document,
    ]
    tabwb.resume(python, 1)
    tabwb.run("tab", "echo", seed=5, option_order="shuffled", limit=2, judges=[], store=python)
    of_workbench = await worked(
        workbench_store,
        ResumeAdministration(administration=1),
        RunBattery(battery="tab", model="echo", asked=asked),
    )
    assert plain(of_workbench) == plain(documents)
    for number, document in enumerate(documents, start=1):
        assert stored(run, python, number) == stored(run, command, number) == plain(document)
        assert document["administration"]["status"] == "done"
    assert [document["administration"]["answered"] for document in documents] == [20, 8]
    assert documents[1]["administration"]["option_order"] == "shuffled"


async def test_what_cannot_be_given_is_refused_alike(
    run: Run,  # noqa: F811
    stores: list[Path],
) -> None:
    command, python, _ = stores
    run("run", "tab", "--model", "echo", "--subtest", "x", "--store", command, status=2)
    with pytest.raises(tabwb.UsageError):
        tabwb.run("tab", "echo", subtests="x", store=python)
    for store in (command, python):
        assert len(run("results", "--json", "--store", store).document["administrations"]) == 1


GRID = """
format = 1
name = "two"
[[lesions]]
targets = ["attention.heads"]
amounts = [1.0]
layers = ["0"]
"""


@pytest.mark.usefixtures("lesionable")
async def test_sweeping(run: Run, stores: list[Path], tmp_path: Path) -> None:  # noqa: F811
    command, python, workbench_store = stores
    grid = tmp_path / "grid.toml"
    grid.write_text(GRID, encoding="utf-8")
    given = ("lesion", "sweep", "tab", "--model", "lesionable", "--grid", grid, "--limit", 1)
    document = run(*given, "--json", "--store", command).document
    table = tabwb.sweep("tab", "lesionable", grid, limit=1, store=python)
    wanted = SweepLesions(
        battery="tab", model="lesionable", grid=str(grid), asked={"part_limit": 1}
    )
    (of_workbench,) = await worked(workbench_store, wanted)
    assert plain(of_workbench) == plain(document)
    assert (document["given"], document["left"], document["failed"]) == (2, 0, [])
    assert table["status"].to_list() == ["done", "done"]
    for number in (2, 3):
        of_command = stored(run, command, number)
        assert stored(run, python, number) == stored(run, workbench_store, number) == of_command
        assert of_command["administration"]["tags"] == ["two"]
    assert run(*given, "--json", "--store", command).document["done_before"] == 2


@pytest.mark.usefixtures("lesionable")
async def test_what_a_lesion_changes(run: Run, stores: list[Path]) -> None:  # noqa: F811
    lesion, model = "attention.heads:zero@layers=0", ("--model", "lesionable", "--json")
    documents = [
        run("lesion", "targets", *model).document, run("lesion", "plan", lesion, *model).document
    ]  # fmt: skip
    of_workbench = await worked(
        stores[2], LesionTargets(model="lesionable"),
        PlanLesion(lesion=lesion, model="lesionable"),
    )  # fmt: skip
    assert plain(of_workbench) == plain(documents)
    parts = [one["part"] for one in documents[0]["parts"]]
    assert tabwb.lesion_parts("lesionable")["part"].to_list() == parts
    taken = [one["taken_parameters"] for one in documents[1]["parts"]]
    plan = tabwb.lesion_plan("lesionable", lesion)
    assert plan["taken_parameters"].to_list() == taken
    heads = tabwb.lesion_parts("lesionable").where(target="attention.heads", layer=0).to_dicts()[0]
    assert (heads["unit"], heads["part"]) == ("head", "0.attention.heads")
    assert plan["taken_units"].to_list() == plan["units"].to_list() == [heads["units"]]
    assert taken == [heads["parameters"]]
    assert plan.notes[0].startswith("attention.heads:zero:1@layers=0 changes ")
    with pytest.raises(tabwb.UsageError, match="has no known target"):
        tabwb.lesion_plan("lesionable", "mlq:zero")
    run("lesion", "plan", "mlq:zero", *model, status=2)


ITEMS = """
format = 1
name = "short"
[first]
label = "sentences"
texts = ["The dog ran home.", "A cat sat there.", "We saw the sea.", "He ate the bread."]
[second]
label = "nonwords"
texts = ["Tha dob rin hamo.", "U cet sut thaba.", "Wu sar tho sei.", "Ha ite thi breil."]
"""


@pytest.mark.usefixtures("lesionable")
async def test_localizing(run: Run, stores: list[Path], tmp_path: Path) -> None:  # noqa: F811
    items, out = tmp_path / "items.toml", tmp_path / "units.json"
    items.write_text(ITEMS, encoding="utf-8")
    files = ("--items", items, "--out", out)
    asked = ("lesion", "localize", "--model", "lesionable", *files, "--share", 0.25)
    document = run(*asked, "--json").document
    found = json.loads(out.read_text())
    python = tabwb.localize("lesionable", out, items=items, share=0.25, force=True)
    assert json.loads(out.read_text()) == found
    wanted = LocalizeUnits(
        model="lesionable", out=str(out), items=str(items), share=0.25, force=True
    )
    (of_workbench,) = await worked(stores[2], wanted)
    assert json.loads(out.read_text()) == found
    assert plain(of_workbench) == plain(python) == plain(document)
    assert plain(found) == {key: one for key, one in plain(document).items() if key != "file"}
    assert document["taken"] > 0
    run(*asked, status=1, err="--force")
