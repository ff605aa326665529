"""``tabwb judge``: the options of its commands, and the comparison of judges."""

from __future__ import annotations

import click

from tabwb.cli.command import command
from tabwb.cli.common import json_option, opened_store, print_json, store_option
from tabwb.operations.judge import JudgeRun
from tabwb.records.errors import UsageError


@click.group()
def judge() -> None:
    """Judge stored responses, compare judges, show their prompts.

    A judge that asks a model is written with the model: tab-2026:gemini:gemini-2.5-flash.
    """


judge.add_command(command(JudgeRun))


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


@judge.command("list")
@json_option
def list_judges(as_json: bool) -> None:
    """List the judges: features, and what each needs."""
    from tabwb.cli import judge_prompts

    judge_prompts.list_judges(as_json=as_json)


@judge.command()
@click.argument("judge_id", metavar="ID")
@click.option("--response", default="I wanted a pa pen I mean pencil", help="A sample response.")
@click.option(
    "--prompt", default="Tell me about your first job.", help="A sample prompt of an item."
)
@json_option
def show(judge_id: str, response: str, prompt: str, as_json: bool) -> None:
    """Show the messages that judge ID sends to a model, for a sample response."""
    from tabwb.cli import judge_prompts

    judge_prompts.show(judge_id, response, prompt, as_json=as_json)


@judge.command()
@click.argument("file", metavar="FILE")
@json_option
def check(file: str, as_json: bool) -> int:
    """Check the judge prompt FILE: every problem with its line.

    FILE is a path, or the id of an installed prompt. Exit status 1 if there is a problem.
    """
    from tabwb.cli import judge_prompts

    return judge_prompts.check(file, as_json=as_json)
