"""The groups that a figure is drawn of, read from a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabwb.report.keys import read_keys
from tabwb.report.selection import Selection, groups_of, selected
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.load import AdministrationData

if TYPE_CHECKING:
    from tabwb.media.figures.kind import FigureKind
    from tabwb.store.store import Store


@dataclass(frozen=True, slots=True)
class TimedGroup(Grouped):
    """A group with the latencies of its written responses, in seconds."""

    latencies: tuple[float, ...] = ()


Check = Callable[[Sequence[AdministrationData]], Sequence[AdministrationData]]
"""Returns the administrations that may be drawn, or raises."""


def figure_groups(
    kind: FigureKind,
    store: Store,
    references: Sequence[int | str] = (),
    selection: Selection | None = None,
    *,
    check: Check = tuple,
) -> tuple[Grouped, ...]:
    """Return the groups of a figure, with latencies where it draws them."""
    selection = selection or Selection(by=read_keys(kind.by))
    chosen = tuple(check(selected(store, references, selection)))
    groups = groups_of(chosen, selection) if chosen else ()
    return as_drawn(kind, store, groups)


def as_drawn(kind: FigureKind, store: Store, groups: Sequence[Grouped]) -> tuple[Grouped, ...]:
    """Return groups with the latencies of their responses, where a figure draws them."""
    timed = kind.loads == "latencies" and groups
    return tuple(_timed(store, groups)) if timed else tuple(groups)


def _timed(store: Store, groups: Sequence[Grouped]) -> Iterator[TimedGroup]:
    import numpy as np

    from tabwb.report.summaries.columns.table import table_of
    from tabwb.store.details import keys_of

    prepared = next(
        member.columns[0] for group in groups for member in group.group.members if member.columns
    )
    columns = prepared.columns
    details = store.attempt_details(columns.administrations)
    numbers = np.repeat(np.array(columns.administrations, np.int64), np.diff(columns.starts))
    keys = keys_of(numbers, columns.trials.astype(np.int64), columns.attempts.astype(np.int64))
    for group in groups:
        sources = [member.source for member in group.group.members if not is_aloud(member)]
        rows = table_of(sources).rows if sources else np.zeros(0, np.int64)
        found = details.latencies[details.rows_of(keys[rows])]
        yield TimedGroup(group.group, group.summary, tuple(found[~np.isnan(found)].tolist()))


def is_aloud(member: AdministrationData) -> bool:
    """Return whether a person named pictures aloud."""
    return member.battery.coded and member.source.is_speaker
