"""Sweeps on a Dask cluster of this computer: the same answers, whoever dies."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="needs tabwb[cluster]")
import dask
from distributed import LocalCluster

from tabwb.administer.session import setup
from tabwb.administer.sweep import cluster as clusters
from tabwb.administer.sweep.cluster import Cluster, run_on_cluster
from tabwb.administer.sweep.grid import read_grid
from tabwb.administer.sweep.host import Answered, Host
from tabwb.administer.sweep.pool import run_sweep
from tabwb.administer.sweep.sweep import Model, Point, Sweep, Told
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import LANES
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Reply, Request
from tabwb.records.states import AdministrationStatus, StopReason
from tabwb.store.store import Store

pytestmark = pytest.mark.usefixtures("lesionable")
SPEC = "lesionable-child@delay=0.01"
GRID = """
format = 1
[[lesions]]
targets = ["attention.heads"]
amounts = [0.25, 0.5]
seeds = [1, 2]
controls = true
"""
POISON = "attention.heads:zero:0.5@seed=2"
LESIONS = [None, *(f"attention.heads:zero:0.5@seed={seed}" for seed in (1, 2, 3))]


@contextmanager
def dask_of(workers: int, allowed_failures: int = 3) -> Iterator[LocalCluster]:
    settings = {"distributed.scheduler.allowed-failures": allowed_failures}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as local,
    ):
        yield local


def all_have_begun(cluster: Cluster, workers: int) -> None:
    """Wait for the workers that replace killed ones: Dask hangs if it closes one that begins."""
    cluster.client.wait_for_workers(workers, timeout=200)


def swept(plugins: Plugins, wanted: Callable[[Conditions], Sequence[Point]]) -> Sweep:
    battery = setup.find_battery(plugins, "tab")
    asked = Conditions(SPEC, "model", judges=("rules-2",), part_limit=1)
    conditions = setup.resolve(plugins, battery, asked)
    return Sweep(plugins, battery, conditions, "small", wanted(conditions))


def contents(path: Path) -> dict[str, object]:
    """Return everything that a sweep stored under each lesion, except times and shared batches."""
    found: dict[str, object] = {}
    with Store.open(str(path), create=False) as store:
        for one in store.administrations():
            assert one.status is AdministrationStatus.DONE
            lesion = one.conditions.lesion or ""
            assert lesion not in found
            history = store.history(one.id)
            trials: list[Any] = []
            for trial in store.trials(one.id):
                (attempt,) = trial.attempts
                notes = dict(attempt.metadata)
                notes.pop("first_piece_s", None)
                trials.append((trial.plan, attempt.response, attempt.messages, notes))
                trials.append([(r.rater, r.measure, r.value, r.status) for r in trial.ratings])
            facts = dict(history.model_facts)
            facts.pop(LANES, None)  # on a cluster a condition is given alone
            found[lesion] = (one.tags, one.conditions, facts, trials)
    return found


@pytest.mark.crash
def test_a_cluster_stores_what_one_worker_stores_though_one_is_killed(
    plugins: Plugins, tmp_path: Path
) -> None:
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    model = Model.loaded(plugins, SPEC)
    with closing(model.backend):
        sweep = swept(plugins, partial(read_grid(path).points, model.parts()))
        points = sweep.points
        alone, store = tmp_path / "alone.db", tmp_path / "cluster.db"
        arguments = (lambda: Store.open(str(alone)), threading.Event())
        assert not any(one.failed for one in run_sweep(sweep, points, *arguments, model=model))
    cancel = threading.Event()
    with dask_of(2) as local, Cluster(local.scheduler_address, SPEC, cancel) as cluster:
        again = read_grid(path).points(cluster.parts(cancel), sweep.conditions)
        assert again == points
        ended: list[Told] = []
        # The first client stops after two conditions; the second one continues.
        for limit in (2, len(points)):
            cancel.clear()
            for told in run_on_cluster(
                sweep, points, lambda: Store.open(str(store)), cancel, cluster=cluster
            ):
                if told.event is None:
                    assert not told.failed
                    ended.append(told)
                    if len(ended) == limit:
                        cancel.set()
                    if len(ended) == 4:
                        worker = next(iter(cluster.client.run(os.getpid).values()))
                        os.kill(worker, signal.SIGKILL)
        all_have_begun(cluster, 2)
    assert sorted(told.point.lesion for told in ended) == sorted(one.lesion for one in points)
    assert contents(store) == contents(alone)


class Poisoned(Host):
    """Answers without a model, and ends its worker under one lesion."""

    def answer(
        self, spec: str, lesion: str, requests: Sequence[Request], together: int
    ) -> Answered:
        if lesion == POISON:
            os.kill(os.getpid(), signal.SIGKILL)
        texts = [f"{lesion} {request.key}" for request in requests]
        return Answered(
            {"model": "made up"}, tuple(Reply(one, StopReason.END, 0.1) for one in texts)
        )


@pytest.mark.crash
def test_a_condition_that_ends_every_worker_is_reported_and_the_others_are_given(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "Host", Poisoned)
    store = tmp_path / "store.db"
    sweep = swept(
        plugins, lambda given: [Point("lesion", replace(given, lesion=one)) for one in LESIONS]
    )
    with (
        dask_of(2, allowed_failures=1) as local,
        Cluster(local.scheduler_address, SPEC, threading.Event()) as cluster,
    ):
        told = list(
            run_on_cluster(
                sweep,
                sweep.points,
                lambda: Store.open(str(store)),
                threading.Event(),
                cluster=cluster,
            )
        )
        all_have_begun(cluster, 2)
    failed = [one for one in told if one.failed]
    assert [one.point.lesion for one in failed] == [POISON]
    assert "each worker that had this condition ended" in failed[0].failed
    assert contents(store).keys() == {one or "" for one in LESIONS} - {POISON}
