"""The model of the open session: loads it, asks it, counts what it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.administer.cost import Spending
from tabwb.administer.session.drive import ask, drive
from tabwb.administer.session.opening import opened_facts
from tabwb.administer.session.session import Session
from tabwb.plugin_api.components import BatchingBackend, ModelBackend
from tabwb.records import events
from tabwb.records.errors import Interrupted, StoreError, TabwbError
from tabwb.records.states import AttemptState, StopReason
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.engine import CommandStopped
from tabwb.workbench.engine.threads import FRAME_S
from tabwb.workbench.engine.transcript import Sitting
from tabwb.workbench.engine.view_models import ErrorReport, Rest

if TYPE_CHECKING:
    from tabwb.workbench.engine.session_controller import SessionController

MANY = 40
"""An auto-run over more items than this sends them in batches where the model can batch."""
TOGETHER = 32
"""Items per batch; commands are handled between two batches."""


class ModelRunner:
    """Owns the model of the open session."""

    def __init__(self, sessions: SessionController) -> None:
        self._sessions = sessions
        self._engine = sessions.engine
        self._backend: ModelBackend | None = None
        self._ready = False
        self.facts: tuple[tuple[str, str], ...] = ()
        self.asking = False
        self.loading = ""
        """The spec of the model that is being loaded, or empty."""
        self.together = False
        """The auto-run sends many items at once."""
        self.spending: Spending | None = None
        self.rest: Rest | None = None
        self.sitting = Sitting()

    def opened(self, session: Session) -> None:
        """Get ready for a session that was just opened."""
        self.facts, self.together, self.rest = (), False, None
        self.sitting = Sitting()
        self.spending = self._spent_before(session)

    def close(self) -> None:
        """Close the model."""
        self._ready = False
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()

    def turn(self, session: Session) -> None:
        """Take one turn: the next item, its reply, its scores; in an auto-run maybe a batch."""
        self.load(session)
        if self._sessions.auto and not session.awaiting and self._goes_together(session):
            self._ask_together(session)
            return
        if not session.awaiting:
            self._sessions.after(session.next())
        if session.awaiting:
            self.ask(session)

    # ---------------------------------------------------------------- loading

    def load(self, session: Session) -> None:
        """Open the model if it is not open yet; an error leaves everything as it was."""
        if self._ready:
            return
        conditions = session.administration.conditions
        spec = session.model_spec
        self.loading, cancel = spec, self._engine.cancel
        cancel.clear()
        self._sessions.publish()
        try:
            if self._backend is None:
                self._backend = self._engine.plugins.open_model(spec, conditions.lesion)
            facts = opened_facts(self._backend, conditions.lesion, cancel)
            if cancel.is_set():
                raise Interrupted("loading was stopped")
            self._check_model(session, facts)
            self.facts = tuple(facts.items())
            self._ready = True
        except BaseException as error:
            self.close()
            self._sessions.auto = False
            if isinstance(error, CommandStopped) or not isinstance(error, TabwbError):
                raise
            retry = ("administer.next", "Try again")
            report = ErrorReport.of(f"{spec} cannot be opened", error, retry)
            if cancel.is_set():
                report = ErrorReport("Loading was stopped", f"{spec} is not loaded.")
            elif not report.hint:
                hint = (
                    "Nothing was sent. Correct the cause and try again, or begin a new "
                    "administration."
                )
                if session.administration.answered:
                    hint += " If the model was moved, open this one again and take 'Model moved'."
                report = replace(report, hint=hint)
            raise CommandStopped(report) from error
        finally:
            self.loading = ""
            self._sessions.publish()

    def _check_model(self, session: Session, facts: Mapping[str, str]) -> None:
        try:
            session.opened(facts)
        except StoreError:
            raise
        except TabwbError as error:
            report = ErrorReport.of(
                "The model has changed", error,
                ("file.new", "New administration"), ("administer.results", "Results so far"),
            )  # fmt: skip
            hint = (
                "Nothing was asked. Restore the model that it began with and resume, or begin a "
                "new administration for the changed one; recorded answers are unchanged."
            )
            raise CommandStopped(replace(report, hint=hint)) from error

    def _spent_before(self, session: Session) -> Spending | None:
        conditions = session.administration.conditions
        if conditions.kind != "model":
            return None
        try:
            price = self._engine.plugins.price(conditions.examinee)
        except TabwbError as error:  # no such model, or the price file is not valid TOML
            self._engine.say(messages.Told(f"The price is unknown: {error}"))
            price = None
        return Spending.of(session.trials, price)

    # ---------------------------------------------------------------- asking

    def ask(self, session: Session) -> None:
        """Send the item that waits, and record the reply."""
        assert self._backend is not None
        self._engine.cancel.clear()
        self.asking, self.together = True, False
        self.sitting.begin()
        self._sessions.publish()
        pieces: list[str] = []
        shown_at = 0.0
        last: events.AttemptRecorded | None = None
        try:
            for event in ask(session, self._backend, self._engine.cancel):
                self._count(event)
                if isinstance(event, events.Streamed):
                    pieces.append(event.text)
                    if time.monotonic() - shown_at > FRAME_S:
                        shown_at = time.monotonic()
                        self._engine.say(messages.Streamed("".join(pieces)))
                elif isinstance(event, events.Waiting) and event.voids:
                    pieces.clear()  # the reply starts again
                    self._engine.say(messages.Streamed(""))
                elif isinstance(event, events.AttemptRecorded):
                    last = event
        finally:
            self.asking = False
            self.sitting.end()
            self._sessions.publish()
        if last is not None and last.attempt.state is AttemptState.ERROR:
            self._report_error(session, last)
        else:
            self._sessions.finish_if_done()

    def _goes_together(self, session: Session) -> bool:
        """Return whether the items that are left go out in batches; decided at the run's start."""
        conversation = session.administration.conditions.conversation
        if conversation or not isinstance(self._backend, BatchingBackend):
            return False
        self.together = self.together or len(session.upcoming(MANY + 1)) > MANY
        return self.together

    def _ask_together(self, session: Session) -> None:
        """Send one batch of an auto-run. Failed items are asked again at the end."""
        assert self._backend is not None
        self._engine.cancel.clear()
        self.asking = True
        self.sitting.begin()
        self._sessions.publish()
        ends: list[events.Event] = []
        asked, shown_at = False, 0.0
        try:
            run = drive(session, self._backend, self._engine.cancel, together=TOGETHER)
            with closing(run):
                for event in run:
                    if isinstance(event, events.Asked) and asked:
                        break  # commands are handled before the next batch
                    asked = asked or isinstance(event, events.Asked)
                    self._count(event)
                    if isinstance(event, events.Paused | events.Finished):
                        ends.append(event)
                    recorded = isinstance(event, events.AttemptRecorded)
                    if recorded and time.monotonic() - shown_at > FRAME_S:
                        shown_at = time.monotonic()
                        self._sessions.publish()
        finally:
            self.asking = False
            self.sitting.end()
            self._sessions.publish()
        for end in ends:
            if isinstance(end, events.Paused) and not self._engine.cancel.is_set():
                self._sessions.auto = False
                self._sessions.publish()
                self._engine.refresh()
                hint = "All answers are saved; items in error are unanswered and are asked again."
                asks = (("administer.next", "Continue"),)
                raise CommandStopped(
                    ErrorReport("Auto-run has stopped", end.reason, hint=hint, asks=asks)
                )
            self._sessions.after((end,))

    def _count(self, event: events.Event) -> None:
        """Add up what a run takes, and show when the back end waits."""
        if self.spending is not None:
            self.spending = self.spending.after(event)
        if isinstance(event, events.Waiting) and event.seconds:
            self.rest = Rest(event.reason, time.monotonic() + event.seconds)
            self._sessions.publish()
        elif isinstance(event, events.Streamed | events.AttemptRecorded):
            self.rest = None
        if isinstance(event, events.AttemptRecorded):
            self.sitting.count(event.attempt)

    def _report_error(self, session: Session, event: events.AttemptRecorded) -> None:
        self._sessions.auto = False
        self._sessions.publish()
        if event.attempt.stop_reason is StopReason.CANCELLED:
            words = "Stopped. The item is unanswered and can be asked again (r)."
            self._engine.say(messages.Told(words))
            return
        number, of = session.position
        title = f"No answer to item {number} of {of}"
        hint = (
            "The attempt is kept as an error; the item is unanswered. Ask it again, or continue: "
            "it comes again at the end."
        )
        asks = (("administer.repeat", "Ask again"), ("administer.pause", "Pause"))
        raise CommandStopped(ErrorReport(title, event.attempt.error, hint=hint, asks=asks))
