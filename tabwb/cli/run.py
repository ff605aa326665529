"""``tabwb run``, ``resume`` and ``name``: what a terminal adds to these operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.command import command
from tabwb.operations.naming import NameAloud
from tabwb.operations.run import ResumeAdministration, RunBattery

if TYPE_CHECKING:
    from tabwb.operations.operation import Operation, Tools


def show(operation: Operation, tools: Tools) -> None:
    """Print the results so far; a caution that this terminal has seen is not repeated."""
    from tabwb.analysis.statistics.summary import pool  # loads numpy
    from tabwb.cli.shown_cautions import cautions_for
    from tabwb.media.terminal import print_view
    from tabwb.media.views.administration import administration_view

    data = tools.result
    results = pool([data], interval=True)
    written = cautions_for(tools.store.location, whole=False)
    print_view(administration_view(data.administration, data.battery, results, written=written))


def typed(session: Any, tools: Tools) -> None:
    """Let a person type the answers."""
    from tabwb.cli.typing import give_to_typist

    give_to_typist(session, aside=click.get_current_context().params["as_json"])


def spoken(session: Any, tools: Tools) -> None:
    """Record a person through the microphone."""
    from tabwb.cli.microphone_naming import give_by_microphone

    give_by_microphone(session, click.get_current_context().params["device"], tools.cancel)


run = command(RunBattery, shown=show, person=typed)
resume = command(ResumeAdministration, shown=show, person=typed)
name = command(NameAloud, shown=show, person=spoken)
