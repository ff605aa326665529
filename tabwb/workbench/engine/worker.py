"""The worker: a thread that owns the engine. Commands are queued to it, messages come back."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
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
from tabwb.workbench.engine.engine import CommandStopped, Engine, Job, Say
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.view_models import ErrorReport

TITLES: tuple[tuple[type[TabwbError], str], ...] = (
    (NoConsent, "Consent is missing"),
    (StoreError, "The store refused it"),
    (NeedsNetwork, "Network not allowed"),
    (MissingExtra, "A package is missing"),
    (MissingPackage, "A package is missing"),
    (UsageError, "Not possible with these values"),
)
"""Titles of the dialog that shows an error, by its type; the first that fits."""
CLOSE_S = 5.0
"""Seconds that closing may take; then the process ends with what is committed."""


def title_of(error: TabwbError) -> str:
    """Return the title of the dialog for an error, by its type.

    >>> title_of(NoConsent("S-014 has not consented to recording"))
    'Consent is missing'
    """
    return next((title for kind, title in TITLES if isinstance(error, kind)), "Action failed")


class Worker(threading.Thread):
    """Runs commands one after the other; between them, the turns of an auto-run.

    Args:
        say: takes messages to the screen; called from this thread.
        location: of the store, or None for the configuration's.
        offline: use no network.

    Attributes:
        accepted: the number of commands that were queued.
    """

    def __init__(self, say: Say, *, location: str | None, offline: bool) -> None:
        super().__init__(name="session", daemon=True)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.engine = Engine(say, self.do, location=location, offline=offline)
        self.sessions = SessionController(self.engine)
        self.prefetch: Sequence[str] = ()
        self._counting = threading.Lock()
        self.accepted = 0

    def do(self, job: Job) -> None:
        """Queue a command; :class:`messages.Settled` is sent when it is done."""
        with self._counting:
            self.accepted += 1
        self._jobs.put(job)

    def run(self) -> None:
        """Work until :meth:`stop`."""
        sessions = self.sessions
        self._guarded(lambda: self.engine.open(self.prefetch), "tabwb could not open what it needs")
        while True:
            job: Job | None
            queued = True
            try:
                job = self._jobs.get_nowait() if sessions.wants_turn else self._jobs.get()
            except queue.Empty:
                job, queued = sessions.turn, False
            if job is None:
                break
            self._guarded(job)
            if queued:
                self.engine.say(messages.Settled())
        self._guarded(self._close)

    def stop(self) -> bool:
        """Stop what is under way and close everything; return whether that was done in time."""
        self.sessions.interrupt(loading=True)
        self._jobs.put(None)
        self.join(CLOSE_S)
        return not self.is_alive()

    def _close(self) -> None:
        try:
            self.sessions.close()
        finally:
            self.engine.close()

    def _guarded(self, job: Job, title: str = "") -> None:
        try:
            job()
        except CommandStopped as stopped:
            self.engine.say(messages.Failed(stopped.report))
        except TabwbError as error:
            report = ErrorReport.of(title or title_of(error), error)
            if isinstance(error, StoreError):
                report = replace(report, unsaved=True)
            self.engine.say(messages.Failed(report))
        except Exception as error:  # noqa: BLE001 - the worker's edge: shown, never the end
            self.sessions.auto = False
            self.engine.say(
                messages.Failed(
                    ErrorReport(
                        "Something unexpected happened",
                        f"{type(error).__name__}: {error}",
                        hint="What was recorded is safe. Please report this.",
                    )
                )
            )
