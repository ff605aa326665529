"""``tabwb judge``: the options of its commands, and the comparison of judges."""

from __future__ import annotations

from typing import Any

import click

from tabwb.cli.common import (
    json_option,
    limit_options,
    offline_option,
    opened_store,
    print_json,
    store_option,
    verbosity_options,
)
from tabwb.cli.selecting import where_option
from tabwb.records.errors import UsageError


@click.group()
def judge() -> None:
    """Judge stored responses, compare judges, show their prompts.

    A judge that asks a model is written with the model: tab-2026:gemini:gemini-2.5-flash.
    """


@judge.command("run")
@click.argument("administrations", metavar="[ID]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every administration of the store.")
@where_option
@click.option(
    "--judge",
    "judges",
    metavar="SPEC",
    multiple=True,
    help="A judge, for example tab-2026:gemini:gemini-2.5-flash; repeatable; "
    "required. 'tabwb judge list' shows them.",
)
@click.option(
    "--scope",
    type=click.Choice(["connected-text", "all"]),
    default="connected-text",
    show_default=True,
    help="The responses: connected text, or all (also choices, yes or no, repetitions).",
)
@click.option(
    "--repeat",
    "repeats",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Judge this number of times without stored verdicts, and report the judge's agreement "
    "with itself. The first verdict counts.",
)
@click.option("--again", is_flag=True, help="Judge again responses that this judge has judged.")
@click.option("--dry-run", is_flag=True, help="Print every request and the estimate; send nothing.")
@limit_options
@verbosity_options
@store_option
@json_option
@offline_option
def run(**options: Any) -> None:
    """Judge the responses of administrations ID... (or --all, or those --where) with judges.

    Judged responses are skipped, interrupted ones continued. Exit status: 0 done, 1 no verdict of a
    judge could be read, 3 stopped early or with calls in error (a limit, ctrl+c, a model that does
    not answer); then repeat the command.
    """
    from tabwb.cli.judge_run import judge_administrations

    judge_administrations(**options)


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
