"""A sweep in the background: its thread, what it tells, how it stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from tabwb.administer.session import setup
from tabwb.administer.sweep.forecast import forecast
from tabwb.administer.sweep.grid import read_grid
from tabwb.administer.sweep.pool import run_sweep
from tabwb.administer.sweep.suited import resolved, sweep_of
from tabwb.administer.sweep.sweep import Model, Sweep, Told
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import conditions_of
from tabwb.records.errors import TabwbError, error_text
from tabwb.records.events import AttemptRecorded
from tabwb.records.files import expanded
from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store
from tabwb.workbench.engine.engine import CLOSE_S, Engine
from tabwb.workbench.lesions.messages import SweepState, SweepWish

SHOWN_S = 0.2
"""Seconds between two messages of progress."""
RECENT = 20
"""Conditions that were given last, of which is told."""
PHASES = {"loading": "running", "planned": "done", "failed": "refused"}
"""Phases of a sweep as those of a background job, where they differ."""
TOGETHER = 64
"""Items put to the model at once, as ``tabwb lesion sweep`` does."""
END_S = CLOSE_S - 1.0
"""Seconds that a sweep may take to stop when the program ends."""


class SweepJob(threading.Thread):
    """Gives the conditions of a sweep that the store lacks.

    It has its own plugins and stores, so that the workbench can give other batteries meanwhile.
    """

    def __init__(
        self, engine: Engine, wish: SweepWish, again: Callable[[], None], *, dry: bool = False
    ) -> None:
        super().__init__(name="sweep", daemon=True)
        self._engine, self._place = engine, engine.store_place
        self._configuration = engine.plugins.configuration
        self._cancel = threading.Event()
        self._dry = dry
        self._state = SweepState("loading", wish, dry=dry)
        what = f"{wish.battery} · {wish.model} · {Path(wish.grid).name}"
        kind = "Dry run" if dry else "Sweep"
        self._entry = engine.background.enter(kind, what, self.stop, again=again, page="sweep")

    def stop(self) -> None:
        """Stop after the current items; from any thread."""
        self._cancel.set()
        if self._state.active:
            self._engine.say(replace(self._state, phase="stopping"))
            self._entry.tell(phase="stopping")

    def ended(self) -> bool:
        """Return whether it has ended; wait for one that only closes its model."""
        if not self._state.active:
            self.join(END_S)
        return not self.is_alive()

    def finish(self) -> None:
        """Stop, and wait until its administrations are paused; the program ends."""
        self.stop()
        self.join(END_S)

    def run(self) -> None:
        """Give the conditions; every end is told."""
        try:
            with closing(Plugins.load(self._configuration)) as plugins:
                self._give(plugins)
        except TabwbError as error:
            self._tell(phase="stopped" if self._cancel.is_set() else "refused", words=str(error))
        except Exception as error:  # noqa: BLE001 - the thread's edge: shown, never the end
            self._tell(phase="refused", words=error_text(error))
        self._engine.later(self._engine.refresh)

    def _give(self, plugins: Plugins) -> None:
        wish = self._state.wish
        workers = wish.checked()
        grid = read_grid(expanded(wish.grid))
        battery = setup.find_battery(plugins, wish.battery)
        asked = conditions_of(wish.model, "model", {})
        conditions = resolved(plugins, battery, asked)
        self._tell(name=grid.name, words=f"loading {wish.model} in a separate process")
        model = Model.loaded(plugins, conditions.examinee, self._cancel)
        with closing(model.backend):
            sweep = sweep_of(plugins, battery, conditions, grid, grid.needed(model))
            points = sweep.points
            done = self._done(sweep)
            if self._dry:
                self._forecast(sweep, model, done, workers)
                return
            self._tell(phase="running", planned=len(points), before=done, words="")
            if self._cancel.is_set():
                self._tell(phase="stopped")
                return
            began = shown_at = time.monotonic()
            for told in run_sweep(
                sweep, points, self._opened, self._cancel, model=model, workers=workers
            ):
                self._note(told, began)
                if told.event is None or time.monotonic() - shown_at > SHOWN_S:
                    shown_at = time.monotonic()
                    self._publish()
        state = self._state
        if state.failures:
            self._tell(phase="failed")
        else:
            self._tell(phase="stopped" if state.left else "done")

    def _forecast(self, sweep: Sweep, model: Model, done: int, workers: int) -> None:
        """Tell what the sweep would give."""
        self._tell(words="asking the intact model once; nothing is stored")
        found = forecast(sweep, sweep.points, model, done, TOGETHER, self._cancel)
        if self._cancel.is_set():
            self._tell(phase="stopped", words="")
            return
        lines = tuple(found.lines(workers))
        conditions = tuple((point.role, point.name) for point in sweep.points)
        self._tell(phase="planned", planned=len(conditions), before=done, words="",
                   forecast=lines, conditions=conditions)  # fmt: skip

    def _done(self, sweep: Sweep) -> int:
        with self._opened() as store:
            known = sweep.known(store)
        return sum(one.status is AdministrationStatus.DONE for one in known.values())

    def _opened(self) -> Store:
        return Store.open(self._place)

    def _note(self, told: Told, began: float) -> None:
        state, name = self._state, told.point.name
        phase = "stopping" if self._cancel.is_set() else state.phase
        state = replace(state, phase=phase, seconds=time.monotonic() - began)
        if told.event is not None:
            items = state.items + isinstance(told.event, AttemptRecorded)
            state = replace(state, begun=state.begun | {name}, items=items)
        else:
            state = replace(state, begun=state.begun - {name})
        if told.failed:
            state = replace(state, failures=(*state.failures, (name, told.failed)))
        elif told.event is None:
            recent = (name, *state.recent)[:RECENT]
            state = replace(state, given=state.given + 1, recent=recent)
        self._state = state

    def _tell(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]
        self._publish()

    def _publish(self) -> None:
        """Send the state to the page of sweeps and to that of jobs."""
        state = self._state
        phase = PHASES.get(state.phase, state.phase)
        self._engine.say(state)
        self._entry.tell(
            phase=phase,
            resumable=phase in {"stopped", "refused"},
            done=state.before + state.given,
            planned=state.planned,
            words=state.words or (state.summary if state.planned else ""),
        )
