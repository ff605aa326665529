"""Commands on the open session: begin, resume, next, answer, skip, pause and the like.

At most one session is open, with its model. Commands run in the worker's thread; only
:meth:`SessionController.interrupt` and :attr:`SessionController.auto` are used from other threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from tabwb.administer import consent
from tabwb.administer.session import plan, setup
from tabwb.administer.session.session import Session
from tabwb.battery.model import Battery
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.speakers import SCOPES
from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.jobs import Jobs
from tabwb.workbench.engine.model_runner import ModelRunner
from tabwb.workbench.engine.presenters import LiveScores, item_of
from tabwb.workbench.engine.transcript import TranscriptKeeper
from tabwb.workbench.engine.view_models import Scores, Work

RECORD_CONSENT = "once the speaker has agreed, y records it here"


class SessionExtension(Protocol):
    """A controller that takes part in a session with spoken items while it is open."""

    page: str
    """Id of the page on which a session is given while :meth:`view` returns something."""

    def opened(self, session: Session) -> None:
        """A session was opened."""

    def leaving(self) -> None:
        """The session is about to be closed."""

    def after(self, made: tuple[events.Event, ...]) -> None:
        """Events were recorded and are about to be shown."""

    def holds_next(self) -> bool:
        """Return whether the next item is given by other commands than ``next``."""

    def view(self) -> object | None:
        """Return what the page shows beside the :class:`Work`, or None where it has no part."""


class SessionController(Controller):
    """Holds at most one open session with its model."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.jobs = Jobs(self)
        self.session: Session | None = None
        self.auto = False
        self.model = ModelRunner(self)
        self.extension: SessionExtension | None = None
        """Takes part in sessions with spoken items."""
        self._extended: SessionExtension | None = None
        self._scores = LiveScores()
        self._transcripts = TranscriptKeeper()
        self._notices: tuple[str, ...] = ()

    @property
    def wants_turn(self) -> bool:
        """Whether the next item is given without a command."""
        if not self.auto or self.session is None:
            return False
        kind, status = self.session.administration.conditions.kind, self.session.status
        return kind == "model" and status is AdministrationStatus.RUNNING

    # ---------------------------------------------------------------- opening, leaving

    def begin(self, battery: Battery, conditions: Conditions) -> None:
        """Begin an administration; it waits for its first item."""
        self._close_session("another administration was started")
        self._open(setup.create(self.store, self.plugins, battery, conditions))
        if idle := plan.idle_replicates(self.plugins, battery, conditions):
            self.say(messages.Told(f"{idle[0].upper()}{idle[1:]}."))

    def resume(self, number: int, *, go_on: bool = True, model: str | None = None) -> None:
        """Open an administration again; with ``go_on``, end its pause and load its model."""
        if model is not None or not self.holds(number):
            if (job := self.jobs.holder(number)) is not None:
                words = f"{job.kind} ({job.title}) is running: its results can be read meanwhile."
                self.say(messages.Told(f"{words} J on the first page lists the jobs."))
                self.say(messages.Requested("results", "show", (number,)))
                return
            self._close_session("another administration was opened")
            self._open(setup.resume(self.store, self.plugins, number, model), loading=go_on)
        if go_on:
            self.open_session().resume()
            self.publish()
            self.engine.refresh()

    def leave(self) -> None:
        """Close the open administration; a running one is paused."""
        self._close_session("left")
        self.engine.refresh()
        self.say(messages.Changed(None))

    def close(self) -> None:
        """Close the open administration when the program ends."""
        self._close_session("the workbench was closed")

    def interrupt(self) -> None:
        """Stop the current answer or loading; from any thread."""
        self.auto = False
        self.engine.cancel.set()

    def open_session(self) -> Session:
        """Return the open session."""
        if self.session is None:
            raise TabwbError("no administration is open", hint="begin one, or open one")
        return self.session

    def holds(self, number: int) -> bool:
        """Return whether this administration is the open one."""
        return self.session is not None and self.session.administration.id == number

    @contextmanager
    def session_of(self, number: int) -> Iterator[Session]:
        """Give the session of an administration: the open one, or one opened for the moment."""
        if self.session is not None and self.holds(number):
            yield self.session
            self.publish()
            return
        self.jobs.check_free(number)
        with setup.resume(self.store, self.plugins, number) as session:
            yield session

    def notices(self, battery: Battery, conditions: Conditions) -> tuple[str, ...]:
        """Return what the person who gives a battery has to know of consents; empty for models."""
        guard = consent.Guard(self.store, self.plugins, conditions)
        if conditions.guarded and setup.by_microphone(battery, conditions):
            missing = guard.missing(microphone=True)
            if missing:
                remark = self.plugins.configuration.study.remark(conditions.examinee)
                scopes = "; ".join(f"{scope} ({SCOPES[scope]})" for scope in missing)
                reason = f"{conditions.person} has not agreed to {scopes}"
                words = (remark, f"no microphone will be opened: {reason}", RECORD_CONSENT)
                return tuple(filter(None, words))
        return guard.notices()

    def reload_notices(self) -> None:
        """Read the consents of the open administration's speaker again."""
        session = self.open_session()
        self._notices = self.notices(session.battery, session.administration.conditions)

    def _open(self, session: Session, *, loading: bool = True) -> None:
        self.session = session
        self._scores, self._transcripts = LiveScores(), TranscriptKeeper()
        self.model.opened(session)
        self._extended = self.extension if session.is_spoken else None
        if self._extended is not None:
            self._extended.opened(session)
        self.reload_notices()
        self.publish(opened=True)
        self.engine.refresh()
        if loading and session.administration.conditions.kind == "model":
            self.model.load(session)

    def _close_session(self, reason: str) -> None:
        try:
            if self._extended is not None:
                self._extended.leaving()
        finally:
            self.auto = False
            session, self.session = self.session, None
            try:
                if session is not None:
                    with session:
                        if session.status is AdministrationStatus.RUNNING:
                            session.pause(reason)
            finally:
                self.model.close()

    # ---------------------------------------------------------------- giving

    def next(self) -> None:
        """Give the next item; end a pause; after the last item ask for the results."""
        session = self.open_session()
        if session.status is AdministrationStatus.PAUSED:
            session.resume()
        if session.status is not AdministrationStatus.RUNNING:
            number = session.administration.id
            self.say(messages.Requested("results", "show", (number,)))
        elif session.administration.conditions.kind == "model":
            self.turn()
        elif self._extended is None or not self._extended.holds_next():
            self.after(session.next())

    def turn(self) -> None:
        """Let a model take one turn: the next item, its reply, its scores."""
        self.model.turn(self.open_session())

    def repeat(self) -> None:
        """Ask the current item again."""
        session = self.open_session()
        if session.administration.conditions.kind == "speaker":
            raise TabwbError(
                "a person's first answer cannot be asked again",
                hint="undo takes it back, void declares that it does not count",
            )
        if session.status is AdministrationStatus.PAUSED:
            session.resume()
        self.model.load(session)
        if not session.awaiting:
            self.after(session.repeat())
        self.model.ask(session)

    def answer(self, text: str, latency_s: float) -> None:
        """Record what a person typed, and how long it took."""
        session = self.open_session()
        self.after(session.answer(text, latency_s=latency_s))
        self.finish_if_done()
        if self.auto:
            self.after(session.next())

    def set_auto(self, on: bool) -> None:
        """Switch the auto-run on, or off after the current item."""
        session = self.open_session()
        self.auto = on
        self.model.together = False
        if on and session.status is AdministrationStatus.PAUSED:
            session.resume()
        if on and session.administration.conditions.kind == "speaker" and not session.awaiting:
            self.after(session.next())
        self.publish()

    # ---------------------------------------------------------------- marking

    def skip(self, reason: str) -> None:
        """Skip the current item."""
        self.after(self.open_session().corrections.skip(reason))
        self.finish_if_done()

    def void(self, reason: str, number: int | None = None) -> None:
        """Declare an item void; without a number, the current one."""
        self.after(self.open_session().corrections.void(reason, number))
        self.finish_if_done()

    def undo(self) -> None:
        """Take back the last answer, skip, void or discontinuation."""
        self.auto = False
        made = self.open_session().corrections.undo()
        self.after(made)
        for event in made:
            if isinstance(event, events.Undone):
                at = f" of item {event.trial}" if event.trial else ""
                self.say(messages.Told(f"Taken back: the {event.what}{at}. Its record stays."))

    def note(self, number: int | None, text: str) -> None:
        """Write a note on an item; without a number, on the current one."""
        self.after(self.open_session().corrections.note(text, number))
        self.say(messages.Told("Noted."))

    def pause(self, reason: str = "") -> None:
        """Pause the administration, or resume a paused one."""
        self.auto = False
        session = self.open_session()
        paused = session.status is AdministrationStatus.PAUSED
        self.after(session.resume() if paused else session.pause(reason))
        self.engine.refresh()

    def discontinue(self, reason: str) -> None:
        """End the administration early."""
        self.auto = False
        session = self.open_session()
        self.after(session.discontinue(reason))
        self.engine.refresh()
        self.count_score(session.administration.id)

    def finish_if_done(self) -> None:
        """Finish at once when nothing is left to give, so that a closed window leaves it done."""
        session = self.open_session()
        history = session.history
        running = history.status is AdministrationStatus.RUNNING
        if running and not any(trial.state is TrialState.PLANNED for trial in history.standing):
            self.after(session.next())

    # ---------------------------------------------------------------- what is shown

    def after(self, made: tuple[events.Event, ...]) -> None:
        """Show what a command has recorded."""
        session = self.open_session()
        if self._extended is not None:
            self._extended.after(made)
        over = any(isinstance(event, events.Finished) for event in made)
        self.publish(over=over)
        if over:
            number = session.administration.id
            if self.auto and session.administration.conditions.kind == "model":
                self.say(messages.Requested("trial", "auto_run_complete", (number,)))
            self.auto = False
            self.engine.refresh()
            self.count_score(number)
            if session.raters.later:
                judges = session.raters.later
                self.say(messages.Requested("results", "judge", (number, judges)))
        for event in made:
            if isinstance(event, events.Paused) and event.reason:
                self.auto = False
                self.say(messages.Told(f"Paused: {event.reason}"))
        if session.history.status is AdministrationStatus.DISCONTINUED:
            self.auto = False

    def tell_corrected(self, number: int) -> None:
        """Report that responses of an administration were corrected, and what is right now."""
        self.engine.refresh()
        self.count_score(number)

    def count_score(self, number: int) -> None:
        """Report the responses that are right of an administration that ended or was corrected."""
        from tabwb.workbench.engine.scored import scored_or_problem

        listed = self.engine.catalogue.administrations
        administration = next(one for one in listed if one.id == number)
        primary = self.plugins.configuration.study.primary_rater
        made = scored_or_problem(self.store, administration, primary)
        self.say(messages.Stored(number, (made.right, made.scored)))

    def publish(self, *, opened: bool = False, over: bool = False) -> None:
        """Send the present state of the open administration to the screen."""
        session = self.session
        if session is None:
            return
        model, conditions = self.model, session.administration.conditions
        coming, state = session.next_planned(), session.state
        history, trial = state.history, state.current
        trials, status = history.trials, history.status
        transcript = self._transcripts.of(session)
        places, answered = transcript.places, self._transcripts.answered
        view = None if self._extended is None else self._extended.view()
        scores = Scores()  # the page of an extension shows its own
        if view is None:
            scores = self._scores.of(session, now=not self.auto or over)
        of_model = view is None and conditions.kind == "model"
        work = Work(
            administration=replace(session.administration, status=status, answered=answered),
            status=status,
            reason=history.reason,
            item=item_of(session.battery, conditions, trial, trials, places, history.declarations)
            if trial
            else None,
            awaiting=state.awaiting,
            asking=model.asking,
            loading=model.loading,
            auto=self.auto,
            undoable=history.undoable is not None,
            remaining=self._transcripts.remaining,
            scores=scores,
            facts=model.facts,
            disclaimer=session.battery.disclaimer,
            upcoming=None if coming is None else coming.plan.number,
            together=model.asking and model.together,
            spending=model.spending,
            rest=model.rest if model.asking else None,
            extension=view,
            page="trial" if view is None or self._extended is None else self._extended.page,
            notices=self._notices,
            of_person=conditions.kind == "speaker",
            transcript=transcript if view is None else None,
            pace=self._transcripts.pace(model.sitting) if of_model else None,
        )
        self.say(messages.Changed(work, opened=opened))
