"""Background jobs: each is a thread with plugins and a store of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import Interrupted, TabwbError
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.workbench.engine.engine import Engine

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

    Args:
        say: takes its states; from any thread.
        state: the first one.
        stop: asks it to stop; from any thread.
        again: starts it again, in the worker's thread; None where it cannot be.
    """

    def __init__(
        self,
        say: Callable[[object], object],
        state: JobState,
        stop: Callable[[], None],
        again: Callable[[], None] | None = None,
    ) -> None:
        self._say, self._began = say, time.monotonic()
        self.state, self.stop, self.again = state, stop, again
        self.thread: threading.Thread | None = None
        say(state)

    def tell(self, **changes: object) -> None:
        """Change the state and send it."""
        seconds = time.monotonic() - self._began
        self.state = replace(self.state, seconds=seconds, **changes)  # type: ignore[arg-type]
        self._say(self.state)


class Jobs:
    """The background jobs of the program.

    Args:
        engine: gets their messages, and is refreshed when they end.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.entries: dict[int, Entry] = {}

    def enter(
        self,
        kind: str,
        title: str,
        stop: Callable[[], None],
        *,
        again: Callable[[], None] | None = None,
        administration: int | None = None,
        page: str = "",
    ) -> Entry:
        """Return the new entry of a job that is about to begin.

        Args:
            kind: what it does, in one word.
            title: what it works on.
            stop: asks it to stop; from any thread.
            again: starts it again; None where it cannot be.
            administration: whose results it changes.
            page: id of the page that shows more of it.
        """
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
        again: Callable[[], None],
        administration: int | None = None,
    ) -> None:
        """Begin a job.

        Args:
            kind: what it does, in one word.
            title: what it works on.
            work: does it, in a thread of its own.
            after: is called in the worker's thread when it has ended.
            again: starts it again.
            administration: whose results it changes.
        """
        cancel = threading.Event()

        def stop() -> None:
            cancel.set()
            if entry.state.active:
                entry.tell(phase="stopping")

        entry = self.enter(kind, title, stop, again=again, administration=administration)

        def run() -> None:
            ended = self._ended(work, cancel, entry)
            self._engine.later(lambda: after(ended))
            resumable = ended.phase in {"stopped", "refused"}
            number = ended.administration or entry.state.administration
            entry.tell(
                phase=ended.phase, words=ended.words, administration=number, resumable=resumable
            )

        entry.thread = threading.Thread(target=run, name=f"job {entry.state.number}", daemon=True)
        entry.thread.start()

    def _ended(self, work: Work, cancel: threading.Event, entry: Entry) -> Ended:
        engine = self._engine
        try:
            with (
                closing(Plugins.load(engine.plugins.configuration)) as plugins,
                closing(Store.open(engine.store_place)) as store,
            ):
                return work(Tools(plugins, store, cancel, entry.tell))
        except Interrupted as stopped:
            return Ended("stopped", stopped.message)
        except TabwbError as error:
            return Ended("refused", str(error))
        except Exception as error:  # noqa: BLE001 - the thread's edge: shown, never the end
            return Ended("refused", f"{type(error).__name__}: {error}")

    def stop(self, number: int) -> None:
        """Ask a job to stop; from any thread."""
        if self.entries[number].state.active:
            self.entries[number].stop()

    def again(self, number: int) -> None:
        """Start a job that has stopped again with what is left."""
        entry = self.entries[number]
        if entry.again is not None and entry.state.resumable:
            entry.tell(resumable=False)
            entry.again()

    def stop_all(self) -> None:
        """Ask all jobs to stop, because the program ends."""
        for number in list(self.entries):
            self.stop(number)

    def join(self) -> None:
        """Wait until they have stopped."""
        end = time.monotonic() + END_S
        for entry in list(self.entries.values()):
            if entry.thread is not None:
                entry.thread.join(max(end - time.monotonic(), 0.0))
