"""Background jobs of operations: begin, estimate, stop, start again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.operations import operation
from tabwb.operations.operation import FEW, Operation, Told, labelled, values_of
from tabwb.records.errors import Interrupted, TabwbError
from tabwb.records.words import time_left
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.jobs import Ended, JobState, Tools
from tabwb.workbench.engine.messages import Stored
from tabwb.workbench.engine.model_runner import FRAME_S
from tabwb.workbench.engine.session_controller import SessionController

DRY_RUN = "Dry run"
"""What the job of an estimate is called."""
if TYPE_CHECKING:
    from tabwb.administer.session.session import Session

STORED_S = 1.0
"""Seconds between two messages that something new is stored."""


class JobController(Controller):
    """Does operations in the background; what is done is in the store at every moment."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions
        self._wanted: dict[int, Operation] = {}
        self._secrets: dict[int, str] = {}
        """What is shown once, by the identity of an operation."""
        self._turns: dict[int, threading.Lock] = {}
        """Held by the job that works on an administration."""

    def begin(self, wanted: Operation, *, dry: bool = False) -> int:
        """Begin an operation, or its estimate; return the number of its job."""
        numbers = wanted.numbers(self.store)
        held = {number for number in numbers if self._sessions.holds(number)}

        def after(ended: Ended) -> None:
            for number in numbers:
                if self._sessions.holds(number):
                    self._sessions.open_session().reload()
                    self._sessions.publish()
                self.say(Stored(number))
            if wanted.SETTINGS:
                kept, fresh = self.plugins.configuration, Configuration.load()
                self.plugins.configuration = replace(kept, profiles=fresh.profiles)
                self.engine.reload()
            else:
                self.engine.refresh()

        job = self.engine.background.start(
            DRY_RUN if dry else wanted.DOING or wanted.TITLE,
            wanted.about,
            partial(self._worked, wanted, numbers, held, dry),
            after=after,
            again=partial(self.begin, wanted.rest, dry=dry),
            page=wanted.PAGE,
            administration=numbers[0] if len(numbers) == 1 else None,
            holds=bool(numbers) and not held and wanted.LOCKS,
        )
        self._wanted[job] = wanted
        return job

    def wanted(self, number: int) -> Operation:
        """Return the operation of a job."""
        return self._wanted[number]

    def secret(self, number: int) -> str:
        """Return the lines of a job that are kept nowhere, once; afterwards an empty text."""
        return self._secrets.pop(id(self._wanted[number]), "")

    def is_operation(self, number: int) -> bool:
        """Whether a job is an operation's; from any thread."""
        return number in self._wanted

    def estimate(self, wanted: Operation) -> str:
        """Return what an operation would take; for a thread of its own."""
        warned: list[str] = []
        with (
            closing(Plugins.load(self.plugins.configuration)) as plugins,
            closing(operation.Tools(
                plugins, lambda: self.engine.store_place, warned.append, warned.append
            )) as tools,
        ):  # fmt: skip
            wanted.check(plugins)
            told = [one for one in wanted.estimate(tools) if not one.waits]
        several = len(told) > 1
        words = (f"{one.part}: {one.words}" if several and one.part else one.words for one in told)
        found = wanted.brief(tools.document) if tools.document else ()
        return "\n".join((*words, *found, *warned))

    def working(self, doing: str, administration: int) -> JobState | None:
        """Return the job of a kind that works on an administration; from any thread."""
        return next(iter(self.engine.background.working(doing, administration)), None)

    def state(self, number: int) -> JobState:
        """Return how far a job is; from any thread."""
        return self.engine.background.entries[number].state

    def stop(self, number: int) -> None:
        """Ask a job to stop; from any thread."""
        self.engine.background.stop(number)

    def again(self, number: int) -> None:
        """Start a job that has stopped again."""
        self.engine.background.again(number)

    def _worked(
        self, wanted: Operation, numbers: list[int], held: set[int], dry: bool, own: Tools
    ) -> Ended:
        said: list[str] = []
        warned: list[str] = []

        def say(words: str) -> None:
            said.append(words)
            own.tell(words=words)

        locked = partial(self._locked, own, held)
        tools = operation.Tools(
            own.plugins, lambda: self.engine.store_place, say, warned.append,
            lent=own.store, holds=locked, cancel=own.cancel, called=called_in(type(wanted)),
            within=self._within,
        )  # fmt: skip
        own.tell(field="")
        try:
            wanted.check(own.plugins)
            self._run(wanted.estimate if dry else wanted.run, numbers, own, tools)
        except Interrupted as stopped:
            return Ended("stopped", "\n".join((*warned, stopped.message)))
        except TabwbError as error:
            words, field = refusal(type(wanted), error, wanted)
            own.tell(field=field)
            return Ended("refused", "\n".join((*said, *warned, words)))
        finally:
            document = _public(wanted.documented(tools), wanted.SECRET)
            own.tell(document=document, result=tools.result)
        if dry:
            return Ended("done", "\n".join(warned))
        if wanted.SECRET:
            self._secrets[id(wanted)] = "\n".join(wanted.lines(tools.document))
            return Ended("done", "\n".join((*said, *warned)))
        made = tools.document.get("administrations") or [{"id": None}]
        words = "\n".join(
            (*said, *warned, *wanted.brief(tools.document), *wanted.wrong(tools.document))
        )
        return Ended("done", words, made[0]["id"])

    def _run(
        self,
        work: Callable[[operation.Tools], operation.Progress],
        numbers: list[int],
        own: Tools,
        tools: operation.Tools,
    ) -> None:
        began = stored_at = time.monotonic()
        shown_at, done = 0.0, 0

        def tell(told: Told) -> None:
            nonlocal began, stored_at, shown_at, done
            now = time.monotonic()
            if told.part:
                began = now
            if told.part or told.waits or told.problem or now - shown_at > FRAME_S:
                shown_at = now
                left = (now - began) / max(told.timed, 1) * (told.planned - told.done)
                words = told.words + (time_left(left) if told.timed >= FEW else "")
                own.tell(words=words, done=told.done, planned=told.planned, result=tools.result)
            if told.done and now - stored_at > STORED_S:
                stored_at = now
                for number in numbers:
                    self.say(Stored(number))
            done = told.done or done

        tools.tell = tell
        for each in work(tools):
            tell(each)
        own.tell(done=done)

    def _within(self, number: int, work: Callable[[Session], Any]) -> Any:
        """Do something with the session of an administration in the worker's thread."""
        ended = threading.Event()
        made: list[Any] = []
        failed: list[TabwbError] = []

        def do() -> None:
            try:
                with self._sessions.session_of(number) as session:
                    made.append(work(session))
                    if isinstance(made[0], list) and self._sessions.holds(number):
                        self._sessions.after(tuple(made[0]))  # events
                self.say(Stored(number))
            except TabwbError as error:
                failed.append(error)
            finally:
                ended.set()

        self.engine.later(do)
        while not ended.wait(FRAME_S):
            if self.engine.background.closing:
                raise Interrupted("stopped: the program ends")
        if failed:
            raise failed[0]
        return made[0]

    @contextmanager
    def _locked(self, own: Tools, held: set[int], number: int) -> Iterator[None]:
        """Hold an administration; one that another job works on is waited for."""
        turn = self._turns.setdefault(number, threading.Lock())
        while not turn.acquire(timeout=FRAME_S):
            own.tell(words="waits for another job of this administration")
            if own.cancel.is_set():
                raise Interrupted("nothing was done yet")
        try:
            if number in held:  # the open session holds it
                yield
            else:
                with own.store.lock(number):
                    yield
        finally:
            turn.release()


def called_in(kind: type[Operation]) -> Callable[[str], str]:
    """Return how a dialog calls the values of an operation."""
    return {one.name: f"'{one.arg.label}'" for one in values_of(kind)}.__getitem__


def refusal(
    kind: type[Operation], error: TabwbError, wanted: Operation | None = None
) -> tuple[str, str]:
    """Return why an operation is refused in the words of its dialog, and the field, if any.

    It is the field of the value that the error is about, else of the first option that it names.
    """
    where, values = error.where or "", {one.name: one for one in values_of(kind) if one.arg.label}
    same = (name for name in values if where and str(getattr(wanted, name, None)) == where)
    found = where if where in values else next(same, "")
    if where in values:
        error.where = values[where].arg.label
    words, named = labelled(kind, str(error))
    quoted = (
        name for name in values
        if (value := getattr(wanted, name, None)) and f"'{value}'" in error.message
    )  # fmt: skip
    return words, found or named or next(quoted, "")


def _public(document: Mapping[str, Any], secret: str) -> dict[str, Any]:
    """Return a document without what is secret in its rows."""
    return {
        name: [{key: row[key] for key in row if key != secret} for row in one]
        if secret and isinstance(one, list)
        else one
        for name, one in document.items()
    }
