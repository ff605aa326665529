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
    if kind.loads == "trials" and chosen:
        numbers = [data.administration.id for data in chosen]
        loaded = load_administrations(store, numbers, primary=selection.primary)
        trials = {data.administration.id: data for data in loaded}
        chosen = tuple(_with_trials(data, trials[data.administration.id]) for data in chosen)
    return groups_of(chosen, selection) if chosen else ()


def _with_trials(data: AdministrationData, loaded: AdministrationData) -> AdministrationData:
    return replace(data, trials=loaded.trials, judged=loaded.judged)
