"""``tabwb speaker``: what a study knows of its speakers, what they agreed to, who did what."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite

import click

from tabwb.cli.command import add_commands
from tabwb.cli.common import json_option, opened_plugins, print_json
from tabwb.operations.dial import DialSessions
from tabwb.operations.speaker import (
    AddSpeaker,
    ConsentOfSpeaker,
    DeleteSpeaker,
    ImportSpeakers,
    ListSpeakers,
    LogOfSpeakers,
    SetSpeaker,
    ShowSpeaker,
)
from tabwb.records.speakers import check_id


@click.group()
def speaker() -> None:
    """Manage speakers: records, consents, the log, deletion.

    A speaker is a person, named by the study's ID and never by name. [study] in tabwb.toml says how
    IDs are written and which columns a record has.
    """


add_commands(
    speaker, ListSpeakers, ShowSpeaker, AddSpeaker, SetSpeaker, ImportSpeakers, ConsentOfSpeaker,
    LogOfSpeakers, DeleteSpeaker, DialSessions,
)  # fmt: skip


@speaker.command()
@json_option
def columns(as_json: bool) -> None:
    """List the columns of a speaker's record in this study."""
    with opened_plugins() as plugins:
        study = plugins.study
    if as_json:
        rows = [
            {
                **asdict(column),
                "bands": {name: top if isfinite(top) else None for name, top in column.bands},
            }
            for column in study.columns
        ]
        document = {"speaker_id_pattern": study.id_pattern, "columns": rows}
        print_json({"format": 1, "study": document})
        return
    click.echo(f"IDs are written {study.id_pattern}")
    width = max(len(column.name) for column in study.columns)
    for column in study.columns:
        title = f"{column.title}: " if column.title else ""
        tops = ", ".join(f"{name} to {top:g}" for name, top in column.bands)
        bands = f"; bands: {tops}" if tops else ""
        click.echo(f"{column.name:<{width}}  {title}{column.allowed}{bands}")


@speaker.command()
@click.argument("speaker_id", metavar="[ID]", default="")
def form(speaker_id: str) -> None:
    """Print a consent form with a question for each scope, for the speaker ID.

    It is a draft: adapt it to the rules of your ethics committee.
    """
    from tabwb.administer.consent import consent_form

    if speaker_id:
        check_id(speaker_id)
    click.echo(consent_form(speaker_id), nl=False)
