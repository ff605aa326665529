"""Results of what people choose from a store: what every command, page and the Python API call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from tabwb.analysis.administrations import AdministrationData, Cell, outlines, part_of, with_columns
from tabwb.analysis.grouping import Grouped, as_shown, grouped, summarised
from tabwb.analysis.keys import (
    Candidate,
    Filter,
    Key,
    Level,
    Sort,
    check,
    filters_in,
    filters_of,
    is_filter,
    key_of,
    matches,
    of_administrations,
    of_cell,
    read_keys,
)
from tabwb.analysis.names import judge_called
from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean, separated
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.analysis.statistics.results import Results
    from tabwb.plugin_api.extensions import Statistic


@dataclass(frozen=True, slots=True)
class Selection:
    """What is chosen, how it is grouped, and what is shown of it.

    ``by`` are the ids of keys (:mod:`tabwb.analysis.keys`) that split groups, ``together`` those
    over which unlike conditions are pooled on purpose.
    """

    by: tuple[str, ...] = ("administration",)
    where: tuple[Filter, ...] = ()  # that all must match
    judge: str | None = None  # a rater; burdens of other judges are left out
    features: tuple[str, ...] = ()
    subtests: tuple[str, ...] = ()
    items: tuple[str, ...] = ()  # ids, or SUBTEST/ITEM
    limit: int | None = None  # number of groups shown
    together: tuple[str, ...] = ()
    # None: by burden where ``by`` names the model, by what is recorded of participants, else as
    # they come.
    sort: Sort | None = None
    primary: str = ""  # whose scores of spoken responses count; empty: whoever scored first

    @classmethod
    def of(
        cls,
        by: str | Iterable[str] = "administration",
        where: str | Iterable[str | Filter] | Mapping[str, object] = (),
        *,
        judge: str | None = None,
        features: str | Iterable[str] = (),
        subtests: str | Iterable[str] = (),
        items: str | Iterable[str] = (),
        limit: int | None = None,
        together: str | Iterable[str] = (),
        sort: Sort | None = None,
        primary: str = "",
    ) -> Self:
        """Return the selection of what people write; texts may name several with commas.

        >>> Selection.of("model,temperature", {"tuning": "base"}).by
        ('model', 'temperature')
        """
        return cls(
            read_keys(",".join(separated(by))),
            filters_of(where),
            judge,
            separated(features),
            separated(subtests),
            separated(items),
            limit,
            read_keys(",".join(separated(together))),
            sort,
            primary,
        )

    @property
    def filters(self) -> tuple[Filter, ...]:
        """All filters, also those of ``subtests`` and ``items``."""
        own = (("subtest", self.subtests), ("item", self.items))
        return (*self.where, *(Filter(key, "=", values) for key, values in own if values))

    @property
    def is_of_people(self) -> bool:
        """Whether it names what people have and models have not."""
        keys = (*self.by, *(one.key for one in self.filters))
        return any(key_of(name).whom == "speaker" for name in keys)

    @property
    def has_cells(self) -> bool:
        """Whether responses of one administration are told apart."""
        keys = (*self.by, *(one.key for one in self.filters))
        return any(key_of(name).level == "response" for name in keys)


def selected_groups(
    store: Store,
    references: Sequence[int | str] = (),
    selection: Selection | None = None,
    *,
    interval: bool = True,
    statistics: tuple[Statistic, ...] = (),
) -> tuple[Grouped, ...]:
    """Return the groups of a selection with their summaries."""
    selection = selection or Selection()
    chosen = selected(store, references, selection, statistics=statistics)
    return groups_of(chosen, selection, interval=interval)


def groups_of(
    chosen: Sequence[AdministrationData], selection: Selection, *, interval: bool = True
) -> tuple[Grouped, ...]:
    """Return the groups of administrations that were chosen by :func:`selected`."""
    ordered = any(key_of(name).whom == "speaker" for name in selection.by if name != "participant")
    usual: Sort | None = "burden" if "model" in selection.by else "keys" if ordered else None
    rows = summarised(
        grouped(chosen, selection.by, together=selection.together),
        judge=selection.judge,
        sort=selection.sort or usual,
        interval=interval,
    )
    return as_shown(tuple(_with_features(rows, selection.features))[: selection.limit])


def limited(results: Results, selection: Selection) -> Results:
    """Return results with the judge and the features that a selection names."""
    if selection.judge is not None:
        judged = judge_called(selection.judge, (judge.rater for judge in results.judges))
        results = results.only_judges([judged])
    _check_rated(results.judges, selection.features)
    return results.with_features(selection.features)


def selected(
    store: Store,
    references: Sequence[int | str],
    selection: Selection,
    *,
    statistics: tuple[Statistic, ...] = (),
) -> tuple[AdministrationData, ...]:
    """Return the administrations that a selection chooses, with their responses as columns."""
    known = outlined(store, references, selection)
    if not known:
        return ()
    judge = selection.judge or ""
    loaded = with_columns(
        store, known, primary=selection.primary, statistics=statistics, judge=judge
    )
    if not selection.has_cells:
        return loaded
    plans = store.planned_cells([data.administration.id for data in loaded])
    planned = [replace(data, plan=plans[data.administration.id]) for data in loaded]
    return _parts(planned, _of_level(selection, "response"))


def outlined(
    store: Store, references: Sequence[int | str], selection: Selection
) -> tuple[AdministrationData, ...]:
    """Return the administrations that a selection chooses, without their responses."""
    known = outlines(store, references)
    return _filtered(known, _of_level(selection, "administration")) if known else ()


def _of_level(selection: Selection, level: Level) -> list[Filter]:
    return [one for one in selection.filters if key_of(one.key).level == level]


def _filtered(
    known: tuple[AdministrationData, ...], filters: Sequence[Filter]
) -> tuple[AdministrationData, ...]:
    chosen = known
    for one in filters:
        key = key_of(one.key)
        candidates = of_administrations(key, known)
        check(one, tuple(candidates.values()))
        chosen = tuple(data for data in chosen if matches(one, candidates[data.administration.id]))
    if not chosen:
        raise _nothing(filters, "administration")
    return chosen


def _parts(
    loaded: Sequence[AdministrationData], filters: Sequence[Filter]
) -> tuple[AdministrationData, ...]:
    if not filters:
        return tuple(loaded)
    known: dict[Filter, list[Candidate]] = {one: [] for one in filters}
    found = []
    for data in loaded:
        cells = list(data.planned_cells)
        for one in filters:
            key = key_of(one.key)
            candidates: dict[object, Candidate] = {}
            for cell in data.planned_cells:
                of = _told_apart(key, cell)
                if of not in candidates:
                    candidates[of] = of_cell(key, data, cell)
            known[one] += candidates.values()
            chosen = {of for of, candidate in candidates.items() if matches(one, candidate)}
            cells = [cell for cell in cells if _told_apart(key, cell) in chosen]
        if cells:
            found.append(replace(data, part=part_of(data.planned_cells, cells)))
    for one in filters:
        check(one, known[one])
    if not found:
        raise _nothing(filters, "response")
    return tuple(found)


def _told_apart(key: Key, cell: Cell) -> object:
    """Return the part of a cell that decides the value of a key of responses."""
    return cell[2] if key.place is None else cell[:2]


def _nothing(filters: Sequence[Filter], what: str) -> UsageError:
    named = " and ".join(map(str, filters))
    return UsageError(
        f"no {what} has {named}",
        where="--where",
        hint="each filter matches some of them, but no one matches all filters",
    )


def _with_features(rows: Sequence[Grouped], features: tuple[str, ...]) -> Iterator[Grouped]:
    if rows:
        _check_rated((judge for row in rows for judge in row.results.judges), features)
    for row in rows:
        yield replace(row, results=row.results.with_features(features))


def _check_rated(judges: Iterable[Judge], features: Sequence[str]) -> None:
    check_features((each for judge in judges for each in judge.terms.features), features)


def check_features(rated: Iterable[str], features: Sequence[str]) -> None:
    """Check that each feature is one of those that some judge has rated."""
    known = dict.fromkeys(rated)
    for feature in features:
        if feature not in known:
            raise UsageError(
                f"no judge has rated the feature '{feature}'" + did_you_mean(feature, known),
                where="--feature",
                allowed=", ".join(known) or "nothing was judged",
            )


def named_in(store: Store, names: Iterable[int | str]) -> list[int | str]:
    """Return numbers and uids; a text of filters (``AQ<50 sex=male``) stands for what they choose.

    Any other text may have several, with commas.
    """
    found: dict[int | str, None] = {}
    for name in names:
        if not isinstance(name, str):
            found[name] = None
        elif is_filter(name):
            found |= dict.fromkeys(matching(store, (), filters_in(name)))
        else:
            found |= dict.fromkeys(separated(name))
    return list(found)


def label_of(name: object) -> str:
    """Return what a side of :func:`named_in` is called: filters as they were typed, or nothing.

    >>> label_of("severity=mild"), label_of("3,4"), label_of(3)
    ('severity=mild', '', '')
    """
    return name if isinstance(name, str) and is_filter(name) else ""


def matching(
    store: Store,
    references: Sequence[int | str],
    where: str | Iterable[str | Filter] | Mapping[str, object],
) -> list[int]:
    """Return the numbers of the administrations that match filters."""
    choice = Selection.of("administration", where)
    if choice.has_cells:
        raise UsageError(
            "whole administrations are chosen here",
            where="--where",
            allowed="keys of administrations, such as model, battery, tag, temperature",
        )
    return [data.administration.id for data in outlined(store, references, choice)]
