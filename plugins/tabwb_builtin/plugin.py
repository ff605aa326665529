"""Registers the components of tabwb itself, through the same hooks as any other plugin.

Each hook imports its own module, so that a run that exports nothing imports no exporter.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tabwb.plugin_api import (
    BatterySource,
    Register,
    RegisterBattery,
    RegisterStatistic,
    hookimpl,
)


@hookimpl
def tabwb_register_models(register: Register) -> None:
    """Register echo and replay."""
    from tabwb_builtin.echo import ECHO
    from tabwb_builtin.replay import REPLAY

    register(ECHO)
    register(REPLAY)


@hookimpl
def tabwb_register_scorers(register: Register) -> None:
    """Register the scorers that batteries name."""
    from tabwb_builtin.scorers import SCORERS

    for descriptor in SCORERS:
        register(descriptor)


@hookimpl
def tabwb_register_judges(register: Register) -> None:
    """Register the judge by text rules."""
    from tabwb_builtin.judges import JUDGES

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
    from tabwb_builtin.burdens import STATISTIC

    register(STATISTIC)


@hookimpl
def tabwb_register_batteries(register: RegisterBattery) -> None:
    """Register every folder of ``tabwb_batteries`` with a ``battery.toml``; its name is the id."""
    batteries = find_spec("tabwb_batteries")
    for root in (batteries and batteries.submodule_search_locations) or ():
        for path in sorted(Path(root).glob("*/battery.toml")):
            register(BatterySource(path.parent.name, path))
