"""Registers the components of tabwb itself, through the same hooks as any other plugin.

Each hook imports its own module, so that a run that exports nothing imports no exporter.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

from tabwb.plugin_api import (
    BatterySource,
    Register,
    RegisterBattery,
    RegisterStatistic,
    Responses,
    Statistic,
    StatisticValue,
    hookimpl,
)


def rank_correlations(given: Responses) -> Iterator[StatisticValue]:
    """Yield that of each two judges over the mean burdens of items."""
    from tabwb.scoring.profiles import rank_correlation  # loads numpy

    for first, second in combinations(given.judges, 2):
        *means, n = given.item_means(given.burdens(first), given.burdens(second))
        value, ends, reason = rank_correlation(*means)
        yield StatisticValue(value, *ends, int(n.sum()), reason, f"{first}, {second}")


STATISTIC = Statistic(
    "burden-rank-correlation", "rank correlation of burdens", "Spearman's correlation of the mean "
    "burdens of items by two judges of the same responses", rank_correlations, "correlation",
    judges=2,
)  # fmt: skip


@hookimpl
def tabwb_register_models(register: Register) -> None:
    """Register echo and replay."""
    from tabwb_builtin.models import ECHO, REPLAY

    register(ECHO)
    register(REPLAY)


@hookimpl
def tabwb_register_scorers(register: Register) -> None:
    """Register the scorers that batteries name."""
    from tabwb_builtin.raters import SCORERS

    for descriptor in SCORERS:
        register(descriptor)


@hookimpl
def tabwb_register_judges(register: Register) -> None:
    """Register the judge by text rules."""
    from tabwb_builtin.raters import JUDGES

    for descriptor in JUDGES:
        register(descriptor)


@hookimpl
def tabwb_register_exporters(register: Register) -> None:
    """Register JSON lines, CSV and Parquet."""
    from tabwb_builtin.exporters import EXPORTERS

    for descriptor in EXPORTERS:
        register(descriptor)


@hookimpl
def tabwb_register_statistics(register: RegisterStatistic) -> None:
    """Register the rank correlation of the burdens of two judges."""
    from tabwb_builtin.plugin import STATISTIC

    register(STATISTIC)


@hookimpl
def tabwb_register_batteries(register: RegisterBattery) -> None:
    """Register every folder of ``tabwb_batteries`` with a ``battery.toml``; its name is the id."""
    batteries = find_spec("tabwb_batteries")
    for root in (batteries and batteries.submodule_search_locations) or ():
        for path in sorted(Path(root).glob("*/battery.toml")):
            register(BatterySource(path.parent.name, path))
