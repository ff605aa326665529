"""``tabwb judge``: judge stored answers, compare judges, look at the prompts of judges."""

from __future__ import annotations

import click

from tabwb.cli.judge_prompts import check, list_judges, show
from tabwb.cli.judge_report import report
from tabwb.cli.judge_run import run


@click.group()
def judge() -> None:
    """Judge stored responses, compare judges, show their prompts.

    A judge with a model is named with it: tab-2026:gemini:gemini-2.5-flash.
    """


for command in (run, report, list_judges, show, check):
    judge.add_command(command)
