"""What stands of an administration in progress, and how each step of it is committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Self

from tabwb.administer import consent
from tabwb.administer.session.conversation import request_for
from tabwb.administer.session.observers import Observers
from tabwb.administer.session.raters import Raters
from tabwb.battery.model import Battery
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records import events
from tabwb.records.declarations import Declaration
from tabwb.records.entries import DeclarationEntry, Entry, EventEntry
from tabwb.records.errors import TabwbError
from tabwb.records.exchange import Request
from tabwb.records.ratings import Rating
from tabwb.records.states import AdministrationStatus, AttemptState, TrialState
from tabwb.records.trials import Administration, Trial
from tabwb.store.derive import History
from tabwb.store.store import Store

OVER = frozenset({AdministrationStatus.DONE, AdministrationStatus.DISCONTINUED})
Events = tuple[events.Event, ...]


class Standing:
    """The state of an open administration; a
    :class:`~tabwb.administer.session.session.Session` changes it.

    Attributes:
        administration: as it was when the session opened; :attr:`status` is always current.
        battery: what is given.
        speaker_record: columns of the speaker's record when the session opened; empty for a model.
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
        conditions = administration.conditions
        dialect = consent.dialect_of(store, conditions)
        self.speaker_record = consent.record_of(store, conditions)
        self.raters = Raters(plugins, battery, conditions.judges, dialect=dialect)
        self._history: History = store.history(administration.id)
        self._observers = Observers(
            plugins,
            battery,
            administration,
            store.location,
            lambda number: self._history.trial(number).plan.subtest,
        )
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
        # An attempt in error gave no reply: what comes next is still this draw.
        replies = sum(attempt.state is not AttemptState.ERROR for attempt in trial.attempts)
        return request_for(
            self.battery,
            self.administration.conditions,
            trial.plan,
            self._history.standing,
            attempt=replies + 1,
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

    def reload(self) -> None:
        """Read again what is in the store: judges have added to it."""
        self._history = self.store.history(self.administration.id)

    def close(self) -> None:
        """Give the administration free; what was committed stays as it is."""
        self._held.close()

    def __enter__(self) -> Self:
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

    def _declared(self, ratings: Sequence[Rating]) -> list[Entry]:
        """What the judges among the raters say of themselves, where that is not kept yet."""
        return [
            DeclarationEntry(declaration)
            for declaration in self.raters.declarations(ratings)
            if self._history.declarations.get(declaration.rater) != declaration
        ]

    def _commit(self, entries: Sequence[Entry], *made: events.Event) -> Events:
        whole = [*([self._started] if self._started else ()), *entries]
        self.store.append(self.administration.id, whole)
        self._started = None
        self._history = self._history.with_entries(whole)
        return self._tell(*made)

    def tell(self, event: events.Event) -> events.Event:
        """Tell observers of something transient; the event with examinee, battery and store."""
        return self._observers.tell(event)

    def _tell(self, *made: events.Event) -> Events:
        return tuple(map(self._observers.tell, made))

    def _must_run(self) -> None:
        if self.status is AdministrationStatus.PAUSED:
            raise TabwbError("this administration is paused", hint="resume it first")
        if self.status in OVER:
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
