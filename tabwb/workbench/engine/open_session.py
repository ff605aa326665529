"""The one session that is open, its model, and how both come to the screen."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date

from tabwb.administer.cost import Spending
from tabwb.administer.session import setup
from tabwb.administer.session.drive import ask, drive
from tabwb.administer.session.session import Session
from tabwb.plugin_api.components import BatchingBackend, ModelBackend
from tabwb.records import events
from tabwb.records.errors import StoreError, TabwbError
from tabwb.records.speakers import Consent
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason, TrialState
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.describe import item_of
from tabwb.workbench.engine.engine import Archive, Say
from tabwb.workbench.engine.snapshots import Rest, Trouble, Work
from tabwb.workbench.naming.snapshots import NamingNow
from tabwb.workbench.trial.live_scores import LiveScores

FRAME_S = 1 / 30
"""Pieces of a reply are shown at most this often."""
MANY = 40
"""An auto-run over more items than this puts them to a model that can batch many at once."""
TOGETHER = 32
"""So many; between two batches commands are heard."""


class OpenSession(Archive):
    """Holds at most one session with its model; the bench's commands stand on it.

    Args:
        say: takes messages to the screen; may be called from any thread.
        location: of the store, or None for the configuration's.
        offline: use no network.
    """

    def __init__(self, say: Say, *, location: str | None = None, offline: bool = False) -> None:
        super().__init__(say, location=location, offline=offline)
        self.auto = False
        self._cancel = threading.Event()
        self._session: Session | None = None
        self._backend: ModelBackend | None = None
        self._facts: tuple[tuple[str, str], ...] = ()
        self._ready = False
        self._asking = False
        self._loading = ""
        self._given_up = False
        self._scores = LiveScores()
        self._together = False
        self._spending: Spending | None = None
        self._rest: Rest | None = None
        self._notices: tuple[str, ...] = ()

    # ---------------------------------------------------------------- opening, leaving

    def close(self) -> None:
        """Pause what is open and give everything back; nothing recorded is lost."""
        try:
            self._leave("the workbench was closed")
        finally:
            if self._plugins is not None:
                self._plugins.close()
            if self._store is not None:
                self._store.close()

    def _open_session(self) -> Session:
        if self._session is None:
            raise TabwbError("no administration is open", hint="begin one, or open one")
        return self._session

    @contextmanager
    def _session_of(self, number: int) -> Iterator[Session]:
        if self._session is not None and self._session.administration.id == number:
            yield self._session
            self._show()
            return
        with setup.resume(self.store, self.plugins, number) as session:
            yield session

    def _opened(self, session: Session, *, loading: bool = True) -> None:
        self._session = session
        self._facts = ()
        self._scores = LiveScores()
        self._together, self._rest = False, None
        self._spending = self._spent_before(session)
        self._look_at_consents(session)
        self._show(opened=True)
        self.refresh()
        if loading and session.administration.conditions.kind == "model":
            self._load(session)

    def keep_consent(self, document: str) -> None:
        """Record that the speaker has agreed today to all that the open administration needs.

        Args:
            document: where the signed form is.
        """
        session = self._session
        if session is None or not self.lacking:
            return
        speaker, today = session.administration.conditions.person, date.today().isoformat()
        self.store.people.keep_consents(
            [Consent(speaker, scope, True, today, document.strip()) for scope in self.lacking]
        )
        self._look_at_consents(session)
        self._show()

    def _look_at_consents(self, session: Session) -> None:
        from tabwb.administer import consent

        conditions = session.administration.conditions
        self._notices = self.notices(session.battery, conditions)
        self.lacking = ()
        if setup.by_microphone(session.battery, conditions):
            self.lacking = consent.missing(self.store, self.plugins, conditions, microphone=True)

    def _spent_before(self, session: Session) -> Spending | None:
        conditions = session.administration.conditions
        if conditions.kind != "model":
            return None
        try:
            price = self.plugins.price(conditions.examinee)
        except TabwbError as error:  # a model that is gone, or a file of prices that is no TOML
            self.say(messages.Told(f"The price is unknown: {error}"))
            price = None
        return Spending.of(session.trials, price)

    def _leave(self, reason: str) -> None:
        self.auto = False
        session, self._session = self._session, None
        backend, self._backend = self._backend, None
        if session is not None:
            try:
                if session.status is AdministrationStatus.RUNNING:
                    session.pause(reason)
            finally:
                session.close()
        if backend is not None:
            backend.close()
        self._ready = False

    # ---------------------------------------------------------------- the model

    def interrupt(self, *, loading: bool = False) -> None:
        """Stop the answer under way, from any thread; with ``loading`` a model's loading too."""
        self.auto = False
        self._cancel.set()
        backend = self._backend
        if loading and self._loading and backend is not None:
            self._given_up = True
            backend.close()

    def _load(self, session: Session) -> None:
        """Open the model if it is not; what cannot be opened leaves everything as it was."""
        if self._ready:
            return
        spec = session.administration.conditions.examinee
        self._loading, self._given_up = spec, False
        self._show()
        try:
            if self._backend is None:
                self._backend = self.plugins.open_model(spec)
            facts = self._backend.open()
            self._check_model(session, facts)
            self._facts = tuple(facts.items())
            self._ready = True
        except TabwbError as error:
            self._drop_model()
            self.auto = False
            if isinstance(error, Stopped):
                raise
            if self._given_up:
                raise Stopped(Trouble("Loading was stopped", f"{spec} is not loaded.")) from error
            trouble = Trouble.of(
                f"{spec} cannot be opened", error, ("administer_next", "Try again")
            )
            if not trouble.hint:
                hint = "Nothing was sent. Correct it and try again, or choose another model."
                trouble = replace(trouble, hint=hint)
            raise Stopped(trouble) from error
        except BaseException:
            self._drop_model()
            self.auto = False
            raise
        finally:
            self._loading = ""
            self._show()

    def _check_model(self, session: Session, facts: Mapping[str, str]) -> None:
        """Refuse a model that is not the one the administration began with: no trying again."""
        try:
            session.opened(facts)
        except StoreError:
            raise
        except TabwbError as error:
            trouble = Trouble.of(
                "The model has changed", error,
                ("file_new", "New administration"), ("administer_results", "Results so far"),
            )  # fmt: skip
            hint = (
                "Nothing was asked. Bring back the model that it began with and resume, or begin a "
                "new administration for the changed one; what was answered stays as it is."
            )
            raise Stopped(replace(trouble, hint=hint)) from error

    def _drop_model(self) -> None:
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()

    def _ask(self, session: Session) -> None:
        assert self._backend is not None
        self._cancel.clear()
        self._asking, self._together = True, False
        self._show()
        said: list[str] = []
        shown_at = 0.0
        last: events.AttemptRecorded | None = None
        try:
            for event in ask(session, self._backend, self._cancel):
                self._take(event)
                if isinstance(event, events.Streamed):
                    said.append(event.text)
                    now = time.monotonic()
                    if now - shown_at > FRAME_S:
                        shown_at = now
                        self.say(messages.Streamed("".join(said)))
                elif isinstance(event, events.AttemptRecorded):
                    last = event
        finally:
            self._asking = False
            self._show()
        if last is not None and last.attempt.state is AttemptState.ERROR:
            self._in_error(session, last)
        else:
            self._finish_if_done(session)

    def _goes_together(self, session: Session) -> bool:
        """Whether the items that are left go out many at once: known from an auto-run's start."""
        conversation = session.administration.conditions.conversation
        if conversation or not isinstance(self._backend, BatchingBackend):
            return False
        self._together = self._together or len(session.upcoming(MANY + 1)) > MANY
        return self._together

    def _ask_together(self, session: Session) -> None:
        """One batch of an auto-run. What failed comes again at the end, as in any run."""
        assert self._backend is not None
        self._cancel.clear()
        self._asking = True
        self._show()
        ends: list[events.Event] = []
        asked, shown_at = False, 0.0
        try:
            with closing(
                drive(session, self._backend, self._cancel, together=TOGETHER)
            ) as happening:
                for event in happening:
                    if isinstance(event, events.Asked) and asked:
                        break  # commands are heard before the next batch
                    asked = asked or isinstance(event, events.Asked)
                    self._take(event)
                    if isinstance(event, events.Paused | events.Finished):
                        ends.append(event)
                    now = time.monotonic()
                    recorded = isinstance(event, events.AttemptRecorded)
                    if recorded and now - shown_at > FRAME_S:
                        shown_at = now
                        self._show()
        finally:
            self._asking = False
            self._show()
        for end in ends:
            if isinstance(end, events.Paused) and not self._cancel.is_set():
                self.auto = False
                self._show()
                self.refresh()
                raise Stopped(
                    Trouble(
                        "The run rests",
                        end.reason,
                        hint="What was answered is safe; items in error are unanswered and are "
                        "asked again.",
                        asks=(("administer_next", "Go on"),),
                    )
                )
            self._after((end,))

    def _take(self, event: events.Event) -> None:
        """Take note of what a run takes, and of a back end that rests."""
        if self._spending is not None:
            self._spending = self._spending.after(event)
        if isinstance(event, events.Waiting):
            self._rest = Rest(event.reason, time.monotonic() + event.seconds)
            self._show()
        elif isinstance(event, events.Streamed | events.AttemptRecorded):
            self._rest = None

    def _finish_if_done(self, session: Session) -> None:
        # Nothing is left to give: finish at once, so that a closed window leaves it done.
        running = session.status is AdministrationStatus.RUNNING
        if running and not any(one.state is TrialState.PLANNED for one in session.trials):
            self._after(session.next())

    def _in_error(self, session: Session, event: events.AttemptRecorded) -> None:
        self.auto = False
        self._show()
        if event.attempt.stop_reason is StopReason.CANCELLED:
            self.say(messages.Told("Stopped. The item is unanswered and can be asked again (r)."))
            return
        number, of = session.position
        raise Stopped(
            Trouble(
                f"No answer to item {number} of {of}",
                event.attempt.error,
                hint="The attempt is kept as an error; the item is unanswered. Ask it again, or "
                "continue: it comes again at the end.",
                asks=(("administer_repeat", "Ask again"), ("administer_pause", "Pause")),
            )
        )

    # ---------------------------------------------------------------- what is shown

    def naming_now(self) -> NamingNow | None:
        """What is shown of spoken naming; None where something else is given."""
        return None

    def _after(self, made: tuple[events.Event, ...]) -> None:
        """Show what a command has changed; at the end show the results."""
        session = self._open_session()
        over = any(isinstance(one, events.Finished) for one in made)
        self._show(over=over)
        if over:
            self.auto = False
            self.refresh()
            if session.raters.later:
                number = session.administration.id
                self.say(messages.JudgingOffered(number, session.raters.later))
        for one in made:
            if isinstance(one, events.Paused) and one.reason:
                self.auto = False
                self.say(messages.Told(f"Paused: {one.reason}"))
        if session.status is AdministrationStatus.DISCONTINUED:
            self.auto = False

    def _show(self, *, opened: bool = False, over: bool = False) -> None:
        session = self._session
        if session is None:
            return
        trial = session.current
        trials = session.trials
        conditions = session.administration.conditions
        work = Work(
            administration=session.administration,
            status=session.status,
            reason=session.history.pause_reason,
            item=item_of(session.battery, conditions, trial, trials) if trial else None,
            awaiting=session.awaiting,
            asking=self._asking,
            loading=self._loading,
            auto=self.auto,
            undoable=session.history.undoable is not None,
            remaining=sum(one.state is TrialState.PLANNED for one in trials),
            scores=self._scores.of(session, now=not self.auto or over),
            facts=self._facts,
            disclaimer=session.battery.disclaimer,
            upcoming=next((one.plan.number for one in session.upcoming(1)), None),
            together=self._asking and self._together,
            spending=self._spending,
            rest=self._rest if self._asking else None,
            naming=self.naming_now(),
            notices=self._notices,
        )
        self.say(messages.Changed(work, opened=opened, over=over))


class Stopped(TabwbError):
    """A command came to an end that a person must see; carries what to show."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.message)
        self.trouble = trouble
