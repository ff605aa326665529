"""What the worker's thread owns: plugins, store and at most one open session with its model.

Every public method is a command. It runs in the worker's thread, one after the other, and says what
happened with messages; only :meth:`Bench.interrupt` and :attr:`Bench.auto` are touched from
outside.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tabwb.administer import setup
from tabwb.administer.drive import ask
from tabwb.administer.plan import nothing_varies
from tabwb.administer.session import Session
from tabwb.extend.components import ModelBackend
from tabwb.records import events
from tabwb.records.errors import TabwbError
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason, TrialState
from tabwb.report.summary import summarise
from tabwb.workbench import messages
from tabwb.workbench.archive import Archive, Say
from tabwb.workbench.describe import item_of, scores_of
from tabwb.workbench.draft import Draft
from tabwb.workbench.snapshots import Scores, Trouble, Work

FRAME_S = 1 / 30
"""Pieces of a reply are shown at most this often."""
SUMMARY_SHARE = 10
"""Live scores are made again only after this many times the time that they took."""


class Bench(Archive):
    """The engine's side of the workbench.

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
        self._scores = Scores()
        self._scores_cost = 0.0
        self._scores_at = 0.0

    # ---------------------------------------------------------------- opening, closing

    @property
    def wants_turn(self) -> bool:
        """Whether the next item follows by itself."""
        session = self._session
        return (
            self.auto
            and session is not None
            and session.administration.conditions.kind == "model"
            and session.status is AdministrationStatus.RUNNING
        )

    def close(self) -> None:
        """Pause what is open and give everything back; nothing recorded is lost."""
        try:
            self._leave("the workbench was closed")
        finally:
            if self._plugins is not None:
                self._plugins.close()
            if self._store is not None:
                self._store.close()

    def interrupt(self, *, loading: bool = False) -> None:
        """Stop the answer under way, from any thread; with ``loading`` a model's loading too."""
        self.auto = False
        self._cancel.set()
        backend = self._backend
        if loading and self._loading and backend is not None:
            self._given_up = True
            backend.close()

    # ---------------------------------------------------------------- beginning, resuming

    def begin(self, draft: Draft) -> None:
        """Begin an administration; it waits for its first item."""
        battery, conditions = self._conditions(draft)
        self._leave("another administration was begun")
        self._opened(setup.create(self.store, self.plugins, battery, conditions))
        if nothing_varies(battery, conditions):
            self.say(
                messages.Told(
                    "Greedy decoding and nothing that varies: the replicates will be identical "
                    "and count once."
                )
            )

    def resume(self, number: int, *, go_on: bool = True) -> None:
        """Open an administration again; with ``go_on`` a pause ends."""
        if self._session is None or self._session.administration.id != number:
            self._leave("another administration was opened")
            self._opened(setup.resume(self.store, self.plugins, number), loading=go_on)
        session = self._session
        if go_on and session is not None:
            session.resume()
            self._show()
            self.refresh()

    def leave(self) -> None:
        """Close the open administration; one that runs is paused."""
        self._leave("left")
        self.refresh()
        self.say(messages.Changed(None))

    # ---------------------------------------------------------------- giving

    def next(self) -> None:
        """Give the next item; go on after a pause; after the last one show the results."""
        session = self._open_session()
        if session.status is AdministrationStatus.PAUSED:
            session.resume()
        if session.status is not AdministrationStatus.RUNNING:
            self.results(session.administration.id)
            return
        if session.administration.conditions.kind == "model":
            self.turn()
            return
        self._after(session.next())

    def turn(self) -> None:
        """One turn of a model: the next item, its reply, its scores."""
        session = self._open_session()
        self._load(session)
        if not session.awaiting:
            self._after(session.next())
        if session.awaiting:
            self._ask(session)

    def repeat(self) -> None:
        """Ask the current item again."""
        session = self._open_session()
        if session.administration.conditions.kind == "speaker":
            raise TabwbError(
                "a person's first answer is not asked for again",
                hint="undo takes it back, void declares that it does not count",
            )
        if session.status is AdministrationStatus.PAUSED:
            session.resume()
        self._load(session)
        if not session.awaiting:
            self._after(session.repeat())
        self._ask(session)

    def answer(self, text: str, latency_s: float) -> None:
        """Record what a person typed."""
        session = self._open_session()
        self._after(session.answer(text, latency_s=latency_s))
        self._finish_if_done(session)
        if self.auto:
            self._after(session.next())

    def set_auto(self, on: bool) -> None:
        """Let items follow by themselves, or stop after the one under way."""
        session = self._open_session()
        self.auto = on
        if on and session.status is AdministrationStatus.PAUSED:
            session.resume()
        if on and session.administration.conditions.kind == "speaker" and not session.awaiting:
            self._after(session.next())
        self._show()

    # ---------------------------------------------------------------- marking

    def skip(self, reason: str) -> None:
        """Pass over the current item."""
        session = self._open_session()
        self._after(session.skip(reason))
        self._finish_if_done(session)

    def void(self, reason: str) -> None:
        """Declare the current item void."""
        session = self._open_session()
        self._after(session.void(reason))
        self._finish_if_done(session)

    def undo(self) -> None:
        """Take back the last answer, skip, void or discontinuation."""
        self.auto = False
        made = self._open_session().undo()
        self._after(made)
        for event in made:
            if isinstance(event, events.Undone):
                at = f" of item {event.trial}" if event.trial else ""
                self.say(messages.Told(f"Taken back: the {event.what}{at}. Its record stays."))

    def note(self, number: int | None, text: str) -> None:
        """Write a note on one item; without a number on the administration's current one."""
        self._after(self._open_session().note(text, number))
        self.say(messages.Told("Noted."))

    def pause(self, reason: str = "") -> None:
        """Let the administration rest, or go on when it does."""
        self.auto = False
        session = self._open_session()
        resting = session.status is AdministrationStatus.PAUSED
        self._after(session.resume() if resting else session.pause(reason))
        self.refresh()

    def discontinue(self, reason: str) -> None:
        """End the administration early."""
        self.auto = False
        self._after(self._open_session().discontinue(reason))
        self.refresh()

    # ---------------------------------------------------------------- results

    def rescore(self, number: int) -> None:
        """Score and judge every counting answer again."""
        with self._session_of(number) as session:
            session.rescore()
        self.results(number, again=True)
        self.say(messages.Told("Scored again; the earlier ratings stay in the store."))

    def void_trial(self, number: int, trial: int, reason: str) -> None:
        """Declare one trial of an administration void."""
        with self._session_of(number) as session:
            session.void(reason, trial)
        self.results(number, again=True)
        self.refresh()

    def note_trial(self, number: int, trial: int, text: str) -> None:
        """Write a note on one trial of an administration."""
        with self._session_of(number) as session:
            session.note(text, trial)
        self.results(number, again=True)

    # ---------------------------------------------------------------- inside

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
        self._scores_at = 0.0
        self._show(opened=True)
        self.refresh()
        if loading and session.administration.conditions.kind == "model":
            self._load(session)

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
            session.opened(facts)
            self._facts = tuple(facts.items())
            self._ready = True
        except TabwbError as error:
            self._drop_model()
            self.auto = False
            if self._given_up:
                raise Stopped(Trouble("Loading was stopped", f"{spec} is not loaded.")) from error
            trouble = Trouble.of(
                f"{spec} cannot be opened", error, ("administer_next", "Try again")
            )
            if not trouble.hint:
                hint = "Nothing was asked. Mend it and try again, or begin with another model."
                trouble = replace(trouble, hint=hint)
            raise Stopped(trouble) from error
        except BaseException:
            self._drop_model()
            self.auto = False
            raise
        finally:
            self._loading = ""
            self._show()

    def _drop_model(self) -> None:
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()

    def _ask(self, session: Session) -> None:
        assert self._backend is not None
        self._cancel.clear()
        self._asking = True
        self._show()
        said: list[str] = []
        shown_at = 0.0
        last: events.AttemptRecorded | None = None
        try:
            for event in ask(session, self._backend, self._cancel):
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
                hint="The attempt is kept as an error; the item is unanswered. Ask it again, or go "
                "on: it comes again at the end.",
                asks=(("administer_repeat", "Ask again"), ("administer_pause", "Pause")),
            )
        )

    def _after(self, made: tuple[events.Event, ...]) -> None:
        """Show what a command has changed; at the end show the results."""
        session = self._open_session()
        over = any(isinstance(one, events.Finished) for one in made)
        self._show(over=over)
        if over:
            self.auto = False
            self.refresh()
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
        self._rescore(session, now=not self.auto or over)
        work = Work(
            administration=session.administration,
            status=session.status,
            reason=session.pause_reason,
            item=item_of(session.battery, conditions, trial, trials) if trial else None,
            awaiting=session.awaiting,
            asking=self._asking,
            loading=self._loading,
            auto=self.auto,
            undoable=session.undoable,
            remaining=sum(one.state is TrialState.PLANNED for one in trials),
            in_error=len(session.in_error),
            scores=self._scores,
            facts=self._facts,
            disclaimer=session.battery.disclaimer,
        )
        self.say(messages.Changed(work, opened=opened, over=over))

    def _rescore(self, session: Session, *, now: bool) -> None:
        started = time.monotonic()
        if not now and started - self._scores_at < SUMMARY_SHARE * self._scores_cost:
            return
        conditions = session.administration.conditions
        summary = summarise(session.battery, session.trials, conditions, interval=False)
        current = session.current.plan.subtest if session.current else ""
        person = conditions.kind == "speaker"
        self._scores = scores_of(session.battery, session.trials, summary, current, person=person)
        self._scores_at = time.monotonic()
        self._scores_cost = self._scores_at - started


class Stopped(TabwbError):
    """A command came to an end that a person must see; carries what to show."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.message)
        self.trouble = trouble
