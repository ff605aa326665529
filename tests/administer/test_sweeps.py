"""Sweeps: shared out, continued after kills, with the same answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.administer.sweep.point import Point
from tabwb.administer.sweep.pool import run_sweep
from tabwb.administer.sweep.sweep import Model, Told, Worker
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import StoreError, UsageError
from tabwb.store.store import Store
from tests.administer.sweeping import CONDITIONS, answers, grid_in, made, run, undisturbed

pytestmark = pytest.mark.usefixtures("lesionable")
HERE = "lesionable"
CHILD = "lesionable-child@delay=0.01"


def test_two_workers_and_two_shards_give_the_same(plugins: Plugins, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    for shard in ((0, 2), (1, 2)):
        list(run(plugins, HERE, store, shard, workers=2))
    assert answers(store) == undisturbed(plugins, HERE, tmp_path)
    assert list(run(plugins, HERE, store)) == []  # nothing is left to give


def test_a_worker_that_dies_loses_nothing(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models: list[Model] = []
    loaded = Model.loaded

    def remembered(plugins: Plugins, spec: str) -> Model:
        models.append(loaded(plugins, spec))
        return models[-1]

    monkeypatch.setattr(Model, "loaded", remembered)
    store, deaths, ended = tmp_path / "store.db", 0, 0
    for told in run(plugins, CHILD, store, workers=2):
        ended += told.event is None
        assert not told.failed
        if ended >= 2 * (deaths + 1) and deaths < 3:
            pid = models[deaths % len(models)].backend.pid  # type: ignore[attr-defined]
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                deaths += 1
    assert deaths == 3 and answers(store) == undisturbed(plugins, CHILD, tmp_path)


@pytest.mark.crash
def test_a_sweep_that_is_killed_is_continued_by_the_same_command(
    plugins: Plugins, tmp_path: Path
) -> None:
    spec, store = "lesionable-child@delay=0.05", tmp_path / "store.db"
    command = [
        *(sys.executable, "-m", "tabwb.cli.main", "lesion", "sweep", "tab"),
        *("--model", spec, "--grid", str(grid_in(tmp_path)), "--store", str(store)),
        *("--limit", "1", "--judge", "none"),
    ]
    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = count(store)
        while process.poll() is None and count(store) < before + 2:
            time.sleep(0.02)
        process.kill()
        assert process.wait() == -signal.SIGKILL
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert f"{CONDITIONS} conditions" in done.stdout
    assert answers(store) == undisturbed(plugins, spec, tmp_path)


def count(path: Path) -> int:
    if not path.exists():
        return 0
    with Store.open(str(path), create=False) as store:
        return len(store.administrations())


def test_a_condition_that_always_fails_does_not_stop_the_others(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model.loaded(plugins, HERE)
    with closing(model.backend):
        sweep = made(plugins, model, HERE, tmp_path)
        lesion = model.lesionable().lesion
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
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Point] = []

    def lost(worker: Worker, point: Point, known: object) -> Iterator[Told]:
        calls.append(point)
        raise StoreError("the store cannot be written")
        yield Told(point)

    monkeypatch.setattr(Worker, "give", lost)
    with pytest.raises(StoreError, match="cannot be written"):
        list(run(plugins, HERE, tmp_path / "store.db"))
    assert len(calls) == 1


def test_the_conditions_of_a_sweep_have_one_model(plugins: Plugins, tmp_path: Path) -> None:
    model = Model.loaded(plugins, HERE)
    store = tmp_path / "store.db"
    failed: list[str] = []
    with closing(model.backend):
        sweep = made(plugins, model, HERE, tmp_path)
        for weights, points in (("a", sweep.points[:2]), ("b", sweep.points[1:3])):
            changed = replace(model, facts={**model.facts, "weights_sha256": weights})
            arguments = (lambda: Store.open(str(store)), threading.Event())
            ended = run_sweep(sweep, points, *arguments, model=changed)
            failed += [told.failed for told in ended if told.failed]
    (message,) = failed
    assert "in administration 1 weights_sha256 is a, and now it is b" in message
    assert count(store) == 2
