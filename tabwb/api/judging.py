"""Judging stored responses from Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from tabwb.records.errors import Interrupted
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.judging.calls import Limits, Tally
    from tabwb.api.running import Progress
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.events import Event
    from tabwb.store.store import Store
    from tabwb.tables.table import Table

Scope = Literal["connected-text", "all"]


def judge_one(
    store: Store,
    plugins: Plugins,
    number: int,
    spec: str,
    told: Callable[[Event], object],
    *,
    scope: Scope = "connected-text",
    repeats: int = 1,
    again: bool = False,
    limits: Limits | None = None,
) -> tuple[str, Tally]:
    """Let a judge rate an administration; return its stored name and what it took.

    Args:
        store: where the responses are; the caller holds the administration's lock.
        plugins: with the judge.
        number: of the administration.
        spec: of the judge.
        told: gets each event.
        scope: which responses.
        repeats: how often each is judged.
        again: judge also what this judge has judged before.
        limits: of requests and cost.

    Raises:
        Interrupted: calls failed, or a limit was reached; the same call continues.
    """
    from tabwb.administer.judging.calls import Limits as NoLimits
    from tabwb.administer.judging.judging import Judging
    from tabwb.battery.loader import battery_from_canonical
    from tabwb.plugin_api.components import ModelJudge

    given = store.administration(number)
    battery = battery_from_canonical(store.battery_canonical(given.battery_hash))
    judge = plugins.judge(spec)
    try:
        judging = Judging(
            store, plugins, battery, number, judge,
            scope=scope, repeats=repeats, again=again, price=plugins.price_behind(judge),
        )  # fmt: skip
        if isinstance(judge, ModelJudge) and judging.estimate().to_ask:
            judge.open()
        for event in judging.run(limits or NoLimits(), threading.Event()):
            told(event)
    finally:
        if isinstance(judge, ModelJudge):
            judge.close()
    if judging.tally.in_error:
        raise Interrupted(
            f"{plural(judging.tally.in_error, 'call')} of {judge.rater} failed and left a response "
            f"of administration {number} without a verdict",
            hint="judging again asks about these",
        )
    return judge.rater, judging.tally


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
