"""``tabwb lesion``: what a model has that can be lesioned, and what a lesion would change."""

from __future__ import annotations

import click

from tabwb.cli.command import command
from tabwb.operations.lesion import LesionTargets, LocalizeUnits, PlanLesion, RepeatCondition
from tabwb.operations.sweep import SweepLesions


@click.group()
def lesion() -> None:
    """Show which parts of a model can be lesioned, and what a lesion would change.

    A lesion here is a change of numbers in a model. It is given with: tabwb run BATTERY --model
    SPEC --lesion LESION.
    """


for operation in (LesionTargets, PlanLesion, SweepLesions, LocalizeUnits, RepeatCondition):
    lesion.add_command(command(operation))
