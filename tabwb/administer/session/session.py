"""One administration in progress: a synchronous state machine, owned by one thread.

Each command commits first and then returns the events it made; the start of a model's trial is
committed with its answer. :mod:`tabwb.administer.session.drive` asks models; a person's answers
come through :meth:`Session.answer`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from tabwb.administer import consent
from tabwb.administer.session.corrections import Corrections
from tabwb.administer.session.exchange import (
    attempt_in_error,
    attempt_with_answer,
    check_same,
    in_words,
    request_for,
    storable,
)
from tabwb.administer.session.raters import Raters
from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.records import events
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.exchange import RESPLIT, Reply, Request
from tabwb.records.ratings import Rating
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason, TrialState
from tabwb.records.trials import (
    Administration,
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    PlannedTrial,
    RatingsEntry,
    Trial,
)
from tabwb.store.derive import History, Undoable
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.administer.transcription import Job
    from tabwb.records.speech import Transcript

OVER = frozenset({AdministrationStatus.DONE, AdministrationStatus.DISCONTINUED})
TRANSIENT = (events.Streamed, events.Waiting, events.Asked)
AnyEvent = TypeVar("AnyEvent", bound=events.Event)


@dataclass(frozen=True, slots=True)
class Observers:
    """The observers of one administration's events; ``store`` is its place without a password."""

    plugins: Plugins
    battery: Battery
    administration: Administration
    store: str
    subtest_of: Callable[[int], str]

    def tell(self, event: AnyEvent) -> AnyEvent:
        """Return the event with examinee, battery, store and task, after the observers had it.

        A transient event that no plugin observes is returned as it is: a reply has many pieces.
        """
        if isinstance(event, TRANSIENT) and not self.plugins.observes(type(event)):
            return event
        given, trial = self.administration, getattr(event, "trial", None)
        subtest = trial.subtest if isinstance(trial, PlannedTrial) else ""
        if isinstance(trial, int):
            subtest = self.subtest_of(trial)
        whole = replace(
            event,
            uid=given.uid,
            examinee=given.conditions.examinee,
            battery=given.battery,
            battery_version=given.battery_version,
            store=self.store,
            task=str(self.battery.subtest(subtest).response) if subtest else "",
        )
        self.plugins.notify(whole)
        return whole


@dataclass(slots=True)
class SessionState:
    """The state of an open administration, changed by its session and strategy.

    Attributes:
        number: of the trial before the examinee, or the last one shown; None before the first.
        awaiting: whether its prompt is shown and not answered yet.
        asked_at: when it was shown, by the monotonic clock.
        failed: numbers of the trials whose attempts failed in this session.
        settled: number of trials from the beginning that need no answer any more.
    """

    history: History
    number: int | None = None
    awaiting: bool = False
    asked_at: float = 0.0
    failed: set[int] = field(default_factory=set)
    settled: int = 0

    @property
    def current(self) -> Trial | None:
        """The trial before the examinee, or the last one shown; None before the first."""
        return None if self.number is None else self.history.trial(self.number)

    @property
    def in_error(self) -> tuple[Trial, ...]:
        """Trials that are unanswered because every attempt so far failed."""
        planned = (trial for trial in self.history.standing if trial.state is TrialState.PLANNED)
        asked = (trial for trial in planned if trial.attempts)
        return tuple(trial for trial in asked if trial.attempts[-1].state is AttemptState.ERROR)

    @property
    def first_planned(self) -> Trial | None:
        """The first trial that waits to be given, in the order of the plan."""
        # A run of thousands of items does not look at all of them again for every item.
        trials = self.history.standing
        while self.settled < len(trials):
            trial = trials[self.settled]
            if self._waits(trial):
                return trial
            self.settled += 1
        return None

    def upcoming(self, first: Trial | None, count: int) -> tuple[Trial, ...]:
        """Return at most ``count`` of the trials that wait, from ``first`` on."""
        waiting: list[Trial] = []
        trials = self.history.standing
        for at in range(len(trials) if first is None else first.plan.number - 1, len(trials)):
            if self._waits(trials[at]):
                waiting.append(trials[at])
                if len(waiting) == count:
                    break
        return tuple(waiting)

    def reopen(self, number: int | None) -> None:
        """Look at all trials again, because this one may wait again."""
        self.settled = 0
        if number is not None:
            self.failed.discard(number)

    def must_run(self) -> None:
        """Check that the administration is running."""
        if self.history.status is AdministrationStatus.PAUSED:
            raise TabwbError("this administration is paused", hint="resume it first")
        if self.history.status in OVER:
            raise TabwbError(f"this administration is {self.history.status.value}")

    def must_not_be_discontinued(self) -> None:
        """Check that the administration was not discontinued."""
        if self.history.status is AdministrationStatus.DISCONTINUED:
            raise TabwbError("this administration was discontinued", hint="undo takes that back")

    def current_or_error(self, what: str) -> Trial:
        """Return the trial before the examinee, or the last one shown."""
        trial = self.current
        if trial is None:
            raise TabwbError(f"there is no item to {what} yet", hint="show the first one")
        return trial

    def open_trial(self) -> Trial:
        """Return the trial that waits for its answer."""
        trial = self.current
        if trial is None or not self.awaiting:
            raise TabwbError("no item waits for an answer", hint="show the next one first")
        return trial

    def _waits(self, trial: Trial) -> bool:
        return trial.state is TrialState.PLANNED and trial.plan.number not in self.failed


