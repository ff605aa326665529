"""Background jobs: each is a thread with plugins and its own store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tabwb.host.plugins import Plugins
from tabwb.records.errors import Interrupted, TabwbError, error_text
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.workbench.engine.engine import Engine

TRANSCRIBING = "Transcribing"
"""Kind of the jobs that transcribe stored responses."""
END_S = 4.0
"""Seconds that jobs may take to stop when the program ends."""


@dataclass(frozen=True, slots=True)
class JobState:
    """How far a job is.

    Attributes:
        number: of the job, from 1 on.
        kind: what it does, in one word.
        title: what it works on.
        phase: ``running``, ``stopping``, ``done``, ``stopped`` or ``refused``.
        done: what is done, of ``planned``; 0 planned: not known.
        words: what it does now, how it ended, or why it was refused.
        seconds: from its start to the present state.
        administration: whose results it changes, or None.
        page: id of the page that shows more of it, or empty.
        resumable: it can be started again with what is left.
        document: what an operation did.
        result: what an operation has made so far; what it is the operation says.
        field: the value of the operation that was refused, or empty.
    """

    number: int
    kind: str
    title: str
    phase: str = "running"
    done: int = 0
    planned: int = 0
    words: str = ""
    seconds: float = 0.0
    administration: int | None = None
    page: str = ""
    resumable: bool = False
    document: Mapping[str, Any] | None = None
    result: Any = None
    field: str = ""

    @property
    def active(self) -> bool:
        """Whether it works."""
        return self.phase in {"running", "stopping"}

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        same = isinstance(later, JobState) and later.number == self.number
        return same and self.phase == "running"


class Ended(NamedTuple):
    """How the work of a job ended: phase, words, the administration to show or None."""

    phase: str
    words: str
    administration: int | None = None


class Tools(NamedTuple):
    """What the work of a job uses; ``tell`` takes fields of :class:`JobState`."""

    plugins: Plugins
    store: Store
    cancel: threading.Event
    tell: Callable[..., None]


Work = Callable[[Tools], Ended]


class Entry:
    """One job in the list.

    Attributes:
        holds: whether it keeps its administration locked.
    """

    def __init__(
        self,
        say: Callable[[object], object],
        state: JobState,
        stop: Callable[[], None],
        again: Callable[[], object] | None = None,
    ) -> None:
        self._say, self._began = say, time.monotonic()
        self.state, self.stop, self.again = state, stop, again
        self.holds = False
        self.thread: threading.Thread | None = None
        say(state)

    def tell(self, **changes: object) -> None:
        """Change the state and send it."""
        seconds = time.monotonic() - self._began
        self.state = replace(self.state, seconds=seconds, **changes)  # type: ignore[arg-type]
        self._say(self.state)


class Jobs:
    """The background jobs of the program.

    Attributes:
        entries: the jobs, by number.
        closing: the program ends; no further job begins.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.entries: dict[int, Entry] = {}
        self.closing = False

    def working(self, kind: str, administration: int) -> list[JobState]:
        """Return the jobs of a kind that work on an administration; from any thread."""
        states = [entry.state for entry in list(self.entries.values())]
        own = [one for one in states if (one.kind, one.administration) == (kind, administration)]
        return [state for state in own if state.active]

    def holder(self, administration: int) -> JobState | None:
        """Return the job that keeps an administration locked, or None."""
        for entry in self.entries.values():
            state = entry.state
            if entry.holds and state.active and state.administration == administration:
                return state
        return None

    def check_free(self, administration: int) -> None:
        """Check that no job keeps an administration locked."""
        if (state := self.holder(administration)) is not None:
            raise TabwbError(
                f"administration {administration} cannot be changed now: a background job "
                f"works on it ({state.kind}: {state.title})",
                hint="wait until it has ended, or stop it: J on the first page lists the jobs",
            )

    def enter(
        self,
        kind: str,
        title: str,
        stop: Callable[[], None],
        *,
        again: Callable[[], object] | None = None,
        administration: int | None = None,
        page: str = "",
    ) -> Entry:
        """Return the new entry of a job that is about to begin."""
        number = len(self.entries) + 1
        state = JobState(number, kind, title, administration=administration, page=page)
        entry = self.entries[number] = Entry(self._engine.say, state, stop, again)
        return entry

    def start(
        self,
        kind: str,
        title: str,
        work: Work,
        *,
        after: Callable[[Ended], None],
        again: Callable[[], object],
        administration: int | None = None,
        page: str = "",
        holds: bool = False,
    ) -> int:
        """Begin a job and return its number; 0: the program ends."""
        if self.closing:
            return 0
        cancel = threading.Event()

        def stop() -> None:
            cancel.set()
            if entry.state.active:
                entry.tell(phase="stopping")

        entry = self.enter(kind, title, stop, again=again, administration=administration, page=page)
        entry.holds = holds

        def run() -> None:
            ended = self._ended(work, cancel, entry.tell)
            self._engine.later(lambda: after(ended))
            resumable = ended.phase in {"stopped", "refused"}
            number = ended.administration or entry.state.administration
            entry.tell(
                phase=ended.phase, words=ended.words, administration=number, resumable=resumable
            )

        entry.thread = threading.Thread(target=run, name=f"job {entry.state.number}", daemon=True)
        entry.thread.start()
        return entry.state.number

    def look(self, work: Work, after: Callable[[Ended], None]) -> None:
        """Begin what only reads, in its own thread; it is not in the list."""

        def run() -> None:
            ended = self._ended(work, threading.Event(), lambda **_: None)
            self._engine.later(lambda: after(ended))

        threading.Thread(target=run, name="look", daemon=True).start()

    def _ended(self, work: Work, cancel: threading.Event, tell: Callable[..., None]) -> Ended:
        engine = self._engine
        try:
            with (
                closing(Plugins.load(engine.plugins.configuration)) as plugins,
                closing(Store.open(engine.store_place, create=False)) as store,
            ):
                return work(Tools(plugins, store, cancel, tell))
        except Interrupted as stopped:
            return Ended("stopped", stopped.message)
        except TabwbError as error:
            return Ended("refused", str(error))
        except Exception as error:  # noqa: BLE001 - the thread's edge: shown, never the end
            return Ended("refused", error_text(error))

    def stop(self, number: int) -> None:
        """Ask a job to stop; from any thread."""
        entry = self.entries.get(number)
        if entry is not None and entry.state.active:
            entry.stop()

    def again(self, number: int) -> None:
        """Start a job that has stopped again with what is left."""
        entry = self.entries[number]
        if entry.again is not None and entry.state.resumable:
            entry.again()
            entry.tell(resumable=False)

    def stop_all(self) -> None:
        """Ask all jobs to stop, because the program ends."""
        self.closing = True
        for number in list(self.entries):
            self.stop(number)

    def join(self) -> None:
        """Wait until they have stopped."""
        end = time.monotonic() + END_S
        for entry in list(self.entries.values()):
            if entry.thread is not None:
                entry.thread.join(max(end - time.monotonic(), 0.0))
