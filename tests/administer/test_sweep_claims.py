"""Two commands that give one sweep into one store: each condition is given once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.administer.session import setup
from tabwb.administer.sweep.pool import worked
from tabwb.administer.sweep.sweep import Point, Sweep, Told, Worker
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Cancel, ModelBackend
from tabwb.records.conditions import Conditions
from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store


class Echo:
    """A model whose answers a lesion does not change."""

    def __init__(self, backend: ModelBackend) -> None:
        self.backend = backend

    def under(self, lesion: str, cancel: Cancel) -> Mapping[str, str]:
        return {"lesion": lesion}


@pytest.fixture
def sweep(plugins: Plugins) -> Sweep:
    battery = setup.find_battery(plugins, "tab")
    asked = Conditions("echo", "model", judges=(), part_limit=1)
    conditions = setup.resolve(plugins, battery, asked)
    lesioned = replace(conditions, lesion="mlp:zero:0.5@seed=1")
    points = [Point("intact", conditions), Point("lesion", lesioned)]
    return Sweep(plugins, battery, conditions, "small", points)


def worker(sweep: Sweep, store: Store) -> Worker:
    backend = sweep.plugins.open_model("echo")
    backend.open()
    return Worker(sweep, Echo(backend), store, threading.Event(), 1)


def given(worker: Worker, point: Point) -> Iterator[Told]:
    """Give a point as a command does that found nothing in the store when it began."""
    return worked(worker, point, {}, 1, lambda again: pytest.fail("it is not tried again"))


def test_what_another_command_has_given_meanwhile_is_not_given_again(
    sweep: Sweep, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "store.db") as first, Store.open(tmp_path / "store.db") as second:
        for point in sweep.points:
            assert len(list(given(worker(sweep, first), point))) > 1
            assert list(given(worker(sweep, second), point)) == []
        assert len(first.administrations()) == 2


def test_what_another_command_gives_now_is_left_to_it(sweep: Sweep, tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as first, Store.open(tmp_path / "store.db") as second:
        point = sweep.points[1]
        giving = given(worker(sweep, first), point)
        next(giving)
        assert list(given(worker(sweep, second), point)) == []
        assert list(giving)[-1] == Told(point)
        (only,) = first.administrations()
    assert only.status is AdministrationStatus.DONE and only.tags == ("small",)


def test_what_was_discontinued_is_given_again(sweep: Sweep, tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        point = sweep.points[0]
        begun = setup.create(store, sweep.plugins, sweep.battery, point.conditions)
        begun.discontinue("tired")
        begun.close()
        assert list(given(worker(sweep, store), point))[-1] == Told(point)
        assert len(store.administrations()) == 2
