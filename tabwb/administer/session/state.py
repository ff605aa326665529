"""What an open session holds: which trial is before the examinee, and who observes its events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.records import events
from tabwb.records.classes import dataclass, field, replace
from tabwb.records.errors import TabwbError
from tabwb.records.states import AdministrationStatus, AttemptState, TrialState
from tabwb.records.trials import Administration, PlannedTrial, Trial
from tabwb.store.derive import History

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
