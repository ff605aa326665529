"""A small sweep, and what it stored: used by the tests of sweeps."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from tabwb.administer.session import setup
from tabwb.administer.sweep.grid import read_grid, sweep_of
from tabwb.administer.sweep.pool import run_sweep
from tabwb.administer.sweep.sweep import Model, Point, Sweep, Told
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store

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


def grid_in(folder: Path) -> Path:
    path = folder / "grid.toml"
    path.write_text(GRID)
    return path


def made(plugins: Plugins, model: Model, spec: str, folder: Path) -> Sweep:
    battery = setup.find_battery(plugins, "tab")
    asked = Conditions(spec, "model", judges=(), part_limit=1)
    conditions = setup.resolve(plugins, battery, asked)
    return sweep_of(plugins, battery, conditions, read_grid(grid_in(folder)), model.parts())


def run(
    plugins: Plugins, spec: str, store: Path, shard: tuple[int, int] = (0, 1), **more: int
) -> Iterator[Told]:
    model = Model.loaded(plugins, spec)
    with closing(model.backend):
        sweep = made(plugins, model, spec, store.parent)
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


def undisturbed(plugins: Plugins, spec: str, folder: Path) -> Answers:
    """Return the answers of a sweep that one worker gives without a break."""
    store = folder / "undisturbed.db"
    ended = [told for told in run(plugins, spec, store) if told.event is None]
    assert len(ended) == CONDITIONS and not any(told.failed for told in ended)
    found = answers(store)
    assert len({str(texts) for texts in found.values()}) > CONDITIONS // 2
    return found
