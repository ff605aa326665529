"""One administration in progress: a synchronous state machine, owned by one thread.

Each command commits first and then returns the events it made (the start of a model's trial is
committed with what comes of it: one commit per answered trial). Models are pulled through it by
:mod:`tabwb.administer.drive`; people are pushed into it with :meth:`Session.answer`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from tabwb.administer.attempts import attempt_in_error, attempt_with_answer, storable
from tabwb.administer.conversation import request_for
from tabwb.administer.raters import Raters
from tabwb.battery.model import Battery
from tabwb.extend.plugins import Plugins
from tabwb.records import events
from tabwb.records.declarations import Declaration
from tabwb.records.entries import (
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    RatingsEntry,
)
from tabwb.records.errors import TabwbError
from tabwb.records.exchange import Message, Reply, Request
from tabwb.records.ratings import Rating
from tabwb.records.states import AdministrationStatus, AttemptState, StopReason, TrialState
from tabwb.records.trials import Administration, Trial
from tabwb.store.derive import History
from tabwb.store.store import Store

_OVER = frozenset({AdministrationStatus.DONE, AdministrationStatus.DISCONTINUED})
_STATES = {
    TrialState.SKIPPED: "skipped",
    TrialState.VOID: "void",
    TrialState.NOT_ADMINISTERED: "not administered",
}
Events = tuple[events.Event, ...]
IDENTITY = ("model", "revision", "weights_sha256", "file_sha256", "dtype")
"""The facts of a model that must not change between a run and its resumption."""


class Session:
    """An open administration. Made by :mod:`tabwb.administer.setup`; close it when done.

    While it is open it holds the administration's lock: nobody else can write to it. Every command
    raises :class:`~tabwb.records.errors.TabwbError` where it does not fit how things stand, and
    ``StoreError`` where it could not be recorded; the session is then as it was.

    Attributes:
        administration: as it was when the session opened; :attr:`status` is always current.
        battery: what is given.
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
        self.raters = Raters(plugins, battery, administration.conditions.judges)
        self._history: History = store.history(administration.id)
        self._held = held
        self._current: int | None = None
        self._awaiting = False
        self._asked_at = 0.0
        self._failed: set[int] = set()
        self._settled = 0
        self._started: EventEntry | None = None

    # ---------------------------------------------------------------- what stands

    @property
    def status(self) -> AdministrationStatus:
        """Where the administration stands now."""
        return self._history.status

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial as it stands now, in the order given."""
        return self._history.trials

    @property
    def current(self) -> Trial | None:
        """The trial before the examinee, or the last one shown; None before the first."""
        return None if self._current is None else self._history.trial(self._current)

    @property
    def awaiting(self) -> bool:
        """Whether a prompt is before the examinee and no answer is there yet."""
        return self._awaiting

    @property
    def position(self) -> tuple[int, int]:
        """(number of the current trial, trials planned), both with practice."""
        return self._current or 0, len(self._history.standing)

    @property
    def in_error(self) -> tuple[Trial, ...]:
        """Trials that are unanswered because every attempt so far failed."""
        return tuple(
            trial
            for trial in self._history.standing
            if trial.state is TrialState.PLANNED
            and trial.attempts
            and trial.attempts[-1].state is AttemptState.ERROR
        )

    def upcoming(self, count: int) -> tuple[Trial, ...]:
        """At most ``count`` of the trials that :meth:`next` will come to, in its order."""
        first = self._next_planned()
        found: list[Trial] = []
        trials = self._history.standing
        for at in range(len(trials) if first is None else first.plan.number - 1, len(trials)):
            trial = trials[at]
            if trial.state is TrialState.PLANNED and trial.plan.number not in self._failed:
                found.append(trial)
                if len(found) == count:
                    break
        return tuple(found)

    def request(self, of: Trial | None = None) -> Request:
        """What a model is sent for a trial; for the current one when none is named."""
        trial = self._open_trial() if of is None else of
        return request_for(
            self.battery, self.administration.conditions, trial.plan, self._history.standing
        )

    @property
    def pause_reason(self) -> str:
        """Why the administration rests; empty when it does not or no reason was given."""
        return self._history.pause_reason

    @property
    def model_facts(self) -> Mapping[str, str]:
        """What the back end said of the model when it was opened last; empty before."""
        return self._history.model_facts

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the administration as a whole."""
        return self._history.notes

    @property
    def declarations(self) -> Mapping[str, Declaration]:
        """What each judge that has rated says of itself, by rater."""
        return self._history.declarations

    @property
    def undoable(self) -> bool:
        """Whether :meth:`undo` has something to take back."""
        return self._history.undoable is not None

    # ---------------------------------------------------------------- commands

    def opened(self, facts: Mapping[str, str]) -> Events:
        """Keep what the back end says of the model it opened (revision, dtype, weights' hash).

        Raises:
            TabwbError: the administration began with another model of the same spec; to mix both
                in one result would make it meaningless.
        """
        earlier = self._history.model_facts
        for key in IDENTITY:
            if earlier.get(key, facts.get(key)) != facts.get(key):
                raise TabwbError(
                    f"the model is not the one this administration began with: {key} was "
                    f"{earlier[key]} and is {facts.get(key, 'unknown')}",
                    hint="begin a new administration for the changed model",
                )
        if dict(facts) == dict(earlier):
            return ()
        return self._commit([EventEntry("model-opened", None, json.dumps(facts, sort_keys=True))])

    def next(self) -> Events:
        """Put the next unanswered trial before the examinee; finish when there is none.

        A trial whose attempts failed in this session comes again only after all others; when
        nothing but such trials is left the session pauses, so that a dead back end ends a run.
        """
        self._must_run()
        if self._awaiting:
            raise TabwbError(
                "this item still waits for its answer", hint="answer, skip or void it first"
            )
        trial = self._next_planned()
        if trial is not None:
            return self._start(trial)
        failed = len(self.in_error)
        if failed:
            count = "1 item is" if failed == 1 else f"{failed} items are"
            return self.pause(f"{count} in error and can be asked again")
        return self._finish()

    def answer(self, text: str, *, latency_s: float | None = None) -> Events:
        """Record what a person typed.

        Args:
            text: exactly as typed.
            latency_s: seconds from the prompt to the end of the answer; measured from
                :meth:`next` when not given.
        """
        waited = time.monotonic() - self._asked_at
        reply = Reply(text, StopReason.NONE, waited if latency_s is None else latency_s)
        return self.record(reply, ())

    def record(self, reply: Reply, messages: Sequence[Message]) -> Events:
        """Record a reply to the current prompt and rate it, in one commit."""
        if reply.stop_reason is StopReason.CANCELLED:
            return self.fail("stopped before the reply was complete", messages, reply)
        trial = self._open_trial()
        number = trial.plan.number
        expected = self.battery.subtest(trial.plan.subtest).item(trial.plan.item).expected
        attempt = attempt_with_answer(trial, reply, messages, expected)
        ratings = self.raters.rate(trial.plan, attempt, self._history.standing)
        made = self._commit(
            [
                AttemptEntry(number, attempt),
                RatingsEntry(number, attempt.number, ratings),
                *self._declared(ratings),
            ],
            events.AttemptRecorded(self.administration.id, number, attempt),
            events.Rated(self.administration.id, number, attempt.number, ratings),
        )
        self._awaiting = False
        self._failed.discard(number)
        return made

    def fail(
        self, message: str, messages: Sequence[Message] = (), partial: Reply | None = None
    ) -> Events:
        """Record that no answer could be had: an attempt in error; the trial stays unanswered."""
        trial = self._open_trial()
        number = trial.plan.number
        attempt = attempt_in_error(trial, message, messages, partial)
        made = self._commit(
            [AttemptEntry(number, attempt)],
            events.AttemptRecorded(self.administration.id, number, attempt),
        )
        self._awaiting = False
        self._failed.add(number)
        return made

    def repeat(self) -> Events:
        """Ask the current item again; what was answered before stays and the new answer counts."""
        if self.status is not AdministrationStatus.DONE:
            self._must_run()
        trial = self.current
        if trial is None:
            raise TabwbError("no item has been shown yet", hint="show the first one")
        if self._awaiting:
            raise TabwbError("this item still waits for its answer")
        return self._start(trial)

    def skip(self, reason: str) -> Events:
        """Pass over the current item, for a reason; it can be taken back with :meth:`undo`."""
        self._must_not_be_discontinued()
        trial = self._current_or_error("skip")
        if trial.counting is not None:
            raise TabwbError(
                "this item has an answer already", hint="declare it void if it must not count"
            )
        if not self._awaiting and trial.state is not TrialState.PLANNED:
            raise TabwbError(f"this item is {_STATES[trial.state]} already")
        number = trial.plan.number
        made = self._commit(
            [EventEntry("skipped", number, _words(reason, "skipping"))],
            events.TrialSkipped(self.administration.id, number, reason.strip()),
        )
        self._awaiting = False
        return made

    def void(self, reason: str, number: int | None = None) -> Events:
        """Declare an item void, for a reason: what was recorded stays and does not count.

        Args:
            reason: why; must not be empty.
            number: the trial's number, or None for the current one.
        """
        trial = (
            self._current_or_error("declare void")
            if number is None
            else self._history.trial(number)
        )
        is_open = self._awaiting and trial.plan.number == self._current
        if trial.state in _STATES and trial.state is not TrialState.SKIPPED and not is_open:
            raise TabwbError(f"this item is {_STATES[trial.state]} already")
        made = self._commit(
            [EventEntry("voided", trial.plan.number, _words(reason, "declaring an item void"))],
            events.TrialVoided(self.administration.id, trial.plan.number, reason.strip()),
        )
        if is_open:
            self._awaiting = False
        return made

    def undo(self) -> Events:
        """Take back the latest answer, skip, void or discontinuation; its rows stay, marked.

        A finished administration goes on when an item is unanswered after that.
        """
        target = self._history.undoable
        if target is None:
            raise TabwbError("there is nothing to take back")
        undone = EventEntry("undone", target.trial, target.what, target.sequence)
        entries: list[Entry] = [undone]
        left = self._history.with_entry(undone).trials
        if any(trial.state is TrialState.PLANNED for trial in left):
            entries += [
                EventEntry("undone", None, "the end", sequence)
                for sequence in self._history.endings
            ]
        made = self._commit(
            entries, events.Undone(self.administration.id, target.trial, target.what)
        )
        self._awaiting = False
        self._settled = 0
        if target.trial is not None:
            self._current = target.trial
            self._failed.discard(target.trial)
        return made

    def note(self, text: str, number: int | None = None) -> Events:
        """Write a note on an item (the current one unless ``number`` says which)."""
        where = number if number is not None else self._current
        if where is not None:
            self._history.trial(where)
        return self._commit(
            [EventEntry("noted", where, _words(text, "a note"))],
            events.Noted(self.administration.id, where, text.strip()),
        )

    def rescore(self) -> Events:
        """Rate every counting answer again with the scorers and judges as they are now.

        The earlier ratings stay in the store; the new ones count.
        """
        entries: list[Entry] = []
        made: list[events.Rated] = []
        for trial in self.trials:
            attempt = trial.counting
            if attempt is None:
                continue
            number = trial.plan.number
            ratings = self.raters.rate(trial.plan, attempt, self._history.standing)
            entries.append(RatingsEntry(number, attempt.number, ratings))
            made.append(events.Rated(self.administration.id, number, attempt.number, ratings))
        entries += self._declared([rating for event in made for rating in event.ratings])
        return self._commit(entries, *made) if entries else ()

    def pause(self, reason: str = "") -> Events:
        """Let the administration rest; an unanswered prompt will be shown again."""
        self._must_not_be_discontinued()
        made: Events = ()
        if self.status is AdministrationStatus.RUNNING:
            made = self._commit(
                [EventEntry("paused", None, storable(reason))],
                events.Paused(self.administration.id, reason),
            )
        self._awaiting = False
        return made

    def resume(self) -> Events:
        """Go on after a pause; nothing that was answered is asked again, what failed is."""
        self._must_not_be_discontinued()
        self._failed.clear()
        self._settled = 0
        if self.status is not AdministrationStatus.PAUSED:
            return ()
        return self._commit(
            [EventEntry("resumed", None, "")], events.Resumed(self.administration.id)
        )

    def discontinue(self, reason: str) -> Events:
        """End early, for a reason; what was not given reads *not administered*."""
        if self.status in _OVER:
            raise TabwbError(f"this administration is {self.status.value} already")
        made = self._commit(
            [EventEntry("discontinued", None, _words(reason, "discontinuing"))],
            events.Discontinued(self.administration.id, reason.strip()),
        )
        self._awaiting = False
        return made

    def reload(self) -> None:
        """Read again what is in the store: judges have added to it."""
        self._history = self.store.history(self.administration.id)

    def close(self) -> None:
        """Give the administration free; what was committed stays as it is."""
        self._held.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ---------------------------------------------------------------- inside

    def _next_planned(self) -> Trial | None:
        # All trials before the one at _settled are dealt with, so that a run of thousands of items
        # does not look at each of them again for every item.
        trials = self._history.standing
        while self._settled < len(trials):
            trial = trials[self._settled]
            if trial.state is TrialState.PLANNED and trial.plan.number not in self._failed:
                return trial
            self._settled += 1
        return None

    def _start(self, trial: Trial) -> Events:
        self.raters.judges()  # one that cannot be used is found before the prompt goes out
        number = trial.plan.number
        started = EventEntry("trial-started", number)
        shown = events.TrialStarted(self.administration.id, trial.plan)
        if self.administration.conditions.kind == "model":
            # One commit per answered trial: the start is written with what comes of it. A model
            # forgets a prompt that never came to an answer; a person does not.
            self._started = started
            made = self._tell(shown)
        else:
            made = self._commit([started], shown)
        self._current, self._awaiting = number, True
        self._asked_at = time.monotonic()
        return made

    def _declared(self, ratings: Sequence[Rating]) -> list[Entry]:
        """What the judges among the raters say of themselves, where that is not kept yet."""
        return [
            DeclarationEntry(declaration)
            for declaration in self.raters.declarations(ratings)
            if self._history.declarations.get(declaration.rater) != declaration
        ]

    def _finish(self) -> Events:
        return self._commit([EventEntry("finished", None)], events.Finished(self.administration.id))

    def _commit(self, entries: Sequence[Entry], *made: events.Event) -> Events:
        whole = [*([self._started] if self._started else ()), *entries]
        self.store.append(self.administration.id, whole)
        self._started = None
        self._history = self._history.with_entries(whole)
        return self._tell(*made)

    def _tell(self, *made: events.Event) -> Events:
        for event in made:
            self.plugins.notify(event)
        return made

    def _must_run(self) -> None:
        if self.status is AdministrationStatus.PAUSED:
            raise TabwbError("this administration is paused", hint="resume it first")
        if self.status in _OVER:
            raise TabwbError(f"this administration is {self.status.value}")

    def _must_not_be_discontinued(self) -> None:
        if self.status is AdministrationStatus.DISCONTINUED:
            raise TabwbError("this administration was discontinued", hint="undo takes that back")

    def _current_or_error(self, what: str) -> Trial:
        trial = self.current
        if trial is None:
            raise TabwbError(f"there is no item to {what} yet", hint="show the first one")
        return trial

    def _open_trial(self) -> Trial:
        trial = self.current
        if trial is None or not self._awaiting:
            raise TabwbError("no item waits for an answer", hint="show the next one first")
        return trial


def _words(text: str, what: str) -> str:
    if not text.strip():
        raise TabwbError(f"{what} needs some words", allowed="any text")
    return storable(text.strip())
