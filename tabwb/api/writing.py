"""What judging from Python took, and whether a store has people's data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabwb.api.judging import Scope, judge_one

if TYPE_CHECKING:
    from tabwb.administer.judging.calls import Limits
    from tabwb.api.running import Progress
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.store.store import Store
    from tabwb.tables.table import Table


def judge_stored(
    store: Store,
    plugins: Plugins,
    references: Sequence[int | str],
    judge: str,
    limits: Limits,
    progress: Progress,
    *,
    scope: Scope,
    repeats: int,
    again: bool,
) -> Table:
    """Return what judging administrations took; see :meth:`tabwb.Study.judge`.

    Args:
        store: where they are.
        plugins: with the judge.
        references: numbers or uids.
        judge: its spec.
        limits: of requests and cost, for all administrations together.
        progress: see :data:`tabwb.api.running.Progress`.
        scope: which responses.
        repeats: how often each is judged.
        again: judge also what this judge has judged before.
    """
    from tabwb.administer.judging.calls import check_limits
    from tabwb.api.running import teller
    from tabwb.report.tables.judging import judgements_table

    if limits.requests is not None:
        check_limits(plugins.judge(judge), limits)
    told, rows = teller(progress, 0), []
    for number in dict.fromkeys(store.administration(one).id for one in references):
        with store.lock(number):
            rater, tally = judge_one(
                store, plugins, number, judge, told,
                scope=scope, repeats=repeats, again=again, limits=limits,
            )  # fmt: skip
        limits = limits.after(tally)
        rows.append((number, rater, tally))
    return judgements_table(rows)


def holds_people(store: Store, references: Sequence[int | str]) -> bool:
    """Return whether some of the administrations are, or may be, a person's.

    Args:
        store: where they are.
        references: numbers or uids; empty: all.
    """
    given = [store.administration(one) for one in references] or store.administrations()
    return any(one.conditions.guarded for one in given)
