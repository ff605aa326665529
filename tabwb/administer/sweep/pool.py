"""Runs a sweep with one or more workers: threads, each with a model in its own process."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from tabwb.administer.session.corrections import change_marks
from tabwb.administer.sweep.packs import Pack, packs_of, worked_together
from tabwb.administer.sweep.point import Point
from tabwb.administer.sweep.sweep import TRIES, Known, Model, Sweep, Told, Worker
from tabwb.records.errors import HeldElsewhere, StoreError, TabwbError
from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store

OpenStore = Callable[[], Store]
Left = queue.SimpleQueue[tuple[Pack, int]]
"""Conditions that are given at one time, and the number of the try."""


def run_sweep(
    sweep: Sweep,
    points: Sequence[Point],
    open_store: OpenStore,
    cancel: threading.Event,
    *,
    model: Model | None = None,
    workers: int = 1,
    together: int = 64,
    lanes: int | None = None,
) -> Iterator[Told]:
    """Give the conditions that the store lacks; yield what happens, after it is stored.

    A condition whose model process died, or in which items are in error, goes back to the queue and
    is continued alone, also by another worker; after :data:`TRIES` tries it has failed, and the
    others go on.
    """
    with open_store() as store:
        known = begun_of(sweep, points, store)
    left: Left = queue.SimpleQueue()
    own = waiting(points, known)
    packs: list[Pack] = [(point,) for point in own]
    if own and model is not None and together > 1:
        packs = packs_of(points, model.backend, sweep.conditions.examinee, lanes)
    given = 0
    for pack in packs:
        if some := tuple(waiting(pack, known)):
            left.put((some, 1))
            given += 1
    told: queue.SimpleQueue[Told | BaseException | None] = queue.SimpleQueue()
    models = [*([None] * (workers - 1)), model]
    threads = [
        threading.Thread(
            target=_work,
            args=(sweep, known, left, told, open_store, cancel, together, models.pop()),
            name=f"sweep {number}",
            daemon=True,
        )
        for number in range(min(workers, given))
    ]
    for thread in threads:
        thread.start()
    running, ended, stopped = len(threads), 0, None
    while running:
        one = told.get()
        if one is None:
            running -= 1
        elif isinstance(one, BaseException):
            stopped = one
        else:
            ended += one.event is None
            yield one
    if stopped is not None and not cancel.is_set() and ended < len(own):
        raise stopped


class Loaded:
    """Keeps the model of one worker; another model is loaded when a condition needs it."""

    def __init__(self, sweep: Sweep, model: Model | None) -> None:
        self._sweep = sweep
        self._model = model

    def __enter__(self) -> Loaded:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def of(self, spec: str) -> Model:
        """Return the model of a spec, loaded."""
        if self._model is None or self._model.spec != spec:
            self._close()
            self._model = self._sweep.loaded(spec)
        return self._model

    def _close(self) -> None:
        if self._model is not None:
            self._model.backend.close()
            self._model = None


def _work(
    sweep: Sweep,
    known: Known,
    left: Left,
    told: queue.SimpleQueue[Told | BaseException | None],
    open_store: OpenStore,
    cancel: threading.Event,
    together: int,
    model: Model | None,
) -> None:
    """Give conditions until none is left; errors of a worker itself end it, and only it."""

    def again(one: tuple[Point, int]) -> None:
        left.put(((one[0],), one[1]))

    try:
        with Loaded(sweep, model) as loaded, open_store() as store:
            while not cancel.is_set():
                try:
                    pack, tries = left.get_nowait()
                except queue.Empty:
                    return
                try:
                    own = loaded.of(pack[0].model)
                except TabwbError as error:
                    if pack[0].model == sweep.conditions.examinee:
                        raise
                    told.put(Told(pack[0], failed=str(error)))
                    continue
                worker = Worker(sweep, own, store, cancel, together)
                if len(pack) > 1:
                    given = worked_together(worker, pack, known, again)
                else:
                    given = worked(worker, pack[0], known, tries, again)
                for one in given:
                    told.put(one)
    except BaseException as error:  # noqa: BLE001 - another thread reports it
        told.put(error)
    finally:
        told.put(None)


def begun_of(sweep: Sweep, points: Iterable[Point], store: Store) -> Known:
    """Return the conditions that the store has; those given before get the sweep's tag too.

    So the tag names all conditions of a sweep, also the intact model that another sweep gave.
    """
    known = sweep.known(store)
    for point in points:
        begun = known.get(point.conditions)
        if begun is not None and sweep.name not in begun.tags:
            with suppress(HeldElsewhere):  # another command gives it now
                change_marks(store, [begun.id], add=[sweep.name])
    return known


def waiting(points: Iterable[Point], known: Known) -> list[Point]:
    """Return the conditions that are not done."""
    return [
        point
        for point in points
        if (begun := known.get(point.conditions)) is None
        or begun.status is not AdministrationStatus.DONE
    ]


def worked(
    worker: Worker,
    point: Point,
    known: Known,
    tries: int,
    again: Callable[[tuple[Point, int]], object],
) -> Iterator[Told]:
    """Give one condition; yield what happens and, unless it is to be given again, its end.

    A condition that another command gives now is left to it.
    """
    try:
        yield from worker.give(point, known)
        yield Told(point)
    except HeldElsewhere:
        return  # another command gives it
    except StoreError:
        raise  # no other condition could be stored either
    except TabwbError as error:
        if worker.cancel.is_set():
            return
        if tries < TRIES:
            again((point, tries + 1))
        else:
            yield Told(point, failed=str(error))
