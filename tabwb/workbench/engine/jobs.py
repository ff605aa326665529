"""Background jobs: operations, each in a thread with plugins and a store of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.operations.operation import (
    FEW,
    Operation,
    Progress,
    Told,
    Tools,
    labelled,
    values_of,
)
from tabwb.records.errors import Interrupted, TabwbError, error_text
from tabwb.records.words import time_left
from tabwb.store.store import Store
from tabwb.workbench.engine.engine import Controller
from tabwb.workbench.engine.messages import Stored
from tabwb.workbench.engine.threads import FRAME_S, aside

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.tables.table import Table
    from tabwb.workbench.engine.session_controller import SessionController

DRY_RUN = "Dry run"
"""What the job of an estimate is called."""
DIALOG_WIDTH = 68
"""Columns of characters of a table in a dialog."""
END_S = 4.0
"""Seconds that jobs may take to stop when the program ends."""
STORED_S = 1.0
"""Seconds between two messages that something new is stored."""


@dataclass(frozen=True, slots=True)
class JobState:
    """How far a job is.

    Attributes:
        number: of the job, from 1 on.
        kind: what it does, in one word.
        title: what it works on.
        phase: ``running``, ``stopping``, ``done``, ``stopped`` or ``refused``.
        done: what is done, of ``planned``; 0 planned: not known.
        what: is counted.
        words: what it does now, how it ended, or why it was refused.
        seconds: from its start to the present state.
        administration: whose results it changes, or None.
        page: id of the page that shows more of it, or empty.
        resumable: it can be started again with what is left.
        document: what the operation did.
        result: what the operation has made so far; what it is the operation says.
        field: the value of the operation that was refused, or empty.
        responses: a table that was made whose rows are responses of the store, by number of the
            ``administration`` and the ``trial``.
    """

    number: int
    kind: str
    title: str
    phase: str = "running"
    done: int = 0
    planned: int = 0
    what: str = ""
    words: str = ""
    seconds: float = 0.0
    administration: int | None = None
    page: str = ""
    resumable: bool = False
    document: Mapping[str, Any] | None = None
    result: Any = None
    field: str = ""
    responses: Table | None = None

    @property
    def active(self) -> bool:
        """Whether it works."""
        return self.phase in {"running", "stopping"}

    @property
    def is_dry(self) -> bool:
        """Whether it is an estimate."""
        return self.kind == DRY_RUN

    @property
    def until_quitting(self) -> str:
        """What quitting does to it."""
        return (
            f"{self.kind}: {self.title} is running. Quitting stops it after the current calls. "
            "What is stored stays; started again, it continues with the rest."
        )

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        same = isinstance(later, JobState) and later.number == self.number
        return same and self.phase == "running"


class Job:
    """An operation, or its estimate, that works in the background; every change is told.

    Attributes:
        held: the administrations that are open in the workbench.
        secret: lines that are kept nowhere.
    """

    def __init__(
        self,
        say: Callable[[object], object],
        state: JobState,
        wanted: Operation,
        numbers: list[int],
        held: set[int],
    ) -> None:
        self._say, self._began = say, time.monotonic()
        self.state, self.wanted, self.numbers, self.held = state, wanted, numbers, held
        self.cancel = threading.Event()
        self.secret = ""
        self.thread: threading.Thread | None = None
        self._changing = threading.RLock()
        say(state)

    @property
    def locks(self) -> bool:
        """Whether it keeps its administrations locked while it works."""
        return self.wanted.LOCKS and not self.held

    def tell(self, **changes: object) -> None:
        """Change the state and send it; from any thread."""
        with self._changing:
            seconds = time.monotonic() - self._began
            self.state = replace(self.state, seconds=seconds, **changes)  # type: ignore[arg-type]
            self._say(self.state)

    def stop(self) -> None:
        """Ask it to stop; from any thread."""
        with self._changing:
            if self.state.active:
                self.cancel.set()
                self.tell(phase="stopping")


class Jobs(Controller):
    """The background jobs of the program; what is done is in the store at every moment.

    Attributes:
        all: the jobs, by number.
        closing: the program ends; no further job begins.
    """

    def __init__(self, sessions: SessionController) -> None:
        super().__init__(sessions.engine)
        self._sessions = sessions
        self.all: dict[int, Job] = {}
        self.closing = False
        self._turns: dict[int, threading.Lock] = {}
        """Held by the job that works on an administration."""

    def begin(self, wanted: Operation, *, dry: bool = False) -> int:
        """Begin an operation, or its estimate; return the number of its job, 0: the program ends.

        For the worker's thread.
        """
        if self.closing:
            return 0
        numbers = wanted.numbers(self.store)
        state = JobState(
            len(self.all) + 1,
            DRY_RUN if dry else wanted.DOING or wanted.TITLE,
            wanted.about,
            administration=numbers[0] if len(numbers) == 1 else None,
            page=wanted.PAGE,
        )
        held = {number for number in numbers if self._sessions.holds(number)}
        job = self.all[state.number] = Job(self.say, state, wanted, numbers, held)
        job.thread = aside(f"job {state.number}", partial(self._work, job))
        return state.number

    def estimate(self, wanted: Operation) -> str:
        """Return what an operation would take; for a thread of its own."""
        warned: list[str] = []
        with (
            closing(Plugins.load(self.plugins.configuration)) as plugins,
            closing(Tools(
                plugins, lambda: self.engine.store_place, warned.append, warned.append
            )) as tools,
        ):  # fmt: skip
            wanted.check(plugins)
            told = [one for one in wanted.estimate(tools) if not one.waits]
        several = len(told) > 1
        words = (f"{one.part}: {one.words}" if several and one.part else one.words for one in told)
        found = wanted.brief(tools.document) if tools.document else ()
        return "\n".join((*words, *found, *warned))

    # ---------------------------------------------------------------- from any thread

    @property
    def states(self) -> list[JobState]:
        """The states of the jobs, the latest first."""
        return [job.state for job in reversed(list(self.all.values()))]

    def working(self, kind: str, administration: int) -> JobState | None:
        """Return the job of a kind that works on an administration, or None."""
        active = (state for state in self.states if state.active)
        own = (kind, administration)
        return next((one for one in active if (one.kind, one.administration) == own), None)

    def holder(self, administration: int) -> JobState | None:
        """Return the job that keeps an administration locked, or None."""
        locking = (one.state for one in list(self.all.values()) if one.locks)
        own = (state for state in locking if state.administration == administration)
        return next((state for state in own if state.active), None)

    def check_free(self, administration: int) -> None:
        """Check that no job keeps an administration locked."""
        if (state := self.holder(administration)) is not None:
            raise TabwbError(
                f"administration {administration} cannot be changed now: a background job "
                f"works on it ({state.kind}: {state.title})",
                hint="wait until it has ended, or stop it: J on the first page lists the jobs",
            )

    def remark(self, kind: type[Operation], chosen: str) -> str:
        """Return what a dialog says of a component; for a thread of its own."""
        return kind.remark(chosen, self.plugins)

    def secret(self, number: int) -> str:
        """Return the lines of a job that are kept nowhere, once; afterwards an empty text."""
        job = self.all[number]
        words, job.secret = job.secret, ""
        return words

    def stop(self, number: int) -> None:
        """Ask a job to stop."""
        if number in self.all:
            self.all[number].stop()

    def again(self, number: int) -> None:
        """Start a job that has stopped again with what is left; for the worker's thread."""
        job = self.all[number]
        if job.state.resumable:
            self.begin(job.wanted.rest, dry=job.state.is_dry)
            job.tell(resumable=False)

    def stop_all(self) -> None:
        """Ask all jobs to stop, because the program ends."""
        self.closing = True
        for number in list(self.all):
            self.stop(number)

    def join(self) -> None:
        """Wait until they have stopped."""
        end = time.monotonic() + END_S
        for job in list(self.all.values()):
            if job.thread is not None:
                job.thread.join(max(end - time.monotonic(), 0.0))

    # ---------------------------------------------------------------- in the thread of a job

    def _work(self, job: Job) -> None:
        wanted, said, warned = job.wanted, list[str](), list[str]()
        phase, made = "refused", None
        job.tell(field="")
        try:
            with (
                closing(Plugins.load(self.plugins.configuration)) as plugins,
                closing(Store.open(self.engine.store_place, create=False)) as store,
            ):
                tools = self._tools(job, plugins, store, said, warned)
                try:
                    wanted.check(plugins)
                    self._run(job, tools)
                finally:
                    document = _public(wanted.documented(tools), wanted.SECRET)
                    job.tell(document=document, result=tools.result, responses=_responses(tools))
            phase = "done"
            if job.state.is_dry:
                words = warned
            elif wanted.SECRET:
                job.secret = "\n".join(wanted.lines(tools.document))
                words = [*said, *warned]
            else:
                brief, wrong = wanted.brief(tools.document), wanted.wrong(tools.document)
                words = [*said, *warned, *brief, *_tables(tools), *wrong]
                given = document.get("administrations") or ()
                made = next((one["id"] for one in given if isinstance(one, dict)), None)
        except Interrupted as stopped:
            phase, words = "stopped", [*warned, stopped.message]
        except TabwbError as error:
            refused, field = refusal(type(wanted), error, wanted)
            job.tell(field=field)
            words = [*said, *warned, refused]
        except BaseException as error:  # noqa: BLE001 - the thread's edge: it always ends
            words = [error_text(error)]
        self.engine.later(partial(self._ended, job))
        job.tell(
            phase=phase, words="\n".join(words), resumable=phase != "done",
            administration=made or job.state.administration,
        )  # fmt: skip

    def _tools(
        self, job: Job, plugins: Plugins, store: Store, said: list[str], warned: list[str]
    ) -> Tools:
        def say(words: str) -> None:
            said.append(words)
            job.tell(words=words)

        return Tools(
            plugins, lambda: self.engine.store_place, say, warned.append,
            lent=store, holds=partial(self._locked, job, store), cancel=job.cancel,
            called=called_in(type(job.wanted)), within=self._within,
        )  # fmt: skip

    def _run(self, job: Job, tools: Tools) -> None:
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
                job.tell(
                    words=words, done=told.done, planned=told.planned,
                    what=told.what or job.wanted.TOLD, result=tools.result,
                )  # fmt: skip
            if told.done and now - stored_at > STORED_S:
                stored_at = now
                for number in job.numbers:
                    self.say(Stored(number))
            done = told.done or done

        tools.tell = tell
        work: Callable[[Tools], Progress] = (
            job.wanted.estimate if job.state.is_dry else job.wanted.run
        )
        for each in work(tools):
            tell(each)
        job.tell(done=done)

    def _within(self, number: int, work: Callable[[Session], Any]) -> Any:
        """Do something with the session of an administration in the worker's thread."""
        ended = threading.Event()
        made: list[Any] = []
        failed: list[Exception] = []

        def do() -> None:
            try:
                with self._sessions.session_of(number) as session:
                    made.append(work(session))
                    if isinstance(made[0], list) and self._sessions.holds(number):
                        self._sessions.after(tuple(made[0]))  # events
                self.say(Stored(number))
            except Exception as error:  # noqa: BLE001 - raised where it is waited for
                failed.append(error)
            finally:
                ended.set()

        self.engine.later(do)
        while not ended.wait(FRAME_S):
            if self.closing:
                raise Interrupted("stopped: the program ends")
        if failed:
            raise failed[0]
        return made[0]

    @contextmanager
    def _locked(self, job: Job, store: Store, number: int) -> Iterator[None]:
        """Hold an administration; one that another job works on is waited for."""
        turn = self._turns.setdefault(number, threading.Lock())
        while not turn.acquire(timeout=FRAME_S):
            job.tell(words="waits for another job of this administration")
            if job.cancel.is_set():
                raise Interrupted("nothing was done yet")
        try:
            if number in job.held:  # the open session holds it
                yield
            else:
                with store.lock(number):
                    yield
        finally:
            turn.release()

    def _ended(self, job: Job) -> None:
        """Show what a job has changed; in the worker's thread."""
        for number in job.numbers:
            if self._sessions.holds(number):
                self._sessions.open_session().reload()
                self._sessions.publish()
            self.say(Stored(number))
        if job.wanted.SETTINGS:
            kept, fresh = self.plugins.configuration, Configuration.load()
            self.plugins.configuration = replace(kept, profiles=fresh.profiles)
            self.engine.reload()
        else:
            self.engine.refresh()


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
        name
        for name in values
        if (value := getattr(wanted, name, None))
        for one in (value if isinstance(value, tuple) else (value,))
        if f"'{one}'" in error.message
    )
    return words, found or named or next(quoted, "")


def _tables(tools: Tools) -> Iterator[str]:
    """Yield the typed tables of an operation as text for a dialog."""
    if tools.tables:
        from tabwb.media.terminal import plain_text
        from tabwb.media.views.typed import explained_view
    for table, caption in tools.tables:
        yield f"{caption}\n{plain_text(explained_view(table), DIALOG_WIDTH)}"


def _responses(tools: Tools) -> Table | None:
    keys = {"administration", "trial"}
    return next((table for table, _ in tools.tables if len(table) and keys <= {*table.names}), None)


def _public(document: Mapping[str, Any], secret: str) -> dict[str, Any]:
    """Return a document without what is secret in its rows."""
    return {
        name: [{key: row[key] for key in row if key != secret} for row in one]
        if secret and isinstance(one, list)
        else one
        for name, one in document.items()
    }
