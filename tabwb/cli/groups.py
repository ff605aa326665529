"""Commands that are operations, alone and in groups; see :data:`tabwb.cli.main.COMMANDS`."""

from __future__ import annotations

from importlib import import_module

import click

from tabwb.cli.command import command

ALONE = {
    "export": ("files", "ExportResults"),
    "report": ("files", "WriteReport"),
    "figure": ("files", "DrawFigure"),
    "import": ("importing", "ImportFile"),
    "transcribe": ("transcribing", "TranscribeFiles"),
    "reproduce": ("reproduce", "ReproducePaper"),
    "tag": ("trial", "TagAdministrations"),
}
"""Command: module in tabwb.operations, operation."""
GROUPS = {
    "model": (
        """List back ends and profiles, write profiles, try a model.

        A profile is a name for a model with its options: profile:NAME can replace the spec of a
        model. It also has the model's family, tuning and size, so that results can compare base and
        instruct models.
        """,
        {"model": "ListModels AddProfile RemoveProfile TryModel"},
    ),
    "lesion": (
        """Show which parts of a model can be lesioned, and what a lesion would change.

        A lesion here is a change of numbers in a model. It is given with: tabwb run BATTERY --model
        SPEC --lesion LESION.
        """,
        {
            "lesion": "LesionTargets PlanLesion LocalizeUnits RepeatCondition SweepLesions",
            "dial": "DialLesion",
        },
    ),
    "store": (
        "Manage the store: info, backup, check, merge.",
        {"store": "StoreInfo BackupStore CheckStore MergeStore"},
    ),
    "norms": (
        "Norms: groups of people with which values are compared.",
        {"norms": "ListNorms AddNorms MakeNorms"},
    ),
    "trial": (
        """Declare a trial void, write a note, undo, rescore; score spoken responses by ear.

        A TRIAL is its number in the administration, or ITEM or SUBTEST/ITEM if that names one
        trial.
        """,
        {
            "trial": "CodeResponse HeardResponse HistoryOfTrial NoteOnTrial RescoreAdministration "
            "ScoreResponse SetAttempt SetOnset UndoLatest VoidTrial",
            "transcribing": "TranscribeResponses",
        },
    ),
}
"""Group: its help, and the operations of modules in tabwb.operations."""


def formatted(command: click.Command) -> click.Command:
    """Let ``import FORMAT PATH`` be ``import PATH --format FORMAT``."""
    parse = command.parse_args

    def with_format(context: click.Context, args: list[str]) -> list[str]:
        if len(args) > 1 and not any(word.startswith("-") for word in args[:2]):
            args = [args[1], "--format", args[0], *args[2:]]
        return parse(context, args)

    command.parse_args = with_format  # type: ignore[assignment, method-assign]
    return command


def made(name: str) -> click.Command:
    """Return a command or group with its operations."""
    if name in ALONE:
        module, kind = ALONE[name]
        made_of = command(getattr(import_module(f"tabwb.operations.{module}"), kind))
        return formatted(made_of) if name == "import" else made_of
    text, modules = GROUPS[name]
    group = click.Group(name, help=text)
    for module, kinds in modules.items():
        for kind in kinds.split():
            group.add_command(command(getattr(import_module(f"tabwb.operations.{module}"), kind)))
    return group
