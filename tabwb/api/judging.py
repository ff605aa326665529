"""Judging stored responses from Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tabwb.api.engine import warn
from tabwb.records.ratings import Scope

if TYPE_CHECKING:
    from tabwb.administer.judging.calls import Tally
    from tabwb.administer.limits import Limits
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.events import Event
    from tabwb.store.store import Store


def judge_each(
    store: Store,
    plugins: Plugins,
    numbers: Iterable[int],
    judges: Sequence[str],
    told: Callable[[Event], object],
    *,
    scope: Scope = "connected-text",
    repeats: int = 1,
    again: bool = False,
    limits: Limits | None = None,
    held: bool = False,
) -> list[tuple[int, str, Tally]]:
    """Let judges rate administrations; return number, stored name of the judge and what it took.

    Raises:
        Interrupted: calls failed, or a limit was reached; the same call continues.
        TabwbError: a judge gave no verdict at all.
    """
    from contextlib import nullcontext

    from tabwb.administer.judging.task import Task, check_verdicts
    from tabwb.administer.limits import Limits

    left, tasks, rows = limits or Limits(), [], []
    for spec in judges:
        with Task(store, plugins, spec, scope=scope, repeats=repeats, again=again) as task:
            tasks.append(task)
            for number in numbers:
                with nullcontext() if held else store.lock(number):
                    if not held:
                        warn(*task.warnings(number))
                    judging = task.judging(number)
                    for event in task.run(judging, left, threading.Event()):
                        told(event)
                left = left.after(judging.tally)
                rows.append((number, task.judge.rater, judging.tally))
    check_verdicts(tasks, "judging again asks about these")
    return rows
