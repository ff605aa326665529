"""Reads results of many administrations in a thread of its own, one model after the other.

It has its own store, so that an open administration can continue meanwhile; what a model's
responses come to is kept, the responses themselves are released before the next model is read. What
loads numpy is imported where the thread needs it: on the screen's thread it would be seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from tabwb.analysis.administrations import AdministrationData, outlines, with_columns
from tabwb.analysis.grouping import Group, Grouped, grouped, summarised
from tabwb.analysis.selection import Selection, outlined
from tabwb.lesion.declared import PRESETS
from tabwb.records.trials import Administration
from tabwb.records.words import plural
from tabwb.store.store import Store
from tabwb.workbench.comparison.table import without_trials
from tabwb.workbench.engine.threads import let_go, resting, set_aside, tidy
from tabwb.workbench.shell.wording import head_words

if TYPE_CHECKING:
    from tabwb.analysis.contrast import Pair
    from tabwb.analysis.keys import Filter
    from tabwb.plugin_api.extensions import Statistic
    from tabwb.workbench.comparison.plots import Report
    from tabwb.workbench.engine.engine import Engine
    from tabwb.workbench.shell.dialogs import Dialog


class ResponseLoader:
    """Reads the responses of a store, and frees them without holding up the screen."""

    def __init__(
        self,
        store: Store,
        statistics: tuple[Statistic, ...] = (),
        counts: str = "",
    ) -> None:
        self.store, self._statistics, self._counts = store, statistics, counts
        self._held: list[object] = []

    def members(self, *groups: Group, explained: str = "") -> tuple[AdministrationData, ...]:
        """Return the administrations of groups with their responses."""
        numbers = [member.administration.id for group in groups for member in group.members]
        return self.read(outlines(self.store, numbers), explained=explained)

    def read(
        self, outlined: Sequence[AdministrationData], *, explained: str = ""
    ) -> tuple[AdministrationData, ...]:
        """Return administrations, known without their responses, with these."""
        members = with_columns(
            self.store,
            outlined,
            primary=self._counts,
            explained=[explained] if explained else [],
            statistics=self._statistics,
        )
        for member in members:
            self._held += member.trials
        return members

    def let_go(self) -> None:
        """Free what was read; no other reference may exist."""
        let_go(self._held)
        tidy()


MakeDialog = Callable[[], "Dialog[None]"]
Question = Callable[[ResponseLoader], "MakeDialog | Report"]


class Grown(NamedTuple):
    """How far a survey is: one more row, or None at the beginning, with every row without results.

    ``rater`` is the judge whose burdens are shown where none was chosen.
    """

    row: Grouped | None
    done: int
    total: int
    rater: str
    known: Sequence[Grouped] = ()


@contextmanager
def _reading(engine: Engine) -> Iterator[ResponseLoader]:
    with resting(), Store.open(engine.store_place, create=False) as store:
        primary = engine.plugins.configuration.study.primary_rater
        loader = ResponseLoader(store, engine.plugins.statistics(), primary)
        try:
            yield loader
        finally:
            loader.let_go()


def survey(engine: Engine, by: str, where: Sequence[Filter] = ()) -> Iterator[Grown]:
    """Read every administration that filters choose, grouped by a key; the latest group first."""
    with _reading(engine) as loader:
        from tabwb.analysis.statistics.results import Results

        groups = _groups(loader.store, by, where)
        battery, rater = leading(groups)
        # The page shows the battery and the judge of the first row, also while it reads others.
        groups.sort(
            key=lambda group: (
                group.battery.content_hash != battery,
                rater not in _raters(group),
            )
        )
        set_aside()
        known = [Grouped(group, Results((), battery=group.battery)) for group in groups]
        yield Grown(None, 0, len(groups), rater, known)
        for done, group in enumerate(groups, 1):
            yield Grown(_row(loader, group), done, len(groups), rater)
            loader.let_go()


def read_again(
    engine: Engine, by: str, where: Sequence[Filter], numbers: frozenset[int]
) -> list[Grouped]:
    """Return the groups again that some administrations are in."""
    with _reading(engine) as loader:
        changed = [group for group in _groups(loader.store, by, where) if _has(group, numbers)]
        return [_row(loader, group) for group in changed]


def answer(engine: Engine, question: Question) -> MakeDialog | Report:
    """Answer a question about some models with a dialog or a report."""
    with _reading(engine) as loader:
        return question(loader)


def leading(groups: Sequence[Group]) -> tuple[str, str]:
    """Return the battery, by its hash, and the judge that most groups have; empty without any."""
    counts = Counter(
        (group.battery.content_hash, rater) for group in groups for rater in _raters(group)
    )
    judged = {battery for battery, _ in counts}
    given = (group.battery.content_hash for group in groups)
    counts.update((battery, "") for battery in given if battery not in judged)
    best = counts.most_common(1)
    return best[0][0] if best else ("", "")


def _raters(group: Group) -> list[str]:
    """Return the judges that have judged responses of a group, in their order."""
    found = (
        rater
        for member in group.members
        for rater, declaration in member.declarations.items()
        if declaration.kind == "judge" and declaration.features
    )
    return list(dict.fromkeys(found))


def _has(group: Group, numbers: frozenset[int]) -> bool:
    return any(member.administration.id in numbers for member in group.members)


def compare(loader: ResponseLoader, first: Group, second: Group) -> MakeDialog:
    """Compare two groups of administrations item by item.

    Args:
        loader: reads the responses.
        first: group of administrations.
        second: the other one.
    """
    from tabwb.analysis.contrast import members_compared
    from tabwb.workbench.comparison.compare import CompareScreen

    left, right = (loader.members(group) for group in (first, second))
    result = members_compared(left, right, (first.name, second.name))
    conditions = tuple(_conditions(group) for group in (first, second))
    return partial(CompareScreen, result, first.battery, conditions)


def sides(engine: Engine, first: int, second: int) -> tuple[Group, Group]:
    """Return two administrations, each as a group by itself."""
    with _reading(engine) as loader:
        one, other = (
            grouped(outlines(loader.store, [number]), "administration")[0]
            for number in (first, second)
        )
        return one, other


class Companion(NamedTuple):
    """What results can be compared with: a stored administration, or a lesion to be given."""

    administration: Administration | None
    lesion: str = ""


def companions(engine: Engine, one: Administration) -> list[Companion]:
    """Return what an administration can be compared with, the same examinee's first."""

    def far(other: Administration) -> tuple[bool, bool, int]:
        given = other.conditions
        return given.examinee != one.conditions.examinee, given.lesion is not None, -other.id

    stored = [
        other
        for other in engine.catalogue.administrations
        if other.battery_hash == one.battery_hash and other.id != one.id and other.answered
    ]
    found = [Companion(other) for other in sorted(stored, key=far)]
    given = one.conditions
    if given.kind == "model" and engine.plugins.resolve("models", given.examinee)[0].lesions:
        asked = {other.conditions.lesion for other in (one, *stored) if not far(other)[0]}
        found += [Companion(None, spec) for spec in PRESETS if (spec or None) not in asked]
    return found


