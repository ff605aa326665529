"""Sweeps with the bundled model: continued after kills, shared out, with the same answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tabwb.administer.session import setup
from tabwb.administer.sweep.grid import read_grid
from tabwb.administer.sweep.point import Point
from tabwb.administer.sweep.pool import run_sweep
from tabwb.administer.sweep.sweep import Model, Sweep, Told, Worker
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError, UsageError
from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store

pytest.importorskip("torch", reason="needs tabwb[local]")
pytestmark = pytest.mark.torch

GRID = """
format = 1
name = "small"
[[lesions]]
targets = ["attention.heads", "mlp"]
amounts = [0.25, 0.5]
seeds = [1]
controls = true
"""
CONDITIONS = 1 + 4 + 2 * 2
"""The intact model, the lesions, and a control for each: the target, amount and seed of it."""
Answers = dict[str, list[tuple[str, str]]]


@pytest.fixture(scope="module")
def plugins() -> Iterator[Plugins]:
    with closing(Plugins.load()) as loaded:
        yield loaded


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grid") / "grid.toml"
    path.write_text(GRID)
    return path


def made(plugins: Plugins, grid: Path, model: Model) -> Sweep:
    battery = setup.find_battery(plugins, "tab")
    asked = Conditions("bundled@threads=1", "model", judges=(), part_limit=1)
    conditions = setup.resolve(plugins, battery, asked)
    points = read_grid(grid).points(model.backend.parts(), conditions)
    return Sweep(plugins, battery, conditions, "small", points)


def run(
    plugins: Plugins, grid: Path, store: Path, shard: tuple[int, int] = (0, 1), **more: int
) -> Iterator[Told]:
    model = Model.loaded(plugins, "bundled@threads=1")
    with closing(model.backend):
        sweep = made(plugins, grid, model)
        own: Sequence[Point] = sweep.points[shard[0] :: shard[1]]
        cancel = threading.Event()
        yield from run_sweep(
            sweep, own, lambda: Store.open(str(store)), cancel, model=model, **more
        )


def answers(path: Path) -> Answers:
    """Return what was answered under each lesion, after checking that each was given once."""
    found: Answers = {}
    with Store.open(str(path), create=False) as store:
        for one in store.administrations():
            assert one.status is AdministrationStatus.DONE and one.answered == 4
            assert ("control" in one.tags) == (one.conditions.lesion or "").startswith(
                "projections"
            )
            assert "small" in one.tags
            lesion = one.conditions.lesion or ""
            assert lesion not in found
            trials = store.trials(one.id)
            found[lesion] = [
                (trial.plan.item, trial.counting.response) for trial in trials if trial.counting
            ]
            facts = store.history(one.id).model_facts
            assert facts.get("lesion", "") == lesion
            assert float(facts["lesion_perplexity"]) > 1
    return found


@pytest.fixture(scope="module")
def undisturbed(plugins: Plugins, grid: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    store = tmp_path_factory.mktemp("whole") / "store.db"
    ended = [told for told in run(plugins, grid, store) if told.event is None]
    assert len(ended) == CONDITIONS and not any(told.failed for told in ended)
    found = answers(store)
    assert len({str(texts) for texts in found.values()}) > CONDITIONS // 2
    return found


def test_two_workers_and_two_shards_give_the_same(
    plugins: Plugins, grid: Path, undisturbed: Answers, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    for shard in ((0, 2), (1, 2)):
        list(run(plugins, grid, store, shard, workers=2))
    assert answers(store) == undisturbed
    assert list(run(plugins, grid, store)) == []  # nothing is left to give


def test_a_worker_that_dies_loses_nothing(
    plugins: Plugins,
    grid: Path,
    undisturbed: Answers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models: list[Model] = []
    loaded = Model.loaded

    def remembered(plugins: Plugins, spec: str) -> Model:
        models.append(loaded(plugins, spec))
        return models[-1]

    monkeypatch.setattr(Model, "loaded", remembered)
    store, deaths, ended = tmp_path / "store.db", 0, 0
    for told in run(plugins, grid, store, workers=2):
        ended += told.event is None
        assert not told.failed
        if ended >= 2 * (deaths + 1) and deaths < 3:
            pid = models[deaths % len(models)].backend.pid  # type: ignore[attr-defined]
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                deaths += 1
    assert deaths == 3 and answers(store) == undisturbed


@pytest.mark.crash
def test_a_sweep_that_is_killed_is_continued_by_the_same_command(
    grid: Path, undisturbed: Answers, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    command = [
        *(sys.executable, "-m", "tabwb.cli.main", "lesion", "sweep", "tab"),
        *("--model", "bundled@threads=1", "--grid", str(grid), "--store", str(store)),
        *("--limit", "1", "--judge", "none"),
    ]
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = count(store)
        while process.poll() is None and count(store) < before + 2:
            time.sleep(0.02)
        process.kill()
        process.wait()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert f"{CONDITIONS} conditions" in done.stdout
    assert answers(store) == undisturbed


def count(path: Path) -> int:
    if not path.exists():
        return 0
    with Store.open(str(path), create=False) as store:
        return len(store.administrations())


def test_a_condition_that_always_fails_does_not_stop_the_others(
    plugins: Plugins, grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model.loaded(plugins, "bundled@threads=1")
    with closing(model.backend):
        sweep = made(plugins, grid, model)
        lesion = model.backend.lesion
        poison = sweep.points[3].lesion

        def failing(spec: str) -> object:
            if spec == poison:
                raise UsageError("cannot be applied")
            return lesion(spec)

        monkeypatch.setattr(model.backend, "lesion", failing)
        store = tmp_path / "store.db"
        ended = [
            told
            for told in run_sweep(
                sweep,
                sweep.points[:6],
                lambda: Store.open(str(store)),
                threading.Event(),
                model=model,
            )
            if told.event is None
        ]
    assert [told.failed for told in ended if told.failed] == ["cannot be applied"]
    assert len(answers(store)) == 5


def test_a_store_that_is_lost_stops_the_sweep_at_once(
    plugins: Plugins, grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Point] = []

    def lost(worker: Worker, point: Point, known: object) -> Iterator[Told]:
        calls.append(point)
        raise StoreError("the store cannot be written")
        yield Told(point)

    monkeypatch.setattr(Worker, "give", lost)
    with pytest.raises(StoreError, match="cannot be written"):
        list(run(plugins, grid, tmp_path / "store.db"))
    assert len(calls) == 1
