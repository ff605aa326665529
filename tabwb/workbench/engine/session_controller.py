"""Commands on the open session: begin, resume, next, answer, skip, pause and the like; its model.

At most one session is open, with its model. Commands run in the worker's thread; only
:meth:`SessionController.interrupt` and :attr:`SessionController.auto` are used from other threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Protocol

from tabwb.administer import consent
from tabwb.administer.cost import Spending
from tabwb.administer.session import plan, setup
from tabwb.administer.session.drive import ask, drive
from tabwb.administer.session.exchange import opened_facts
from tabwb.administer.session.session import Session
from tabwb.battery.model import Battery
from tabwb.plugin_api.components import BatchingBackend, ModelBackend
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.errors import Interrupted, StoreError, TabwbError
from tabwb.records.speakers import SCOPES
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason, TrialState
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.engine import CommandStopped, Controller, Engine
from tabwb.workbench.engine.jobs import Jobs
from tabwb.workbench.engine.presenters import LiveScores, Sitting, TranscriptKeeper, item_of
from tabwb.workbench.engine.threads import FRAME_S
from tabwb.workbench.engine.view_models import ErrorReport, Rest, Scores, Work

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
        try:
            self._end_session("left")
            self.engine.refresh()
            self.say(messages.Changed(None))
        finally:
            self.model.close()  # takes seconds: the page has changed by then

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
            self._end_session(reason)
        finally:
            self.model.close()

    def _end_session(self, reason: str) -> None:
        try:
            if self._extended is not None:
                self._extended.leaving()
        finally:
            self.auto = False
            session, self.session = self.session, None
            if session is not None:
                with session:
                    if session.status is AdministrationStatus.RUNNING:
                        session.pause(reason)

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
        from tabwb.workbench.engine.presenters import scored_or_problem

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
