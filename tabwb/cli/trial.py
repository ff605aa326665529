"""``tabwb trial`` and ``tabwb tag``: what is done to trials and administrations after the fact."""

from __future__ import annotations

import click

from tabwb.cli.command import add_commands, command
from tabwb.operations.spoken import (
    CodeResponse,
    HeardResponse,
    HistoryOfTrial,
    ScoreResponse,
    SetAttempt,
    SetOnset,
)
from tabwb.operations.transcribing import TranscribeResponses
from tabwb.operations.trial import (
    NoteOnTrial,
    RescoreAdministration,
    TagAdministrations,
    UndoLatest,
    VoidTrial,
)

tag = command(TagAdministrations)


@click.group()
def trial() -> None:
    """Declare a trial void, write a note, undo, rescore; score spoken responses by ear.

    A TRIAL is its number in the administration, or ITEM or SUBTEST/ITEM if that names one trial.
    """


add_commands(
    trial, VoidTrial, NoteOnTrial, UndoLatest, RescoreAdministration, ScoreResponse, HeardResponse,
    CodeResponse, SetOnset, SetAttempt, TranscribeResponses, HistoryOfTrial,
)  # fmt: skip
