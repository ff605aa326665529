"""``tabwb model``: which models can be examined, profiles of one's own, and a first try."""

from __future__ import annotations

import click

from tabwb.cli.command import add_commands
from tabwb.operations.model import AddProfile, ListModels, RemoveProfile, TryModel


@click.group()
def model() -> None:
    """List back ends and profiles, write profiles, try a model.

    A profile is a name for a model with its options: profile:NAME can replace the spec of a model.
    It also has the model's family, tuning and size, so that results can compare base and instruct
    models.
    """


add_commands(model, ListModels, AddProfile, RemoveProfile, TryModel)