def _conditions(group: Group) -> str:
    """Return the conditions of a group's only administration, or how many it pools."""
    if len(group.members) != 1:
        return plural(len(group.members), "administration")
    return " · ".join(head_words(group.members[0].administration))


def differ(loader: ResponseLoader, group: Group, feature: str) -> MakeDialog:
    """Find the responses of a group on which judges differ about a feature."""
    from tabwb.analysis.judges import disagreements
    from tabwb.workbench.comparison.compare import DifferingScreen

    result = disagreements(loader.members(group, explained=feature), feature)
    return partial(DifferingScreen, result, group.battery, group.name)


def pair(loader: ResponseLoader, kin: Sequence[tuple[Group, Group]]) -> Report:
    """Compare each base group with its instruct group, one pair after the other."""
    from tabwb.workbench.comparison.plots import pairs_report

    pairs: list[Pair] = []
    for sides in kin:
        pairs += _pairs(loader, sides)
        loader.let_go()
    return pairs_report(pairs, _numbers(group for sides in kin for group in sides))


def contrast(loader: ResponseLoader, groups: Sequence[Group], label: str) -> Report:
    """Compare the judges of some groups of one battery with each other."""
    from tabwb.analysis.judges import judges_of
    from tabwb.workbench.comparison.plots import judges_report

    members = loader.members(*groups)
    compared = judges_of(members)
    return judges_report(compared, label, _numbers(groups))


def _numbers(groups: Iterable[Group]) -> list[int]:
    return sorted({member.administration.id for group in groups for member in group.members})


def _groups(store: Store, by: str, where: Sequence[Filter]) -> list[Group]:
    known = outlined(store, (), Selection(where=tuple(where))) if where else outlines(store)
    answered = [data for data in known if data.administration.answered]
    groups = grouped(answered, by)
    return sorted(groups, key=lambda group: -group.members[-1].administration.id)


def _row(loader: ResponseLoader, group: Group) -> Grouped:
    (row,) = summarised([replace(group, members=loader.read(group.members))])
    return without_trials(row)


def _pairs(loader: ResponseLoader, sides: Sequence[Group]) -> tuple[Pair, ...]:
    from tabwb.analysis.contrast import pairs_of

    groups = [replace(group, members=loader.members(group)) for group in sides]
    return pairs_of(summarised(groups))