Events = tuple[events.Event, ...]


class Strategy(Protocol):
    """How the items of a task type are given where that is not by typing; see :class:`TaskType`."""

    def is_spoken(self, trial: Trial) -> bool:
        """Return whether a trial is answered aloud: the strategy gives it."""

    def in_turn(self, trial: Trial) -> Trial | None:
        """Return the trial to give next, where ``trial`` is the next one in the plan."""

    def undoes(self, target: Undoable) -> bool:
        """Return whether :meth:`undo` takes this back, and not the session itself."""

    def undo(self, target: Undoable) -> Events:
        """Take back the latest command of a person on an item."""

    def rated_again(self, trial: Trial) -> Sequence[RatingsEntry]:
        """Return all ratings of a trial's response again."""

    def waiting(
        self, spec: str, *, by_any: bool = False, lost: set[str] | None = None
    ) -> tuple[Job, ...]:
        """Return the responses that this transcriber, or any, has not transcribed.

        ``lost`` gets the reasons why the sound of others cannot be read.
        """

    def transcribed(self, number: int, attempt: int, transcript: Transcript) -> Events:
        """Store what a transcriber heard in an attempt, with the ratings that follow."""


class Session:
    """An open administration. Made by :mod:`tabwb.administer.session.setup`; close it when done.

    While it is open it holds the administration's lock: nobody else can write to it. Every command
    raises :class:`~tabwb.records.errors.TabwbError` where it does not fit the state, and
    ``StoreError`` where it could not be recorded; the session is then as it was.

    Attributes:
        administration: as it was when the session opened; :attr:`status` is always current.
        speaker_record: columns of the speaker's record when the session opened; empty for a model.
        raters: the scorers and judges that rate at once.
        model_spec: of the model that answers: the examinee, or the same model at another path.
        strategy: gives the items of a task type that brings one; None where none does.
        corrections: skips, voids, undo, notes and ratings made anew.
        kept_back: events of which observers are told later, by :meth:`tell`; None: at once.
    """

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        battery: Battery,
        administration: Administration,
        *,
        held: ExitStack,
    ) -> None:
        self.administration = administration
        self.battery = battery
        self.store = store
        self.plugins = plugins
        self.state = SessionState(store.history(administration.id))
        conditions = administration.conditions
        dialect = consent.dialect_of(store, conditions)
        self.speaker_record = consent.record_of(store, conditions)
        self.raters = Raters(plugins, battery, conditions.judges, dialect=dialect)
        # Naming alone is rated by ear and by the rules of naming.
        self._has_raters = any(
            subtest.scorers or subtest.task.judged != "never" for subtest in battery.subtests
        )
        self.model_spec = conditions.examinee
        self.strategy: Strategy | None = None
        self.corrections = Corrections(self)
        self._observers = Observers(
            plugins,
            battery,
            administration,
            store.location,
            lambda number: self.history.trial(number).plan.subtest,
        )
        self.kept_back: list[events.Event] | None = None
        self._held = held
        self._started: EventEntry | None = None

    def close(self) -> None:
        """Release the administration; what was committed stays as it is."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ---------------------------------------------------------------- state

    @property
    def history(self) -> History:
        """Everything recorded of the administration."""
        return self.state.history

    @property
    def status(self) -> AdministrationStatus:
        """The status of the administration now."""
        return self.history.status

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial in its present state, in the order given."""
        return self.history.trials

    @property
    def current(self) -> Trial | None:
        """The trial before the examinee, or the last one shown; None before the first."""
        return self.state.current

    @property
    def awaiting(self) -> bool:
        """Whether a prompt is before the examinee and no answer is there yet."""
        return self.state.awaiting

    @property
    def position(self) -> tuple[int, int]:
        """(number of the current trial, trials planned), both with practice."""
        return self.state.number or 0, len(self.history.standing)

    @property
    def spoken(self) -> Strategy:
        """What gives the items that are answered aloud; there are some."""
        if self.strategy is None:
            raise UsageError(
                f"administration {self.administration.id} is not spoken naming",
                hint="its answers are rated by scorers and judges",
            )
        return self.strategy

    @property
    def is_spoken(self) -> bool:
        """Whether some of the items are answered aloud, as :attr:`strategy` gives them."""
        return self.strategy is not None

    def is_aloud(self, trial: Trial) -> bool:
        """Return whether a trial is answered aloud."""
        return self.strategy is not None and self.strategy.is_spoken(trial)

    def upcoming(self, count: int) -> tuple[Trial, ...]:
        """Return at most ``count`` of the trials that :meth:`next` will come to, in its order."""
        return self.state.upcoming(self.next_planned(), count)

    def next_planned(self) -> Trial | None:
        """Return the trial that :meth:`next` will give; None where none is left."""
        trial = self.state.first_planned
        return trial if trial is None or self.strategy is None else self.strategy.in_turn(trial)

    def next_aloud(self) -> Trial | None:
        """Return the next trial where it is answered aloud, else None."""
        trial = self.next_planned()
        return trial if trial is not None and self.is_aloud(trial) else None

    def waiting(self, *, aloud: bool) -> tuple[Trial, ...]:
        """Return the items that wait to be answered aloud, or typed, in the battery's order."""
        return tuple(
            trial
            for trial in self.trials
            if trial.state is TrialState.PLANNED and self.is_aloud(trial) == aloud
        )

    def request(self, of: Trial | None = None) -> Request:
        """Return what a model is sent for a trial; for the current one when none is named."""
        trial = self.state.open_trial() if of is None else of
        # An attempt in error gave no reply: what comes next is still this draw.
        replies = sum(
            attempt.state is not AttemptState.ERROR and RESPLIT not in attempt.metadata
            for attempt in trial.attempts
        )
        conditions, standing = self.administration.conditions, self.history.standing
        return request_for(self.battery, conditions, trial.plan, standing, attempt=replies + 1)

    def reload(self) -> None:
        """Read again what is in the store: judges have added to it."""
        self.state.history = self.store.history(self.administration.id)

    # ---------------------------------------------------------------- commands

    def opened(self, facts: Mapping[str, str]) -> Events:
        """Keep what the back end says of the model it opened (revision, dtype, weights' hash)."""
        earlier = self.history.model_facts
        check_same(
            earlier, facts, began=self.administration.conditions.examinee, spec=self.model_spec
        )
        if dict(facts) == dict(earlier):
            return ()
        return self.commit([EventEntry("model-opened", None, json.dumps(facts, sort_keys=True))])

    def next(self) -> Events:
        """Put the next unanswered trial before the examinee; finish when there is none.

        A trial whose attempts failed in this session comes again only after all others; when
        nothing but such trials is left the session pauses, so that a dead back end ends a run.
        """
        self.state.must_run()
        if self.awaiting:
            raise TabwbError(
                "this item still waits for its answer", hint="answer, skip or void it first"
            )
        trial = self.next_planned()
        if trial is not None:
            return self._start(trial)
        failed = len(self.state.in_error)
        if failed:
            count = "1 item is" if failed == 1 else f"{failed} items are"
            return self.pause(f"{count} in error and can be asked again")
        return self.commit([EventEntry("finished", None)], events.Finished(self.administration.id))

    def next_typed(self) -> Events:
        """Show the next item that is typed; pause where only others are left."""
        if not self.is_spoken:
            return self.next()
        typed = self.waiting(aloud=False)
        if not typed and self.waiting(aloud=True):
            return self.pause("the other items are named aloud")
        return self.begin_at(typed[0].plan.number) if typed else self.next()

    def begin_at(self, number: int) -> Events:
        """Show one planned trial out of turn."""
        self.state.must_run()
        trial = self.history.trial(number)
        if self.awaiting or trial.state is not TrialState.PLANNED:
            raise TabwbError(f"item {number} does not wait to be given")
        return self._start(trial)

    def answer(self, text: str, *, latency_s: float | None = None) -> Events:
        """Record what a person typed."""
        waited = time.monotonic() - self.state.asked_at
        reply = Reply(text, StopReason.NONE, waited if latency_s is None else latency_s)
        return self.record(reply)

    def record(self, reply: Reply, request: Request | None = None) -> Events:
        """Record a reply to the current prompt and rate it, in one commit."""
        if reply.stop_reason is StopReason.CANCELLED:
            return self.fail("stopped before the reply was complete", request, reply)
        trial = self.state.open_trial()
        number = trial.plan.number
        subtest = self.battery.subtest(trial.plan.subtest)
        item = subtest.item(trial.plan.item)
        attempt = attempt_with_answer(
            trial,
            reply,
            request,
            item.expected,
            kind=subtest.task.text_kind,
            language=self.battery.language,
            answers=subtest.allowed_answers(item),
        )
        ratings = self.raters.rate(trial.plan, attempt, self.history.standing)
        rated = RatingsEntry(number, attempt.number, ratings)
        made = self.commit(
            [AttemptEntry(number, attempt), rated, *self.declared(ratings)],
            events.AttemptRecorded(self.administration.id, number, attempt),
            events.Rated(self.administration.id, number, attempt.number, ratings),
        )
        self.state.awaiting = False
        self.state.failed.discard(number)
        return made

    def fail(
        self,
        message: str,
        request: Request | None = None,
        partial: Reply | None = None,
        *,
        cause: str = "",
    ) -> Events:
        """Record an attempt in error; the trial stays unanswered."""
        trial = self.state.open_trial()
        number = trial.plan.number
        attempt = attempt_in_error(trial, message, request, partial)
        if cause:
            attempt = replace(attempt, metadata={**attempt.metadata, "cause": cause})
        recorded = events.AttemptRecorded(self.administration.id, number, attempt)
        made = self.commit([AttemptEntry(number, attempt)], recorded)
        self.state.awaiting = False
        self.state.failed.add(number)
        return made

    def repeat(self) -> Events:
        """Ask the current item again; what was answered before stays and the new answer counts."""
        if self.status is not AdministrationStatus.DONE:
            self.state.must_run()
        trial = self.current
        if trial is None:
            raise TabwbError("no item has been shown yet", hint="show the first one")
        if self.awaiting:
            raise TabwbError("this item still waits for its answer")
        return self._start(trial)

    def pause(self, reason: str = "") -> Events:
        """Let the administration rest; an unanswered prompt will be shown again."""
        self.state.must_not_be_discontinued()
        made: Events = ()
        if self.status is AdministrationStatus.RUNNING:
            paused = events.Paused(self.administration.id, reason)
            made = self.commit([EventEntry("paused", None, storable(reason))], paused)
        self.state.awaiting = False
        return made

    def resume(self) -> Events:
        """Go on after a pause; nothing that was answered is asked again, what failed is."""
        self.state.must_not_be_discontinued()
        if self.administration.conditions.is_imported:
            raise TabwbError(
                "the responses of this administration were imported: no model is asked",
                hint="to add responses, import the whole file again",
            )
        self.battery.check_tasks()
        consent.Guard(self.store, self.plugins, self.administration.conditions).check_giving()
        self.state.failed.clear()
        self.state.reopen(None)
        if self.status is not AdministrationStatus.PAUSED:
            return ()
        resumed = events.Resumed(self.administration.id)
        return self.commit([EventEntry("resumed", None, "")], resumed)

    def discontinue(self, reason: str) -> Events:
        """End early, for a reason; what was not given reads *not administered*."""
        if self.status in OVER:
            raise TabwbError(f"this administration is {self.status.value} already")
        made = self.commit(
            [EventEntry("discontinued", None, in_words(reason, "discontinuing"))],
            events.Discontinued(self.administration.id, reason.strip()),
        )
        self.state.awaiting = False
        return made

    # ---------------------------------------------------------------- for strategies, corrections

    def commit(self, entries: Sequence[Entry], *made: events.Event) -> Events:
        """Store entries, and return the events after the observers had them."""
        whole = [*([self._started] if self._started else ()), *entries]
        self.store.append(self.administration.id, whole)
        self._started = None
        self.state.history = self.history.with_entries(whole)
        if self.kept_back is not None:
            self.kept_back += made
            return made
        return tuple(map(self._observers.tell, made))

    def tell(self, event: events.Event) -> events.Event:
        """Tell observers of something transient; the event with examinee, battery and store."""
        return self._observers.tell(event)

    def declared(self, ratings: Sequence[Rating]) -> list[Entry]:
        """Return what the judges among the raters declare, where that is not stored yet."""
        return [
            DeclarationEntry(declaration)
            for declaration in (self.raters.declarations(ratings) if self._has_raters else ())
            if self.history.declarations.get(declaration.rater) != declaration
        ]

    # ---------------------------------------------------------------- inside

    def _start(self, trial: Trial) -> Events:
        self.battery.check_tasks()
        if self._has_raters:
            self.raters.judges()  # one that cannot be used is found before the prompt goes out
        number = trial.plan.number
        started = EventEntry("trial-started", number)
        shown = events.TrialStarted(self.administration.id, trial.plan)
        if self.administration.conditions.kind == "model":
            # One commit per answered trial: the start is written with its result. A model
            # forgets a prompt that never came to an answer; a person does not.
            self._started = started
            made: Events = (self.tell(shown),)
        else:
            made = self.commit([started], shown)
        self.state.number, self.state.awaiting = number, True
        self.state.asked_at = time.monotonic()
        return made


@contextmanager
def pausing(session: Session) -> Iterator[None]:
    """Pause a running session where an exception ends the block (a closed pipe, ctrl+c twice)."""
    try:
        yield
    except BaseException:
        if session.status is AdministrationStatus.RUNNING:
            with suppress(TabwbError):
                session.pause("stopped in the middle")
        raise
