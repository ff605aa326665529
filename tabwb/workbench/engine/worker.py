"""One thread that owns the session: commands are queued to it, messages come back."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import replace

from tabwb.records.errors import (
    MissingExtra,
    MissingPackage,
    NeedsNetwork,
    NoConsent,
    StoreError,
    TabwbError,
    UsageError,
)
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.engine import Say
from tabwb.workbench.engine.open_session import Stopped
from tabwb.workbench.engine.session_controller import Bench
from tabwb.workbench.engine.snapshots import Trouble

Job = Callable[[], None]
TITLES: tuple[tuple[type[TabwbError], str], ...] = (
    (NoConsent, "Consent is missing"),
    (StoreError, "The store refused it"),
    (NeedsNetwork, "Network not allowed"),
    (MissingExtra, "A package is missing"),
    (MissingPackage, "A package is missing"),
    (UsageError, "Not possible with these values"),
)
"""Titles of the dialog that tells an error, by its type; the first that fits."""
CLOSE_S = 5.0
"""Seconds that closing may take; then the process ends with what is committed."""


def title_of(error: TabwbError) -> str:
    """Return the title of the dialog for an error, by its type.

    >>> title_of(NoConsent("S-014 has not consented to recording"))
    'Consent is missing'
    """
    return next((title for kind, title in TITLES if isinstance(error, kind)), "Action failed")


class Worker(threading.Thread):
    """Runs the bench's commands one after the other; between them, the turns of an auto-run.

    Attributes:
        accepted: so many commands were queued.
    """

    def __init__(self, say: Say, *, location: str | None = None, offline: bool = False) -> None:
        super().__init__(name="session", daemon=True)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.bench = Bench(say, location=location, offline=offline, later=self.do)
        self._say = say
        self._counting = threading.Lock()
        self.accepted = 0

    def do(self, job: Job) -> None:
        """Queue a command; :class:`messages.Settled` comes when it is done."""
        with self._counting:
            self.accepted += 1
        self._jobs.put(job)

    def run(self) -> None:
        """Work until :meth:`stop`."""
        self._guarded(self.bench.open, "tabwb could not open what it needs")
        while True:
            job: Job | None
            asked = True
            try:
                job = self._jobs.get_nowait() if self.bench.wants_turn else self._jobs.get()
            except queue.Empty:
                job, asked = self.bench.turn, False
            if job is None:
                break
            self._guarded(job)
            if asked:
                self._say(messages.Settled())
        self._guarded(self.bench.close)

    def stop(self) -> bool:
        """Stop what is under way, close everything; whether it was closed in time."""
        self.bench.interrupt(loading=True)
        self._jobs.put(None)
        self.join(CLOSE_S)
        return not self.is_alive()

    def _guarded(self, job: Job, title: str = "") -> None:
        try:
            job()
        except Stopped as stopped:
            self._say(messages.Failed(stopped.trouble))
        except TabwbError as error:
            trouble = Trouble.of(title or title_of(error), error)
            if isinstance(error, StoreError):
                trouble = replace(trouble, unsaved=True)
            self._say(messages.Failed(trouble))
        except Exception as error:  # noqa: BLE001 - the worker's edge: shown, never the end
            self.bench.auto = False
            self._say(
                messages.Failed(
                    Trouble(
                        "Something unexpected happened",
                        f"{type(error).__name__}: {error}",
                        hint="What was recorded is safe. Please report this.",
                    )
                )
            )
