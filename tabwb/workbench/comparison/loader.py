"""Reads results of many administrations in a thread of its own, one model after the other.

It has a store of its own, so that an open administration goes on meanwhile; what a model's
responses come to is kept, the responses themselves are let go before the next model is read. What
loads numpy is imported where the thread needs it: on the screen's thread it would be seen.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.battery.loader import battery_from_canonical
from tabwb.battery.model import Battery
from tabwb.records.errors import TabwbError
from tabwb.records.trials import Administration
from tabwb.report.summaries.groups import Group, Grouped, grouped, summarised, unlike
from tabwb.report.summaries.load import AdministrationData, load_administrations, sources_of
from tabwb.store.store import Store
from tabwb.workbench.comparison.messages import (
    Compared,
    Contrasted,
    Differing,
    Paired,
    SurveyGrown,
)
from tabwb.workbench.comparison.table import without_trials
from tabwb.workbench.engine.engine import Say
from tabwb.workbench.engine.gc_tuning import let_go, resting, set_aside, tidy
from tabwb.workbench.engine.messages import Failed
from tabwb.workbench.engine.view_models import ErrorReport

if TYPE_CHECKING:
    from tabwb.report.summaries.pairs import Pair

Stopped = Callable[[], bool]
Job = Callable[["Shelf", int, Stopped], None]
REST_S = 0.1
"""After each model the thread rests, so that the screen has the interpreter while it shows it."""


class Shelf:
    """What is read of a store and let go again without holding up the screen."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._held: list[object] = []

    def members(self, group: Group) -> tuple[AdministrationData, ...]:
        """A group's administrations with everything in them."""
        read = load_administrations(self.store, [one.administration.id for one in group.members])
        for one in read:
            self._held += (*one.trials, *one.judged)
        return read

    def hold(self, things: Iterable[object]) -> None:
        """Further things that grow with the number of responses."""
        self._held += things

    def let_go(self) -> None:
        """Free what was read; nobody else may hold on to it."""
        let_go(self._held)
        tidy()


class SurveyReader:
    """Does one thing at a time; a new one stops what is under way.

    Args:
        say: takes messages to the screen; called from the reading thread.
        location: of the store, or None for the default one.
    """

    def __init__(self, say: Say, location: str | None) -> None:
        self._say, self._location = say, location
        self._thread: threading.Thread | None = None
        self.turn = 0

    def survey(self) -> None:
        """Read every administration, grouped by model; the latest first."""
        self._start(self._survey)

    def compare(self, first: Group, second: Group) -> None:
        """Compare two groups of administrations item by item."""

        def job(shelf: Shelf, turn: int, stopped: Stopped) -> None:
            from tabwb.report.summaries.difference import difference

            members = [shelf.members(group) for group in (first, second)]
            sides = [sources_of(given) for given in members]
            if not stopped():
                names = first.name, second.name
                found = difference(sides[0], sides[1], names, unlike(*members))
                self._say(Compared(turn, found, first.battery))

        self._start(job)

    def differ(self, group: Group, feature: str) -> None:
        """Find the responses of a group on which judges differ about a feature."""

        def job(shelf: Shelf, turn: int, stopped: Stopped) -> None:
            from tabwb.report.summaries.disagreements import disagreements

            sources = sources_of(shelf.members(group))
            if not stopped():
                found = disagreements(sources, feature)
                self._say(Differing(turn, found, group.battery, group.name))

        self._start(job)

    def pair(self, kin: Sequence[tuple[Group, Group]]) -> None:
        """Set each base group against its instruct group, one pair after the other."""

        def job(shelf: Shelf, turn: int, stopped: Stopped) -> None:
            found: list[Pair] = []
            for sides in kin:
                if stopped():
                    return
                found += _paired(shelf, sides)
                shelf.let_go()
            if not stopped():
                self._say(Paired(turn, tuple(found)))

        self._start(job)

    def contrast(self, groups: Sequence[Group], label: str) -> None:
        """Set the judges of some groups of one battery against each other."""

        def job(shelf: Shelf, turn: int, stopped: Stopped) -> None:
            from tabwb.report.summaries.robustness import robustness

            members = [one for group in groups for one in shelf.members(group)]
            found = robustness(sources_of(members))
            if not stopped():
                self._say(Contrasted(turn, found, groups[0].battery, label))

        self._start(job)

    def stop(self) -> None:
        """Let what is under way come to nothing."""
        self.turn += 1

    def _start(self, job: Job) -> None:
        self.turn += 1
        turn = self.turn

        def read() -> None:
            try:
                with resting(), Store.open(self._location, create=False) as store:
                    shelf = Shelf(store)
                    try:
                        job(shelf, turn, lambda: turn != self.turn)
                    finally:
                        shelf.let_go()
            except TabwbError as error:
                if turn == self.turn:
                    self._say(Failed(ErrorReport.of("The results could not be read", error)))
            except Exception as error:  # noqa: BLE001 - the thread's edge: shown, never the end
                what = f"{type(error).__name__}: {error}"
                self._say(Failed(ErrorReport("Something unexpected happened", what)))

        self._thread = threading.Thread(target=read, name="survey", daemon=True)
        self._thread.start()

    def _survey(self, shelf: Shelf, turn: int, stopped: Stopped) -> None:
        store = shelf.store
        administrations = store.administrations()
        batteries: dict[str, Battery] = {}
        for one in administrations:
            if one.battery_hash not in batteries:
                canonical = store.battery_canonical(one.battery_hash)
                batteries[one.battery_hash] = battery_from_canonical(canonical)
        groups = _by_model(administrations, batteries)
        set_aside()
        self._say(SurveyGrown(turn, None, 0, len(groups)))
        time.sleep(REST_S)
        for done, group in enumerate(groups):
            if stopped():
                return
            for row in _rows(shelf, group):
                self._say(SurveyGrown(turn, row, done + 1, len(groups)))
            shelf.let_go()
            time.sleep(REST_S)


def _by_model(
    administrations: Sequence[Administration], batteries: dict[str, Battery]
) -> list[Group]:
    given = [
        AdministrationData(one, batteries[one.battery_hash], ())
        for one in administrations
        if one.answered
    ]
    groups = grouped(given, "model")
    return sorted(groups, key=lambda group: -group.members[-1].administration.id)


def _rows(shelf: Shelf, group: Group) -> tuple[Grouped, ...]:
    """What a group's responses come to, without the responses.

    Several rows where it turns out that other weights or templates have one name.
    """
    groups = [
        replace(one, apart=(*group.apart, *one.apart))
        for one in grouped(shelf.members(group), group.by)
    ]
    found = summarised(groups)
    shelf.hold(each for one in found for judge in one.summary.judges for each in judge.judged)
    return tuple(map(without_trials, found))


def _paired(shelf: Shelf, sides: Sequence[Group]) -> tuple[Pair, ...]:
    from tabwb.report.summaries.pairs import pairs_of

    return pairs_of(_summarised(shelf, sides))


def _summarised(shelf: Shelf, groups: Sequence[Group]) -> tuple[Grouped, ...]:
    found = summarised([replace(one, members=shelf.members(one)) for one in groups])
    shelf.hold(each for one in found for judge in one.summary.judges for each in judge.judged)
    return found
