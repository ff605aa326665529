"""The groups that a figure is drawn of, read from a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.report.keys import read_keys
from tabwb.report.selection import Selection, groups_of, selected
from tabwb.report.summaries.load import AdministrationData, load_administrations

if TYPE_CHECKING:
    from tabwb.report.figures.kind import FigureKind
    from tabwb.report.summaries.groups import Grouped
    from tabwb.store.store import Store

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
    """Return the groups of a figure, with each trial where it draws trials.

    Args:
        kind: of the figure.
        store: where the administrations are.
        references: numbers or uids; without any, all administrations.
        selection: which, and how they are grouped; None: as the figure is grouped as a rule.
        check: chooses those that may be drawn.

    Raises:
        UsageError: the selection names what there is not, or nothing is chosen.
    """
    selection = selection or Selection(by=read_keys(kind.by))
    chosen = tuple(check(selected(store, references, selection)))
    groups = groups_of(chosen, selection) if chosen else ()
    return as_drawn(kind, store, groups, primary=selection.primary)


def as_drawn(
    kind: FigureKind, store: Store, groups: Sequence[Grouped], *, primary: str = ""
) -> tuple[Grouped, ...]:
    """Return groups with the trials of their members, where a figure draws trials.

    Args:
        kind: of the figure.
        store: where the administrations are.
        groups: as :func:`tabwb.report.selection.selected_groups` returns them.
        primary: the rater whose scores of spoken responses count.
    """
    if kind.loads == "columns" or not groups:
        return tuple(groups)
    members = [member for group in groups for member in group.group.members]
    numbers = sorted({member.administration.id for member in members})
    loaded = load_administrations(store, numbers, primary=primary)
    trials = {data.administration.id: data for data in loaded}
    return tuple(
        replace(
            group,
            group=replace(
                group.group,
                members=tuple(
                    replace(
                        member,
                        trials=trials[member.administration.id].trials,
                        judged=trials[member.administration.id].judged,
                    )
                    for member in group.group.members
                ),
            ),
        )
        for group in groups
    )
