"""Runs a sweep with one or more workers: threads, each with a model in its own process.

A pack is some conditions given side by side, in one batch of the model.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace

from tabwb.administer.session.corrections import change_marks
from tabwb.administer.session.drive import drive
from tabwb.administer.session.session import Session
from tabwb.administer.sweep.sweep import TRIES, Known, Model, Point, Sweep, Told, Worker
from tabwb.lesion.declared import LANES
from tabwb.plugin_api.components import Cancel, LaneBackend, ModelBackend
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.errors import ComponentError, HeldElsewhere, StoreError, TabwbError
from tabwb.records.exchange import Reply, Request, Wait
from tabwb.records.states import AdministrationStatus, Protocol
from tabwb.store.store import Store

Pack = tuple[Point, ...]
Again = Callable[[tuple[Point, int]], object]


def packs_of(
    points: Sequence[Point], backend: ModelBackend, spec: str, lanes: int | None = None
) -> list[Pack]:
    """Return conditions in packs, ordered by their first one.

    A pack has conditions in their order that differ in nothing but the lesion and can share a
    batch: the first N, the next N, and so on, whatever other conditions are between them. Neither
    free memory, nor the number of workers, nor what the store has makes a difference.

    >>> points = [Point("lesion", Conditions("bundled", "model", lesion="mlp:zero:0.1"))]
    >>> [len(pack) for pack in packs_of(points, None, "bundled", 1)]
    [1]
    """
    sizes = dict.fromkeys(points, 1)
    able = [point for point in points if point.model == spec and _fits(point.conditions)]
    if lanes != 1 and able and isinstance(backend, LaneBackend):
        counts = backend.lanes([point.lesion for point in able])
        sizes |= {
            point: count if lanes is None or not count else lanes
            for point, count in zip(able, counts, strict=True)
        }
    packs: list[list[Point]] = []
    begun: dict[tuple[Conditions, int], list[Point]] = {}
    for point in points:
        key = (replace(point.conditions, lesion=None), sizes[point])
        pack = begun.get(key)
        if pack is None or len(pack) >= sizes[point]:
            pack = begun[key] = []
            packs.append(pack)
        pack.append(point)
    return [tuple(pack) for pack in packs]


def _fits(conditions: Conditions) -> bool:
    """Return whether items are answered together, and in words."""
    return not conditions.conversation and conditions.protocol is not Protocol.LIKELIHOOD


@dataclass(slots=True)
class _Arrived:
    """A back end that has the answers to what its session asks next."""

    answers: dict[int, Reply | ComponentError] = field(default_factory=dict)

    def open(self) -> dict[str, str]:
        return {}

    def close(self) -> None:
        self.answers.clear()

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        raise ComponentError("this item was not asked together with others")

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        arrived, self.answers = self.answers, {}
        yield from arrived.items()


@dataclass(slots=True)
class _Lane:
    """One condition of a pack, with its session."""

    point: Point
    session: Session
    backend: _Arrived
    driven: Generator[events.Event]
    requests: list[Request] = field(default_factory=list)

    def until_asked(self) -> Iterator[Told]:
        """Record what has arrived; yield what happens until items are asked, or to the end."""
        self.requests = []
        for event in self.driven:
            yield Told(self.point, event)
            if isinstance(event, events.Asked):
                trials = (self.session.history.trial(number) for number in event.trials)
                self.requests = [self.session.request(trial) for trial in trials]
                return


def worked_together(worker: Worker, pack: Pack, known: Known, again: Again) -> Iterator[Told]:
    """Give a pack; yield what happens and the end of each condition that is not given again.

    A condition that fails is given again alone. Where the model fails as a whole, all that have not
    ended are: so one that ends the process takes no other with it.
    """
    later: list[tuple[Point, int]] = []
    with ExitStack() as held:
        lanes = []
        ready = list(_lesioned(worker, pack, later))
        for point, facts in ready:
            facts[LANES] = str(len(ready))
            try:
                session = held.enter_context(worker.begun(point, known, facts))
            except HeldElsewhere:
                continue  # another command gives it
            except StoreError:
                raise  # no other condition could be stored either
            except TabwbError:
                later.append((point, 2))
                continue
            backend = _Arrived()
            driven = drive(session, backend, worker.cancel, together=worker.together)
            lanes.append(_Lane(point, session, backend, held.enter_context(closing(driven))))
        while lanes:
            asking = []
            for lane in lanes:
                try:
                    yield from lane.until_asked()
                except StoreError:
                    raise
                except TabwbError:
                    later.append((lane.point, 2))
                    continue
                if lane.requests:
                    asking.append(lane)
                elif lane.session.status is AdministrationStatus.PAUSED:
                    later.append((lane.point, 2))
                else:
                    yield Told(lane.point)
            lanes = asking
            try:
                _ask(worker, lanes)
            except TabwbError:
                if not worker.cancel.is_set():
                    later += ((lane.point, 1) for lane in lanes)
                    break
    # Another worker can take one as soon as its session is closed.
    for one in [] if worker.cancel.is_set() else later:
        again(one)


def _lesioned(
    worker: Worker, pack: Pack, later: list[tuple[Point, int]]
) -> Iterator[tuple[Point, dict[str, str]]]:
    """Yield what the model says of itself under each lesion; add those that fail to ``later``."""
    for point in pack:
        if worker.cancel.is_set():
            return
        try:
            yield point, dict(worker.model.under(point.lesion, worker.cancel))
        except TabwbError:
            later.append((point, 2))


def _ask(worker: Worker, lanes: Sequence[_Lane]) -> None:
    """Put what all sessions ask to the model in one batch; keep the answers for each."""
    backend = worker.model.backend
    assert isinstance(backend, LaneBackend)
    if not lanes:
        return
    asked = [
        (number, index, request)
        for number, lane in enumerate(lanes)
        for index, request in enumerate(lane.requests)
    ]
    lesions = [lane.point.lesion for lane in lanes]
    requests = [(number, request) for number, _, request in asked]
    for place, piece in backend.reply_lanes(lesions, requests, worker.cancel):
        if not isinstance(piece, Wait):
            number, index, _ = asked[place]
            lanes[number].backend.answers[index] = piece


def worked_here(worker: Worker, points: Sequence[Point], known: Known) -> Iterator[Told]:
    """Give the conditions that the store lacks with one model, in this thread; it stays loaded."""
    own, backend = waiting(points, known), worker.model.backend
    left = deque((one, 1) for one in packs_of(own, backend, worker.sweep.conditions.examinee))

    def again(one: tuple[Point, int]) -> None:
        left.append(((one[0],), one[1]))

    while left and not worker.cancel.is_set():
        pack, tries = left.popleft()
        if len(pack) > 1:
            yield from worked_together(worker, pack, known, again)
        else:
            yield from worked(worker, pack[0], known, tries, again)


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
