"""Judging stored responses from Python."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from tabwb.records.errors import Interrupted
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.judging.calls import Limits, Tally
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.events import Event
    from tabwb.store.store import Store

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
    from tabwb.administer.judging import calls
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
        for event in judging.run(limits or calls.Limits(), threading.Event()):
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
