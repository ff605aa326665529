"""What the worker's thread owns: plugins, store and at most one open session with its model.

Every public method is a command. It runs in the worker's thread, one after the other, and says what
happened with messages; only :meth:`Bench.interrupt` and :attr:`Bench.auto` are touched from
outside.
"""

from __future__ import annotations

from tabwb.administer.session import setup
from tabwb.records import events
from tabwb.records.errors import TabwbError
from tabwb.records.states import AdministrationStatus
from tabwb.workbench.engine import messages
from tabwb.workbench.naming.by_ear_controller import ByEarBench
from tabwb.workbench.trial.draft import Draft


class Bench(ByEarBench):
    """The engine's side of the workbench: its commands."""

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

    # ---------------------------------------------------------------- beginning, resuming

    def begin(self, draft: Draft) -> None:
        """Begin an administration; it waits for its first item."""
        battery, conditions = self._conditions(draft)
        self._leave("another administration was started")
        self._opened(setup.create(self.store, self.plugins, battery, conditions))
        if idle := setup.idle_replicates(self.plugins, battery, conditions):
            self.say(messages.Told(f"{idle[0].upper()}{idle[1:]}."))

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
        if self.named_comes_next():
            return
        self._after(session.next())

    def turn(self) -> None:
        """One turn of a model: the next item, its reply, its scores."""
        session = self._open_session()
        self._load(session)
        if self.auto and not session.awaiting and self._goes_together(session):
            self._ask_together(session)
            return
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
        self._together = False
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
