"""Runs a sweep on a Dask cluster: its workers answer, and this process alone writes to the store.

A task is one condition: a lesion and the requests that are left of it. Its key is a hash of both.
What it returns is put through an ordinary session, as if the model were here; so scores, seeds,
tags and facts are those of a sweep without a cluster. Imported only where ``distributed`` is.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import TracebackType
from typing import Any

from distributed import Future, KilledWorker

from tabwb import __version__
from tabwb.administer.session.exchange import request_for
from tabwb.administer.session.plan import plan_trials
from tabwb.administer.sweep.host import Answered, Host, at_host
from tabwb.administer.sweep.pool import OpenStore, begun_of, waiting, worked
from tabwb.administer.sweep.scheduler import connected
from tabwb.administer.sweep.sweep import TRIES, Known, Point, Sweep, Told, Worker
from tabwb.host.process import error_from_plain
from tabwb.lesion.declared import Part
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError, Interrupted, UsageError, error_text
from tabwb.records.exchange import Reply, Request, Wait
from tabwb.records.states import AttemptState
from tabwb.records.trials import Administration
from tabwb.store.store import Store

AT_ONCE = 1000
"""So many tasks at most are with the scheduler."""
POLL_S = 0.2


class Cluster:
    """The connection to a cluster, for one model."""

    def __init__(self, address: str, spec: str, cancel: Cancel, *, offline: bool = False) -> None:
        self.client = connected(address, cancel)
        self._host = Host(spec, offline)
        self.name = f"tabwb-{_hash(spec, offline, __version__)}"
        self.client.register_plugin(self._host, name=self.name)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.client.close()

    def parts(self, cancel: Cancel) -> Sequence[Part]:
        """Return the parts of the model, as a worker sees them."""
        future = self.submitted(f"{self.name}-parts", "parts")
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(POLL_S):
            if cancel.is_set():
                raise Interrupted(
                    "stopped while waiting for a worker of the cluster",
                    hint="the logs of the workers say why none began; each needs this tabwb",
                )
        found = _result(future)
        if isinstance(found, Answered):
            raise error_from_plain(dict(found.failed or {}))
        parts: Sequence[Part] = found
        return parts

    def submitted(self, key: str, method: str, *arguments: Any) -> Future:
        """Return the future of a call of the host on any worker."""
        return self.client.submit(at_host, self.name, method, *arguments, key=key)


class _Remote:
    """A model that a worker of a cluster has asked already, and its back end."""

    def __init__(self, future: Future, requests: Sequence[Request]) -> None:
        self._future = future
        self._requests = requests
        self._answers: dict[Request, Reply | ComponentError] = {}

    @property
    def backend(self) -> _Remote:
        return self

    def under(self, lesion: str, cancel: Cancel) -> Mapping[str, str]:
        """Take the answers that were given under the lesion; return the facts of the model."""
        found: Answered = _result(self._future)
        if found.failed is not None:
            raise error_from_plain(dict(found.failed))
        for request, reply in zip(self._requests, found.replies, strict=True):
            known = reply if isinstance(reply, Reply) else error_from_plain(dict(reply))
            self._answers[request] = known
        return found.facts

    def open(self) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        self._future.release()

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        for _, found in self.reply_many([request], cancel):
            if isinstance(found, ComponentError):
                raise found
            yield found

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        for index, request in enumerate(requests):
            missing = ComponentError("no worker was asked for this item")
            yield index, self._answers.get(request, missing)


@dataclass(frozen=True, slots=True)
class _Task:
    """A condition that was given to the cluster."""

    point: Point
    tries: int
    requests: tuple[Request, ...]
    future: Future


def run_on_cluster(
    sweep: Sweep,
    points: Sequence[Point],
    open_store: OpenStore,
    cancel: threading.Event,
    *,
    cluster: Cluster,
    together: int = 64,
) -> Iterator[Told]:
    """Give the conditions that the store lacks; yield what happens, after it is stored.

    The condition of a worker that is lost is given to another by the scheduler. One that had as
    many lost workers as the scheduler allows (``distributed.scheduler.allowed-failures``) may have
    waited behind the one that ended them: it is given again at the end, alone, and only then fails.
    """
    if sweep.conditions.conversation:
        raise UsageError(
            "a conversation cannot be given on a cluster: each prompt needs the answers before it",
            where="--conversation",
            hint="use --workers or --shard",
        )
    with open_store() as store:
        known = begun_of(sweep, points, store)
        left = deque((point, 1) for point in waiting(points, known))
        suspects: deque[Point] = deque()
        done: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        out = 0
        while left or out or suspects:
            if not left and not out:
                left.append((suspects.popleft(), TRIES))  # alone, and for the last time
            while left and out < AT_ONCE:
                point, tries = left.popleft()
                _submit(cluster, sweep, point, tries, known, store, together, done)
                out += 1
            try:
                task = done.get(timeout=POLL_S)
            except queue.Empty:
                if cancel.is_set():
                    return
                continue
            if cancel.is_set():
                return
            status = task.future.status
            if status == "cancelled":
                raise _lost()
            if status not in ("finished", "error"):
                # Its worker ended before the answers were fetched; another computes them again.
                time.sleep(POLL_S)
                done.put(task)
                continue
            out -= 1
            model = _Remote(task.future, task.requests)
            worker = Worker(sweep, model, store, cancel, together)
            try:
                if _has_ended_workers(task.future) and task.tries < TRIES:
                    suspects.append(task.point)
                else:
                    yield from worked(worker, task.point, known, task.tries, left.append)
            finally:
                model.close()
            if cancel.is_set():
                return


def _submit(
    cluster: Cluster,
    sweep: Sweep,
    point: Point,
    tries: int,
    known: Known,
    store: Store,
    together: int,
    done: queue.SimpleQueue[_Task],
) -> None:
    requests = requests_left(sweep, point, known.get(point.conditions), store)
    key = f"{cluster.name}-{_hash(point.model, point.lesion, requests, together)}-{tries}"
    future = cluster.submitted(key, "answer", point.model, point.lesion, requests, together)
    task = _Task(point, tries, requests, future)
    future.add_done_callback(lambda _: done.put(task))


def requests_left(
    sweep: Sweep, point: Point, begun: Administration | None, store: Store
) -> tuple[Request, ...]:
    """Return the requests of a condition whose answers the store lacks, as its session makes
    them.
    """
    conditions = point.conditions
    if begun is None:
        plans = plan_trials(sweep.battery, conditions)
        return tuple(request_for(sweep.battery, conditions, plan) for plan in plans)
    found = []
    for trial in store.trials(begun.id):
        if trial.counting is None:
            # As in a session: an attempt in error gave no reply.
            replies = sum(attempt.state is not AttemptState.ERROR for attempt in trial.attempts)
            request = request_for(sweep.battery, conditions, trial.plan, attempt=replies + 1)
            found.append(request)
    return tuple(found)


def _has_ended_workers(future: Future) -> bool:
    return future.status == "error" and isinstance(future.exception(), KilledWorker)


def _result(future: Future) -> Any:
    """Return the result of a future that is done."""
    if future.status == "cancelled":
        raise _lost()
    if future.status != "error":
        return future.result()
    error = future.exception()
    if isinstance(error, KilledWorker):
        raise ComponentError(
            "each worker that had this condition ended",
            hint="the logs of the workers say why; often their memory does not suffice",
        )
    raise ComponentError(f"a worker of the cluster failed: {error_text(error)}")


def _lost() -> Interrupted:
    return Interrupted(
        "the scheduler of the cluster is lost", hint="start it again; the same command continues"
    )


def _hash(*parts: Any) -> str:
    text = json.dumps(parts, default=_plain, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    return str(value)
