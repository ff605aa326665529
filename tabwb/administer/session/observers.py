"""Observers: every event of one administration, completed and given to plugins and callers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from tabwb.battery.model import Battery
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records import events
from tabwb.records.trials import Administration, PlannedTrial

TRANSIENT = (events.Streamed, events.Waiting, events.Asked)
AnyEvent = TypeVar("AnyEvent", bound=events.Event)


@dataclass(frozen=True, slots=True)
class Observers:
    """Completes the events of one administration and calls the observers.

    Attributes:
        store: where it is kept, without a password.
        subtest_of: the subtest of the trial with this number.
    """

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
            task=self.battery.subtest(subtest).response.value if subtest else "",
        )
        self.plugins.notify(whole)
        return whole
