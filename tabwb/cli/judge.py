"""``tabwb judge``: the options of its commands, and the comparison of judges."""

from __future__ import annotations

import click

from tabwb.cli.command import add_commands
from tabwb.cli.common import json_option, opened_store, print_json, store_option
from tabwb.operations.judge import CheckPrompt, JudgeRun, ListJudges, ShowJudge
from tabwb.records.errors import UsageError


@click.group()
def judge() -> None:
    """Judge stored responses, compare judges, show their prompts.

    A judge that asks a model is written with the model: tab-2026:gemini:gemini-2.5-flash.
    """


add_commands(judge, JudgeRun, ListJudges, ShowJudge, CheckPrompt)


@judge.command()
@click.argument("administrations", metavar="ID...", nargs=-1, required=True)
@store_option
@json_option
def report(administrations: tuple[str, ...], store_location: str | None, as_json: bool) -> None:
    """Compare the judges of administrations ID....

    One row with the burden for each judge and each examinee under like conditions, the agreement
    of every two judges over all responses, the features on which they differ most, and the
    majority verdicts of each examinee. The administrations must be of one battery.
    """
    from tabwb.analysis.administrations import load_columns
    from tabwb.analysis.judges import judges_of
    from tabwb.media.terminal import print_view
    from tabwb.media.views.judges import judges_document, judges_view

    with opened_store(store_location) as (_, store):
        chosen = load_columns(store, administrations)
    if len({data.battery.content_hash for data in chosen}) != 1:
        raise UsageError("the administrations must be of one battery")
    compared = judges_of(chosen)
    if as_json:
        print_json(judges_document(compared))
    else:
        print_view(judges_view(compared))
