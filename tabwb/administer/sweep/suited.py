"""Which conditions a sweep can have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tabwb.administer.session import setup
from tabwb.administer.sweep.sweep import Sweep
from tabwb.plugin_api.components import ModelJudge
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.administer.sweep.grid import Grid
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.lesion.declared import Part
    from tabwb.records.conditions import Conditions


def sweep_of(
    plugins: Plugins, battery: Battery, conditions: Conditions, grid: Grid, parts: Sequence[Part]
) -> Sweep:
    """Return the sweep of a grid."""
    points = grid.points(parts, conditions, partial(setup.resolve, plugins, battery))
    return Sweep(plugins, battery, conditions, grid.name, points, parts)


def resolved(plugins: Plugins, battery: Battery, asked: Conditions) -> Conditions:
    """Return the conditions of every administration of a sweep, specs resolved."""
    if asked.lesion is not None:
        raise UsageError("the grid defines the lesions", where="--lesion", hint="leave it out")
    conditions = setup.resolve(plugins, battery, asked)
    for judge in conditions.judges:
        if isinstance(plugins.judge(judge), ModelJudge):
            raise UsageError(
                f"the judge '{judge}' asks a model, which a sweep does not",
                where="--judge",
                hint="judge the responses when the sweep is done: tabwb judge run",
            )
    return conditions


def parse_shard(text: str) -> tuple[int, int]:
    """Return which share of the conditions is given, and of how many.

    >>> parse_shard("2/8")
    (2, 8)
    """
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    first, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= first <= count:
        raise UsageError(
            f"'{text}' is not a share",
            where="--shard",
            allowed="I/N, for example 2/8: I from 1 to N",
        )
    return first, count
